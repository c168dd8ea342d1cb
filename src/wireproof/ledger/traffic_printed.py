# pure
"""Compute the minimum number of bytes that must have left one host according to a program's printed
rows.

Only this lower bound can be compared with a port: warm-up rounds, headers and other traffic add to
it. It follows from a printed iteration count; without a count, a row proves only one window of
messages.
"""

import math
from collections.abc import Iterable

import msgspec

from wireproof.model.series import Series, SeriesPoint
from wireproof.model.traffic import Printed

LEAST_HEADER = 24
"""Bytes of the smallest header that a port counts per message (IB: LRH 8, BTH 12, ICRC 4)."""
MOST_HEADERS = 256
"""Maximum bytes in one direction per message in addition to its payload: Ethernet, IPv6 and TCP
(118), an MPI's header (64) and a separate acknowledgement of the previous message.
"""
FRAMED = 1.08
"""Factor for large messages: a frame of 1500 B contains 1448 B of payload and takes 38 B more on
the line."""
SAME_BYTES = 0.05
_WARMED_UP = 1.5
"""Factor on printed repetitions: IMB repeats each size a few times more before it measures."""


_USUAL = {
    # OSU 3 to 7 (osu_util.h: BW_LOOP, COLL_LOOP, LAT_LOOP)
    ("osu", "windows"): (8193, (100, 10), (20, 2)),
    ("osu", "collective"): (8193, (1000, 100), (100, 10)),
    ("osu", "other"): (8193, (10_000, 100), (1000, 10)),
    # UCC (ucc_pt_config.cc)
    ("ucc_perftest", "collective"): (64 << 10, (1000, 100), (200, 20)),
    # nccl-tests (common.cu)
    ("nccl_tests", "collective"): (0, (20, 5), (20, 5)),
}
"""Default repetitions, timed and untimed, of a tool's tests: a size in bytes, those for smaller
messages, and those from there on.
"""
_BOTH_ENDS_PRINT = (
    "iperf3",
    "iperf",
    "perftest",
    "fabtests",
    "fi_pingpong",
    "ucx_perftest",
    "sockperf",
)
_NO_BOUND = ("barrier", "reduce_scatter", "local")
"""Collectives in which a host may send no byte of the printed size."""
_ROOTED = ("bcast", "reduce", "gather", "scatter")
_EVERYBODY = ("allreduce", "allgather", "alltoall")
_TO_EACH = ("allgather", "alltoall")
_WINDOWED = ("stream", "exchange", "put", "get", "rate")
_COUNTS_WINDOWS = ("osu", "imb")
"""Tools whose iteration is a window of messages; in perftest and fabtests it is one message."""


def row_bytes(series: Series, point: SeriesPoint) -> tuple[float, bool]:
    """Return (bytes that must leave one host in the busier direction for this row, whether a
    printed count shows it).
    """
    if "bytes" in point.values and series.tool.startswith("iperf"):
        return point.values["bytes"] / max(series.directions, 1), True
    if series.traffic == "other" or any(word in series.benchmark.lower() for word in _NO_BOUND):
        return 0.0, False
    each = _bytes_of_an_iteration(series, point)
    return each * (point.iterations or 1), point.iterations is not None


def _bytes_of_an_iteration(series: Series, point: SeriesPoint) -> float:
    each = float(point.message_bytes)
    match series.traffic:
        case "pingpong":
            each += LEAST_HEADER
        case "collective":
            each *= _share_of_a_collective(series, series.benchmark.lower())
        case "rate":
            each *= max(series.pairs, 1)
    if point.iterations is None or series.tool in _COUNTS_WINDOWS:
        each *= _window(series)
    return each


def _share_of_a_collective(series: Series, name: str) -> float:
    """Return the minimum share of a collective's size that at least one host sends: half, since two
    ranks may split a reduction.

    IMB changes the root with each iteration: each host is the root in one of ``processes``
    iterations.
    """
    rooted = any(word in name for word in _ROOTED) and not any(word in name for word in _EVERYBODY)
    return 0.5 / (max(series.processes or 2, 2) if rooted and series.tool == "imb" else 1)


def _spread(series: Series) -> float | None:
    """Return the ratio of the maximum to the minimum number of bytes that a host sends for a row;
    None if it is unknown. For the maximum of a collective, half of its processes are on a host, and
    each sends its size in each round of a logarithmic algorithm, or to every process on other
    hosts.
    """
    count = series.processes
    if series.traffic != "collective":
        return 1.0
    if not count or count < 2:
        return None
    name = series.benchmark.lower()
    peers = count / 2 if any(word in name for word in _TO_EACH) else 1.0
    return count / 2 * peers * (1 + math.log2(count)) / _share_of_a_collective(series, name)


def _window(series: Series) -> int:
    return (series.window or 1) if series.traffic in _WINDOWED else 1


def row_rate(series: Series, point: SeriesPoint) -> float | None:
    """Return the mean bytes per second that this row implies for one port in one direction.

    In a ping-pong, each direction is silent half of the time, and each message has a header. Times
    of collectives prove nothing about a single port.
    """
    if series.traffic in ("collective", "atomic", "other"):
        return None
    round_trip_s = 2 * (point.hrt_ns or 0.0) * 1e-9  # also 0 if the printed time is 0
    if round_trip_s and series.traffic == "pingpong":
        return (point.message_bytes + LEAST_HEADER) / round_trip_s
    rate = point.goodput_bytes_per_s
    if rate is None:
        return None
    return rate / (2 if series.traffic == "pingpong" else max(series.directions, 1))


def _slowest(series: Series, point: SeriesPoint) -> float | None:
    """Return the minimum bytes per second of at least one host in a row whose time implies no other
    rate of a port.
    """
    times = _times_s(point)
    if not times or row_rate(series, point) is not None:
        return None
    return _once(series, point) / max(times) or None


def _times_s(point: SeriesPoint) -> list[float]:
    times = (point.time_ns, point.time_min_ns, point.time_max_ns, point.hrt_ns)
    return [seconds for each in times if (seconds := (each or 0.0) * 1e-9)]


def _once(series: Series, point: SeriesPoint) -> float:
    """Return the bytes of a single repetition."""
    return row_bytes(series, msgspec.structs.replace(point, iterations=1))[0]


def row_most(series: Series, point: SeriesPoint) -> float | None:
    """Return the maximum rate in bytes/s, headers included, that this row can put on a port in one
    direction.

    None if its time implies nothing about a single port.
    """
    rate, spread = row_rate(series, point), _spread(series)
    if series.traffic == "collective" and spread and (times := _times_s(point)):
        rate = _once(series, point) * spread / min(times)
    counted = point.message_bytes + (LEAST_HEADER if series.traffic == "pingpong" else 0)
    if rate is None or not counted:
        return None
    return rate * FRAMED * (point.message_bytes + MOST_HEADERS) / counted


class _PrintedRow(msgspec.Struct, frozen=True):
    """One row. ``size``: minimum number of bytes; ``counted``: it comes from a printed count."""

    size: float
    counted: bool
    rate: float | None
    packets: float
    most: float | None
    answered: bool
    repeated: tuple[float, float | None] | None
    slowest: float | None

    @property
    def most_bytes(self) -> float | None:
        """The maximum with headers; a message that waits for a reply never shares a packet."""
        if self.counted and self.rate is None:
            return self.repeated[1] if self.repeated else None
        if not (self.answered and self.counted and self.most and self.rate):
            return None
        return self.size * self.most / self.rate

    @property
    def lasted_s(self) -> float | None:
        rate = self.rate or self.slowest
        return self.size / rate if self.counted and rate else None


def printed(all_series: Iterable[Series], *, visible_s: float) -> Printed | None:
    """Add up all rows; None if no row implies any bytes.

    The rate is that of the fastest row that lasted ``visible_s`` or longer (so that readings of a
    port must show it), else of the fastest row of unknown or shorter duration.
    """
    rows: list[_PrintedRow] = []
    arithmetic = []
    for series in _one_end_each(list(all_series)):
        found = [_row(series, point) for point in series.points]
        claimed = sum(row.size for row in found)
        if claimed:
            arithmetic.append(_sentence(series, claimed, _all_counted(found)))
            rows += found
    if not rows:
        return None
    rate, lasted = _fastest(rows, visible_s)
    return Printed(
        least_bytes=sum(row.size for row in rows),
        counted=_all_counted(rows),
        rate_bytes_per_s=rate,
        lasted_s=lasted,
        arithmetic=arithmetic,
        least_packets=sum(row.packets for row in rows),
        most_bytes_per_s=_most(rows),
        most_bytes=_most_bytes(rows),
        repeated_bytes=_repeated_bytes(rows),
        slowest_bytes_per_s=max((row.slowest or 0.0 for row in rows), default=0.0) or None,
        bursts=[(row.size, lasted_s) for row in rows if (lasted_s := row.lasted_s) is not None],
    )


def _row(series: Series, point: SeriesPoint) -> _PrintedRow:
    size, counted = row_bytes(series, point)
    apart = counted and series.traffic == "pingpong"
    packets = float(point.iterations or 0) if apart else 0.0
    rate, most = row_rate(series, point), row_most(series, point)
    answered = series.traffic == "pingpong"
    repeated = _repeated(series, point, size, counted=counted)
    slowest = _slowest(series, point) if size else None
    return _PrintedRow(size, counted, rate, packets, most, answered, repeated, slowest)


def _repeated(
    series: Series, point: SeriesPoint, size: float, *, counted: bool
) -> tuple[float, float | None] | None:
    """Return the minimum and maximum number of bytes of a row, the latter with headers and untimed
    repetitions; None if its repetitions are unknown.
    """
    least = most = size
    if counted:
        most *= _WARMED_UP
    elif (usual := _usual(series, point.message_bytes)) is not None:
        least, most = usual[0] * size, sum(usual) * size
    else:
        return None
    headers = MOST_HEADERS / point.message_bytes if point.message_bytes else 0.0
    spread = _spread(series)
    return least, most * spread * FRAMED * (1 + headers) if spread else None


def _usual(series: Series, size: int) -> tuple[int, int] | None:
    """Return a tool's default repetitions, timed and untimed; None if they are unknown."""
    tests = "collective" if series.traffic == "collective" else "other"
    if series.traffic in _WINDOWED and series.window:
        tests = "windows"
    if (series.tool, tests) not in _USUAL:
        return None
    large, below, above = _USUAL[series.tool, tests]
    return below if size < large else above


def _repeated_bytes(rows: Iterable[_PrintedRow]) -> tuple[float, float | None] | None:
    found = [row.repeated for row in rows if row.size]
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return None
    most = [each for _, each in known if each is not None]
    return sum(least for least, _ in known), sum(most) if len(most) == len(known) else None


def _most_bytes(rows: Iterable[_PrintedRow]) -> float | None:
    found = [row.most_bytes for row in rows if row.size]
    known = [most for most in found if most is not None]
    return sum(known) if len(known) == len(found) else None


def _most(rows: Iterable[_PrintedRow]) -> float | None:
    """Return the maximum over all rows that move bytes; None if any of them has no maximum."""
    found = [row.most for row in rows if row.size]
    known = [most for most in found if most is not None]
    return max(known) if known and len(known) == len(found) else None


def _all_counted(rows: Iterable[_PrintedRow]) -> bool:
    return all(row.counted for row in rows if row.size)


def _fastest(rows: Iterable[_PrintedRow], visible_s: float) -> tuple[float | None, float | None]:
    """Return rate and seconds of the fastest row that lasted long enough, else of the fastest
    row.
    """
    rates = [(row.rate, row.lasted_s) for row in rows if row.rate]
    long = [one for one in rates if one[1] is not None and one[1] >= visible_s]
    return max(long or rates, key=lambda one: one[0], default=(None, None))


def _one_end_each(all_series: list[Series]) -> list[Series]:
    """Remove the second table of a measurement if client and server both print it into one log.

    A repetition looks the same; removing it only lowers the bound.
    """
    kept: list[Series] = []
    waiting: list[Series] = []
    for series in all_series:
        if series.tool not in _BOTH_ENDS_PRINT:
            kept.append(series)
        elif (twin := next((one for one in waiting if _same(one, series)), None)) is not None:
            waiting.remove(twin)
        else:
            waiting.append(series)
            kept.append(series)
    return kept


def _same(one: Series, other: Series) -> bool:
    """Return whether sizes and iterations are equal, and the bytes differ by no more than was in
    flight at the end.
    """
    if (one.tool, one.benchmark, one.directions) != (other.tool, other.benchmark, other.directions):
        return False
    rows = [
        [(point.message_bytes, point.iterations) for point in series.points]
        for series in (one, other)
    ]
    first, second = (
        sum(row_bytes(series, point)[0] for point in series.points) for series in (one, other)
    )
    return rows[0] == rows[1] and abs(first - second) <= SAME_BYTES * max(first, second)


def _sentence(series: Series, claimed: float, counted: bool) -> str:
    rows = f"{len(series.points)} row{'s' if len(series.points) != 1 else ''}"
    how = (
        "iterations x size"
        if counted
        else "one window of messages per row, because no iterations are printed"
    )
    return f"{series.tool} {series.benchmark}: {rows}, {how} = at least {claimed:.0f} B"
