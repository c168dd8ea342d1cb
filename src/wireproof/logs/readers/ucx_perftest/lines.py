# pure
"""The lines of ucx_perftest: the last lines of the tests below one heading, without progress lines,
and the lines before its table (the command, the box that the server prints, a script's banner).
"""

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Literal

from wireproof.logs.readers.page import Page
from wireproof.logs.readers.registry import Benchmark, option_of, starts_result
from wireproof.logs.readers.rows import Facts, Rows, What, above, number, scan_rows
from wireproof.model.quantity import whole
from wireproof.model.series import Traffic

_BATCH = re.compile(r"^\s*\+([A-Za-z0-9_][\w/.]{0,80})-+(?:\+|$)")
_THREAD = re.compile(r"^\s*\[thread \d{1,4}\]")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3}){1,5}")
_LONGEST_LINE = 500
_PATIENCE = 2000  # UCX_PROTO_INFO=y prints a table per protocol between the heading and the result
COLUMNS = 8
_THREADED = 4
_DECIMALS = {(0, 3, 3, 3, 2, 2, 0, 0), (0, 3, 2, 0)}
"""Decimals of each column, for one thread and for several."""


@dataclass(frozen=True, slots=True)
class LastLine:
    """A last line. ``texts``: iterations, percentile, average, overall time, then bandwidth and
    rate in pairs.

    ``marked``: the program itself marks it as the last line.
    """

    name: str
    texts: list[str]
    line: int
    marked: bool = True

    @property
    def overall(self) -> tuple[str, str, str]:
        """Overall time (us), bandwidth (MiB/s), messages per second."""
        if len(self.texts) == _THREADED:
            return self.texts[1], self.texts[2], self.texts[3]
        return self.texts[3], self.texts[5], self.texts[7]


@dataclass(slots=True)
class Found:
    """``rows``: the last lines; ``progress``: number of progress lines; ``last``: index of the last
    line of either kind; ``so_far``: the overall rate on the last progress line.
    """

    rows: list[LastLine] = field(default_factory=list)
    progress: int = 0
    last: int = 0
    so_far: str = ""


def _plain(word: str) -> str:
    return word.replace(",", "") if _GROUPED.fullmatch(word) else word


def _is_whole(texts: list[str]) -> bool:
    """Return True if rate x time = 1, as in every complete row: a last line without a line end is
    used only then.
    """
    if len(texts) != COLUMNS:
        return False
    time, rate = number(texts[-5]), number(texts[-1])
    if not time or not rate:
        return False
    return abs(time * 1e-6 * rate - 1) <= 0.01 + 0.5e-6 * time


def _row_of(line: str, heading: str, index: int) -> LastLine | None:
    """Return the last line of a test: ``Final:`` and numbers; under ``Test`` an optional name and
    numbers.
    """
    words = line.split()
    first = next((at for at, word in enumerate(words) if number(_plain(word)) is not None), None)
    if first is None:
        return None
    names = words[:first]
    texts = [_plain(word) for word in words[first : first + COLUMNS]]
    if any(number(text) is None for text in texts[_THREADED:]):
        texts = texts[:_THREADED]
    named = heading == "Test" and len(names) <= 1
    final = named or names == ["Final:"]
    if not _fits(texts) or not (final or not names):
        return None
    return LastLine(names[0] if names and heading == "Test" else "", texts, index, final)


def _fits(texts: list[str]) -> bool:
    """Return True if every column is a number with the decimals that the program prints, which a
    torn row does not have.
    """
    shape = tuple(len(text.partition(".")[2]) for text in texts)
    return shape in _DECIMALS and all(number(text) is not None for text in texts)


def _csv_row(line: str, names: int, index: int) -> LastLine | None:
    """Return the row from a batch's names and the numbers; some versions write ``Final:`` before
    the first number.
    """
    cells = [cell.strip() for cell in line.split(",")]
    texts = cells[names:]
    final = bool(texts) and texts[0].startswith("Final:")
    texts = [texts[0].removeprefix("Final:").strip(), *texts[1:]] if final else texts
    return LastLine("/".join(cells[:names])[:160], texts, index, final) if _fits(texts) else None


def read(page: Page, start: int, heading: str, csv_names: int | None) -> tuple[Rows, Found]:
    """Return the last lines of all tests under one heading. ``csv_names``: number of name columns
    before the numbers, None for a table separated by spaces.
    """
    found, batch = Found(last=start), ""

    def take(rows: Rows, index: int) -> list[str] | What:
        nonlocal batch
        line, last = page.lines[index][:_LONGEST_LINE], None
        if _THREAD.match(line) or ",[thread " in line:
            found.progress, found.so_far = found.progress + 1, _so_far(line, index)
            found.last, rows.idle = index, 0
        elif csv_names is not None:
            last = _csv_row(line, csv_names, index) if "," in line else None
        elif (named := _BATCH.match(line)) is not None:
            batch = named.group(1)  # the name of the following results
        else:
            last = _row_of(line, heading, index)
        if last is None:
            return _kind_of_other(page, line, index)
        if index == page.ragged and not _is_whole(last.texts):
            return "cut"
        found.rows.append(replace(last, name=last.name or batch))
        found.last = index
        return last.texts

    return scan_rows(page, start + 1, take, _PATIENCE), found


def _kind_of_other(page: Page, line: str, index: int) -> What:
    if not line.strip():
        return "skipped"
    if starts_result(line):
        return "end"
    return "cut" if index == page.ragged and _begins_row(line) else "foreign"


def _so_far(line: str, index: int) -> str:
    """Return ``46821.78 MB/s`` for a progress line of a table; "" for any other line."""
    row = _row_of(_THREAD.sub("", line), "", index)
    return f"{row.overall[1]} MB/s" if row is not None else ""


def _begins_row(line: str) -> bool:
    first = line.split()[:1]
    return bool(first) and ("Final:".startswith(first[0]) or first[0][0].isdigit())


def without_progress(rows: list[LastLine], wanted: int) -> list[LastLine]:
    """Return the rows without progress lines: old versions print unmarked lines with a growing
    count, of which only those with the requested count are kept.
    """
    counts = [number(row.texts[0]) or 0.0 for row in rows]
    names = Counter(row.name for row in rows)
    alone = {name for name, times in names.items() if times == 1}
    pairs = zip(rows, counts, strict=True)
    return [row for row, count in pairs if row.marked or row.name in alone or count >= wanted]


# --- The tests of ucx_perftest: by name (``tag_lat``), by the title in its box, or by the heading
# of its table.

_HALF = (
    "time / iterations / 2: half of a mean round trip; bandwidth and rate count both messages of "
    "a round trip, which is size / half round trip"
)
_STREAM = "size x iterations / time; MB = 2^20 bytes; overhead is time / iterations"
_ATOMIC = ("add", "fadd", "swap", "cswap", "add_mr")

# title in the box -> name; protocol layer (``ucp_``) first, then transport layer
_TITLES = {
    "active message latency": "am_lat",
    "active message bandwidth / message rate": "am_bw",
    "put latency": "ucp_put_lat",
    "put bandwidth": "ucp_put_bw",
    "put bandwidth / message rate": "put_bw",
    "get latency / bandwidth / message rate": "ucp_get",
    "tag match latency": "tag_lat",
    "tag match bandwidth": "tag_bw",
    "tag sync match latency": "tag_sync_lat",
    "tag sync match bandwidth": "tag_sync_bw",
    "stream latency": "stream_lat",
    "stream bandwidth": "stream_bw",
    "am latency": "ucp_am_lat",
    "am bandwidth": "ucp_am_bw",
    "am bandwidth / message rate": "ucp_am_bw",
}


def test_titled(title: str) -> str:
    """Return the test's name for the title in the box; "" if it is unknown."""
    plain = title.strip().lower()
    if plain in _TITLES:
        return _TITLES[plain]
    return "ucp_fadd" if plain.startswith("atomic") else ""


def _kind(plain: str) -> Traffic:
    if plain.startswith("put"):
        return "put"
    if plain.startswith("get"):
        return "get"
    return "atomic" if plain in _ATOMIC else "stream"


def test_of(name: str, heading: str) -> Benchmark:
    """Return the test for a name. Without a name, ``heading`` (``latency`` or ``overhead``)
    distinguishes a ping-pong from a stream.

    The lines of a batch have names that the user chose, and always ``overhead`` above them, so
    ``lat`` or ``bw`` in the name decides.
    """
    plain = name.removeprefix("ucp_")
    words, kind = plain.split("_"), _kind(plain)
    known = name or f"ucx_perftest {heading}"
    window = None if plain.startswith(("am_", "get")) or kind == "atomic" else 32
    if "lat" in words or "latency" in words or (not name and heading == "latency"):
        return Benchmark(known, "half_round_trip", "pingpong", _HALF, waits=True)
    if kind == "atomic":
        return Benchmark(known, "latency", "atomic", "time / iterations of one atomic operation")
    if heading == "latency":
        return Benchmark(known, "latency", kind, "time / iterations, not halved; MB = 2^20 bytes")
    if name and kind == "stream" and not {"bw", "mr"} & set(words):
        return Benchmark(
            known, "time", "other", "unknown: a batch's line may be any test; MB = 2^20 bytes"
        )
    return Benchmark(known, "bandwidth", kind, _STREAM, window=window)


_BEFORE = {
    "api": re.compile(r"^\s*API: +(\S.{0,80}?)\s*$"),
    "title": re.compile(r"^\s*Test: +(\S.{0,80}?)\s*$"),
    "size": re.compile(r"^\s*Message size: +(\S.{0,80}?)\s*$"),
    "banner": re.compile(r"^\s*={4,} (\w{2,40}) ={4,}\s*$"),
    "command": re.compile(r"ucx_perftest(.{0,500})"),
    "transports": re.compile(r"^(?=.*ucx_perftest).*?\bUCX_TLS=(\S{1,80})"),
}
_LOOK_BACK = 80
_RDMA = {
    "rc",
    "rc_x",
    "rc_v",
    "rc_verbs",
    "rc_mlx5",
    "ud",
    "ud_x",
    "ud_verbs",
    "ud_mlx5",
    "dc",
    "dc_x",
    "dc_mlx5",
}


@dataclass(slots=True)
class Setup:
    """Information from the lines before the table."""

    test: str = ""
    size: int | None = None
    iterations: int | None = None
    window: int | None = None
    protocol: Literal["", "tcp", "rdma"] = ""


def _protocol(transports: str) -> Literal["", "tcp", "rdma"]:
    names = set(transports.strip("'\"").split(",")) - {"self"}
    if names == {"tcp"}:
        return "tcp"
    return "rdma" if names and names <= _RDMA else ""


def _sum_of(sizes: str) -> int | None:
    """Return the sum of ``8,16,32``; None if a part is not a number."""
    found = [whole(text) for text in sizes.split(",")]
    return None if None in found else sum(filter(None, found))


def setup_before(page: Page, start: int) -> Setup:
    """Return the setup from the lines between the previous test and the heading."""
    lines = above(page, start, _LOOK_BACK, lambda line: "Final:" in line or starts_result(line))
    told = Facts(_BEFORE, lines)
    commands = [found[1] for found in told["command"]]
    options = {letter: [option_of(rest, letter) for rest in commands] for letter in "tsnO"}
    sizes = [*map(whole, told.groups("size")), *map(_sum_of, options["s"])]
    titled = next(filter(None, map(test_titled, told.groups("title"))), "")
    if told.text("api", 0).startswith("transport"):
        titled = titled.removeprefix("ucp_")
    return Setup(
        test=titled or told.text("banner", 0) or next(filter(None, options["t"]), ""),
        size=next((size for size in sizes if size is not None), None),
        iterations=next(filter(None, map(whole, options["n"])), None),
        window=next(filter(None, map(whole, options["O"])), None),
        protocol=next(filter(None, map(_protocol, told.groups("transports"))), ""),
    )
