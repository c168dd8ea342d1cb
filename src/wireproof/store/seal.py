"""Seal a run folder: write points and raw batches as Parquet files, each atomically."""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from wireproof.files.held import CAN_HOLD, held_folder, open_until_end
from wireproof.files.hostile import open_regular
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.frames import MAX_LINE_BYTES
from wireproof.model.record import PointRecord
from wireproof.store.load import FRAMES, each_frame, load_document

if TYPE_CHECKING:
    import duckdb


POINTS, BATCHES = "points.parquet", "batches.parquet"
_MEMORY = "4GB"
"""A check of 10,000 hosts takes 0.7 GB; records from other sources may need any amount."""
SCHEMA = 1
"""Version of the tables' columns, stored in the metadata of the files."""

_PAIR = """STRUCT(
    origin INTEGER, target INTEGER, status VARCHAR, stop VARCHAR, operations_per_batch BIGINT,
    batch_ns DOUBLE[], block_batches BIGINT[], messages_forward BIGINT, messages_backward BIGINT,
    payload_forward_bytes BIGINT, payload_backward_bytes BIGINT, window_used BIGINT,
    warmup STRUCT(operations BIGINT, elapsed_ns DOUBLE, stationary BOOLEAN),
    estimate STRUCT(median_ns DOUBLE, low_ns DOUBLE, high_ns DOUBLE, blocks BIGINT,
        effective_blocks DOUBLE, autocorrelation DOUBLE, half_width DOUBLE, label VARCHAR),
    target_elapsed_ns DOUBLE, formula_value_ns DOUBLE, integrity VARCHAR, origin_core INTEGER,
    target_core INTEGER)[]"""
_COLUMNS = {
    "frame": "VARCHAR",
    "id": "BIGINT",
    "repeat": "BIGINT",
    "pattern": "VARCHAR",
    "form": "VARCHAR",
    "message_bytes": "BIGINT",
    "window": "BIGINT",
    "window_kind": "VARCHAR",
    "formula": "VARCHAR",
    "started_unix_ns": "BIGINT",
    "elapsed_ns": "DOUBLE",
    "pairs": _PAIR,
}
_PAIRS = """SELECT id AS point, coalesce(repeat, 0) AS repeat, pattern, form, message_bytes,
    "window", coalesce(window_kind, '') AS window_kind, formula, started_unix_ns, elapsed_ns,
    unnest(pairs) AS pair
    FROM frames WHERE frame = 'point'"""
_POINTS = f"""SELECT * EXCLUDE (pair), pair.origin, pair.target, pair.status, pair.stop,
    pair.operations_per_batch, len(pair.batch_ns) AS batches, pair.messages_forward,
    pair.messages_backward, pair.payload_forward_bytes, pair.payload_backward_bytes,
    pair.window_used, pair.warmup.operations AS warmup_operations,
    pair.warmup.elapsed_ns AS warmup_elapsed_ns, pair.warmup.stationary AS warmup_stationary,
    pair.estimate.median_ns, pair.estimate.low_ns, pair.estimate.high_ns, pair.estimate.blocks,
    pair.estimate.effective_blocks, pair.estimate.autocorrelation, pair.estimate.half_width,
    pair.estimate.label, pair.target_elapsed_ns, pair.formula_value_ns, pair.integrity,
    pair.origin_core, pair.target_core
    FROM ({_PAIRS}) ORDER BY point, pair.origin"""  # noqa: S608  constants only
_BATCHES = f"""WITH pairs AS ({_PAIRS}),
    batches AS (SELECT point, repeat, pair.origin AS origin, pair.target AS target,
        pair.operations_per_batch AS operations_per_batch, unnest(pair.batch_ns) AS elapsed_ns,
        unnest(range(len(pair.batch_ns))) AS batch FROM pairs),
    blocks AS (SELECT point, pair.origin AS origin, unnest(pair.block_batches) AS size,
        len(pair.batch_ns) AS most, unnest(range(len(pair.block_batches))) AS block FROM pairs),
    members AS (SELECT point, origin, block, unnest(range(least(size, most))) AS within
        FROM blocks),
    labels AS (SELECT point, origin, block,
        row_number() OVER (PARTITION BY point, origin ORDER BY block, within) - 1 AS batch
        FROM members)
    SELECT batches.*, block FROM batches LEFT JOIN labels USING (point, origin, batch)
    ORDER BY point, origin, batch"""  # noqa: S608  constants only


def _quoted(text: str) -> str:
    """Return a text as an SQL literal, because DuckDB does not accept parameters for file names in
    COPY."""
    return "'" + text.replace("'", "''") + "'"


def has_duckdb() -> bool:
    """Return whether DuckDB, an optional dependency, is installed."""
    return importlib.util.find_spec("duckdb") is not None


def without_duckdb(purpose: str) -> CouldNotMeasure:
    """Return the error for an operation that needs DuckDB."""
    return CouldNotMeasure(
        f"{purpose} needs DuckDB, which is not installed: install it with `pip install duckdb`."
    )


def need_duckdb(purpose: str) -> None:
    """Raise ``CouldNotMeasure`` if DuckDB is not installed."""
    if not has_duckdb():
        raise without_duckdb(purpose)


def open_database(memory: str, scratch: str = "", threads: int = 1) -> duckdb.DuckDBPyConnection:
    """Return an empty database that loads no extension. Without ``scratch``, no data is spilled to
    disk.

    Every thread reserves address space, and the C library ends the process if a thread gets none
    (`ulimit -v`). DuckDB starts 8 more for I/O, which local files do not need.
    """
    import duckdb

    config: dict[str, str | bool | int | float | list[str]] = {
        "threads": str(threads),
        "memory_limit": memory,
        "temp_directory": scratch,
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    database = duckdb.connect(config=config)
    with contextlib.suppress(
        duckdb.CatalogException
    ):  # DuckDB before 2.0 does not have this setting
        database.execute("SET async_threads = 0")
    return database


def seal(folder: Path) -> list[Path]:
    """Write ``points.parquet`` (a row per pair of a point) and ``batches.parquet`` (a row per timed
    batch).

    Returns the files; none for a run without points, or without DuckDB. Raises ``BadInput`` if
    ``folder`` is not a run of wireproof or is damaged, and ``CouldNotMeasure`` if the files cannot
    be written; in that case no partial file remains.
    """
    run_id = load_document(folder).plan.run_id
    wanted = _wanted(folder)
    if wanted[0] == 0 or not has_duckdb():
        return []
    import duckdb

    try:
        with (
            held_folder(folder) as held,
            _drafts(folder if held is None else Path(f"/proc/self/fd/{held}")) as fresh,
            open_regular(folder / FRAMES, follow=False) as frames,
            open_database(_MEMORY) as database,
        ):
            database.execute(_view(place_of(frames, folder / FRAMES), frames))
            _check_complete(database, wanted)
            for name, query in ((POINTS, _POINTS), (BATCHES, _BATCHES)):
                database.execute(_copy(query, fresh[name], run_id))
            return [folder / _publish(path).name for path in fresh.values()]
    except (duckdb.Error, UnicodeDecodeError, OSError) as error:
        raise CouldNotMeasure(_reason(folder, error)) from error


@contextlib.contextmanager
def _drafts(place: Path) -> Iterator[dict[str, Path]]:
    """Provide temporary files, which are removed before and after."""
    fresh = {name: place / f".{name}.new" for name in (POINTS, BATCHES)}
    try:
        for path in fresh.values():
            path.unlink(missing_ok=True)  # DuckDB would write through a link there
        yield fresh
    finally:
        for path in fresh.values():
            with contextlib.suppress(OSError):
                path.unlink()


def is_tabled(folder: Path) -> bool:
    """Return whether a run has both of its tables."""
    return all((folder / name).is_file() for name in (POINTS, BATCHES))


def table_differences(folder: Path) -> list[str]:
    """Return a clause for each table of a run that differs from its frames; empty if it was never
    sealed. Raise ``BadInput`` for a file that is not a table.
    """
    there = [name for name in (POINTS, BATCHES) if (folder / name).is_file()]
    if not there:
        return []
    need_duckdb(f"comparing {folder / there[0]} with the frames")
    import duckdb

    clauses = []
    try:
        with (
            open_regular(folder / FRAMES, follow=False) as frames,
            open_database(_MEMORY) as database,
        ):
            database.execute(_view(place_of(frames, folder / FRAMES), frames))
            for name in there:
                with open_regular(folder / name, follow=False) as file:
                    place = _quoted(place_of(file, folder / name))
                    query = _POINTS if name == POINTS else _BATCHES
                    if not _alike(database, f"SELECT * FROM read_parquet({place})", query):  # noqa: S608
                        clauses.append(f"{name} has other rows than {FRAMES}")
    except (duckdb.Error, UnicodeDecodeError, OSError) as error:
        raise BadInput(f"{folder}: {first_line(error)}.") from error
    return clauses


def _alike(database: duckdb.DuckDBPyConnection, first: str, second: str) -> bool:
    """Return whether two queries return the same rows, in any order."""
    return not any(
        database.execute(f"({a}) EXCEPT ALL ({b}) LIMIT 1").fetchall()
        for a, b in ((first, second), (second, first))
    )


def place_of(file: BinaryIO, path: Path) -> str:
    """Return the name that DuckDB must open to read exactly ``file``, even if ``path`` now refers
    to another file. If the system cannot keep folders open, return ``path`` with ``*``, ``?`` and
    ``[`` escaped.
    """
    if CAN_HOLD:
        return f"/proc/self/fd/{file.fileno()}"
    return re.sub(r"([*?\[])", r"[\1]", str(path))


def _is_torn(frames: BinaryIO) -> bool:
    """Return whether the last line has no line end, because the recorder was killed while
    writing."""
    frames.seek(-1, os.SEEK_END)
    return frames.read(1) != b"\n"


def _view(place: str, frames: BinaryIO) -> str:
    """Return SQL for the point frames as a table; ``frames`` is the same file. DuckDB needs the
    length of the longest line: it allocates several times that, and 0.5 GB for the largest allowed
    line.

    Errors are ignored only if the last line is torn, because DuckDB then converts all invalid
    values to NULL.
    """
    columns = ", ".join(f"{_quoted(name)}: {_quoted(kind)}" for name, kind in _COLUMNS.items())
    lines = iter(lambda: frames.readline(MAX_LINE_BYTES), b"")
    longest = max(map(len, lines), default=1)
    torn = _is_torn(frames)
    options = (
        f"format = 'newline_delimited', maximum_object_size = {longest + 1}, columns ="
        f" {{{columns}}}"
    )
    source = f"{_quoted(place)}, ignore_errors = {'true' if torn else 'false'}, {options}"
    return f"CREATE VIEW frames AS SELECT * FROM read_json({source})"  # noqa: S608  constants and a number


def _copy(query: str, path: Path, run_id: str) -> str:
    metadata = f"KV_METADATA {{wireproof_schema: '{SCHEMA}', run_id: {_quoted(run_id)}}}"
    return f"COPY ({query}) TO {_quoted(str(path))} (FORMAT parquet, COMPRESSION zstd, {metadata})"


def _wanted(folder: Path) -> tuple[int, int, int]:
    """Return the points, pairs and batches that the sealed files must contain, counted in the
    frames; if a point was measured twice, the last measurement counts.
    """
    sizes: dict[int, tuple[int, int]] = {}
    for frame in each_frame(folder):
        if isinstance(frame, PointRecord):
            batches = sum(len(pair.batch_ns) for pair in frame.pairs)
            sizes[frame.id] = (len(frame.pairs), batches)
    return (
        len(sizes),
        sum(pairs for pairs, _ in sizes.values()),
        sum(one for _, one in sizes.values()),
    )


def _check_complete(database: duckdb.DuckDBPyConnection, wanted: tuple[int, int, int]) -> None:
    """Raise ``CouldNotMeasure`` if DuckDB read fewer points, pairs or batches: only a torn last
    line may be skipped.
    """
    sums = "count(pattern), coalesce(sum(len(pairs)), 0)"
    batches = "coalesce(sum(list_sum([len(pair.batch_ns) for pair in pairs])), 0)"
    counts = database.execute(
        f"SELECT {sums}, {batches}, count(*) FROM frames WHERE frame = 'point'"  # noqa: S608
    ).fetchone()
    if counts is None or tuple(map(int, counts)) != (*wanted, wanted[0]):
        raise CouldNotMeasure(
            f"sealing found {counts} points, pairs and batches, not {wanted}: the frames are kept."
        )


def _publish(fresh: Path) -> Path:
    """Give a complete file its final name."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
    with open_until_end(os.open(fresh, flags)) as descriptor:
        os.fchmod(descriptor, 0o600)
        os.fsync(descriptor)
    return fresh.replace(fresh.with_name(fresh.name.removeprefix(".").removesuffix(".new")))


def first_line(error: Exception) -> str:
    """Return DuckDB's message, or a sentence for names that are not UTF-8."""
    if isinstance(error, UnicodeDecodeError):
        return "it contains text that is not UTF-8"
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__


def _reason(folder: Path, error: Exception) -> str:
    text = first_line(error)
    if "No space" in text or getattr(error, "errno", None) == errno.ENOSPC:
        return (
            f"no space is left for the tables of {folder}; its frames are kept: free some space, "
            "and `wireproof resume` completes the result."
        )
    return f"the run in {folder} cannot be sealed; its frames are kept: {text}"
