"""A document as text for a terminal or a file: the verdict and the answer first, sections indented,
tables limited to the width.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

import msgspec

from wireproof.report.document import (
    WORDS,
    Bar,
    Cell,
    Document,
    Dots,
    Facts,
    Figure,
    Findings,
    Item,
    Part,
    Picture,
    Raw,
    Section,
    Span,
    Spark,
    Steps,
    Table,
    Text,
    Value,
    full_of,
    words_of,
)
from wireproof.report.ink import PLAIN, Look, Paragraph, Piece, cell_length, grid, paint

STYLES = {
    "": "",
    "pass": "bold green",
    "fail": "bold red",
    "inconclusive": "bold yellow",
    "warning": "yellow",
    "note": "dim",
}
_LONGEST = 2400
"""Maximum length of a text, in characters."""
_WIDEST_WORD = 14
"""Maximum number of columns for the words to the left of findings; longer words become part of the
text."""
_WIDEST_QUESTION = 20
_CUT = re.compile(r"\.?$|\. |; | \(")
"""The end of an answer within a finding."""
_WIDEST = 41
_NARROWEST = 9
"""Columns of a figure."""
_EIGHTHS = " ▏▎▍▌▋▊▉"
_HEIGHTS = " ▁▂▃▄▅▆▇█"
_ASCII_HEIGHTS = " .:-=+*#@"


def document_text(document: Document, look: Look = PLAIN) -> str:
    """Return the whole document, ending with a line break; "" if it is empty."""
    return paint(_document(document, look), look)


def part_text(part: Part, look: Look = PLAIN) -> str:
    """Return one part as it appears in a document."""
    return paint(paragraphs(part, look), look)


def _document(document: Document, look: Look) -> Iterator[Paragraph]:
    head = bool(document.answer or document.verdict)
    telling, parts = _led(document.parts, document.answer)
    if telling:
        word = WORDS.get(document.verdict, "")
        yield from _item(telling, word, len(word), look)
    elif head:
        yield _headline(document.verdict, document.answer or document.title, look)
    yield from _apart(parts, look, after=head)


def _led(parts: tuple[Part, ...], answer: str) -> tuple[Item | None, tuple[Part, ...]]:
    """Return the finding that is the answer, or begins with it, for the first line, so that no
    sentence is printed twice: with its code, the rest of its text, and its advice. Return also the
    parts without it and without answers of sections that repeat it. None if no finding is the
    answer.
    """
    bare = answer.rstrip(".")
    for found in _items(parts) if bare else ():
        rest = found.text.removeprefix(bare)
        if found.text.startswith(bare) and _CUT.match(rest):
            left = rest.lstrip(".; ")
            details = (("", left), *found.details) if left else found.details
            lead = found._replace(text=answer, details=details)
            return lead, tuple(_without(parts, found.text, bare))
    return None, parts


def _items(parts: Sequence[Part]) -> Iterator[Item]:
    for part in parts:
        if isinstance(part, Section):
            yield from _items(part.parts)
        elif isinstance(part, Findings) and not part.cards:
            yield from (item for item in part.items if not item.word)


def _without(parts: Sequence[Part], text: str, answer: str) -> Iterator[Part]:
    for part in parts:
        if isinstance(part, Section):
            inner = tuple(_without(part.parts, text, answer))
            own = "" if part.answer.rstrip(".") == answer else part.answer
            part = msgspec.structs.replace(part, parts=inner, answer=own)
        elif isinstance(part, Findings) and not part.cards:
            items = tuple(one for one in part.items if one.word or one.text != text)
            part = msgspec.structs.replace(part, items=items)
        if not isinstance(part, Findings) or part.items:
            yield part


def _apart(parts: Sequence[Part], look: Look, *, after: bool) -> Iterator[Paragraph]:
    """Yield parts separated by blank lines, but none between two texts. ``after``: also put a blank
    line before the first.
    """
    before: Part | None = Text("") if after else None
    for part in parts:
        if isinstance(part, Picture) and not part.spark.full:
            continue
        if before is not None and not (isinstance(before, Text) and isinstance(part, Text)):
            yield Paragraph.of("")
        yield from paragraphs(part, look)
        before = part


def _headline(verdict: str, words: str, look: Look) -> Paragraph:
    told = Piece(look.say(words, _LONGEST))
    if not verdict:
        return Paragraph((told,))
    return Paragraph((Piece(WORDS[verdict], STYLES[verdict]), Piece("  "), told))


def paragraphs(part: Part, look: Look) -> Iterator[Paragraph]:
    """Yield the paragraphs of one part, before they are wrapped."""
    return _WRITERS[part.kind](part, look)


def _text(part: Text, look: Look) -> Iterator[Paragraph]:
    mark = look.say(part.mark) + " " if part.mark else ""
    yield Paragraph((Piece(look.say(part.text, _LONGEST), STYLES[part.tone]),), mark=mark)


def _facts(part: Facts, look: Look) -> Iterator[Paragraph]:
    names = [look.say(name, 60) for name, _ in part.rows]
    width = max(map(cell_length, names), default=0) + 2
    for name, (_, value) in zip(names, part.rows, strict=True):
        told = _shown(value, max(_NARROWEST, look.width - width), look)
        yield Paragraph.of(told)._replace(mark=name + " " * (width - cell_length(name)))


def _findings(part: Findings, look: Look) -> Iterator[Paragraph]:
    shown = part.items[: part.most]
    words = [look.say(item.word, 240) or WORDS.get(item.tone, "") for item in shown]
    width = max(map(cell_length, words), default=0)
    width = width if width <= (_WIDEST_QUESTION if part.cards else _WIDEST_WORD) else 0
    for item, word in zip(shown, words, strict=True):
        if part.cards:
            told = ". ".join((item.text.rstrip("."), *(words_of(text) for _, text in item.details)))
            item = item._replace(text=told, details=())
        first, *more = _item(item, word, width, look)
        yield from (first._replace(whole=part.whole), *more)
    yield from _more(len(part.items) - part.most, "findings")


def _item(item: Item, word: str, width: int, look: Look) -> Iterator[Paragraph]:
    """Yield the paragraphs of one item. ``width``: width of the column of words; 0: the word is
    part of the text.
    """
    code = [Piece(f" [{look.say(item.code, 80)}]", "dim")] if item.code else []
    text = Piece(look.say(item.text, _LONGEST))
    if width:
        mark = word + " " * (width - cell_length(word) + 2)
        yield Paragraph((text, *code), mark=mark, ink=STYLES[item.tone])
    else:
        lead = [Piece(word, STYLES[item.tone]), Piece(" ")] if word else []
        yield Paragraph((*lead, text, *code))
    indent = width + 2 if width else 2
    for label, more in (*item.details, ("right", item.right)):
        for line in filter(None, words_of(more).split("\n")):
            told = Paragraph.of(look.say(line, _LONGEST), indent=indent)
            yield told._replace(mark=f"{label}: " if label else "", whole=label == "right")


def _steps(part: Steps, look: Look) -> Iterator[Paragraph]:
    for step in part.steps[: part.most]:
        if step.text:
            yield Paragraph.of(look.say(step.text, _LONGEST))._replace(mark="- ")
        if step.command:
            yield Paragraph.of(look.keep(step.command), indent=4)._replace(whole=True)
    yield from _more(len(part.steps) - part.most, "steps")


def _picture(part: Picture, look: Look) -> Iterator[Paragraph]:
    if curve := spark_text(part.spark, look):
        yield Paragraph.of(curve)


def _raw(part: Raw, look: Look) -> Iterator[Paragraph]:
    for line in part.lines:
        bare = line.lstrip(" ")
        depth = len(line) - len(bare)
        yield Paragraph.of(look.keep(bare), indent=depth)._replace(whole=True)


def _section(part: Section, look: Look) -> Iterator[Paragraph]:
    head = _headline(part.verdict, part.title, look)
    yield head if part.verdict else Paragraph.of(head.pieces[0].text, "bold")
    narrow = Look(look.width - 2, color=look.color, ascii=look.ascii)
    telling, parts = _led(part.parts, part.answer)
    if telling:
        parts = (Findings((telling._replace(tone=""),)), *parts)
    elif part.answer:
        parts = (Text(part.answer), *parts)
    inside: Iterator[Paragraph] = (line for inner in parts for line in paragraphs(inner, narrow))
    if part.whole:
        inside = _apart(parts, narrow, after=False)
    for paragraph in inside:
        yield paragraph._replace(indent=paragraph.indent + 2)


def _table(part: Table, look: Look) -> Iterator[Paragraph]:
    if part.title:
        yield Paragraph.of(look.say(part.title, _LONGEST), "bold")
    rows = part.rows[: part.most]
    if rows:
        cells = _cells(part, [row.cells for row in rows], look)
        lines, dropped = grid(part.heads, cells, [STYLES[row.tone] for row in rows], look)
        yield from lines
        if names := ", ".join(name for name in dropped if name):
            yield Paragraph.of(look.say(f"not shown at this width: {names}"), "dim")
    yield from _more(len(part.rows) - part.most, "rows")
    if part.note:
        yield Paragraph.of(look.say(part.note, _LONGEST), "dim")


def _more(count: int, what: str) -> Iterator[Paragraph]:
    if count > 0:
        yield Paragraph.of(f"{count} more {what}: --json has them all", "dim")


def _cells(part: Table, rows: Sequence[Sequence[Cell]], look: Look) -> list[list[str]]:
    """Return the cells as text; figures use the width that the other columns leave."""
    full = full_of(part)
    words = [
        [look.say(words_of(cell), 400) if isinstance(cell, str | Value) else "" for cell in row]
        for row in rows
    ]
    drawn = [not isinstance(cell, str | Value) for cell in rows[0]]
    used = sum(
        max([cell_length(row[at]) for row in words] + [cell_length(head.title)]) + 2
        for at, head in enumerate(part.heads)
        if not drawn[at]
    )
    room = max(_NARROWEST, min(_WIDEST, look.width - used))
    return [
        [
            text if isinstance(cell, str | Value) else _drawn(cell, room, look, full)
            for cell, text in zip(row, texts, strict=True)
        ]
        for row, texts in zip(rows, words, strict=True)
    ]


def _shown(cell: Cell, room: int, look: Look) -> str:
    if isinstance(cell, str | Value):
        return look.say(words_of(cell), _LONGEST)
    return _drawn(cell, room, look)


def _drawn(figure: Figure, room: int, look: Look, full: float = 0.0) -> str:
    if isinstance(figure, Bar):
        whole = figure.full or full or 1.0
        bar = bar_text((figure.value or 0.0) / whole, room, look)
        return bar if figure.due is None else _marked(bar, figure.due / whole, room)
    if isinstance(figure, Span):
        return _span_text(figure, full, room)
    if isinstance(figure, Dots):
        return _dots_text(figure, look)
    return spark_text(figure, look, room)


def bar_text(share: float, room: int, look: Look) -> str:
    """Return a bar with ``share`` of ``room`` cells, in eighths if the alphabet has them; never
    empty if ``share`` is above 0.
    """
    share = min(1.0, max(0.0, share)) if math.isfinite(share) else 0.0
    if not share:
        return ""
    if look.ascii:
        return "#" * max(1, round(share * room))
    eighths = max(1, round(share * room * 8))
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _marked(bar: str, share: float, room: int) -> str:
    """Return a bar with a line at its expected end."""
    at = max(0, min(room - 1, round(share * room) - 1))
    padded = bar.ljust(at + 1)
    return f"{padded[:at]}|{padded[at + 1 :]}"


def _span_text(span: Span, full: float, room: int) -> str:
    """Return ``----|==o==``: the center as a bar, the interval as a line, the estimate as o."""
    half = (room - 1) // 2
    scale = half / full if full else 0.0

    def at(value: float) -> int:
        return max(0, min(2 * half, half + round((value - span.center) * scale)))

    cells = [" "] * (2 * half + 1)
    if span.low is not None and span.high is not None:
        for place in range(at(span.low), at(span.high) + 1):
            cells[place] = "-"
    cells[half] = "|"
    cells[at(span.value)] = "o"
    return "".join(cells)


def _dots_text(figure: Dots, look: Look) -> str:
    strip = dots(figure, look)
    here = f"  {'^' if look.ascii else '▲'} here" if figure.value else ""
    words = f"{look.say(figure.words, _LONGEST)}\n" if figure.words else ""
    return f"{words}{strip}{here}"


def spark_text(spark: Spark, look: Look, room: int = 0) -> str:
    """Return a character for each value, as high as its share of ``full``; if ``room`` is too small
    for all, a character for the mean of several values.
    """
    heights = _ASCII_HEIGHTS if look.ascii else _HEIGHTS
    if not spark.full:
        return ""
    step = max(1, math.ceil(len(spark.values) / ((room or look.width) - 2)))
    means = (fmean(spark.values[at : at + step]) for at in range(0, len(spark.values), step))
    shares = (8 * value / spark.full for value in means)
    bars = "".join(heights[min(8, max(0, math.ceil(share - 0.25)))] for share in shares)
    return f"|{bars}| {look.say(spark.words)}"


_WRITERS: dict[str, Callable[..., Iterator[Paragraph]]] = {
    "text": _text,
    "facts": _facts,
    "table": _table,
    "findings": _findings,
    "steps": _steps,
    "raw": _raw,
    "picture": _picture,
    "section": _section,
}


_WIDTH = 40
_MARKS, _ASCII = "·:∴⁘", ".:%#"


def dots(figure: Dots, look: Look) -> str:
    """Return ``4.1 us |· :·▲··| 0.9 us``: faster to the right, on a logarithmic scale. Denser marks
    represent several numbers in one place.
    """
    counts = Counter(round(figure.share(value) * (_WIDTH - 1)) for value in figure.values)
    marks = " " + (_ASCII if look.ascii else _MARKS)
    text = [marks[min(counts[at], len(marks) - 1)] for at in range(_WIDTH)]
    if figure.value:
        text[round(figure.share(figure.value) * (_WIDTH - 1))] = "^" if look.ascii else "▲"
    slow, fast = map(figure.shown, figure.ends)
    return f"{slow} |{''.join(text)}| {fast}"
