"""Hosts compared with a golden host, and against themselves at an earlier time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from wireproof.audit.alike import differences, reference_for
from wireproof.audit.job import AuditSpecification, audit, catalogue
from wireproof.model.errors import BadInput
from wireproof.model.setting import AuditResult
from wireproof.report.failing import unread
from wireproof.report.reporter import LoggingReporter
from wireproof.store.snapshot import read_snapshot, write_snapshot


def result(name: str, host: str, seen: str = "", status: str = "pass", **more: Any) -> AuditResult:
    return AuditResult(id=name, host=host, status=status, seen=seen, **more)  # type: ignore[arg-type]


def held(mine: list[AuditResult], golden: list[AuditResult]) -> list[tuple[str, str]]:
    references: dict[str, list[AuditResult]] = {}
    for one in golden:
        references.setdefault(one.host, []).append(one)
    return [(one.id, one.status) for one in differences(mine, references, catalogue())]


def test_what_differs_fails_and_what_is_equal_passes_whatever_the_catalogue_wants():
    mine = [result("cpu-governor", "n2", "powersave", "fail"), result("smt", "n2", "1", "fail")]
    golden = [result("cpu-governor", "n1", "performance"), result("smt", "n1", "1", "fail")]
    assert held(mine, golden) == [("cpu-governor", "fail"), ("smt", "pass")]


def test_what_was_not_read_on_either_side_is_unknown_and_never_equal():
    for mine, golden in (("unknown", "pass"), ("pass", "unknown"), ("unknown", "unknown")):
        found = held([result("smt", "n2", status=mine)], [result("smt", "n1", status=golden)])
        assert found == [("smt", "unknown")]


@pytest.mark.parametrize(
    ("name", "golden", "command"),
    [
        ("ring-rx", "8192", "ring-rx=8192 --allow-link-down"),
        ("huge-pages", "always [madvise] never", "huge-pages=madvise"),
        ("coalescing-adaptive", "off TX: off", "coalescing-adaptive=off"),
        ("offload-tso", "on [requested off]", "offload-tso=on"),
        ("tcp-rmem", "4096 131072 67108864", "'tcp-rmem=4096 131072 67108864'"),
    ],
)
def test_the_command_copies_the_golden_value_not_that_of_the_catalogue(
    name: str, golden: str, command: str
):
    mine = result(name, "n2", "1", "fail", fix=f"`wireproof tune apply {name}`: another value")
    (found,) = differences([mine], {"n1": [result(name, "n1", golden)]}, catalogue())
    assert found.fix == f"`wireproof tune apply {command}`"


@pytest.mark.parametrize("golden", [("n1", "n1"), ("n2", "n3")])
def test_hosts_on_which_the_same_was_not_read_are_one_line(golden: tuple[str, str]):
    title = catalogue().get("smt").setting.title
    lost = [
        result("smt", host, status="unknown", message=f"{title}: gone") for host in ("n2", "n3")
    ]
    references = {host: [msgspec.structs.replace(lost[0], host=host)] for host in golden}
    (line,) = unread(differences(lost, references, catalogue()))
    assert line.who == "n[2-3]"


def test_a_value_that_the_catalogue_cannot_judge_is_compared():
    mine, golden = result("mtu", "n2", "1500", "unknown"), result("mtu", "n1", "9000", "unknown")
    assert held([mine], [golden]) == [("mtu", "fail")]
    assert held([golden], [golden]) == [("mtu", "pass")]


def test_what_only_one_host_has_differs():
    golden = [result("cpu-governor", "n1", status="not-applicable")]
    assert held([result("cpu-governor", "n2", "performance")], golden) == [("cpu-governor", "fail")]


def test_interfaces_of_other_names_are_held_against_each_other_in_their_order():
    mine = [result("mtu", "n2", seen, instance=f"ens{at}") for at, seen in enumerate("ab")]
    golden = [result("mtu", "n1", seen, instance=f"hsn{at}") for at, seen in enumerate("ax")]
    assert held(mine, golden) == [("mtu", "pass"), ("mtu", "fail")]
    assert held(mine, golden[:1]) == [("mtu", "unknown"), ("mtu", "unknown")]


def test_a_host_is_held_against_itself_first():
    references = {"n1": [], "n2": []}
    assert reference_for("n2", references) == "n2"
    assert reference_for("n3", references) == ""
    assert reference_for("n3", {"n1": []}) == "n1"


def changed(path: Path, out: Path, change: Callable[[str], str], host: str) -> Path:
    """A copy of a snapshot of one host in which ``change`` was done to every text."""
    (facts,) = read_snapshot(path).values()
    write_snapshot(
        out, {host: [msgspec.structs.replace(one, text=change(one.text)) for one in facts]}
    )
    return out


@pytest.mark.engine
def test_drift_of_this_machine_is_found_in_its_snapshots(tmp_path: Path):
    def audited(**more: Any) -> Any:
        return audit(AuditSpecification(**more), LoggingReporter(), {})

    before = tmp_path / "before.snap"
    host = audited(snapshot=before).hosts[0]
    (value,) = {
        fact.text.strip()
        for fact in read_snapshot(before)[host]
        if fact.path == "/proc/sys/net/core/rmem_max"
    }
    folder = tmp_path / "result"
    folder.mkdir()
    changed(before, folder / "settings.snapshot", lambda text: text.replace(value, "77777"), host)
    same = audited(source=before, against=str(before))
    assert not [one for one in same.results if one.status == "fail"]
    found = audited(source=folder, against=str(before))
    (drift,) = [one for one in found.results if one.id == "rmem-max"]
    assert (drift.status, drift.seen) == ("fail", "77777")
    assert drift.wanted == f"{value}, as on {host} at that time"
    other = changed(folder / "settings.snapshot", tmp_path / "other.snap", str, "n9")
    both = {**read_snapshot(before), **read_snapshot(other)}
    write_snapshot(tmp_path / "two.snap", both)
    stranger = changed(before, tmp_path / "stranger.snap", str, "n8")
    with pytest.raises(BadInput, match="has 2 hosts, but none is called n8"):
        audited(source=stranger, against=str(tmp_path / "two.snap"))
