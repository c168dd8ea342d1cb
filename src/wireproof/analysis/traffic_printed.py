"""What a program's printed rows claim to have sent: the least number of bytes that must have left
one host.

Only a lower bound can be held against a port: warm-up rounds, headers and other traffic come on
top. An iteration count that is printed gives it; without one, a row proves one window of messages.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from wireproof.model.series import Series, SeriesPoint
from wireproof.model.traffic import Printed

LEAST_HEADER = 24
"""Bytes of the smallest header that a port counts with a message of its own (IB: LRH 8, BTH 12,
ICRC 4).
"""
MOST_HEADERS = 256
"""Bytes that go in one direction with a message at most, beside its payload: Ethernet, IPv6 and TCP
(118), an MPI's header (64) and a bare acknowledgement of the message before.
"""
FRAMED = 1.08
"""Of a large message: a full frame of 1500 B carries 1448 B, and 38 B lie around it."""
SAME_BYTES = 0.05
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
"""Collectives that need not send any byte of the size that they print with from each host."""
_ROOTED = ("bcast", "reduce", "gather", "scatter")
_EVERYBODY = ("allreduce", "allgather", "alltoall")
_WINDOWED = ("stream", "exchange", "put", "get", "rate")
_COUNTS_WINDOWS = ("osu", "imb")
"""Their iteration is a window of messages; perftest's and fabtests' is one message."""


def row_bytes(series: Series, point: SeriesPoint) -> tuple[float, bool]:
    """Bytes that must leave one host in the busier direction for this row, and whether a printed
    count says so.
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
    """Of its size, what some host sends at least: half, as a reduction may be split between two
    ranks.

    IMB changes the root with each iteration: each host is the one that sends (or receives) in one
    of ``processes``.
    """
    rooted = any(word in name for word in _ROOTED) and not any(word in name for word in _EVERYBODY)
    return 0.5 / (max(series.processes or 2, 2) if rooted and series.tool == "imb" else 1)


def _window(series: Series) -> int:
    return (series.window or 1) if series.traffic in _WINDOWED else 1


def row_rate(series: Series, point: SeriesPoint) -> float | None:
    """Bytes per second that this row says one port carried in one direction, on average while it
    lasted.

    In a ping-pong a direction is silent half of the time, and each message has a header of its own.
    Collectives' times say nothing about one port.
    """
    if series.traffic in ("collective", "atomic", "other"):
        return None
    round_trip_s = 2 * (point.hrt_ns or 0.0) * 1e-9  # 0 too where the time is too small to tell
    if round_trip_s and series.traffic == "pingpong":
        return (point.message_bytes + LEAST_HEADER) / round_trip_s
    rate = point.goodput_bytes_per_s
    if rate is None:
        return None
    return rate / (2 if series.traffic == "pingpong" else max(series.directions, 1))


def row_most(series: Series, point: SeriesPoint) -> float | None:
    """Bytes per second that this row can put on a port in one direction, headers included; None if
    its time says nothing of one port.
    """
    rate = row_rate(series, point)
    counted = point.message_bytes + (LEAST_HEADER if series.traffic == "pingpong" else 0)
    if rate is None or not counted:
        return None
    return rate * FRAMED * (point.message_bytes + MOST_HEADERS) / counted


@dataclass(frozen=True)
class _PrintedRow:
    """One row: ``size`` bytes at least, by a printed count where ``counted``."""

    size: float
    counted: bool
    rate: float | None
    packets: float
    most: float | None
    answered: bool

    @property
    def most_bytes(self) -> float | None:
        """Headers included; a message whose answer is awaited cannot be one of many in a packet."""
        if not (self.answered and self.counted and self.most and self.rate):
            return None
        return self.size * self.most / self.rate

    @property
    def lasted_s(self) -> float | None:
        return self.size / self.rate if self.counted and self.rate else None


def printed(all_series: Iterable[Series], *, visible_s: float) -> Printed | None:
    """All rows together; None when there is no row that claims any byte.

    The rate is that of the fastest row which lasted ``visible_s`` or longer (so that readings of a
    port must show it), else of the fastest row at all, with its time unknown or too short.
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
        bursts=[(row.size, lasted_s) for row in rows if (lasted_s := row.lasted_s) is not None],
    )


def _row(series: Series, point: SeriesPoint) -> _PrintedRow:
    size, counted = row_bytes(series, point)
    apart = counted and series.traffic == "pingpong"
    packets = float(point.iterations or 0) if apart else 0.0
    rate, most = row_rate(series, point), row_most(series, point)
    return _PrintedRow(size, counted, rate, packets, most, series.traffic == "pingpong")


def _most_bytes(rows: Iterable[_PrintedRow]) -> float | None:
    found = [row.most_bytes for row in rows if row.size]
    known = [most for most in found if most is not None]
    return sum(known) if len(known) == len(found) else None


def _most(rows: Iterable[_PrintedRow]) -> float | None:
    """Of all rows that move a byte; None unless each of them says it."""
    found = [row.most for row in rows if row.size]
    known = [most for most in found if most is not None]
    return max(known) if known and len(known) == len(found) else None


def _all_counted(rows: Iterable[_PrintedRow]) -> bool:
    return all(row.counted for row in rows if row.size)


def _fastest(rows: Iterable[_PrintedRow], visible_s: float) -> tuple[float | None, float | None]:
    """Rate and seconds of the fastest row that lasted long enough, else of the fastest."""
    rates = [(row.rate, row.lasted_s) for row in rows if row.rate]
    long = [one for one in rates if one[1] is not None and one[1] >= visible_s]
    return max(long or rates, key=lambda one: one[0], default=(None, None))


def _one_end_each(all_series: list[Series]) -> list[Series]:
    """Without the second table of a measurement whose server prints it too, when both write to one
    log.

    A repetition looks the same; leaving it out only lowers the bound, which stays one.
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
    """The same sizes and iterations, and the same bytes within what is under way when a client
    stops.
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
        else "one window of messages per row, as no iterations are printed"
    )
    return f"{series.tool} {series.benchmark}: {rows}, {how} = {claimed:.0f} B at least"
