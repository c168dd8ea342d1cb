"""Open a table of pairs. DuckDB, an optional dependency, reads CSV of any size and Parquet; without
it, a CSV file of up to ``MOST_PLAIN`` lines is read into memory.
"""

import contextlib
import csv
import gzip
import math
import zlib
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from wireproof.files.hostile import open_regular
from wireproof.model.errors import BadInput, reading
from wireproof.model.located import Metric
from wireproof.model.quantity import whole
from wireproof.store.pair_table import (
    LONGEST_LINE,
    MOST_NODES,
    VALUES,
    PairColumns,
    PairTable,
    chosen_columns,
    is_parquet,
    natural,
    opened_by_duckdb,
    plain_name,
    refuse_empty,
    refuse_no_text,
    starts_of,
)
from wireproof.store.seal import first_line, has_duckdb, need_duckdb, without_duckdb


class PlainPairs:
    """A small table in memory, with the methods of ``PairTable``, which handles tables of any
    size."""

    def __init__(
        self, metric: Metric, nodes: tuple[str, ...], columns: PairColumns, left_out: int
    ) -> None:
        self.metric, self.nodes, self.left_out = metric, nodes, left_out
        self.rows = len(columns.value)
        self._columns = columns

    def everything(self) -> PairColumns:
        """Return every row."""
        return self._columns

    def medians(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the median of each node's pairs, as origin and as target (NaN: none)."""
        return self._median(self._columns.origin), self._median(self._columns.target)

    def _median(self, side: NDArray[np.int32]) -> NDArray[np.float64]:
        order = np.lexsort((self._columns.value, side))
        starts = starts_of(side[order])
        middle = starts + (np.diff([*starts, len(order)]) - 1) // 2
        found = np.full(len(self.nodes), np.nan)
        found[side[order[starts]]] = self._columns.value[order[middle]]
        return found

    def worst(
        self, expected_tx: NDArray[np.float64], expected_rx: NDArray[np.float64], limit: int
    ) -> list[Any]:
        """Return the pairs that are farthest below the values of both their nodes elsewhere:
        (origin, target, value, ratio).
        """
        pairs = self._columns
        tx, rx = expected_tx[pairs.origin], expected_rx[pairs.target]
        least, most = np.fmin(tx, rx), np.fmax(tx, rx)
        bad = pairs.value / least if self.metric == "goodput" else most / pairs.value
        rows = np.argsort(bad, kind="stable")[:limit]
        columns = (pairs.origin, pairs.target, pairs.value, bad)
        return list(zip(*(column[rows].tolist() for column in columns), strict=True))


MOST_PLAIN = 4_000_000
"""Maximum number of rows of a table that is read without DuckDB."""
_SEPARATORS = (",", ";", "\t", "|")
_LONGEST_NAME = 255


def _plain_lines(file: BinaryIO | gzip.GzipFile, path: Path) -> Iterator[str]:
    for _ in range(MOST_PLAIN + 2):  # the heading and the end of the file
        line = file.readline(LONGEST_LINE)
        if len(line) == LONGEST_LINE:
            raise BadInput(f"{path} cannot be read as a table of pairs: a line is too long.")
        if not line:
            return
        yield line.decode("utf-8-sig")
    raise without_duckdb(f"reading more than {MOST_PLAIN} rows of {path}")


class _PlainRows:
    """Collects the rows of a table; ``names``: its columns."""

    def __init__(self, names: Sequence[str], path: Path) -> None:
        origin, target, number, value = chosen_columns(names, path)
        self.metric, self._factor = VALUES[plain_name(value)]
        self._path, self._width = path, len(names)
        self._ends, self._value = (names.index(origin), names.index(target)), names.index(value)
        self._round = None if number is None else names.index(number)
        self._nodes: dict[str, int] = {}
        self._pairs, self._values, self._left_out = array("i"), array("d"), 0

    def add(self, row: Sequence[str]) -> None:
        if len(row) != self._width:
            raise BadInput(
                f"{self._path} cannot be read as a table of pairs: a row has {len(row)} columns, "
                f"but its first line has {self._width}."
            )
        names = [row[end].strip() for end in self._ends]
        if not all(names):
            return
        ends = [self._nodes.setdefault(name, len(self._nodes)) for name in names]
        if max(map(len, names)) > _LONGEST_NAME or len(self._nodes) > MOST_NODES:
            raise BadInput(
                f"{self._path} contains more than {MOST_NODES} nodes, or a node name of more than"
                f" {_LONGEST_NAME} characters: are these pairs of nodes?"
            )
        if ends[0] == ends[1]:
            return
        value = (_number(row[self._value]) or 0.0) * self._factor
        if not 0.0 < value < math.inf:
            self._left_out += 1
            return
        part = 0 if self._round is None else whole(row[self._round].strip()) or 0
        self._pairs.extend((*ends, min(part, MOST_PLAIN)))
        self._values.append(value)

    def table(self) -> PlainPairs:
        nodes = tuple(sorted(self._nodes, key=natural))
        place = np.empty(len(nodes), dtype=np.int32)
        place[[self._nodes[name] for name in nodes]] = np.arange(len(nodes))
        pairs = np.array(self._pairs, dtype=np.int32).reshape(-1, 3)
        columns = PairColumns(
            place[pairs[:, 0]], place[pairs[:, 1]], pairs[:, 2], np.array(self._values)
        )
        return PlainPairs(self.metric, nodes, columns, self._left_out)


def _number(text: str) -> float | None:
    if "_" in text:  # Python would read 1_000 as a number, but a table that contains it is damaged
        return None
    with contextlib.suppress(ValueError):
        return float(text)
    return None


def _plain_table(file: BinaryIO, path: Path) -> PlainPairs:
    """Read a CSV file, compressed with gzip or not, without DuckDB."""
    packed = path.suffix.lower() == ".gz"
    try:
        with gzip.GzipFile(fileobj=file) if packed else contextlib.nullcontext(file) as source:
            lines = _plain_lines(source, path)
            first = next(lines, "")
            separator = max(_SEPARATORS, key=first.count)
            rows = _PlainRows([name.strip(' "\r\n') for name in first.split(separator)], path)
            for row in filter(None, csv.reader(lines, delimiter=separator, strict=True)):
                rows.add(row)
    except (csv.Error, EOFError, zlib.error, gzip.BadGzipFile, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read as a table of pairs: {first_line(error)}") from error
    return rows.table()


@contextlib.contextmanager
def open_pairs(path: Path) -> Iterator[PairTable | PlainPairs]:
    """Open the pairs of ``path``. Rows without a positive, finite number, or of a node with itself,
    are left out.

    Raises ``BadInput`` if the file is not a table of pairs, ``CouldNotMeasure`` if there is not
    enough space to read it, or DuckDB is needed and not installed.
    """
    try:
        file = open_regular(path)
    except OSError as error:
        raise BadInput(
            f"{path} is not a readable file ({error.strerror}): give a Parquet or CSV table"
            " of pairs, or a folder of a check."
        ) from error
    with file:
        with reading(path):
            refuse_no_text(path, file)
        if not has_duckdb() and not is_parquet(path) and path.suffix.lower() != ".zst":
            with reading(path):
                table = _plain_table(file, path)
            refuse_empty(table.rows, path)
            yield table
            return
        need_duckdb(f"reading the table of pairs {path}")
        with opened_by_duckdb(file, path) as pairs:
            yield pairs
