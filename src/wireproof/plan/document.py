"""The results of ``wireproof plan`` as documents: the answer, the tables behind it, and its limits
of validity.
"""

import math
from collections.abc import Iterable, Sequence

from wireproof.model import gathered
from wireproof.model.quantity import counted, short_time, volume
from wireproof.plan import (
    Bounds,
    CableFit,
    Configured,
    Footprint,
    Observed,
    Parameter,
    Pfc,
    Prediction,
    Scale,
    ScreenDesign,
    Sums,
    Validation,
)
from wireproof.report.document import (
    Bar,
    Document,
    Facts,
    Findings,
    Head,
    Item,
    Part,
    Picture,
    Row,
    Section,
    Table,
    Text,
    Tone,
)
from wireproof.report.figure import Axis, Chart, Line, Mark, decades, plain
from wireproof.report.figure.series import in_words, marks_of

_FIGURE = Head("", 4, left=True)
_FAR = 10.0
_TIME = "time (µs)"
_FITS: dict[bool | None, Tone] = {True: "pass", False: "fail", None: "inconclusive"}
_CSV = (
    "pattern",
    "order",
    "nodes",
    "ppn",
    "ranks",
    "message_bytes",
    "time_ns",
    "latency_ns",
    "low_ns",
    "high_ns",
    "simulated",
    "total",
)


def _range(bounds: Bounds, *, size: bool = False) -> str:
    low, high = (volume(x) if size else f"{x:,.0f}" for x in (bounds.low, bounds.high))
    return low if low == high else f"{low} to {high}"


def _heads(*titles: str) -> tuple[Head, ...]:
    """Return columns of texts; the first columns are kept longest."""
    return tuple(Head(title, 9 - at, left=True) for at, title in enumerate(titles))


def _basis(sources: Iterable[str], validity: Iterable[str]) -> Section:
    rows = [*(("source", text) for text in sources), *(("valid", text) for text in validity)]
    return Section("Basis of these numbers", (Facts(tuple(rows)),))


def _parameters(found: Sequence[Parameter]) -> Section:
    heads = (Head("parameter", 9, left=True), Head("value", 8), *_heads("unit", "from")[:2])
    rows = (Row((one.name, f"{one.value:.4g}", one.unit, one.source)) for one in found)
    return Section("Parameters", (Table(heads, tuple(rows)),))


def footprint_document(found: Footprint) -> Document:
    """Return sums, limits and observations, then the parts with their formulas."""
    rows = (_sums("QPs", found.qps, size=False), _sums("memory", found.bytes, size=True))
    parts: list[Part] = [
        Text(found.sources[0]),
        Table(_heads("", "a rank", "a node", "the job"), rows, note=_assumed(found)),
    ]
    items = [
        Item(_FITS[one.fits], one.sentence, details=(("source", one.source),), word="limit")
        for one in found.limits
    ]
    items += map(_seen, found.observed)
    parts += [Findings(tuple(items))] if items else []
    used = tuple(
        Row((one.name, f"{one.value}", "given" if one.given else "default", one.meaning))
        for one in found.settings
    )
    parts += [
        _made_of(found),
        Section("Variables", (Table(_heads("variable", "value", "from", "means"), used),)),
        _basis(found.sources[1:], found.validity),
    ]
    rails = counted(found.rails, "rail")
    size = f"{found.nodes:,} nodes x {found.ppn:,} ranks, {rails}, packets of {found.mtu_bytes} B"
    job = f"{_range(found.qps.job)} QPs and {_range(found.bytes.job, size=True)}"
    answer = f"{found.mode} of {size}: {job} for the job"
    return Document(f"Footprint of {found.mode}", answer, tuple(parts))


def _assumed(found: Footprint) -> str:
    pairs = found.peers.node_pairs
    if found.qps.job.known:
        return found.peers.assumed
    low, high = (f"{edge:,.0f}" for edge in (pairs.low, pairs.high))
    return (
        f"{found.peers.assumed}; lower bounds: {low} pairs of nodes talk; upper: {high} of"
        f" {found.peers.most_pairs:,}"
    )


def _sums(name: str, sums: Sums, *, size: bool) -> Row:
    return Row((name, *(_range(one, size=size) for one in (sums.rank, sums.node, sums.job))))


def _seen(one: Observed) -> Item:
    first, *more = one.sentences
    tone: Tone = "" if one.inside else "warning"
    return Item(tone, first, details=tuple(("reading", text) for text in more), word="seen")


def _made_of(found: Footprint) -> Section:
    rows = (
        Row((part.name, part.per, _range(part.qps), _range(part.bytes, size=True)))
        for part in found.parts
    )
    formulas = ((part.name, f"{part.formula} [{part.basis}]") for part in found.parts)
    table = Table(_heads("part", "for each", "QPs", "memory"), tuple(rows))
    return Section("Parts", (table, Section("How each is computed", (Facts(tuple(formulas)),))))


def pfc_document(found: Pfc) -> Document:
    """Return the headroom, the thresholds, a configured headroom, and the round trip term by
    term.
    """
    need = f"{_range(found.headroom_bytes)} B"
    totals = f"headroom {found.total_headroom_bytes:,} B, buffer {found.total_buffer_bytes:,} B"
    facts = [("headroom per port and priority", need)]
    if found.cell_bytes:
        cells = f"{_range(found.headroom_in_cells_bytes)} B (full frames to worst frames)"
        facts.append((f"in cells of {found.cell_bytes} B", cells))
    facts += [
        ("XOFF", f"at {found.xoff_bytes:,} B or higher"),
        ("XON", f"at {found.xon_bytes:,} B or higher"),
        ("least buffer", f"{found.buffer_bytes:,} B"),
        ("link idles after a pause", f"with less than {found.refill_bytes:,} B below XON"),
        ("all ports and priorities", totals),
    ]
    notes = map(Text, found.sentences[:-1] if found.fits_budget is False else found.sentences)
    held = [] if found.configured is None else [_configured(found.configured)]
    link = f"{found.speed_gbps:g} Gb/s, MTU {found.mtu_bytes}, cable {found.cable_m:g} m"
    lossless = counted(found.priorities, "lossless priority", "lossless priorities")
    reasons = [
        *(found.sentences[-1:] if found.fits_budget is False else ()),
        *(found.configured.sentences[:1] if found.configured is not None else ()),
    ]
    answer = "; ".join(reasons) or f"{need} of headroom per port and priority"
    return Document(
        "Headroom of priority flow control",
        f"{answer} ({link}, {counted(found.ports, 'port')}, {lossless})",
        (
            Facts(tuple(facts)),
            *notes,
            *held,
            _round_trip(found),
            _basis(found.sources, found.validity),
        ),
        found.verdict or "",
    )


def _round_trip(found: Pfc) -> Section:
    rows = (Row((one.name, _range(one.bits), Bar(one.bits.high))) for one in found.delays)
    terms = Table((*_heads("term", "bit times"), _FIGURE), tuple(rows))
    formulas = ((one.name, f"{one.formula} ({one.source})") for one in found.delays)
    how = Section("How each term is computed", (Facts(tuple(formulas)),))
    return Section("The round trip: bytes that arrive after a pause", (terms, how))


def _configured(found: Configured) -> Section:
    notes = (Text(text, mark="-") for text in found.sentences[1:])  # the first is the answer
    return Section("The configured headroom", (*notes, _fits(found.fits)))


def _fits(fits: Sequence[CableFit]) -> Table:
    """Return the longest cable by speed and MTU: with instant interfaces, and with the slowest."""
    mtus = sorted({fit.mtu_bytes for fit in fits})
    cells = {(fit.speed_gbps, fit.mtu_bytes): fit for fit in fits}
    rows = (
        Row((f"{speed:g} Gb/s", *(_metres(cells[speed, mtu]) for mtu in mtus)))
        for speed in sorted({fit.speed_gbps for fit in fits})
    )
    heads = (Head("longest cable", 9, left=True), *(Head(f"MTU {mtu}", 8) for mtu in mtus))
    note = "in parentheses: with the slowest interfaces that the standard allows"
    return Table(heads, tuple(rows), note=note)


def _metres(fit: CableFit) -> str:
    if fit.longest_m is None:
        return "none"
    worst = "none" if fit.worst_m is None else f"{fit.worst_m:.0f} m"
    return f"{fit.longest_m:.0f} m ({worst})"


def scale_document(found: Scale) -> Document:
    """Return the largest scale in a sentence, a chart, a table for each pattern, and the
    parameters.
    """
    groups = gathered(
        ((each.pattern, each.order, each.message_bytes), each) for each in found.predictions
    )
    chart = scale_chart(found)
    most = max(found.predictions, key=lambda one: one.ranks)
    times = ", ".join(
        f"{_named(one)} {short_time(one.latency_ns)}"
        for one in found.predictions
        if one.nodes == most.nodes
    )
    parts: tuple[Part, ...] = (
        *([Picture(lambda: (chart,))] if chart else []),
        *(_scales(rows) for rows in groups.values()),
        _parameters(found.parameters),
        Text(f"topology: {found.topology}; seed {found.seed}", "note"),
        _basis(found.sources, found.validity),
    )
    answer = f"predicted for {most.nodes:,} nodes, {most.ranks:,} ranks: {times}"
    return Document("Communication at scale", answer, parts)


def _named(one: Prediction) -> str:
    return f"{one.order} {one.pattern}".strip()


def _scales(rows: Sequence[Prediction]) -> Table:
    one = rows[0]
    what = ", per message (HPCC)" if one.pattern == "ring" else ""
    size = "" if one.pattern == "barrier" else f", {one.message_bytes:,} B"
    heads = (Head("nodes", 9), Head("ranks", 7), Head("time", 8), Head("spread", 6, left=True))
    title = f"{_named(one)}{size}{what}: {one.method}"
    return Table((*heads, _FIGURE), tuple(map(_scale, rows)), title)


def _scale(one: Prediction) -> Row:
    time = short_time(one.latency_ns)
    return Row((f"{one.nodes:,}", f"{one.ranks:,}", time, _spread(one), Bar(one.latency_ns)))


def _spread(one: Prediction) -> str:
    if one.spread_ns.known:
        return ""
    share = one.latency_ns / one.time_ns if one.time_ns else 1.0
    low, high = (short_time(edge * share) for edge in (one.spread_ns.low, one.spread_ns.high))
    return f"{low} to {high} ({one.simulated} of {one.total})"


def scale_csv(found: Scale) -> str:
    """Return a row for each prediction; times in ns."""
    rows = [",".join(_CSV)]
    for one in found.predictions:
        values = {name: getattr(one, name, None) for name in _CSV}
        values |= {"low_ns": one.spread_ns.low, "high_ns": one.spread_ns.high}
        cells = (values[name] for name in _CSV)
        rows.append(",".join(f"{one:.3f}" if isinstance(one, float) else f"{one}" for one in cells))
    return "\n".join(rows) + "\n"


def validation_document(found: Validation) -> Document:
    """Return the effort needed, the default of ``check``, and other numbers of rounds."""
    least = [_design("needed", found.least)] if found.least is not None else []
    rows = (*least, _design("check", found.check), *(_design("", one) for one in found.others))
    heads = (
        Head("", 8, left=True),
        Head("rounds", 9),
        Head("pairs", 6),
        Head("found", 9),
        Head("finds from", 7),
        Head("time", 8, left=True),
        _FIGURE,
    )
    suspects = f"about {found.false_suspects:.2g} healthy ports per sweep"
    asked = (
        ("nodes", f"{found.nodes:,}"),
        ("to be found", f"{100 * found.slowdown:g} % of {found.metric}, power {found.power:g}"),
        ("noise", f"{100 * found.noise:g} %, healthy nodes {100 * found.spread:g} % apart"),
        ("false alarms", f"{found.false_alarms:g} per sweep"),
        ("messages", f"{found.message_bytes:,} B"),
        ("measured again", f"{suspects}, {found.confirm_s:.0f} s at most each"),
    )
    answer, *more = found.sentences
    parts: tuple[Part, ...] = (
        *map(Text, more),
        Facts(asked),
        Table(heads, rows, note="found: the probability that a slow port becomes a suspect"),
        _parameters(found.parameters),
        _basis(found.sources, found.validity),
    )
    return Document(f"Rounds to prove {found.nodes:,} nodes", answer, parts)


def _design(name: str, design: ScreenDesign) -> Row:
    low, high = (short_time(edge * 1e9) for edge in (design.seconds.low, design.seconds.high))
    shares = f"{100 * design.found:.1f} %", f"{100 * design.least_slowdown:.2f} %"
    cells = (f"{design.rounds:,}", f"{design.pairs:,}", *shares, f"{low} to {high}")
    return Row((name, *cells, Bar(design.found, 1.0)))


def scale_chart(found: Scale) -> Chart | None:
    """Return a line for each pattern and order; None if no predicted time is above 0."""
    groups = gathered(
        ((one.pattern, one.order), one) for one in found.predictions if one.latency_ns > 0
    )
    if not groups:
        return None
    lines = tuple(
        Line(f"{order} {pattern}".strip(), tuple(map(_predicted, rows)))
        for (pattern, order), rows in groups.items()
    )
    marks = marks_of(lines)
    nodes = sorted({mark.x for mark in marks})
    ticks = tuple((each, f"{each:,.0f}") for each in nodes)
    return Chart(
        id="scale",
        title="Predicted time by number of nodes",
        note=f"{found.topology}. The band is the spread. Point at a mark to read its time.",
        alt=f"Predicted time by number of nodes. {in_words(lines)}.",
        x=Axis("nodes", True, nodes[0] / 1.1, nodes[-1] * 1.1, ticks),
        y=_times(min(mark.low for mark in marks), max(mark.high for mark in marks)),
        lines=lines,
    )


def _predicted(one: Prediction) -> Mark:
    share = one.latency_ns / one.time_ns / 1e3
    low, high = one.spread_ns.low * share, one.spread_ns.high * share
    tip = f"{one.nodes:,} nodes, {one.ranks:,} ranks: {short_time(one.latency_ns)}"
    return Mark(float(one.nodes), one.latency_ns / 1e3, low, high, tip)


def _times(low: float, high: float) -> Axis:
    if low > 0 and high >= _FAR * low:
        low, high = 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high))
        return Axis(_TIME, True, low, high, decades(low, high))
    return Axis(_TIME, False, 0.0, high * 1.05, plain(0.0, high * 1.05))
