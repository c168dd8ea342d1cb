"""Probes: the files of every measurement are well-formed data, and the machine is described with
advice.
"""

from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.records import made_plan

from wireproof.audit.job_facts import QUICK
from wireproof.instrument.plan_text import write_plan
from wireproof.workflow import doctor
from wireproof.workflow.doctor import look, namespaces_argv


def test_the_files_of_every_measurement_survive_the_plans_text() -> None:
    assert all(request.path.startswith("/") and "*" not in request.path for request in QUICK)
    plan = made_plan([], "a", "b", kind="null", facts=QUICK)
    lines = [line for line in write_plan(plan).splitlines() if line.startswith("fact ")]
    assert len(lines) == len(set(QUICK))


def test_namespaces_are_tried_as_the_user_that_we_are() -> None:
    assert "--map-root-user" in namespaces_argv(root=False)
    assert "--user" not in namespaces_argv(root=True)
    assert namespaces_argv(root=True)[-1] == "true"


def test_the_machine_is_described_with_advice_for_what_does_not_work() -> None:
    found = look()
    assert found.cores >= 1
    names = [capability.name for capability in found.capabilities]
    assert len(names) == len(set(names))
    assert {"clock", "counters", "namespaces", "netem", "htb", "ip", "tc", "ethtool"} <= set(names)
    assert all(capability.detail for capability in found.capabilities)


@pytest.mark.parametrize(
    ("nics", "works", "seen"),
    [
        ({"eth0": "12", "lo": "5"}, True, "eth0"),
        ({"lo": "5"}, False, "no network interface but the loopback"),
        ({"eth0": "no number"}, False, "not readable: eth0"),
    ],
)
def test_counters_of_the_loopback_prove_nothing(
    tmp_path: Path, nics: dict[str, str], works: bool, seen: str
) -> None:
    for name, text in nics.items():
        (tmp_path / name / "statistics").mkdir(parents=True)
        (tmp_path / name / "statistics" / "tx_bytes").write_text(text)
    capability = doctor._counters(tmp_path)
    assert capability.works is works
    assert seen in capability.detail
    assert bool(capability.advice) is not works


def test_an_interruption_ends_doctor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ending = SimpleNamespace(ended="interrupted", reason="interrupted by the user")
    stopped = SimpleNamespace(folder=tmp_path / "run", ending=ending)
    command = SimpleNamespace(expect="")
    monkeypatch.setattr(doctor, "_command", lambda *_: command)
    monkeypatch.setattr(doctor, "provenance", lambda *_: None)
    monkeypatch.setattr(doctor, "measure", lambda *_, **__: stopped)
    with pytest.raises(KeyboardInterrupt):
        doctor.try_transport("null")
