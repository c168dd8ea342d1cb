"""What the pages of a history are made of says the same as the history itself."""

import random
from pathlib import Path

import msgspec
import pytest
from tests.archive.test_history import entry, noisy

from wireproof.archive.board import MOST_POINTS, Board, grouped
from wireproof.archive.history import ages, regressions, trends
from wireproof.model.history import Entry
from wireproof.model.located import Attachment, Fabric
from wireproof.store.history import add_entry


def board_of(root: Path, known: list[Entry]) -> Board:
    for one in known:
        add_entry(root, one)
    (root / "index").mkdir(exist_ok=True)
    return Board(root)


def test_nodes_are_as_old_as_in_the_history(tmp_path: Path) -> None:
    rng = random.Random(5)
    verdicts = ["pass", "fail", "inconclusive"]
    known = [
        entry(day, nodes={f"n{rng.randrange(20)}": rng.choice(verdicts) for _ in range(4)})
        for day in range(60)
    ]
    future = msgspec.structs.replace(entry(99), measured="2199-01-01T00:00:00+00:00")
    known = [*known, msgspec.structs.replace(future, nodes={"n3": "pass", "new": "pass"})]
    board = board_of(tmp_path, known)
    shown = {one.node: one for group in board.groups() for one in group.nodes}
    expected = {one.node: one for one in ages(known)}
    assert shown.keys() == expected.keys()
    for name, one in expected.items():
        assert (shown[name].state, shown[name].proven) == (one.verdict, one.measured)
    assert shown["new"].age_s is None


def test_numbers_and_their_changes_are_those_of_the_history(tmp_path: Path) -> None:
    known = noisy(40, at=25, factor=0.9)
    board = board_of(tmp_path, random.Random(1).sample(known, len(known)))
    (line,) = board.series("f")
    found = board.trend(line)
    (expected,) = trends(known)
    assert found == expected
    assert found.changes[0].changed == ["driver: 5.0 -> 5.1"]
    assert board.regressions == regressions(known)
    assert (line.results, line.newest.id) == (40, "r00039")


def test_the_newest_of_a_long_series_are_shown(tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    from wireproof.store import history as store

    store._write_table(tmp_path, [entry(day, 1e10 + day) for day in range(MOST_POINTS + 7)])
    board = board_of(tmp_path, [])
    (line,) = board.series("f")
    found = board.trend(line)
    assert (len(found.values), found.ids[0], found.ids[-1]) == (MOST_POINTS, "r00007", "r00506")
    assert line.results == MOST_POINTS + 7


def test_reasons_are_of_the_last_result(tmp_path: Path) -> None:
    bad = {"n1": "fail", "n2": "inconclusive"}
    known = [
        entry(1, nodes=bad, reasons={"n1 is slow": ["n1"], "too few": ["n2"]}),
        entry(2, nodes={"n2": "pass"}),
    ]
    shown = {one.node: one for group in board_of(tmp_path, known).groups() for one in group.nodes}
    assert (shown["n1"].reason, shown["n2"].reason) == ("n1 is slow", "")


def test_results_of_a_node(tmp_path: Path) -> None:
    known = [entry(1, nodes={"n1": "pass"}), entry(2, nodes={"n1": "fail", "n2": "pass"})]
    latest = board_of(tmp_path, known).latest(2)
    assert latest("n9") == ([], 0)
    assert [(one.id, verdict) for one, verdict in latest("n1")[0]] == [
        ("r00002", "fail"),
        ("r00001", "pass"),
    ]
    newest, total = board_of(tmp_path, [entry(3, nodes={"n1": "pass"})]).latest(2)("n1")
    assert ([one.id for one, _ in newest], total) == (["r00003", "r00002"], 3)


@pytest.mark.parametrize("text", [b"{", b"\xff", b'{"id": 1}', b"[" * 100_000])
def test_a_damaged_entry_is_named_and_the_others_are_shown(tmp_path: Path, text: bytes) -> None:
    add_entry(tmp_path, entry(1))
    (tmp_path / "index" / "bad.json").write_bytes(text)
    for name in ("bad.parquet", "bad.jsonl.gz"):
        (tmp_path / "index" / name).write_bytes(text)
    board = board_of(tmp_path, [])
    assert [one.id for one in board.entries] == ["r00001"]
    assert len(board.troubles) == 3
    assert all("bad." in one for one in board.troubles)


def test_a_newer_entry_is_named(tmp_path: Path) -> None:
    newer = msgspec.structs.replace(entry(2), version=99)
    board = board_of(tmp_path, [entry(1), newer])
    assert [one.id for one in board.entries] == ["r00001"]
    assert "newer wireproof" in board.troubles[0]


def test_no_history_is_said() -> None:
    (trouble,) = Board(Path("/nowhere/at/all")).troubles
    assert "does not exist" in trouble
    assert "wireproof check --history" in trouble


def test_an_entry_counts_once_wherever_it_is(tmp_path: Path) -> None:
    from wireproof.store import history as store

    (tmp_path / "index").mkdir()
    store._write_table(tmp_path, [entry(1), entry(2)])
    board = board_of(tmp_path, [entry(2, verdict="fail")])
    assert [(one.id, one.verdict) for one in board.entries] == [
        ("r00001", "pass"),
        ("r00002", "fail"),  # written anew by `history add`
    ]


def test_nodes_stand_below_their_switches() -> None:
    fabric = Fabric(
        attachments=tuple(Attachment(node=f"n{at}", switch=f"leaf{at % 2}") for at in range(1, 5)),
        levels={"leaf0": 1, "leaf1": 1},
    )
    assert grouped(["n2", "n1", "n10"], fabric.leaves) == (
        True,
        [("leaf0", ["n2", "n4"]), ("leaf1", ["n1", "n3"]), ("no known switch", ["n10"])],
    )
    assert grouped(["a1", "a2"], {"other": "leaf"}) == (False, [("a[1-2]", ["a1", "a2"])])
    assert grouped([], {}) == (False, [])
    names = [f"n{at:04}" for at in range(200)]
    blocks = grouped(names, {})[1]
    assert [len(nodes) for _, nodes in blocks] == [64, 64, 64, 8]
    assert blocks[0][0] == "n[0000-0063]"


def test_a_topology_of_the_results_is_used(tmp_path: Path) -> None:
    place = tmp_path / "results" / "r00001"
    place.mkdir(parents=True)
    part = {"fabric": {"attachments": [{"node": "n1", "switch": "leaf7"}], "levels": {"leaf7": 1}}}
    (place / "result.json").write_bytes(msgspec.json.encode({"parts": [part, {}]}))
    board = board_of(tmp_path, [entry(1, fabric=True, nodes={"n1": "pass"}), entry(0)])
    assert board.leaf == {"n1": "leaf7"}
    (place / "result.json").write_bytes(b"{")
    assert "is damaged" in board_of(tmp_path, []).troubles[0]
