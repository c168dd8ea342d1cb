"""The report as Markdown, for an issue or a wiki: the same words and tables as the page, without
its pictures. Every name from outside is escaped: it is a word and never markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from wireproof.report.answers import answers
from wireproof.report.document import (
    WORDS,
    Cell,
    Document,
    Dots,
    Drawing,
    Facts,
    Findings,
    Item,
    Part,
    Picture,
    Raw,
    Section,
    Spark,
    Steps,
    Table,
)
from wireproof.report.flows import flows
from wireproof.report.group_rows import group_tables
from wireproof.report.html.grids import (
    Grid,
    disclosure_grid,
    group_grid,
    result_grid,
    setting_grid,
)
from wireproof.report.html.proof import proof_of
from wireproof.report.judged_run import JudgedRun, grouped, headline
from wireproof.report.names import clean
from wireproof.report.rows import tables
from wireproof.version import version

__all__ = ["document_markdown", "markdown"]

_SIGNS = re.compile(r"([\\`*_{}\[\]<>#|~!&])")


def markdown(sections: Sequence[JudgedRun], title: str) -> str:
    """The whole text. Raises ValueError without a section."""
    if not sections:
        raise ValueError("a report needs at least one run")
    lines = [f"# {_safe(title)}", ""]
    for number, section in enumerate(sections, 1):
        lines += _section(section, f"run{number}")
    lines.append(f"wireproof {version()}. MB = 10^6 bytes, MiB = 2^20 bytes.")
    return "\n".join(lines) + "\n"


def document_markdown(document: Document) -> str:
    """The same parts as the text and the page have; a table loses its column of figures."""
    title = _safe(document.title)
    word = f"**{WORDS[document.verdict]}** " if document.verdict else ""
    lines = [f"# {title}", "", f"{word}{_safe(document.answer, 4000)}", ""]
    for part in document.parts:
        lines += [*_part(part, 2), ""]
    return "\n".join(lines) + f"\nwireproof {version()}.\n"


def _part(part: Part, level: int) -> list[str]:
    if isinstance(part, Section):
        return _chapter(part, level)
    if isinstance(part, Table):
        return list(_document_table(part, level))
    if isinstance(part, Findings):
        return [line for item in part.items[: part.most] for line in _item(item)]
    if isinstance(part, Steps):
        return [_step(*step) for step in part.steps[: part.most]]
    if isinstance(part, Drawing):
        return [_safe(part.spark.words)]
    if isinstance(part, Raw):
        return [f"    {clean(line, 4000)}" for line in part.lines]
    if isinstance(part, Picture):
        return []
    if isinstance(part, Facts):
        return [f"- {_safe(name)}: {_cell(value)}" for name, value in part.rows]
    return [f"{_safe(part.mark)} {_safe(part.text, 4000)}".strip()]


def _chapter(part: Section, level: int) -> list[str]:
    word = f"**{WORDS[part.verdict]}** " if part.verdict else ""
    inner = (line for one in part.parts for line in ("", *_part(one, min(6, level + 1))))
    return [f"{'#' * level} {word}{_safe(part.title)}", *inner]


def _item(item: Item) -> Iterable[str]:
    word = _safe(item.word) or WORDS.get(item.tone, "")
    code = f" \\[{_safe(item.code, 80)}\\]" if item.code else ""
    yield f"- {word} {_safe(item.text, 4000)}{code}"
    for label, text in item.details:
        yield from (f"  - {_safe(label)}: {_safe(line, 4000)}" for line in text.split("\n"))
    yield from (f"  - right: {_typed(line)}" for line in item.right.split("\n") if line)


def _step(text: str, command: str) -> str:
    return f"- {': '.join(filter(None, (_safe(text, 4000), _typed(command))))}"


def _typed(command: str) -> str:
    """As code; "" for nothing."""
    ticks = "`" * (max((len(run) for run in re.findall("`+", command)), default=0) + 1)
    return f"{ticks} {clean(command, 4000)} {ticks}" if command else ""


def _cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return _safe(cell, 2000)
    return _safe(cell.words) if isinstance(cell, Spark | Dots) else ""


def _document_table(table: Table, level: int) -> Iterable[str]:
    kept = [
        at
        for at in range(len(table.heads))
        if not table.rows or isinstance(table.rows[0].cells[at], str)
    ]
    heads = [table.heads[at].title for at in kept]
    rows = [[_text_of(row.cells[at]) for at in kept] for row in table.rows]
    if table.title:
        yield from (f"{'#' * level} {_safe(table.title)}", "")
    yield from _table(heads, rows, [not table.heads[at].left for at in kept])
    if table.note:
        yield from ("", _safe(table.note, 4000))


def _text_of(cell: Cell) -> str:
    return cell if isinstance(cell, str) else ""


def _safe(text: str, most: int = 1000) -> str:
    """Text in which no sign means anything."""
    return _SIGNS.sub(r"\\\1", clean(text, most))


def _section(section: JudgedRun, name: str) -> list[str]:
    judgement = section.judgement
    found = tables(section)
    lead = [_safe(section.lead), ""] if section.lead else []
    grids = [result_grid(table, name, judgement.findings) for table in found]
    grids += [group_grid(table, name) for table in group_tables(section)]
    grids += [one for one in (setting_grid(section, name), disclosure_grid(section, name)) if one]
    return [
        f"## {_safe(section.title)}",
        "",
        *lead,
        f"**{judgement.verdict.upper()}**, path: {judgement.proof}. {_safe(headline(section))}",
        "",
        *_questions(section),
        *_findings(section),
        *_proof(section),
        *(line for grid in grids for line in _grid(grid)),
        *_limits(section),
    ]


def _questions(section: JudgedRun) -> list[str]:
    lines = [
        f"- **{one.question}** {_safe(one.short)}. {_safe(one.text, 2000)}".rstrip()
        for one in answers(section)
    ]
    return [*lines, ""]


def _findings(section: JudgedRun) -> list[str]:
    lines = []
    for group in grouped(section.judgement.findings):
        first = group[0]
        more = f" ({len(group) - 1} more of this kind)" if len(group) > 1 else ""
        advice = f" Next: {_safe(first.advice)}" if first.advice else ""
        said = f"{_safe(first.message)} \\[{_safe(first.code, 40)}\\]{more}"
        lines.append(f"- {first.severity}: {said}{advice}")
    return ["### Findings", "", *lines, ""] if lines else []


def _proof(section: JudgedRun) -> list[str]:
    proof = proof_of(flows(section.run))
    if not proof.rows:
        return []
    heads = ("host", "NIC", "direction", "level", "quality", "due", "seen", "seen of due")
    rows = [
        (one.host, one.nic, one.direction, one.level, one.quality, *(c.text for c in one.cells))
        for one in proof.rows
    ]
    aligned = [False] * 5 + [True] * 3
    return ["### Proof of the path", "", _safe(proof.note), "", *_table(heads, rows, aligned), ""]


def _grid(grid: Grid) -> list[str]:
    heads = [" ".join(column.lines).replace("- ", "").strip() for column in grid.columns]
    rows = [[cell.text for cell in cells] for _, cells in grid.rows]
    aligned = [not column.text for column in grid.columns]
    title = f"### {_safe(grid.title)} ({grid.count})"
    return [title, "", _safe(grid.caption), "", *_table(heads, rows, aligned), ""]


def _table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[bool]
) -> Iterable[str]:
    yield f"| {' | '.join(_safe(head) for head in heads)} |"
    yield f"|{'|'.join('---:' if one else '---' for one in right)}|"
    for row in rows:
        yield f"| {' | '.join(_safe(cell) for cell in row)} |"


def _limits(section: JudgedRun) -> list[str]:
    lines = section.limits.derivation if section.limits else []
    return ["### Limits", "", *(f"1. {_safe(line)}" for line in lines), ""] if lines else []
