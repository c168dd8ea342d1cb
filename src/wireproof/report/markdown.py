"""A document as Markdown, for an issue or a wiki: the same words and tables as the page, without
pictures. Every name from outside is escaped, so it is never markup.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from wireproof.report.document import (
    WORDS,
    Cell,
    Document,
    Facts,
    Findings,
    Item,
    Part,
    Picture,
    Raw,
    Section,
    Steps,
    Table,
    Value,
    words_of,
)
from wireproof.report.names import clean, one_harmless_line
from wireproof.version import version

_SIGNS = re.compile(r"([\\`*_{}\[\]<>#|~!&])")


def document_markdown(document: Document) -> str:
    """Return the document with the parts of the page; tables lose their column of figures."""
    lines = [f"# {_safe(document.title)}", "", f"{_word(document.verdict)}{_safe(document.answer)}"]
    for part in document.parts:
        lines += ["", *_part(part, 2)]
    return "\n".join(lines) + f"\n\nwireproof {version()}. MB = 10^6 bytes, MiB = 2^20 bytes.\n"


def _word(verdict: str) -> str:
    return f"**{WORDS[verdict]}** " if verdict else ""


def _part(part: Part, level: int) -> Iterable[str]:
    if isinstance(part, Section):
        return _section(part, level)
    if isinstance(part, Table):
        return _table(part, level)
    if isinstance(part, Findings):
        shown = [line for item in part.items[: part.most] for line in _item(item)]
        return [*shown, *_more(len(part.items) - part.most, "findings")]
    if isinstance(part, Steps):
        shown = [_step(*step) for step in part.steps[: part.most]]
        return [*shown, *_more(len(part.steps) - part.most, "steps")]
    if isinstance(part, Picture):
        return [_safe(part.spark.words)] if part.spark.words else []
    if isinstance(part, Raw):
        fence = "`" * max(3, _ticks("".join(part.lines)))
        return [fence, *map(one_harmless_line, part.lines), fence]
    if isinstance(part, Facts):
        return [f"- {_safe(name)}: {_safe(words_of(value))}" for name, value in part.rows]
    return [f"{_safe(part.mark)} {_safe(part.text)}".strip()]


def _more(count: int, what: str) -> list[str]:
    return ["", f"{count} more {what}: --json has them all"] if count > 0 else []


def _section(part: Section, level: int) -> Iterator[str]:
    yield f"{'#' * level} {_word(part.verdict)}{_safe(part.title)}"
    if part.answer:
        yield from ("", _safe(part.answer))
    for one in part.parts:
        yield from ("", *_part(one, min(6, level + 1)))


def _item(item: Item) -> Iterator[str]:
    word = _safe(item.word) or WORDS.get(item.tone, "")
    code = f" \\[{_safe(item.code, 80)}\\]" if item.code else ""
    yield f"- {word} {_safe(item.text)}{code}"
    for label, text in item.details:
        lead = f"{_safe(label)}: " if label else ""
        yield from (f"  - {lead}{_safe(line)}" for line in words_of(text).split("\n"))
    yield from (f"  - right: {_typed(line)}" for line in item.right.split("\n") if line)


def _step(text: str, command: str) -> str:
    return f"- {': '.join(filter(None, (_safe(text), _typed(command))))}"


def _typed(command: str) -> str:
    """Return a command as code; "" for ""."""
    ticks = "`" * _ticks(command)
    return f"{ticks} {one_harmless_line(command)} {ticks}" if command else ""


def _ticks(text: str) -> int:
    """Return a number of backticks that does not occur in the text."""
    return max((len(run) for run in re.findall("`+", text)), default=0) + 1


def _table(table: Table, level: int) -> Iterator[str]:
    first: Sequence[Cell] = table.rows[0].cells if table.rows else [""] * len(table.heads)
    kept = [at for at, cell in enumerate(first) if isinstance(cell, str | Value)]
    heads = [table.heads[at] for at in kept]
    if table.title:
        yield from (f"{'#' * level} {_safe(table.title)}", "")
    yield _row(head.title for head in heads)
    yield f"|{'|'.join('---' if head.left else '---:' for head in heads)}|"
    for row in table.rows:
        yield _row(words_of(row.cells[at]) for at in kept)
    if table.note:
        yield from ("", _safe(table.note))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(_safe, cells))} |"


def _safe(text: str, most: int = 4000) -> str:
    """Return text in which no character acts as markup."""
    return _SIGNS.sub(r"\\\1", clean(text, most))
