"""What the page's template shows of one section: strings only, every foreign one made safe."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from wireproof.model import quantity
from wireproof.model.finding import Finding
from wireproof.report.answers import Answer, answers, seen_of
from wireproof.report.audit import setting_rows
from wireproof.report.flows import SMALL_BYTES, Flow, flows
from wireproof.report.html import plots
from wireproof.report.html.embedded import embedded
from wireproof.report.html.groups import GroupView, group_views
from wireproof.report.html.heat import HeatMap
from wireproof.report.html.leaves import LeafMap
from wireproof.report.html.located import WhoView, pair_pictures, who_views
from wireproof.report.names import clean, fold
from wireproof.report.origin import facts, places, trouble
from wireproof.report.rows import Row, Table, tables
from wireproof.report.section import Section, grouped, headline, suspected

__all__ = ["SectionView", "view"]

MOST_ROWS = 400
MOST_BARS = 24
OPEN_ROWS = 40


@dataclass(frozen=True)
class Bar:
    host: str
    nic: str
    direction: str
    claimed: bool
    width: str
    mark: str | None
    silent: bool
    words: str


@dataclass(frozen=True)
class ResultTable:
    title: str
    caption: str
    count: str
    time: str
    timed: bool
    open: bool
    rows: list[dict[str, str]]


@dataclass(frozen=True)
class FindingView:
    code: str
    severity: str
    message: str
    advice: str
    evidence: list[tuple[str, str]]
    others: list[str]

    @property
    def decides(self) -> bool:
        """True if the verdict rests on it; warnings and notes do not change a verdict."""
        return self.severity in ("fail", "inconclusive")


@dataclass(frozen=True)
class SectionView:
    id: str
    title: str
    lead: str
    verdict: str
    proof: str
    proof_tone: str
    headline: str
    answers: list[Answer]
    findings: list[FindingView]
    bars: list[Bar]
    wire_note: str
    who: list[WhoView]
    maps: list[HeatMap]
    leaves: list[LeafMap]
    plots: list[plots.Plot]
    tables: list[ResultTable]
    groups: list[GroupView]
    derivation: list[str]
    sources: str
    trouble: list[str]
    facts: list[tuple[str, str, bool]]
    settings: list[tuple[str, ...]]
    places: list[dict[str, str]]
    raw: str
    raw_note: str
    items: list[dict[str, Any]] = field(default_factory=list)


def view(section: Section, number: int) -> SectionView:
    """Everything that the template needs for section ``number`` (from 1)."""
    name = f"run{number}"
    found = tables(section)
    maps, leaves = pair_pictures(section, found, name)
    curves = _curves(section, found, name)
    seen = flows(section.run)
    bars, wire_note = _bars(seen)
    raw, raw_note = embedded(section, seen)
    judgement, limits = section.judgement, section.limits
    return SectionView(
        id=name,
        title=clean(section.title),
        lead=clean(section.lead, 1000),
        verdict=judgement.verdict,
        proof=judgement.proof,
        proof_tone=_proof_tone(section),
        headline=clean(headline(section), 600),
        answers=[_cleaned(answer) for answer in answers(section, seen)],
        findings=[_finding(group) for group in grouped(judgement.findings)],
        bars=bars,
        wire_note=wire_note,
        who=who_views(section, name),
        maps=maps,
        leaves=leaves,
        plots=curves,
        tables=[_table(table) for table in found],
        groups=group_views(section),
        derivation=[*_derivation(section), *_criteria(section)],
        sources=clean("; ".join(limits.sources), 1000) if limits else "",
        trouble=trouble(section),
        facts=facts(section),
        settings=setting_rows(section.settings, *suspected(section)) if section.settings else [],
        places=places(section),
        raw=raw,
        raw_note=raw_note,
        items=[plot.item for plot in curves],
    )


def _curves(section: Section, found: list[Table], name: str) -> list[plots.Plot]:
    drawn = [
        plots.latency(section, found, f"{name}-latency"),
        plots.bandwidth(section, found, f"{name}-bandwidth"),
    ]
    return [plot for plot in drawn if plot is not None]


def _derivation(section: Section) -> list[str]:
    return [clean(line, 600) for line in (section.limits.derivation if section.limits else [])]


def _proof_tone(section: Section) -> str:
    proof = section.judgement.proof
    if not section.run.claim.wire:
        return "note"
    return {"on-wire": "pass", "unproven": "inconclusive"}.get(proof, "fail")


def _cleaned(answer: Answer) -> Answer:
    return Answer(answer.question, clean(answer.short, 600), clean(answer.text, 600), answer.tone)


def _finding(group: list[Finding]) -> FindingView:
    finding = group[0]
    evidence = [
        (_evidence_name(name), _evidence(name, item)) for name, item in finding.evidence.items()
    ]
    return FindingView(
        clean(finding.code, 40),
        finding.severity,
        clean(finding.message, 600),
        clean(finding.advice, 600),
        evidence,
        _others(group),
    )


def _others(group: list[Finding]) -> list[str]:
    lines = [clean(finding.message, 600) for finding in group[1:51]]
    return [*lines, f"and {len(group) - 51} more"] if len(group) > 51 else lines


def _evidence_name(name: str) -> str:
    """``median_bytes_per_s`` -> ``median``: the value carries its unit itself."""
    for unit in ("_bytes_per_s", "_bits_per_s", "_bytes", "_ns"):
        name = name.removesuffix(unit)
    return clean(name, 60).replace("_", " ")


def _evidence(name: str, value: str | float | list[str] | None) -> str:
    """Evidence in the unit that its name states (``…_bytes``, ``…_bytes_per_s``, ``…_ns``,
    ``…_bits_per_s``).
    """
    match value:
        case None:
            return "unknown"
        case bool():
            return "yes" if value else "no"
        case list():
            return clean(fold(value) if len(value) > 4 else ", ".join(value), 300)
        case str():
            return clean(value, 300)
    return _number(name, value)


def _number(name: str, value: float) -> str:
    if name.endswith("bytes_per_s"):
        return f"{quantity.megabytes(value)} MB/s"
    if name.endswith("bits_per_s"):
        return quantity.line_rate(value)
    if name.endswith("bytes"):
        return quantity.volume(value)
    if name.endswith("_ns"):
        return f"{quantity.microseconds(value)} µs"
    if isinstance(value, int):
        return f"{value:,}".replace(",", "\u202f")
    return quantity.significant(value, 4)


def _bars(found: list[Flow]) -> tuple[list[Bar], str]:
    """Bars on one common scale; of very many, those whose seen and expected bytes differ most."""
    note = (
        f"Sums over the points with messages of {quantity.size(SMALL_BYTES)} and more, idle "
        "background subtracted. Headers and acknowledgements make the bar a little longer than the "
        "mark."
    )
    shown = found
    if len(found) > MOST_BARS:
        worst = sorted(found, key=lambda one: -abs((one.seen_bytes or 0.0) - one.expected_bytes))
        chosen = {id(flow) for flow in worst[:MOST_BARS]}
        shown = [flow for flow in found if id(flow) in chosen]
        note += f" The {MOST_BARS} of {len(found)} where seen and expected differ most are shown."
    lengths = [max(flow.expected_bytes, flow.seen_bytes or 0.0) for flow in shown]
    top = max(lengths, default=0.0) or 1.0
    return [_bar(flow, top) for flow in shown], note


def _bar(flow: Flow, top: float) -> Bar:
    seen, due = flow.seen_bytes, flow.expected_bytes
    if seen is None:
        words, silent = "no counter could be read", True
    elif not flow.claimed:
        words, silent = f"{quantity.volume(seen)} seen, none expected", False
    else:
        words, silent = seen_of(seen, due), due > 0 and seen < 0.5 * due
    width = 0.0 if seen is None else 100 * seen / top
    mark = f"{100 * due / top:.2f}" if flow.claimed and due > 0 else None
    return Bar(
        clean(flow.host, 80),
        clean(flow.nic, 40),
        "out" if flow.direction == "tx" else "in",
        flow.claimed,
        f"{width:.2f}",
        mark,
        silent,
        words,
    )


def _table(table: Table) -> ResultTable:
    rows = _shown(table)
    left = len(table.rows) - len(rows)
    one = clean(" → ".join(table.rows[0].between), 200) + ". " if table.pairs == 1 else ""
    caption = f"{one}Median with half of its 95 % interval."
    if left:
        caption += f" {left} rows that pass are left out here; the result file holds all."
    return ResultTable(
        table.title,
        caption,
        f"{len(table.rows)} results" if len(table.rows) != 1 else "1 result",
        "half round trip" if table.halved else "time per message",
        table.unit == "ns",
        len(rows) <= OPEN_ROWS,
        [_row(row) for row in rows],
    )


def _shown(table: Table) -> list[Row]:
    """All rows, or those that do not pass and as many others as there is room for, in order."""
    if len(table.rows) <= MOST_ROWS:
        return list(table.rows)
    first = sorted(table.rows, key=lambda row: row.pair.verdict == "pass")[:MOST_ROWS]
    chosen = {id(row) for row in first}
    return [row for row in table.rows if id(row) in chosen]


def _row(row: Row) -> dict[str, str]:
    pair = row.pair
    repeat = f" (#{pair.repeat + 1})" if pair.repeat else ""
    return {
        "tone": {"pass": "", "fail": "bad", "inconclusive": "unsure"}[pair.verdict],
        "size": quantity.size(pair.message_bytes),
        "between": " → ".join(clean(name, 80) for name in row.between) + repeat,
        "time": quantity.microseconds(row.time_ns),
        "interval": quantity.plus_minus(pair.half_width),
        "rate": quantity.megabytes(row.goodput),
        "line": quantity.gigabits(row.goodput),
        "share": quantity.percent(row.efficiency),
        "nominal": quantity.percent(row.nominal),
        "proof": pair.proof,
        "label": clean(pair.label, 20),
        "verdict": pair.verdict + (f" ({clean(', '.join(pair.codes), 80)})" if pair.codes else ""),
    }


def _criteria(section: Section) -> list[str]:
    used = section.criteria
    low, high = quantity.percent(used.on_wire_min), quantity.percent(used.on_wire_max)
    parts = [
        f"at least {quantity.percent(used.min_efficiency)} of attainable",
        f"the slower direction at least {quantity.percent(used.direction_ratio)} of the other",
        f"at most {quantity.percent(used.ceiling_tolerance)} above the ceiling",
        f"at most {quantity.percent(used.floor_tolerance)} below the floor",
        f"{low} to {high} of the payload seen on the claimed NICs",
        f"at most {quantity.percent(used.stray_share)} of it on any other",
    ]
    return ["Judged by: " + "; ".join(parts) + "."]
