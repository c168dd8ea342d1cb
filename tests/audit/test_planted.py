"""Wrong settings on whole machines: each is found, and on the same machine set right nothing is."""

import functools
import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path

import pytest
from tests.audit.fleet import answered, frames_of
from tests.audit.fleet_machines import FLEET
from tests.audit.sosreport import archived, write_archive
from tests.conftest import some_of

from wireproof.audit import judge_machines
from wireproof.audit.facts import HostFacts
from wireproof.audit.job import catalogue, facts_of_source
from wireproof.audit.machine import machine_of
from wireproof.audit.values import AFFINITIES
from wireproof.instrument.plan_text import Collected
from wireproof.model.plan import FactRequest
from wireproof.model.setting import AuditResult
from wireproof.report.failing import unread

Plant = tuple[str, str, str, str]
"""The setting that is to fail, on which instance, where, and what stands there."""
RIGHT = "right"
_EDIT = re.compile(r"(?:(\d): )?(.+?) -> (.*)", re.DOTALL)
_NEW = ("environment", "sys/module/acpi_pad/initstate")


def _plants() -> dict[str, list[Plant]]:
    rows = tomllib.loads(Path(__file__).with_name("planted.toml").read_text())
    places = {"affinities": " ".join(AFFINITIES)}
    return {
        name: [(one, of, places.get(place, place), text) for one, of, place, text in plants]
        for name, plants in rows.items()
    }


PLANTED = _plants()


def planted(texts: Mapping[str, str], place: str, wrong: str) -> dict[str, str]:
    """``texts`` with the wrong text, "" for no such file; of ``2: old -> new`` the second ``old``
    becomes ``new``.
    """
    assert place in texts or place in _NEW, f"the machine has no {place}"
    if not wrong:
        return {each: text for each, text in texts.items() if each != place}
    edit = _EDIT.fullmatch(wrong)
    if edit is None:
        return {**texts, place: wrong}
    turn, old, new = edit.groups(default="1")
    parts = texts[place].split(old)
    assert len(parts) > int(turn), f"{place} has no {old!r}"
    before, after = old.join(parts[: int(turn)]), old.join(parts[int(turn) :])
    return {**texts, place: f"{before}{new}{after}"}


def judged(name: str) -> dict[str, list[AuditResult]]:
    """The machine set right, and with each of its wrong settings by number."""
    texts = FLEET[name]().texts()
    machines = [answered(texts, RIGHT)]
    for number, (_, _, place, wrong) in enumerate(PLANTED[name]):
        machines.append(answered(planted(texts, place, wrong), str(number)))
    return by_host(judge_machines(machines, catalogue(), "throughput"))


def by_host(results: list[AuditResult]) -> dict[str, list[AuditResult]]:
    found: dict[str, list[AuditResult]] = {}
    for one in results:
        found.setdefault(one.host, []).append(one)
    return found


def status(plant: Plant, results: list[AuditResult]) -> str:
    found = [one for one in results if (one.id, one.instance) == plant[:2]]
    return f"{found[0].status}: {found[0].message}" if found else "no result"


def test_the_fleet_is_large() -> None:
    assert set(PLANTED) == set(FLEET)
    assert len(FLEET) >= 27
    assert sum(map(len, PLANTED.values())) >= 138


@pytest.mark.parametrize("name", some_of(FLEET, always=10))
def test_each_planted_setting_alone_is_found(name: str) -> None:
    """None of the wrong settings passes, is unknown or does not apply. On the machine set right
    nothing fails, and what is unknown has few reasons.
    """
    found = judged(name)
    right = found[RIGHT]
    assert [(one.id, one.instance, one.seen) for one in right if one.status == "fail"] == []
    assert len(unread(right)) <= 10
    answers = [
        (plant[:3], status(plant, found[str(number)])) for number, plant in enumerate(PLANTED[name])
    ]
    assert [one for one in answers if not one[1].startswith("fail")] == []


def test_every_setting_that_can_be_wrong_is_planted_once() -> None:
    judging = {
        name
        for name, entry in catalogue().entries.items()
        if entry.setting.condition("throughput") not in ("", "true")
        and not (entry.setting.doubt and entry.setting.doubt.when == "true")  # never fails
    }
    times = Counter(plant[0] for plants in PLANTED.values() for plant in plants)
    assert not judging - set(times)


@pytest.mark.parametrize(
    "name", some_of(["e810", "connectx-7-two-ports", "bonded-roce", "opa-haswell"], always=1)
)
def test_hosts_beside_others_are_judged_as_each_alone(name: str) -> None:
    """Only what differs from a host before is judged again."""
    texts, together = FLEET[name]().texts(), judged(name)
    for number, (_, _, place, wrong) in enumerate(PLANTED[name]):
        alone = answered(planted(texts, place, wrong), str(number))
        assert judge_machines([alone], catalogue(), "throughput") == together[str(number)]


ARCHIVED = (
    *("connectx-6-milan", "connectx-7-two-ports", "e810", "i40e", "bnxt", "opa-two-adapters"),
    *("bonded-roce", "gigabit", "slingshot", "connectx-6-dx-firmware", "efa"),
)
UNKEPT = {
    *("partition-key", "slurmd-memlock", "limit-memlock", "limit-stack", "infiniband-devices"),
    *("env-fi-provider", "shared-memory"),
    *("out-of-sequence", "ack-timeouts", "rnr-retries", "packet-sequence-errors"),
    *("node-description", "numa-node-rdma", "pcie-width-rdma", "pcie-speed-rdma"),
    *(
        "pcie-max-payload-rdma",
        "pcie-read-request-rdma",
        "pcie-path-rate-rdma",
        "pfc-enabled",
        "flow-control-rx",
    ),
    *("flow-control-tx", "fec", "fec-uncorrectable", "carrier-changes", "rps"),
    *("aer-errors", "job-cores", "huge-page-defrag", "slurm-propagated-limits", "rv-module"),
}
"""Settings whose text sos does not copy, or needs one that it does not."""


@pytest.mark.parametrize("name", some_of(ARCHIVED, always=3))
def test_an_archive_shows_the_planted_settings_that_it_keeps(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = judged_archives(name, tmp_path, monkeypatch)
    answers = {
        (plant[:3], status(plant, found[str(number)]).partition(":")[0])
        for number, plant in enumerate(PLANTED[name])
    }
    assert {where for where, said in answers if said != "fail"} == {
        plant[:3] for plant in PLANTED[name] if plant[0] in UNKEPT
    }
    assert {said for _, said in answers} <= {"fail", "unknown"}, "what is not kept is unknown"
    assert [one for one in found[RIGHT] if one.status == "fail"] == []


def judged_archives(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, list[AuditResult]]:
    """As `judged`, of the machine as sos archives it."""
    node = FLEET[name]()
    texts = {RIGHT: node.texts()} | {
        str(number): planted(node.texts(), place, wrong)
        for number, (_, _, place, wrong) in enumerate(PLANTED[name])
    }
    kept: dict[str, str] = {}
    machines = []
    for host, said in texts.items():
        before, kept = kept, archived(node, said)
        write_archive(folder, kept, before)
        reader = functools.partial(_read, kept)
        monkeypatch.setattr(import_module("wireproof.audit.job"), "collect", reader)
        (one,) = facts_of_source(folder, catalogue())
        machines.append(machine_of(HostFacts.of(host, one.frames)))
    return by_host(judge_machines(machines, catalogue(), "throughput"))


def _read(
    kept: Mapping[str, str], argv_of: Mapping[str, object], wanted: Sequence[FactRequest]
) -> list[Collected]:
    """In place of a process of the engine for each tree."""
    return [Collected(host, tuple(frames_of(wanted, kept))) for host in argv_of]
