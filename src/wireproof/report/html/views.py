"""What the page's template shows of one section: strings only, every foreign one made safe."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from wireproof.model import quantity
from wireproof.model.finding import Finding
from wireproof.report.answers import AnswerLine, answers
from wireproof.report.failing import unread
from wireproof.report.figure.charts import charts
from wireproof.report.flows import flows
from wireproof.report.group_rows import group_tables
from wireproof.report.html.embedded import embedded
from wireproof.report.html.grids import Grid, disclosure_grid, group_grid, result_grid, setting_grid
from wireproof.report.html.heat import MOST_HOSTS, HeatMap, heat_map
from wireproof.report.html.leaves import LeafMap, leaf_map
from wireproof.report.html.markup import in_script
from wireproof.report.html.pairs import PairMap, pair_map
from wireproof.report.html.proof import Proof, proof_of
from wireproof.report.html.published import PlaceView, place_views
from wireproof.report.html.shell import FigureView, figure_view
from wireproof.report.html.strip import Strip, strip_of
from wireproof.report.judged_run import JudgedRun, grouped, short_headline
from wireproof.report.located import CulpritRow, Story, each, stories
from wireproof.report.names import clean, fold
from wireproof.report.origin import facts, places, trouble
from wireproof.report.rows import ResultTable, tables

__all__ = ["SectionView", "view"]

MOST_CULPRITS = 40


@dataclass(frozen=True)
class WhoView:
    """``culprits`` are in the order of their numbers in the strip; ``left_out`` more are in the
    result file.
    """

    id: str
    story: Story
    strip: Strip | None
    culprits: list[CulpritRow]
    left_out: int


def who_views(section: JudgedRun, name: str) -> list[WhoView]:
    """One for each metric that was screened."""
    return [
        WhoView(
            id=f"{name}-who{number}",
            story=story,
            strip=strip_of(section, located, f"{name}-{number}"),
            culprits=each(located, MOST_CULPRITS),
            left_out=max(0, len(located.blames) - MOST_CULPRITS),
        )
        for number, (located, story) in enumerate(
            zip(section.located, stories(section.located), strict=True), 1
        )
    ]


@dataclass(frozen=True)
class Pictures:
    """Host by host as a table; leaf by leaf, and all pairs for the page's script to zoom into."""

    maps: list[HeatMap]
    leaves: list[LeafMap]
    pairs: list[PairMap]


def pair_pictures(section: JudgedRun, found: list[ResultTable], name: str) -> Pictures:
    """Each table of rates as a picture: host by host, or leaf by leaf where there are more hosts
    than can be drawn.
    """
    whole = Pictures([], [], [])
    for number, table in enumerate(found):
        if table.unit == "ns":
            continue
        if len({host for row in table.rows for host in row.between}) > MOST_HOSTS:
            leaf = leaf_map(section, table, f"{name}-map{number}", section.located)
            whole.leaves.extend([leaf] if leaf is not None else [])
            pairs = pair_map(table, f"{name}-map{number}")
            whole.pairs.extend([pairs] if pairs is not None else [])
        else:
            drawn = heat_map(table, f"{name}-map{number}")
            whole.maps.extend([drawn] if drawn is not None else [])
    return whole


MOST_UNREAD = 100


@dataclass(frozen=True)
class FindingView:
    """``id``: what a link to it names."""

    id: str
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
    answers: list[AnswerLine]
    findings: list[FindingView]
    proof_table: Proof
    who: list[WhoView]
    pictures: Pictures
    published: list[PlaceView]
    figures: list[FigureView]
    grids: list[Grid]
    derivation: list[str]
    sources: str
    trouble: list[str]
    facts: list[tuple[str, str, bool]]
    settings: Grid | None
    unread: list[tuple[str, str, str]]
    disclosure: Grid | None
    again: str
    places: list[dict[str, str]]
    raw: str
    raw_note: str

    @property
    def interactive(self) -> bool:
        """Whether there is a figure or a table, which the page's script serves."""
        drawn = self.figures or self.pictures.pairs or self.pictures.maps
        return bool(drawn or self.grids or self.proof_table.rows or self.settings)


def view(section: JudgedRun, number: int) -> SectionView:
    """Everything that the template needs for section ``number`` (from 1)."""
    name = f"run{number}"
    found = tables(section)
    seen = flows(section.run)
    raw, raw_note = embedded(section, seen)
    judgement, limits = section.judgement, section.limits
    return SectionView(
        id=name,
        title=clean(section.title),
        lead=clean(section.lead, 1000),
        verdict=judgement.verdict,
        proof=judgement.proof,
        proof_tone=_proof_tone(section),
        headline=clean(short_headline(section), 600),
        answers=[_cleaned(answer) for answer in answers(section, seen)],
        findings=_findings(judgement.findings, name),
        proof_table=proof_of(seen),
        who=who_views(section, name),
        pictures=pair_pictures(section, found, name),
        published=place_views(judgement.places),
        figures=[figure_view(chart) for chart in charts(section, found, name)],
        grids=_grids(section, found, name),
        derivation=[*_derivation(section), *_criteria(section)],
        sources=clean("; ".join(limits.sources), 1000) if limits else "",
        trouble=trouble(section),
        facts=facts(section),
        settings=setting_grid(section, name),
        unread=_unread(section),
        disclosure=disclosure_grid(section, name),
        again=_again(section),
        places=places(section),
        raw=in_script(raw),
        raw_note=raw_note,
    )


def _grids(section: JudgedRun, found: Sequence[ResultTable], name: str) -> list[Grid]:
    findings = section.judgement.findings
    results = [result_grid(table, f"{name}-table{i}", findings) for i, table in enumerate(found, 1)]
    groups = group_tables(section)
    return [*results, *(group_grid(one, f"{name}-group{i}") for i, one in enumerate(groups, 1))]


def _derivation(section: JudgedRun) -> list[str]:
    return [clean(line, 600) for line in (section.limits.derivation if section.limits else [])]


def _again(section: JudgedRun) -> str:
    """The command that repeats it; "" where that is not known."""
    items = section.disclosure.items if section.disclosure else []
    found = next((one.value for one in items if one.name == "command that repeats it"), "")
    return clean(found, 2000)


def _unread(section: JudgedRun) -> list[tuple[str, str, str]]:
    """Hosts, settings and why: what an audit could not read."""
    if section.settings is None:
        return []
    return [
        (clean(one.who, 400), clean(", ".join(one.ids), 600), clean(one.reason, 300))
        for one in unread(section.settings.results)[:MOST_UNREAD]
    ]


def _proof_tone(section: JudgedRun) -> str:
    proof = section.judgement.proof
    if not section.run.claim.wire:
        return "note"
    return {"on-wire": "pass", "unproven": "inconclusive"}.get(proof, "fail")


def _cleaned(answer: AnswerLine) -> AnswerLine:
    return AnswerLine(
        answer.question, clean(answer.short, 600), clean(answer.text, 600), answer.tone
    )


def _findings(found: list[Finding], name: str) -> list[FindingView]:
    """Those of one code and severity together, each with a name of its own for links."""
    views: list[FindingView] = []
    taken: set[str] = set()
    for group in grouped(found):
        words = re.sub(r"[^a-z0-9]+", "-", group[0].code.lower())[:40].strip("-")
        at = f"{name}-{words or 'finding'}"
        at = next(one for one in (at, *(f"{at}-{i}" for i in range(2, 999))) if one not in taken)
        taken.add(at)
        views.append(_finding(group, at))
    return views


def _finding(group: list[Finding], at: str) -> FindingView:
    finding = group[0]
    evidence = [
        (_evidence_name(name), _evidence(name, item)) for name, item in finding.evidence.items()
    ]
    return FindingView(
        at,
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


def _criteria(section: JudgedRun) -> list[str]:
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
