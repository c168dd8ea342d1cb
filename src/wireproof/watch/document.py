"""The ports that the bytes crossed, for a run and for a watched command, and the command as
JSON."""

from collections.abc import Iterable, Sequence

import msgspec

from wireproof.model import quantity
from wireproof.model.finding import Verdict
from wireproof.model.psm3 import JudgedStatistics
from wireproof.model.series import Reason, Series
from wireproof.model.traffic import LEVELS as ORDER
from wireproof.model.traffic import (
    DirectionTraffic,
    HostTraffic,
    PortTraffic,
    Traffic,
    TrafficVerdict,
)
from wireproof.report.answers import LEVELS, seen_of
from wireproof.report.document import (
    Bar,
    Cell,
    Document,
    Findings,
    Head,
    Item,
    Part,
    Row,
    Section,
    Table,
    Text,
)
from wireproof.report.flows import SMALL_BYTES, NicTraffic
from wireproof.report.json import Kind
from wireproof.report.names import clean, natural
from wireproof.report.results import number
from wireproof.verdict.catalogue import CATALOGUE

# --- A watched command as one JSON document: the output of ``wireproof prove --json``.
# docs/prove.md describes its fields.


KIND = Kind("wireproof.proof", 1, "wireproof.watch.document:ProofDocument", "prove")


class ProofDocument(TrafficVerdict, frozen=True, kw_only=True):
    """The output of ``wireproof prove --json``. ``exit_status`` is the command's. Units: bytes,
    bytes/s, seconds; unknown is null.
    """

    command: list[str]
    exit_status: int
    seconds: float
    idle_s: float
    interval_s: float
    hosts: list[HostTraffic]
    series: list[Series]
    notes: list[str]
    statistics: JudgedStatistics | None = None


def proof_document(
    command: Sequence[str],
    exit_status: int,
    traffic: Traffic,
    judgement: TrafficVerdict,
    series: Sequence[Series],
    notes: Sequence[str] = (),
    statistics: JudgedStatistics | None = None,
) -> ProofDocument:
    """Return the command, the traffic of the ports while it ran, and the judgement, as one flat
    object.
    """
    return ProofDocument(
        command=[clean(word) for word in command],
        exit_status=exit_status,
        seconds=traffic.seconds,
        idle_s=traffic.idle_s,
        interval_s=traffic.interval_s,
        **msgspec.structs.asdict(judgement),
        hosts=list(traffic.hosts),
        series=list(series),
        notes=list(notes),
        statistics=statistics,
    )


_MOST_ROWS = 400
_SHOWN_BYTES = 10_000
"""Other ports that carried less in both directions are omitted, unless there are no others to
show.
"""
_MOST_HOSTS = 40
_PROOF = (
    Head("host", 9, left=True),
    Head("NIC", 8, left=True),
    Head("direction", 7, left=True),
    Head("level", 4, left=True),
    Head("quality", 3, left=True),
    Head("due", 6, name="due_bytes"),
    Head("seen", 9, name="seen_bytes"),
    Head("of due", 8, name="seen_share"),
    Head("bar: seen, mark: due", 2, left=True, name="remark"),
)
_WATCHED = (
    Head("host", 9, left=True),
    Head("port", 9, left=True),
    Head("out", 8),
    Head("peak MB/s out", 6),
    Head("in", 8),
    Head("peak MB/s in", 6),
    Head("port's speed", 4),
)


def proof_section(found: Sequence[NicTraffic], name: str) -> Section | None:
    """Return bytes due and bytes seen of each port and direction on a common scale; None without
    rows.

    If there are very many rows, those whose seen and due bytes differ most are shown.
    """
    note = (
        f"Sums over the points with messages of at least {quantity.size(SMALL_BYTES)}, less the "
        "idle background. Headers and acknowledgements make the bar slightly longer than the mark."
    )
    shown = found
    if len(found) > _MOST_ROWS:
        chosen = {id(flow) for flow in sorted(found, key=_least_alike)[:_MOST_ROWS]}
        shown = [flow for flow in found if id(flow) in chosen]
        note += f" The {_MOST_ROWS} of {len(found)} with the largest differences are shown."
    if not shown:
        return None
    known = {flow.level for flow in shown if flow.seen_bytes is not None}
    levels = "; ".join(f"{level}: {LEVELS[level]}" for level in ORDER if level in known)
    rows = tuple(map(_flow, shown))
    table = Table(_PROOF, rows, note=note, most=len(rows), name=f"{name}-proof")
    title = "Proof of the path: bytes that had to cross, and bytes that the counters show"
    return Section(title, (table, *([Text(f"Levels: {levels}.", "note")] if levels else [])))


def _least_alike(flow: NicTraffic) -> float:
    """Return a sort key: ports without a counter first, then the largest difference."""
    return float("-inf") if flow.seen_bytes is None else -abs(flow.seen_bytes - flow.expected_bytes)


def _flow(flow: NicTraffic) -> Row:
    seen, due = flow.seen_bytes, flow.expected_bytes
    silent, words = False, ""
    if seen is None:
        silent, words = True, "no counter could be read"
    elif not flow.claimed:
        words = f"{quantity.volume(seen)} seen, none expected"
    elif due > 0 and seen < 0.5 * due:
        silent, words = True, seen_of(seen, due)
    ratio = seen / due if seen is not None and due > 0 else None
    cells: tuple[Cell, ...] = (
        flow.host,
        flow.nic,
        flow.direction,
        flow.level if seen is not None else "none",
        flow.quality,
        number(due, quantity.volume(due), 12),
        number(seen, quantity.volume(seen), 12),
        number(ratio, quantity.percent(ratio)),
        Bar(seen, due=due if flow.claimed and due > 0 else None, words=words),
    )
    return Row(cells, "fail" if silent else "")


def watched_document(
    exit_status: int,
    traffic: Traffic,
    judgement: TrafficVerdict,
    statistics: JudgedStatistics | None = None,
    notes: Sequence[str] = (),
) -> Document:
    """Return the path of a command's bytes: the verdict with its reason, the traffic of each port,
    and the library's counters.
    """
    parts = watched_parts(traffic, judgement)
    if statistics:
        from wireproof.logs.document import statistics_section

        parts.append(statistics_section(statistics))
    parts += [Text(note, "note") for note in notes]
    ended = f"path: {judgement.proof}; the command ended with status {exit_status}"
    answer, *more = answered(judgement.reasons, judgement.verdict, ended)
    parts = [*map(Text, more), *parts]
    return Document("The path of a command", answer, tuple(parts), judgement.verdict)


def answered(reasons: Iterable[Reason], verdict: Verdict, ended: str) -> list[str]:
    """Return the first lines: the reason for the verdict if there is one, and how the command
    ended."""
    return [*[one.message for one in reasons if one.severity == verdict][:1], ended]


def watched_parts(traffic: Traffic, judgement: TrafficVerdict) -> list[Part]:
    """Return the reasons, the ports, and the limit that the peak is compared with."""
    items = tuple(
        Item(one.severity, one.message, one.code, _next(one)) for one in judgement.reasons
    )
    counted = judgement.proof == "on-wire" and judgement.level in LEVELS
    lines = [f"The bytes were {LEVELS[judgement.level]}."] if counted else []
    lines += [sentence] if (sentence := _held_against(traffic, judgement)) else []
    printed = judgement.printed
    if printed and printed.rate_bytes_per_s:
        rate = quantity.megabytes(printed.rate_bytes_per_s)
        lines.append(f"The printed rows put {rate} MB/s on a port in one direction.")
    return [
        *([Findings(items)] if items else []),
        _ports(traffic, judgement.port.split(", ")),
        *map(Text, lines),
    ]


def _next(one: Reason) -> tuple[tuple[str, str], ...]:
    """Return what to do about a reason that decides against the command."""
    decides = one.severity in ("fail", "inconclusive") and one.code in CATALOGUE
    return (("next", CATALOGUE[one.code].next_action),) if decides else ()


def _held_against(traffic: Traffic, judgement: TrafficVerdict) -> str:
    """Return the peak as a share of the claimed link, otherwise of the speed that the port with the
    highest share reports; "" without either.
    """
    peak, attainable = judgement.peak_bytes_per_s, judgement.attainable_bytes_per_s
    if attainable and peak is not None:
        bursts = " Short bursts may exceed it." if peak > attainable else ""
        return (
            f"The peak of one {traffic.interval_s * 1e3:.0f} ms sample is"
            f" {quantity.megabytes(peak)} MB/s with headers; the claimed link carries"
            f" {quantity.megabytes(attainable)} MB/s of payload.{bursts}"
        )
    names = judgement.port.split(", ")
    shares = [
        (_peak(port) * 8 / port.speed_bits_per_s, host.host, port)
        for host in traffic.hosts
        for port in host.ports
        if port.nic in names and port.speed_bits_per_s
    ]
    if not shares:
        return ""
    share, host, port = max(shares, key=lambda one: one[0])
    speed = quantity.line_rate(port.speed_bits_per_s)
    return (
        f"The peak is {quantity.percent(share)} of the {speed} that {port.nic} of {host} reports."
    )


def _peak(port: PortTraffic) -> float:
    return max(port.tx.peak_bytes_per_s or 0.0, port.rx.peak_bytes_per_s or 0.0)


def _ports(traffic: Traffic, names: Sequence[str]) -> Table:
    """Return the ports that carried traffic, and those that the verdict is about."""
    watched = [one for one in traffic.hosts if not one.error]
    hosts = sorted(watched, key=lambda one: natural(one.host))
    rows = tuple(row for host in hosts[:_MOST_HOSTS] for row in _rows(host, names))
    left = len(hosts) - _MOST_HOSTS
    note = f"{left} more hosts: --json has them all" if left > 0 else ""
    return Table(_WATCHED, rows, note=note, most=len(rows))


def _rows(host: HostTraffic, names: Sequence[str]) -> list[Row]:
    loud = [port for port in host.ports if _bytes(port) >= _SHOWN_BYTES or port.nic in names]
    return [_row(host, port) for port in loud or sorted(host.ports, key=_bytes)[-1:]]


def _bytes(port: PortTraffic) -> float:
    return max(port.tx.bytes or 0.0, port.rx.bytes or 0.0)


def _row(host: HostTraffic, port: PortTraffic) -> Row:
    speed = quantity.line_rate(port.speed_bits_per_s) if port.speed_bits_per_s else "unknown"
    return Row((host.host, port.nic, *_direction(port.tx), *_direction(port.rx), speed))


def _direction(one: DirectionTraffic) -> tuple[Cell, Cell]:
    if one.bytes is None:
        return f"unknown ({one.trouble})", "-"
    unsure = one.background > 0.01 * one.bytes + 1000
    around = f" ±{quantity.volume(one.background)}" if unsure else ""
    peak = number(one.peak_bytes_per_s, quantity.megabytes(one.peak_bytes_per_s))
    return number(one.bytes, quantity.volume(one.bytes) + around, 12), peak
