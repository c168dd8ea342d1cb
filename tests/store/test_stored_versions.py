"""What earlier versions stored is read by every subcommand; what a later one did is refused."""

import gzip
import json
import re
import shutil
from pathlib import Path

import msgspec
import pytest

from wireproof.archive.compare import compare
from wireproof.archive.gate import gate
from wireproof.archive.history import ages, entry_called, found, regressions, trends
from wireproof.archive.logs import add, judged_again
from wireproof.measure.report import report
from wireproof.measure.resume import recall
from wireproof.model.errors import BadInput
from wireproof.report.reporter import LoggingReporter
from wireproof.store.history import RESULTS as FOLDER
from wireproof.store.snapshot import read_snapshot

STORED = Path(__file__).parents[1] / "golden" / "stored"
RESULTS = sorted(
    str(path.relative_to(STORED))
    for name in ("measure", "ring", "check")
    for path in STORED.glob(f"*/{name}")
)
HISTORIES = sorted(str(path.relative_to(STORED)) for path in STORED.glob("*/history"))
SAY = LoggingReporter()


@pytest.fixture
def copy(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return Path(shutil.copytree(STORED / request.param, tmp_path / "stored"))


def test_every_version_is_there() -> None:
    kinds = {path.split("/")[0] for path in RESULTS}
    assert kinds == {"run-1-first", "run-1", "run-2", "result-1-first", "result-1"}
    assert len(HISTORIES) == 2


@pytest.mark.parametrize("copy", RESULTS, indirect=True)
def test_a_result_is_reported_gated_and_added(copy: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    (again,) = report([copy], SAY, page=page)
    (part,) = again.parts
    assert part.section.run.points
    assert again.verdict == "inconclusive"  # a model's numbers prove nothing
    assert page.read_text().count("</html>") == 1
    assert gate(copy).verdict == "inconclusive"
    history = tmp_path / "history"
    name = add(history, copy, SAY).id
    assert [one.id for one in found(history)] == [name]
    assert report([history / FOLDER / entry_called(history, name).id], SAY, pages=False)


@pytest.mark.parametrize("one", RESULTS)
def test_a_result_is_compared_with_one_of_today(one: str) -> None:
    other = STORED / "result-1" / "check"
    if STORED / one == other:
        other = STORED / "run-1" / "check"
    rows = compare(STORED / one, other, SAY).rows
    assert rows
    assert {row.conclusion for row in rows} == {"not-compared"}
    assert all(row.reason for row in rows)


@pytest.mark.parametrize("copy", HISTORIES, indirect=True)
def test_a_history_is_listed_trended_and_added_to(copy: Path) -> None:
    known = found(copy)
    assert len(known) == 13
    (trend,) = trends(known)
    assert (trend.name, len(trend.values), len(trend.changes)) == ("stream", 12, 1)
    assert regressions(known) == []  # the newest was played by a model
    assert {one.node for one in ages(known) if one.age_s is not None} == {"n1", "n2"}
    assert (copy / FOLDER / entry_called(copy, "last").id).is_dir()
    add(copy, STORED / "run-1" / "ring", SAY)
    assert len(found(copy)) == 14


def test_an_imported_log_is_listed_trended_and_judged() -> None:
    (one,) = found(STORED / "imported-1", "n2")
    assert (one.measured, one.imported.dated) == ("2026-11-20T19:49:25+00:00", "log")
    assert {trend.name for trend in trends([one])} == {"imb PingPong, 2 ranks"}
    assert judged_again(STORED / "imported-1", one, one.imported).verdict == one.verdict


@pytest.mark.parametrize("one", ["run-1/check", "result-1/check"])
def test_a_check_says_how_it_was_asked(one: str) -> None:
    assert recall(STORED / one).hosts == ["h1", "h2", "h3"]


def test_one_that_does_not_say_it_is_not_resumed() -> None:
    with pytest.raises(BadInput, match="does not state which command created it"):
        recall(STORED / "run-1-first" / "measure")


@pytest.mark.parametrize("version", [1, 2])
def test_a_snapshot_is_read(version: int) -> None:
    (facts,) = read_snapshot(STORED / f"snapshot-{version}" / "settings.snapshot").values()
    assert any(one.path == "/proc/cpuinfo" and "GenuineIntel" in one.text for one in facts)


def _later(path: Path, key: str, changed: dict[str, object]) -> None:
    """The same file as a later version might write it: other fields, other types."""
    lines = path.read_text().splitlines()
    first = json.loads(lines[0] if path.suffix == ".jsonl" else path.read_text())
    rest = lines[1:] if path.suffix == ".jsonl" else []
    path.write_text("\n".join([json.dumps({**first, key: 99, **changed}), *rest, ""]))


@pytest.mark.parametrize("copy", ["result-1/check"], indirect=True)
@pytest.mark.parametrize(
    ("name", "key", "changed"),
    [
        ("result.json", "schema", {"parts": "elsewhere"}),
        ("run/run.json", "schema", {"plan": 7}),
        ("run/frames.jsonl", "schema", {}),
    ],
)
def test_a_result_of_a_newer_version_is_refused(
    copy: Path, name: str, key: str, changed: dict[str, object], tmp_path: Path
) -> None:
    _later(copy / name, key, changed)
    said = f"{re.escape(name)} was made by a newer wireproof .* update wireproof"
    with pytest.raises(BadInput, match=said):
        report([copy], SAY, pages=False)
    with pytest.raises(BadInput, match=said):
        add(tmp_path / "history", copy, SAY)
    with pytest.raises(BadInput, match=said):
        compare(copy, STORED / "run-1" / "check", SAY)
    assert not (tmp_path / "history").exists()


@pytest.mark.parametrize("copy", ["result-1/check"], indirect=True)
def test_a_gate_does_not_pass_a_newer_version(copy: Path) -> None:
    _later(copy / "result.json", "schema", {})
    found_gate = gate(copy)
    assert found_gate.verdict == "inconclusive"
    assert "was made by a newer wireproof" in found_gate.reason


@pytest.mark.parametrize("copy", HISTORIES, indirect=True)
def test_a_history_of_a_newer_version_is_refused(copy: Path) -> None:
    (loose,) = (copy / "index").glob("*.json")
    _later(loose, "version", {"numbers": {"stream": 1}})
    with pytest.raises(BadInput, match=r"\.json was made by a newer wireproof") as told:
        found(copy)
    assert "Remove it" not in str(told.value)


def test_a_snapshot_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    packed = (STORED / "snapshot-2" / "settings.snapshot").read_bytes()
    document = msgspec.msgpack.decode(gzip.decompress(packed))
    file = tmp_path / "settings.snapshot"
    file.write_bytes(gzip.compress(msgspec.msgpack.encode({**document, "version": 3, "texts": 1})))
    with pytest.raises(BadInput, match=r"settings\.snapshot was made by a newer wireproof"):
        read_snapshot(file)
