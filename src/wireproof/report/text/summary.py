"""Text for a terminal or a file: a one-screen summary and one table per pattern, safe at 80
columns.

Every function returns a string; nothing here prints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from wireproof.model import quantity
from wireproof.model.finding import Finding
from wireproof.report.answers import counted_at
from wireproof.report.columns import Head, grid
from wireproof.report.documents.audit import worst_part
from wireproof.report.judged_run import (
    JudgedRun,
    grouped,
    headline,
    is_baseline,
    label,
    passing,
    results,
    suspected,
)
from wireproof.report.names import clean
from wireproof.report.rails import rails_sentence
from wireproof.report.rows import ResultRow, ResultTable, chosen, folded, tables
from wireproof.report.text.document import paragraphs
from wireproof.report.text.dots import place_lines
from wireproof.report.text.groups import group_parts
from wireproof.report.text.ink import Paragraph, Piece, paint
from wireproof.report.text.located import located_lines
from wireproof.report.text.look import PLAIN, Look
from wireproof.report.undo import undo_lines

__all__ = ["result_tables", "summary", "whole"]

_STYLES = {
    "pass": "bold green",
    "fail": "bold red",
    "inconclusive": "bold yellow",
    "warning": "yellow",
    "note": "dim",
}
_WORDS = {
    "pass": "PASS",
    "fail": "FAIL",
    "inconclusive": "INCONCLUSIVE",
    "warning": "WARNING",
    "note": "note",
}
_LEGEND = (
    "±% half of the 95 % interval, %att of attainable goodput, %nom of the line rate, MB = "
    "10^6 bytes, MiB = 2^20"
)
_AGAIN = (
    "n: measurements in this row; shown is the median of those with the worst verdict. The report"
    " and --json have them all"
)
MOST_ROWS = 24
MOST_FINDINGS = 4


def summary(section: JudgedRun, look: Look = PLAIN) -> str:
    """One screen: what was measured, verdict, proof, each finding with its next action, the
    limits.
    """
    judgement = section.judgement
    parts: list[Paragraph] = [Paragraph.of(look.say(f"{section.title}: {label(section)}"), "bold")]
    told = look.say(f"path: {_path(section)}; {_counts(section)}")
    parts.append(Paragraph((_word(judgement.verdict), Piece(f"  {told}"))))
    parts.extend(one._replace(indent=2) for one in _findings(section, look))
    for line in located_lines(section):
        depth = len(line) - len(line.lstrip())
        parts.append(Paragraph.of(look.say(line, 1200), indent=depth))
    parts.extend(Paragraph.of(look.say(line)) for line in _limit_lines(section))
    for place in section.judgement.places:
        first, *strip = place_lines(place, look)
        parts.append(Paragraph.of(f"published: {first}"))
        parts.extend(Paragraph.of(line, indent=2) for line in strip)
    if section.settings is not None:
        parts.extend(paragraphs(worst_part(section.settings, *suspected(section)), look))
    if section.standing is not None:
        parts.extend(Paragraph.of(look.say(line, 1200)) for line in undo_lines(section.standing))
    return paint(parts, look)


def _findings(section: JudgedRun, look: Look) -> Iterator[Paragraph]:
    """The gravest findings in full, the others by their codes."""
    groups = grouped(section.judgement.findings)
    if not groups:
        yield Paragraph.of(look.say(headline(section)))
    decisive = [group for group in groups if group[0].severity in ("fail", "inconclusive")]
    shown = decisive[:MOST_FINDINGS] or groups[:2]
    for group in shown:
        yield _finding(group, look)
    counts: dict[str, int] = {}
    for group in groups:
        if group not in shown:
            counts[group[0].code] = counts.get(group[0].code, 0) + len(group)
    if counts:
        codes = ", ".join(f"{code} ({count})" for code, count in counts.items())
        yield Paragraph.of(look.say(f"also, in the report: {codes}"))


def result_tables(section: JudgedRun, look: Look = PLAIN) -> str:
    """One table per pattern. Long tables show the gravest and the typical rows and say how many
    they leave out.
    """
    parts: list[Paragraph] = []
    for table in tables(section):
        parts.extend(_render(table, section.judgement.findings, look))
    if parts:
        parts += [Paragraph.of(""), Paragraph.of(look.say(_LEGEND), "dim")]
    parts.extend(group_parts(section, look))
    return paint(parts, look)


def whole(section: JudgedRun, look: Look = PLAIN) -> str:
    """Summary, then tables."""
    shown = result_tables(section, look)
    return summary(section, look) + ("\n" + shown if shown else "")


def _path(section: JudgedRun) -> str:
    """The proof of the run; where it is the worst of several, how many results are on the wire all
    the same.
    """
    proof, pairs = section.judgement.proof, results(section.judgement)
    good = sum(pair.proof == "on-wire" for pair in pairs)
    how = f"{good} of {len(pairs)} results on-wire" if good and proof != "on-wire" else ""
    remarks = ", ".join(part for part in (how, counted_at(pairs)) if part)
    return f"{proof} ({remarks})" if remarks else proof


def _counts(section: JudgedRun) -> str:
    run = section.run
    if is_baseline(section):
        count = quantity.counted(len(results(section.judgement)), "result")
        text = f"{count}, a baseline that is not judged"
    else:
        text = passing(section.judgement)
    return text + (f"; {len(run.missing)} planned points are missing" if run.missing else "")


def _finding(group: list[Finding], look: Look) -> Paragraph:
    """The first of its kind in full, the others by whom they concern."""
    finding = group[0]
    pieces = [_word(finding.severity), Piece(f" {look.say(finding.message)} ")]
    pieces.append(Piece(look.say(f"[{finding.code}]"), "dim"))
    if len(group) > 1:
        whom = "; ".join(dict.fromkeys(other.subject for other in group[1:6] if other.subject))
        more = "; …" if len(group) > 6 else ""
        others = f"and {len(group) - 1} more of this kind" + (f": {whom}{more}" if whom else "")
        pieces.append(Piece("\n" + look.say(others)))
    if finding.advice:
        pieces.append(Piece("\n" + look.say(f"→ next: {finding.advice}"), "italic"))
    return Paragraph(tuple(pieces))


def _word(grade: str) -> Piece:
    return Piece(_WORDS[grade], _STYLES[grade])


def _limit_lines(section: JudgedRun) -> list[str]:
    limits, link = section.limits, section.run.claim.link
    lines = []
    if link is not None:
        source = f" ({link.source})" if link.source else ""
        lines.append(f"link: {link.name}, line rate {quantity.line_rate(link.line_rate)}{source}")
    if limits is not None and (limits.attainable_bytes_per_s or limits.floor_ns):
        parts = []
        if limits.attainable_bytes_per_s:
            rate = limits.attainable_bytes_per_s
            parts.append(
                f"attainable {quantity.megabytes(rate)} MB/s ({quantity.line_rate(rate * 8)})"
            )
        if limits.floor_ns:
            parts.append(f"latency floor {quantity.microseconds(limits.floor_ns)} µs")
        lines.append("limits: " + ", ".join(parts))
    shared = rails_sentence(section.judgement)
    return [*lines, f"rails: {shared}"] if shared else lines


@dataclass(frozen=True)
class _Column:
    """``keep``: the higher, the longer it stays when the width is short."""

    title: str
    keep: int
    value: Callable[[ResultRow], str]
    left: bool = False


def _columns(table: ResultTable, again: bool) -> list[_Column]:
    timed = table.unit == "ns"
    columns = [_Column("size", 10, lambda row: quantity.size(row.pair.message_bytes))]
    if table.pairs > 1:
        columns.append(
            _Column(
                "from → to",
                9,
                lambda row: " → ".join(clean(name, 40) for name in row.between),
                True,
            )
        )
    interval = _Column(
        "±%", 8, lambda row: quantity.plus_minus(row.pair.half_width, "").removesuffix(" %")
    )
    time = _Column("µs", 9 if timed else 1, lambda row: quantity.microseconds(row.time_ns))
    rate = _Column("MB/s", 4 if timed else 9, lambda row: quantity.megabytes(row.goodput))
    line = _Column("Gb/s", 2 if timed else 6, lambda row: quantity.gigabits(row.goodput))
    columns += [time, interval, rate, line] if timed else [rate, line, interval, time]
    columns += [
        _Column(
            "%att",
            3 if timed else 7,
            lambda row: quantity.percent(row.efficiency).removesuffix(" %"),
        ),
        _Column(
            "%nom", 1 if timed else 2, lambda row: quantity.percent(row.nominal).removesuffix(" %")
        ),
        _Column("proof", 8, lambda row: row.pair.proof, True),
        _Column("label", 5, lambda row: row.pair.label, True),
        _Column("verdict", 9, lambda row: _WORDS[row.pair.verdict].lower(), True),
    ]
    return [*columns, _Column("n", 6, lambda row: str(row.times))] if again else columns


def _render(table: ResultTable, findings: list[Finding], look: Look) -> list[Paragraph]:
    rows, left_out = _chosen(table, findings)
    again = any(row.times > 1 for row in rows)
    columns = _columns(table, again)
    cells = [[look.say(column.value(row), 60) for column in columns] for row in rows]
    styles = [_STYLES[row.pair.verdict] if row.pair.verdict != "pass" else "" for row in rows]
    shown, dropped = grid(
        [Head(column.title, column.keep, column.left) for column in columns], cells, styles, look
    )
    title = table.title
    if table.pairs == 1 and table.rows:
        title += ": " + " → ".join(table.rows[0].between)
    parts: list[Paragraph] = [Paragraph.of(""), Paragraph.of(look.say(title), "bold"), *shown]
    if again:
        parts.append(Paragraph.of(_AGAIN, "dim"))
    if left_out:
        parts.append(Paragraph.of(f"{left_out} more rows are in the report and in --json", "dim"))
    if dropped:
        parts.append(
            Paragraph.of(look.say(f"not shown at this width: {', '.join(dropped)}"), "dim")
        )
    return parts


def _chosen(table: ResultTable, findings: list[Finding]) -> tuple[list[ResultRow], int]:
    """All rows if few; otherwise one for each direction and size; if those are many, those that
    tell most. What does not pass comes first.
    """
    rows = list(table.rows) if len(table.rows) <= MOST_ROWS else folded(table.rows)
    some = chosen(rows, findings, MOST_ROWS)
    return some, len(rows) - len(some)
