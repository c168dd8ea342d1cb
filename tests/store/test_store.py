"""Store: a run folder is sealed whole, read back the same, and what is not ours is refused."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import msgspec
import pytest
from tests.records import PROVENANCE, estimate, holds, opened, pair_result, point_record

from wireproof.model.claim import Claim, HostClaim
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.plan import Plan, Point, RankPlace, Transport
from wireproof.model.record import Frame, PairResult, PointRecord, Start, WitnessReading
from wireproof.model.run import Missing, RunDocument
from wireproof.store import seal as sealing
from wireproof.store.history import entries
from wireproof.store.load import load_document, load_run, migrate
from wireproof.store.seal import seal, table_differences
from wireproof.workflow.locate import from_table

CLAIM = Claim(hosts=[HostClaim(rank=0, host="n1"), HostClaim(rank=1, host="n2")])
ESTIMATE = estimate(1.5, blocks=2)


def pair(origin: int, batches: list[float], blocks: list[int]) -> PairResult:
    return pair_result(
        origin,
        origin + 1,
        operations_per_batch=10,
        batch_ns=batches,
        block_batches=blocks,
        messages_backward=1,
        payload_backward_bytes=8,
        estimate=ESTIMATE,
    )


def record(number: int, pairs: list[PairResult]) -> PointRecord:
    reading = WitnessReading(rank=0, interval_ns=1.0, counters={"net/eth0/tx_bytes": (1, 2)})
    return point_record(number, pattern="pingpong", form="latency", pairs=pairs, witness=[reading])


OPENED = opened(abi="nompi", transport="null")
FRAMES: list[Frame] = [
    OPENED,
    Start(id=0),
    record(0, [pair(0, [10.0, 11.0, 12.0], [2, 1]), pair(2, [20.0], [1])]),
    Start(id=1),
    record(1, [pair(0, [30.0, 31.0], [1])]),
]


def document(points: int = 3) -> RunDocument:
    planned = tuple(
        Point(id=i, pattern="pingpong", message_bytes=8, pairs=((0, 1),)) for i in range(points)
    )
    ranks = (RankPlace(index=0, host="n1"), RankPlace(index=1, host="n2"))
    plan = Plan(
        run_id="it's", seed=1, transport=Transport(kind="null"), ranks=ranks, points=planned
    )
    return RunDocument(
        claim=CLAIM,
        provenance=PROVENANCE,
        plan=plan,
        missing={2: Missing("rank-lost", "a rank was killed by SIGKILL")},
    )


def folder_of(
    path: Path, frames: list[Frame], tail: bytes = b"", told: RunDocument | None = None
) -> Path:
    path.mkdir(exist_ok=True)
    (path / "run.json").write_bytes(msgspec.json.encode(told or document()))
    (path / "frames.jsonl").write_bytes(
        b"".join(msgspec.json.encode(frame) + b"\n" for frame in frames) + tail
    )
    return path


def rows(path: Path, columns: str) -> list[tuple[object, ...]]:
    with duckdb.connect() as database:
        return database.execute(f"SELECT {columns} FROM read_parquet(?)", [str(path)]).fetchall()  # noqa: S608


def test_a_run_is_read_back_with_the_reason_of_each_missing_point(tmp_path: Path) -> None:
    run = load_run(folder_of(tmp_path, FRAMES))
    assert run.open == OPENED
    assert run.points == [frame for frame in FRAMES if isinstance(frame, PointRecord)]
    assert (run.claim, run.provenance) == (CLAIM, PROVENANCE)
    assert run.missing == {2: Missing("rank-lost", "a rank was killed by SIGKILL")}


def test_a_run_whose_recorder_was_killed_says_so(tmp_path: Path) -> None:
    cut_off = msgspec.structs.replace(document(), missing={})
    run = load_run(folder_of(tmp_path, FRAMES[:3], b'{"frame":"point","id":1,"pa', cut_off))
    assert [point.id for point in run.points] == [0]
    assert run.missing == dict.fromkeys(
        (1, 2), Missing("cut-short", "the recording was cut off before it contained a reason")
    )


@pytest.mark.parametrize("name", ["plain", "it's [a] *folder?"])
def test_sealing_keeps_every_pair_and_every_batch_in_its_block(tmp_path: Path, name: str) -> None:
    folder = folder_of(tmp_path / name, FRAMES, b'{"frame":"point","id":2')
    assert seal(folder) == [folder / "points.parquet", folder / "batches.parquet"]
    assert rows(folder / "points.parquet", "point, origin, target, median_ns, label, batches") == [
        (0, 0, 1, 1.5, "stable", 3),
        (0, 2, 3, 1.5, "stable", 1),
        (1, 0, 1, 1.5, "stable", 2),
    ]
    assert rows(folder / "batches.parquet", "point, origin, batch, block, elapsed_ns") == [
        (0, 0, 0, 0, 10.0),
        (0, 0, 1, 0, 11.0),
        (0, 0, 2, 1, 12.0),
        (0, 2, 0, 0, 20.0),
        (1, 0, 0, 0, 30.0),
        (1, 0, 1, None, 31.0),
    ]
    assert sorted(it.name for it in folder.iterdir()) == [
        "batches.parquet",
        "frames.jsonl",
        "points.parquet",
        "run.json",
    ]


def test_sealed_files_carry_their_schema_and_the_run(tmp_path: Path) -> None:
    seal(folder_of(tmp_path, FRAMES))
    with duckdb.connect() as database:
        query = "SELECT key, value FROM parquet_kv_metadata(?)"
        stored = dict(database.execute(query, [str(tmp_path / "points.parquet")]).fetchall())
    assert stored[b"wireproof_schema"] == b"1"
    assert stored[b"run_id"] == b"it's"


def test_sealing_again_gives_the_same_tables(tmp_path: Path) -> None:
    seal(folder_of(tmp_path, FRAMES))
    before = rows(tmp_path / "points.parquet", "*")
    seal(tmp_path)
    assert rows(tmp_path / "points.parquet", "*") == before


def test_a_run_without_a_point_is_sealed_to_nothing(tmp_path: Path) -> None:
    assert seal(folder_of(tmp_path, FRAMES[:2])) == []
    assert not list(tmp_path.glob("*.parquet"))


def test_without_duckdb_the_frames_stay_and_what_needs_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run, its tables, a table of pairs, an old table of a history."""
    sealed, fresh = (folder_of(tmp_path / name, FRAMES) for name in ("sealed", "fresh"))
    seal(sealed)
    (tmp_path / "index").mkdir()
    for name in ("index/entries-x.parquet", "pairs.parquet"):
        (tmp_path / name).write_bytes(b"")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert seal(fresh) == table_differences(fresh) == []
    assert len(load_run(fresh).points) == len(load_run(sealed).points)
    asked: tuple[Callable[[], object], ...] = (
        lambda: table_differences(sealed),
        lambda: from_table(tmp_path / "pairs.parquet", None),
        lambda: entries(tmp_path),
    )
    for ask in asked:
        with pytest.raises(CouldNotMeasure, match=r"needs DuckDB.* `pip install duckdb`"):
            ask()


def test_a_seal_that_fails_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder_of(tmp_path, FRAMES)
    monkeypatch.setattr(sealing, "_BATCHES", "SELECT no_such_column FROM frames")
    with pytest.raises(CouldNotMeasure, match="its frames are kept"):
        seal(tmp_path)
    assert sorted(it.name for it in tmp_path.iterdir()) == ["frames.jsonl", "run.json"]


def test_a_point_that_the_tables_would_lose_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB turns what does not fit into NULL when it may pass over a torn line, and is an error
    when it may not.
    """
    monkeypatch.setitem(sealing._COLUMNS, "pairs", "INTEGER[]")
    for tail in (b"", b'{"frame":"point","id":2'):
        with pytest.raises(CouldNotMeasure, match="frames are kept"):
            seal(folder_of(tmp_path, FRAMES, tail))
    assert not list(tmp_path.glob("*.parquet"))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is damaged"),
        (b"[1]", "was not written by wireproof"),
        (b'{"kind":"something else","schema":1}', "was not written by wireproof"),
        (b'{"kind":"wireproof-run"}', "no schema version"),
        (b'{"kind":"wireproof-run","schema":true}', "no schema version"),
        (b'{"kind":"wireproof-run","schema":99}', "was made by a newer wireproof"),
        (b'{"kind":"wireproof-run","schema":0}', "can no longer read"),
        (b'{"kind":"wireproof-run","schema":1}', "is damaged"),
        (b"\xff\xfe", "is damaged"),
    ],
)
def test_what_is_not_ours_is_refused(tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(BadInput, match=told):
        load_document(tmp_path)


def test_a_folder_without_a_run_and_no_folder_at_all_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"it contains no run\.json"):
        load_run(tmp_path)
    with pytest.raises(BadInput, match="is not a folder"):
        seal(tmp_path / "none")


@pytest.mark.parametrize(
    "line", [b'{"frame":"point","id":"x"}\n', b'{"frame":"surprise"}\n', b"hello\n"]
)
def test_a_damaged_line_is_told_not_passed_over(tmp_path: Path, line: bytes) -> None:
    folder_of(tmp_path, FRAMES)
    path = tmp_path / "frames.jsonl"
    path.write_bytes(path.read_bytes() + line)
    with pytest.raises(BadInput, match=r"frames\.jsonl"):
        load_run(tmp_path)


def test_old_documents_are_brought_up_step_by_step() -> None:
    old = {"kind": "wireproof-run", "schema": 0, "tool": "w"}
    steps = {
        0: lambda it: {**it, "wireproof": it["tool"]},
        1: lambda it: {key: value for key, value in it.items() if key != "tool"},
    }
    new = migrate(old, "x", steps=steps, target=2)
    assert new == {"kind": "wireproof-run", "schema": 2, "wireproof": "w"}
    assert old == {"kind": "wireproof-run", "schema": 0, "tool": "w"}


STORED = Path(__file__).with_name("data") / "run-schema-1.json"


def test_the_stored_document_of_schema_1_is_still_read(tmp_path: Path) -> None:
    """The file was written by the first version and is never changed: whoever changes the schema
    writes a migration.
    """
    (tmp_path / "run.json").write_bytes(STORED.read_bytes())
    assert json.loads(STORED.read_bytes())["schema"] == 1
    stored = load_document(tmp_path)
    holds(
        stored, ended="rank-lost", missing={1: Missing("rank-lost", "a rank was ended by SIGKILL")}
    )
    assert [point.id for point in stored.plan.points] == [0, 1]
    assert stored.claim.hosts[0].nic == "hsn0"


def test_a_sealed_folder_of_schema_1_is_still_read() -> None:
    """It was written and sealed when ``missing`` held sentences only."""
    folder = STORED.with_name("run-folder-schema-1")
    assert json.loads((folder / "run.json").read_bytes())["schema"] == 1
    run = load_run(folder)
    killed = "rank 1 on n2 was ended by SIGKILL at point 2 (pingpong, 8 B)"
    assert run.missing == {
        2: Missing("rank-lost", killed),
        3: Missing("rank-lost", killed, reached=False),
        4: Missing("no-result", "the engine sent no result for it"),
        5: Missing("deadline", "deadline: the point took 30 s"),
    }
    before = json.loads((folder / "run.json").read_bytes())["missing"]
    assert {str(point): str(why) for point, why in run.missing.items()} == before
    assert rows(folder / "points.parquet", "point, median_ns")[0] == (0, 1.5)


@pytest.mark.parametrize(
    ("sentence", "ended", "expected"),
    [
        ("Ctrl-C", "interrupted", Missing("interrupted", "Ctrl-C")),
        ("not reached: no space", "disk-full", Missing("disk-full", "no space", reached=False)),
        ("connection reset", "rank-lost", Missing("failed", "connection reset")),
        ("rank 5 on n5 was lost: ssh", "done", Missing("rank-lost", "rank 5 on n5 was lost: ssh")),
        ("the point timed out", "failed", Missing("deadline", "the point timed out")),
        ("", "failed", Missing("failed", "")),
    ],
)
def test_sentences_of_schema_1_are_classified_once(
    sentence: str, ended: str, expected: Missing
) -> None:
    old = {"kind": "wireproof-run", "schema": 1, "ended": ended, "missing": {"1": sentence}}
    assert msgspec.convert(migrate(old, "x")["missing"]["1"], Missing) == expected
    assert old["missing"] == {"1": sentence}


@pytest.mark.parametrize("missing", [[], 7, {"1": 7}, {"1": ["a"]}])
def test_what_was_never_a_reason_is_refused_as_damaged(tmp_path: Path, missing: object) -> None:
    stored = {**json.loads(STORED.read_bytes()), "missing": missing}
    (tmp_path / "run.json").write_text(json.dumps(stored))
    with pytest.raises(BadInput, match="is damaged"):
        load_document(tmp_path)


def test_a_block_of_a_billion_batches_takes_no_more_room_than_there_are(tmp_path: Path) -> None:
    """One number in a record decides how many rows are made: it is bounded by what was timed."""
    from tests.security.memory import within_1_gib

    frames = [*FRAMES]
    at = next(number for number, one in enumerate(frames) if isinstance(one, PointRecord))
    first = frames[at]
    assert isinstance(first, PointRecord)
    huge = msgspec.structs.replace(first, pairs=[pair(0, [1.0, 2.0], [1 << 30, 1 << 40])])
    frames[at] = huge
    folder = folder_of(tmp_path, frames)
    within_1_gib(seal, folder)
    assert len(rows(folder / "batches.parquet", "batch")) < 100
