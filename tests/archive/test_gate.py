"""The gate: what a result says of each node, and every dialect fails closed."""

import json
import os
import threading
import time
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from tests.gate_results import NOW, asked, stored
from tests.records import group_result
from tests.synthetic import World, lab, run_of

from wireproof.archive import gate as module
from wireproof.locate.confirm import conclude
from wireproof.locate.node import joined_nodes, node_verdicts
from wireproof.locate.samples import samples_of
from wireproof.locate.screen import screen
from wireproof.locate.verdict import with_located
from wireproof.model.errors import BadInput
from wireproof.model.finding import Finding, GroupVerdict, Node, Whole
from wireproof.model.located import Located
from wireproof.model.run import Missing, NodeVerdict, Run
from wireproof.report.gate import DIALECTS
from wireproof.store.result import read_result, write_result
from wireproof.verdict.run import judge


def nodes_of(world: World) -> dict[str, NodeVerdict]:
    run = run_of(world)
    judgement, located = judge(run), list[Located]()
    samples = samples_of(run)
    if samples is not None and len(samples.nodes) > 2:
        located = [conclude(screen(samples, None), None)]
        judgement = with_located(judgement, located)
    return {one.node: one for one in node_verdicts(run, judgement, located)}


def test_every_node_of_a_healthy_cluster_passes() -> None:
    found = nodes_of(lab(nodes=6, sizes=(8, 1 << 20)))
    assert len(found) == 6
    assert {(one.verdict, one.proof) for one in found.values()} == {("pass", "on-wire")}
    assert all(one.passing > 0 for one in found.values())


def test_a_slow_node_fails_and_its_partners_pass() -> None:
    found = nodes_of(lab(nodes=6, sizes=(8, 1 << 20), speed=lambda a, b: 0.4 if a == 2 else 1.0))
    assert found.pop("n3").verdict == "fail"
    assert {one.verdict for one in found.values()} == {"pass"}


def test_a_slow_pair_is_undecided_for_both_ends() -> None:
    found = nodes_of(lab(nodes=2, sizes=(8, 1 << 20), speed=lambda a, b: 0.4 if a == 0 else 1.0))
    assert {one.verdict for one in found.values()} <= {"inconclusive", "fail"}


@pytest.mark.parametrize(
    "world",
    [lab(nodes=2, path="shm"), lab(nodes=2, path="mgmt"), lab(nodes=2, wire=False)],
    ids=["memory", "another port", "no wire claimed"],
)
def test_what_did_not_use_the_wire_is_never_healthy(world: World) -> None:
    assert "pass" not in {one.verdict for one in nodes_of(world).values()}


def with_findings(run: Run, *findings: Finding) -> list[NodeVerdict]:
    found = judge(run)
    return node_verdicts(run, msgspec.structs.replace(found, findings=list(findings)))


def test_what_is_found_of_the_run_leaves_every_node_undecided() -> None:
    run = run_of(lab(nodes=4))
    finding = Finding(code="x", severity="fail", message="the run is odd", about=Whole())
    assert {one.verdict for one in with_findings(run, finding)} == {"inconclusive"}
    older = msgspec.structs.replace(finding, about=None)
    assert {one.verdict for one in with_findings(run, older)} == {"inconclusive"}


def test_its_own_fault_speaks_before_what_is_open_for_all() -> None:
    run = run_of(lab(nodes=3))
    own = Finding(code="x", severity="fail", message="n2 is ill", about=Node("n2"))
    whole = Finding(code="y", severity="fail", message="the run is odd")
    found = {one.node: one for one in with_findings(run, whole, own)}
    assert (found["n2"].verdict, found["n2"].reason) == ("fail", "n2 is ill")
    assert found["n1"].verdict == "inconclusive"


def test_a_played_world_proves_nothing() -> None:
    run = run_of(lab(nodes=3))
    played = msgspec.structs.replace(run, claim=msgspec.structs.replace(run.claim, played=True))
    assert {one.verdict for one in node_verdicts(played, judge(run))} == {"inconclusive"}


def test_a_node_without_a_result_is_not_healthy() -> None:
    run = run_of(lab(nodes=3))
    judgement = judge(run)
    left = [one for one in judgement.pairs if "n3" not in (one.origin_host, one.target_host)]
    found = node_verdicts(run, msgspec.structs.replace(judgement, pairs=left))
    assert [one.verdict for one in found] == ["pass", "pass", "inconclusive"]
    assert found[2].reason == "it was not measured"


def test_a_repeat_does_not_settle_a_path_that_is_not_proven() -> None:
    run = run_of(lab(nodes=2))
    judgement = judge(run)
    open_ = msgspec.structs.replace(judgement.pairs[0], verdict="inconclusive", proof="unproven")
    found = node_verdicts(run, msgspec.structs.replace(judgement, pairs=[open_, *judgement.pairs]))
    assert {one.verdict for one in found} == {"inconclusive"}


def test_a_repeat_of_another_formula_settles_nothing() -> None:
    run = run_of(lab(nodes=2))
    judgement = judge(run)
    open_ = msgspec.structs.replace(judgement.pairs[0], verdict="inconclusive")
    other = msgspec.structs.replace(open_, formula="osu")
    more = [[open_, *judgement.pairs], [other, *judgement.pairs]]
    verdicts = [
        {one.verdict for one in node_verdicts(run, msgspec.structs.replace(judgement, pairs=pairs))}
        for pairs in more
    ]
    assert verdicts == [{"pass"}, {"inconclusive"}]


def test_a_group_that_does_not_pass_leaves_its_nodes_undecided() -> None:
    run = run_of(lab(nodes=3))
    judgement = judge(run)
    point = msgspec.structs.replace(run.points[0], id=99, pairs=[], group=group_result(2))
    run = msgspec.structs.replace(run, points=[*run.points, point])
    group = GroupVerdict(
        point=99,
        pattern="ring",
        message_bytes=8,
        members=2,
        nodes=2,
        value=1.0,
        low=1.0,
        high=1.0,
        half_width=0.0,
        label="stable",
        proof="on-wire",
        verdict="inconclusive",
    )
    judgement = msgspec.structs.replace(judgement, groups=[group])
    found = node_verdicts(run, judgement)
    assert [one.verdict for one in found] == ["inconclusive", "inconclusive", "pass"]
    assert found[0].reason == "1 of its results do not pass, such as ring of 8 B of 2 ranks"
    own = Finding(code="x", severity="fail", message="n2 is ill", about=Node("n2"))
    found = node_verdicts(run, msgspec.structs.replace(judgement, findings=[own]))
    assert [one.verdict for one in found] == ["pass", "fail", "pass"]


def test_parts_are_joined_by_the_worst_and_absence_is_no_evidence() -> None:
    good = NodeVerdict(node="n1", verdict="pass", reason="", proof="on-wire", passing=2)
    bad = NodeVerdict(node="n1", verdict="fail", reason="slow")
    other = NodeVerdict(node="n2", verdict="pass", reason="", proof="on-wire", passing=1)
    assert [one.verdict for one in joined_nodes([[good, other], [bad]])] == ["fail", "pass"]


# --- a stored result


def test_a_fresh_pass_is_healthy(tmp_path: Path) -> None:
    found = asked(stored(tmp_path / "a"))
    assert (found.verdict, found.subject) == ("pass", "n[1-3]")
    assert 0 <= found.age_s < 7200  # since this file was read, with the tests before
    assert asked(tmp_path / "a", "n2").verdict == "pass"


@pytest.mark.parametrize(
    ("when", "said"),
    [(NOW - timedelta(days=2), "older than 24 h"), (NOW + timedelta(hours=1), "from the future")],
)
def test_a_pass_that_is_old_or_from_the_future_is_not(
    tmp_path: Path, when: datetime, said: str
) -> None:
    found = asked(stored(tmp_path / "a", when=when))
    assert found.verdict == "inconclusive"
    assert said in found.reason
    assert {one.verdict for one in found.nodes} == {"inconclusive"}


def test_a_fail_stays_until_a_newer_result(tmp_path: Path) -> None:
    world = lab(nodes=2, path="shm")
    old = stored(tmp_path / "all" / "a", world, when=NOW - timedelta(days=9))
    before = asked(old).verdict
    assert before != "pass"
    os.utime(old / "result.json", (NOW.timestamp() - 900,) * 2)
    stored(tmp_path / "all" / "b")
    assert asked(tmp_path / "all").verdict == "pass"


def test_the_newest_is_what_was_measured_last_and_not_what_was_copied_last(tmp_path: Path) -> None:
    lie = lab(nodes=2, path="shm")
    stored(tmp_path / "new", lie, when=NOW - timedelta(hours=1))
    os.utime(tmp_path / "new" / "result.json", (NOW.timestamp() - 3000,) * 2)
    stored(tmp_path / "old", lab(nodes=2), when=NOW - timedelta(hours=3))  # copied just now
    found = asked(tmp_path, "n1")
    assert found.source.endswith("new")
    assert found.verdict != "pass"


def test_what_goes_meanwhile_or_leads_nowhere_hides_no_result(tmp_path: Path) -> None:
    stored(tmp_path / "a")
    (tmp_path / "latest").symlink_to(tmp_path / "gone")
    assert asked(tmp_path, "n1").verdict == "pass"


def test_a_history_is_a_folder_of_results(tmp_path: Path) -> None:
    stored(tmp_path / "results" / "a")
    assert asked(tmp_path, "n1").verdict == "pass"


@pytest.mark.parametrize(
    "started",
    ["", "yesterday", "0001-01-01T00:00:00+14:00", NOW.replace(tzinfo=None).isoformat()],
    ids=["none", "a word", "before all", "no zone"],
)
def test_a_result_without_a_date_is_undecided_in_every_dialect(
    tmp_path: Path, started: str
) -> None:
    folder = stored(tmp_path / "a")
    result = read_result(folder)
    run = result.parts[0].run
    run = msgspec.structs.replace(
        run, provenance=msgspec.structs.replace(run.provenance, started=started)
    )
    parts = [msgspec.structs.replace(result.parts[0], run=run), result.parts[0]]
    write_result(folder, msgspec.structs.replace(result, parts=parts))
    found = asked(folder)
    assert found.verdict == "inconclusive"
    assert all(one.text(found) for one in DIALECTS.values())


def test_an_interrupted_result_is_read_and_undecided(tmp_path: Path) -> None:
    folder = stored(tmp_path / "a")
    result = read_result(folder)
    run = msgspec.structs.replace(
        result.parts[0].run, missing={7: Missing("interrupted", "interrupted by the user")}
    )
    part = msgspec.structs.replace(result.parts[0], run=run, verdict="inconclusive")
    write_result(folder, msgspec.structs.replace(result, parts=[part]))
    again = read_result(folder)
    assert again.parts[0].run.missing == run.missing
    assert "does not pass" in asked(folder).reason


def test_a_line_without_a_rate_is_refused(tmp_path: Path) -> None:
    folder = stored(tmp_path / "a")
    document = json.loads((folder / "result.json").read_text())
    document["parts"][0]["run"]["claim"]["link"]["rate_bits_per_s"] = 0
    (folder / "result.json").write_text(json.dumps(document))
    with pytest.raises(BadInput, match=r"rate_bits_per_s is 0"):
        read_result(folder)


def test_the_evidence_is_as_old_as_its_oldest_part(tmp_path: Path) -> None:
    new = read_result(stored(tmp_path / "new"))
    old = read_result(stored(tmp_path / "old", when=NOW - timedelta(days=2)))
    write_result(tmp_path / "new", msgspec.structs.replace(new, parts=[*new.parts, *old.parts]))
    assert "older than 24 h" in asked(tmp_path / "new").reason


@pytest.mark.parametrize(
    "nodes", ["n9", "n[1-3],n9", "here"], ids=["another", "one of them", "this host"]
)
def test_a_node_that_took_no_part_is_not_healthy(tmp_path: Path, nodes: str) -> None:
    assert asked(stored(tmp_path / "a"), nodes).verdict == "inconclusive"
    assert asked(tmp_path, "n9").verdict == "inconclusive"


def damaged(folder: Path) -> Path:
    (stored(folder) / "result.json").write_text("{")
    return folder


def of_nothing(folder: Path) -> Path:
    return stored(folder, parts=0)


def empty(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.mark.parametrize("make", [damaged, of_nothing, empty, lambda folder: folder / "gone"])
@pytest.mark.parametrize("nodes", [None, "n1"])
def test_no_evidence_is_never_healthy(tmp_path: Path, make: object, nodes: str) -> None:
    assert callable(make)
    found = asked(make(tmp_path / "a"), nodes)
    assert found.verdict == "inconclusive"
    assert found.reason


def test_the_answer_comes_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hung = threading.Event()
    monkeypatch.setattr(module, "newest_result", lambda source, wanted: hung.wait(30) and None)
    found = asked(tmp_path, "n1", within_s=0.05)
    hung.set()
    assert found.verdict == "inconclusive"
    assert "could not be read within" in found.reason


def broken(folder: Path, hosts: str, quiet_s: float) -> Path:
    """A check that was begun after all others and broke off ``quiet_s`` ago."""
    (folder / "run").mkdir(parents=True)
    named = [{"host": name} for name in hosts.split()]
    path = folder / "run" / "run.json"
    path.write_text(json.dumps({"kind": "wireproof-run", "claim": {"hosts": named, "wire": True}}))
    os.utime(path, (time.time() - quiet_s,) * 2)  # the time of NOW is that of the import
    return folder


def test_a_newer_check_that_broke_off_hides_an_older_pass(tmp_path: Path) -> None:
    old = stored(tmp_path / "all" / "a", lab(nodes=2))
    os.utime(old / "result.json", (NOW.timestamp() - 7200,) * 2)
    assert asked(tmp_path / "all").verdict == "pass"
    place = broken(tmp_path / "all" / "b", "n1 n2", 3600)
    found = asked(tmp_path / "all", "n1")
    assert found.verdict == "inconclusive"
    assert f"{place} is a newer check that did not end" in found.reason
    os.utime(old / "result.json", (NOW.timestamp() - 60,) * 2)  # the pass is the newer one
    assert asked(tmp_path / "all").verdict == "pass"


def test_a_check_that_runs_now_or_is_of_other_nodes_hides_nothing(tmp_path: Path) -> None:
    old = stored(tmp_path / "all" / "a", lab(nodes=3))
    os.utime(old / "result.json", (NOW.timestamp() - 7200,) * 2)
    broken(tmp_path / "all" / "running", "n1 n2 n3", 60)
    assert asked(tmp_path / "all").verdict == "pass"
    broken(tmp_path / "all" / "other", "n1 n2", 3600)
    assert asked(tmp_path / "all", "n3").verdict == "pass"
    assert asked(tmp_path / "all", "n2").verdict == "inconclusive"
    assert asked(tmp_path / "all").verdict == "inconclusive"


@pytest.mark.parametrize("nodes", ["", " ", "\t"])
@pytest.mark.parametrize("dialect", ["text", "nhc", "nagios", "slurm", "npd"])
def test_an_empty_node_name_is_no_pass(tmp_path: Path, nodes: str, dialect: str) -> None:
    from click.testing import CliRunner

    from wireproof.cli.judge import gate

    stored(tmp_path / "a")
    words = [str(tmp_path / "a"), "--node", nodes, "--dialect", dialect]
    done = CliRunner().invoke(gate, words, standalone_mode=False)
    if dialect == "text":
        assert "--node is empty" in str(done.exception)
    else:
        assert done.return_value not in (0, None)
        assert "--node is empty" in done.output
