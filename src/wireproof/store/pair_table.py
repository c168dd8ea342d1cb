"""Read a table of pairs from a Parquet or CSV file of any size, by DuckDB in bounded memory.

A matrix of 10,000 nodes has 100 million directed pairs. `locate` needs only a sample of every
node's pairs (20 to 60 partners per node are enough), the medians of all nodes, and the few worst
pairs.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from wireproof.files.held import temporary_folder
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.located import Metric
from wireproof.model.quantity import whole
from wireproof.store.seal import first_line, open_database

if TYPE_CHECKING:
    import duckdb


MEMORY_LIMIT = "2500MB"
MOST_NODES = 200_000
BINS = 1000
"""Logarithmic bins per factor of e."""
_ORIGIN = ("origin", "from", "src", "source", "sender", "node1", "host1", "node_a", "client")
_TARGET = (
    "target",
    "to",
    "dst",
    "dest",
    "destination",
    "receiver",
    "node2",
    "host2",
    "node_b",
    "server",
)
_ROUND = ("round", "point", "repeat", "step")
VALUES: dict[str, tuple[Metric, float]] = {
    "goodput_bytes_per_s": ("goodput", 1.0),
    "bytes_per_s": ("goodput", 1.0),
    "mb_per_s": ("goodput", 1e6),
    "mbytes_per_s": ("goodput", 1e6),
    "gb_per_s": ("goodput", 1e9),
    "mib_per_s": ("goodput", 1 << 20),
    "gbit_per_s": ("goodput", 1e9 / 8),
    "mbit_per_s": ("goodput", 1e6 / 8),
    "hrt_ns": ("hrt", 1.0),
    "latency_ns": ("hrt", 1.0),
    "hrt_us": ("hrt", 1e3),
    "latency_us": ("hrt", 1e3),
    "usec": ("hrt", 1e3),
}
"""Map a column name (lower case; other characters than letters and digits become _) to metric and
factor.
"""


@dataclasses.dataclass(frozen=True)
class PairColumns:
    """Columns of equal length: indices into the table's nodes, and values in the metric's unit."""

    origin: NDArray[np.int32]
    target: NDArray[np.int32]
    round: NDArray[np.int32]
    value: NDArray[np.float64]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def plain_name(name: str) -> str:
    """Return a column's name in the form used in ``VALUES``."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower().replace("/s", "_per_s")).strip("_")


def _column(names: Mapping[str, str], wanted: Sequence[str]) -> str | None:
    return next((names[one] for one in wanted if one in names), None)


def starts_of(ordered: NDArray[Any]) -> NDArray[np.intp]:
    """Return the index at which each run of equal values begins."""
    return np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])


class PairTable:
    """An open table. ``nodes`` in natural order. ``metric``: from the name of the value column.
    ``left_out``: rows between two nodes without a positive, finite number.
    """

    def __init__(
        self,
        database: duckdb.DuckDBPyConnection,
        metric: Metric,
        nodes: tuple[str, ...],
        rows: int,
        left_out: int = 0,
    ) -> None:
        self._database = database
        self.metric = metric
        self.nodes = nodes
        self.rows = rows
        self.left_out = left_out

    def _columns(self, query: str) -> PairColumns:
        columns = self._database.execute(query).fetchnumpy()

        def column(name: str, kind: Any) -> NDArray[Any]:
            return np.ascontiguousarray(np.ma.filled(columns[name], 0), dtype=kind)

        return PairColumns(
            column("o", np.int32),
            column("t", np.int32),
            column("r", np.int32),
            column("v", np.float64),
        )

    def everything(self) -> PairColumns:
        """Return every row."""
        return self._columns("SELECT o, t, r, v FROM pairs ORDER BY ALL")

    def sample(self, partners: int) -> PairColumns:
        """Return about ``partners`` pairs of each node in each direction, selected by a hash, so
        that the sample is the same every time.
        """
        share = min(1.0, partners * len(self.nodes) / max(1, self.rows))
        bound = int(share * (1 << 20))
        # Arithmetic instead of DuckDB's hash, which may change between versions.
        chosen = f"((o::BIGINT * 2654435761 + t::BIGINT * 40503 + 12345) % 1048573) <= {bound}"
        return self._columns(f"SELECT o, t, r, v FROM pairs WHERE {chosen}")  # noqa: S608  numbers only

    def medians(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the median of each node's pairs, as origin and as target (NaN: none), to 0.1 %."""
        return self._binned("o"), self._binned("t")

    def _binned(self, side: str) -> NDArray[np.float64]:
        """Return the median of the rows of each node on one side, by counting in logarithmic bins
        of 0.1 %, so that no group is kept in memory or sorted.
        """
        table = self._database.execute(
            f"SELECT {side}, round(ln(v) * {BINS})::INTEGER AS bin, count(*) AS n FROM pairs"  # noqa: S608
            " GROUP BY ALL ORDER BY ALL"
        ).fetchnumpy()
        node, bins, counts = (np.asarray(np.ma.filled(column, -1)) for column in table.values())
        starts = starts_of(node)
        total = np.add.reduceat(counts, starts)
        running = np.cumsum(counts) - np.repeat(
            np.cumsum(total) - total, np.diff([*starts, len(bins)])
        )
        over = running >= np.repeat(total, np.diff([*starts, len(bins)])) / 2
        first = np.minimum.reduceat(np.where(over, np.arange(len(bins)), len(bins)), starts)
        values = np.full(len(self.nodes), np.nan)
        values[node[starts]] = np.exp(bins[first] / BINS)
        return values

    def worst(
        self, expected_tx: NDArray[np.float64], expected_rx: NDArray[np.float64], limit: int
    ) -> list[Any]:
        """Return the pairs that are farthest below the values of both their nodes elsewhere:
        (origin, target, value, ratio).
        """
        bad = "v / least(a.tx, b.rx)" if self.metric == "goodput" else "greatest(a.tx, b.rx) / v"
        with self._numbers("ends", {"tx": expected_tx, "rx": expected_rx}):
            return self._database.execute(
                f"SELECT o, t, v, {bad} AS ratio FROM pairs JOIN ends a ON a.i = o"  # noqa: S608
                " JOIN ends b ON b.i = t ORDER BY ratio LIMIT ?",
                [limit],
            ).fetchall()

    @contextlib.contextmanager
    def _numbers(self, name: str, columns: Mapping[str, NDArray[Any]]) -> Iterator[None]:
        """Provide columns of numbers by node index as a temporary table."""
        arrays = {"i": np.arange(len(self.nodes), dtype=np.int32), **columns}
        given = ", ".join(f"unnest($c{index}) AS {key}" for index, key in enumerate(arrays))
        values = {f"c{index}": array.tolist() for index, array in enumerate(arrays.values())}
        self._database.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT {given}", values)
        try:
            yield
        finally:
            self._database.execute(f"DROP TABLE {name}")


_PACKED = {".gz": "gzip", ".zst": "zstd"}


def is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")


def _reader(path: Path, descriptor: int) -> str:
    """Return the SQL function that reads the open file. If it got a path, DuckDB would expand ``*``
    and ``[``, and treat ``s3:`` as a remote store.
    """
    source = f"'/proc/self/fd/{descriptor}'"
    if is_parquet(path):
        return f"read_parquet({source})"
    packed = _PACKED.get(path.suffix.lower(), "none")
    return (
        f"read_csv({source}, header = true, compression = '{packed}', parallel = false,"
        f" max_line_size = {LONGEST_LINE}, buffer_size = {_BUFFER})"
    )


LONGEST_LINE = 1 << 16
_BUFFER = 1 << 20
"""DuckDB compares a line with its limit only after it has parsed a whole buffer in many ways. Its
parallel reader silently skips a line that is longer than a buffer.
"""


def refuse_no_text(path: Path, file: BinaryIO) -> None:
    """Raise ``BadInput`` unless a text table begins with a line: DuckDB would search for it through
    gigabytes of zeros, which take no space in a sparse or compressed file.
    """
    head = b"" if is_parquet(path) else file.read(LONGEST_LINE)
    if path.suffix.lower() == ".gz":
        with contextlib.suppress(zlib.error):  # DuckDB explains the error
            head = zlib.decompressobj(wbits=31).decompress(head, LONGEST_LINE)
    file.seek(0)
    if b"\0" in head or (len(head) == LONGEST_LINE and b"\n" not in head):
        raise BadInput(
            f"{path} cannot be read as a table of pairs: it does not begin with a line of column "
            "names."
        )


def chosen_columns(columns: Sequence[str], path: Path) -> tuple[str, str, str | None, str]:
    """Return the columns of origin, target, round and value. Raises ``BadInput``."""
    names = {plain_name(column): column for column in columns}
    origin, target = _column(names, _ORIGIN), _column(names, _TARGET)
    value = _column(names, tuple(VALUES))
    if origin is None or target is None or value is None:
        raise BadInput(
            f"{path} has the columns {', '.join(columns)[:200]}: its first line must contain "
            f"origin, target and one of {', '.join(VALUES)}; `wireproof judge` reads logs."
        )
    return origin, target, _column(names, _ROUND), value


def _create(
    database: duckdb.DuckDBPyConnection, path: Path, source: str
) -> tuple[Metric, tuple[str, ...], int, int]:
    described = database.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()  # noqa: S608  a descriptor
    origin, target, number, value = chosen_columns([row[0] for row in described], path)
    metric, factor = VALUES[plain_name(value)]
    o, t, v = _quoted(origin), _quoted(target), _quoted(value)
    listed = database.execute(
        f"SELECT DISTINCT n::VARCHAR FROM (SELECT DISTINCT {o} AS n FROM {source}"  # noqa: S608
        f" UNION SELECT DISTINCT {t} FROM {source}) WHERE n IS NOT NULL LIMIT {MOST_NODES + 1}"
    ).fetchall()
    if len(listed) > MOST_NODES:
        raise BadInput(f"{path} contains more than {MOST_NODES} nodes: are these pairs of nodes?")
    nodes = tuple(sorted((row[0] for row in listed), key=natural))
    database.execute(
        "CREATE TEMP TABLE names AS SELECT unnest($n) AS name, unnest($i)::INTEGER AS i",
        {"n": list(nodes), "i": list(range(len(nodes)))},
    )
    database.execute("CREATE TYPE node AS ENUM (SELECT name FROM names ORDER BY i)")
    rounds = f"coalesce(try_cast({_quoted(number)} AS INTEGER), 0)" if number else "0"
    between_two = f"{o}::VARCHAR <> {t}::VARCHAR"  # as text: 1.0 and '1.0' are the same node
    goodness = f"try_cast({v} AS DOUBLE)"
    database.execute(
        f"CREATE TEMP TABLE pairs AS SELECT enum_code({o}::VARCHAR::node)::INTEGER AS o,"  # noqa: S608  quoted names
        f" enum_code({t}::VARCHAR::node)::INTEGER AS t, {rounds}::INTEGER AS r,"
        f" ({goodness} * {factor!r})::FLOAT AS v FROM {source}"
        f" WHERE {goodness} > 0 AND isfinite({goodness}) AND {between_two}"
    )
    given = f"SELECT count(*) FROM {source} WHERE {between_two}"  # noqa: S608
    rows, between = (_count(database, query) for query in ("SELECT count(*) FROM pairs", given))
    return metric, nodes, rows, between - rows


def _count(database: duckdb.DuckDBPyConnection, query: str) -> int:
    counted = database.execute(query).fetchone()
    return int(counted[0]) if counted else 0


def natural(name: str) -> list[tuple[int, int, str]]:
    """Return a sort key that puts n2 before n10."""
    parts = re.findall(r"[0-9]{1,18}|[^0-9]+", name)
    return [(1, 0, part) if (number := whole(part)) is None else (0, number, "") for part in parts]


def _threads() -> int:
    """Return the number of threads: one per core, but only one if the address space is limited,
    because each thread reserves 72 MB.
    """
    with contextlib.suppress(ImportError):  # Windows
        import resource

        if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
            return 1
    return os.cpu_count() or 1


def refuse_empty(rows: int, path: Path) -> None:
    """Raise ``BadInput`` for a table without rows."""
    if rows == 0:
        raise BadInput(f"{path} has no pair with a value: there is nothing to locate.")


@contextlib.contextmanager
def opened_by_duckdb(file: BinaryIO, path: Path) -> Iterator[PairTable]:
    """Open the pairs of an open file. Raises as ``open_pairs``."""
    import duckdb

    with temporary_folder("wireproof-pairs-") as scratch:
        try:
            with open_database(MEMORY_LIMIT, scratch, _threads()) as database:
                database.execute("SET preserve_insertion_order = false")
                metric, nodes, rows, left_out = _create(
                    database, path, _reader(path, file.fileno())
                )
                refuse_empty(rows, path)
                yield PairTable(database, metric, nodes, rows, left_out)
        except duckdb.OutOfMemoryException as error:
            raise CouldNotMeasure(
                f"{path} does not fit into memory: raise the memory limit (ulimit -v), free space "
                "for temporary files, or set TMPDIR."
            ) from error
        except (duckdb.Error, UnicodeDecodeError) as error:
            raise BadInput(
                f"{path} cannot be read as a table of pairs: {first_line(error)}"
            ) from error
