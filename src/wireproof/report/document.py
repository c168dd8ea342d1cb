"""A result as a document: an answer, then parts. A verb builds one; text, Markdown and HTML are
rendered from it by one renderer each.

Texts may hold names from outside: each renderer makes them safe.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, TypeAlias, get_args

from wireproof.model.atlas import Place, Quantity
from wireproof.model.finding import Finding, Verdict
from wireproof.report.names import fold

if TYPE_CHECKING:
    from wireproof.report.figure.chart import Chart, Ink


Form = Literal["text", "html", "markdown", "json"]
"""The forms in which every verb prints its result."""
FORMS: tuple[Form, ...] = get_args(Form)

Tone = Literal["", "pass", "fail", "inconclusive", "warning", "note"]
"""The colour of a text; ``note`` is faint."""
WORDS: dict[str, str] = {
    "pass": "PASS",
    "fail": "FAIL",
    "inconclusive": "INCONCLUSIVE",
    "warning": "WARNING",
    "note": "note",
}
"""The words for verdicts and severities."""


class Value(NamedTuple):
    """A text with what it stands for: ``raw``, the number for sorting and for CSV; ``place``, the
    page that it leads to; ``tone``, the colour of a word such as a verdict.
    """

    text: str
    raw: str = ""
    place: str = ""
    tone: Tone = ""


class Bar(NamedTuple):
    """A bar from zero; the longest bar of its column is full unless ``full`` is given. ``due``:
    where it should end, None if that is not known; ``words`` stand beside it.
    """

    value: float | None
    full: float = 0.0
    due: float | None = None
    words: str = ""


class Span(NamedTuple):
    """An estimate with its interval, beside ``center``: a row of a forest plot."""

    value: float
    low: float | None
    high: float | None
    center: float = 1.0


class Spark(NamedTuple):
    """A curve in one line: values in order; ``full`` is the height of a full bar. ``words``
    describe the curve, and stand for it where there are no pictures.
    """

    values: tuple[float, ...]
    full: float
    words: str


class Dots(NamedTuple):
    """Published numbers (ns or bytes/s), the faster to the right, and where ours lies: ``value``,
    None if there is none.
    """

    values: tuple[float, ...]
    quantity: Quantity
    value: float | None = None
    words: str = ""

    @classmethod
    def of(cls, place: Place) -> Dots:
        return cls(tuple(place.values), place.quantity, place.value, place.sentence)


Figure: TypeAlias = Bar | Span | Spark | Dots
Cell: TypeAlias = str | Value | Figure


class Head(NamedTuple):
    """``keep``: the higher, the longer the column stays when the width is short. ``name``: of the
    column in a CSV file, with the unit of the raw values; else its title.
    """

    title: str
    keep: int
    left: bool = False
    name: str = ""


class Row(NamedTuple):
    cells: tuple[Cell, ...]
    tone: Tone = ""


@dataclass(frozen=True)
class Text:
    """A paragraph. ``mark``: a sign before it, as in a list (``!``, ``-``); ``place``: the page it
    leads to.
    """

    kind: ClassVar[str] = "text"
    text: str
    tone: Tone = ""
    mark: str = ""
    place: str = ""


@dataclass(frozen=True)
class Facts:
    """Names with their values."""

    kind: ClassVar[str] = "facts"
    rows: tuple[tuple[str, Cell], ...]


@dataclass(frozen=True)
class Table:
    """``heads`` and the cells of each row have the same length. A column holds texts or figures,
    never both, and a table has at most one column of figures. Text shows the first ``most`` rows.
    ``name``: of the file that a page saves it as, if not by its title.
    """

    kind: ClassVar[str] = "table"
    heads: tuple[Head, ...]
    rows: tuple[Row, ...]
    title: str = ""
    note: str = ""
    most: int = 40
    name: str = ""


class Item(NamedTuple):
    """What was found. ``details``: a label and a text each, such as ``("next", advice)``; of no
    label the text alone. ``right``: what should stand there, as lines to be pasted. ``more``: a
    label and a text each, which a page folds and text leaves out. ``anchor``: its name on a page.
    """

    tone: Tone
    text: str
    code: str = ""
    details: tuple[tuple[str, str | Value], ...] = ()
    word: str = ""
    """In place of the word for ``tone``: the place in a file, the name of a setting."""
    right: str = ""
    more: tuple[tuple[str, str], ...] = ()
    anchor: str = ""


@dataclass(frozen=True)
class Findings:
    kind: ClassVar[str] = "findings"
    items: tuple[Item, ...]
    most: int = 1000
    """Items that text and Markdown show."""
    whole: bool = False
    """In text each stands on a line of its own, for editors that jump to it."""
    cards: bool = False
    """Questions with their answers: on a page each stands in a box."""


class Step(NamedTuple):
    """What to do, and the command that does it."""

    text: str
    command: str = ""


@dataclass(frozen=True)
class Steps:
    kind: ClassVar[str] = "steps"
    steps: tuple[Step, ...]
    most: int = 1000


@dataclass(frozen=True)
class Raw:
    """Lines whose blanks matter: a difference, a script."""

    kind: ClassVar[str] = "raw"
    lines: tuple[str, ...]


NOTHING = Spark((), 0.0, "")


@dataclass(frozen=True)
class Picture:
    """Pictures on a page, made if they are drawn; the ``spark`` in text, and its words in Markdown:
    what they show stands in a table beside them.
    """

    kind: ClassVar[str] = "picture"
    draw: Callable[[], Sequence[Chart | Ink]]
    spark: Spark = NOTHING


@dataclass(frozen=True)
class Section:
    """``answer``: what a reader looks for, below the title. ``fold``: a page folds it, ``open`` or
    ``closed``. ``anchor``: its name on a page.
    """

    kind: ClassVar[str] = "section"
    title: str
    parts: tuple[Part, ...]
    verdict: Verdict | Literal[""] = ""
    answer: str = ""
    fold: Literal["", "open", "closed"] = ""
    anchor: str = ""

    @property
    def whole(self) -> bool:
        """True if it holds sections itself: a document within one."""
        return any(isinstance(part, Section) for part in self.parts)


Part: TypeAlias = Text | Facts | Table | Findings | Steps | Raw | Picture | Section


@dataclass(frozen=True)
class Document:
    """``title``: what the result is; ``answer``: the sentence that a reader looks for."""

    title: str
    answer: str
    parts: tuple[Part, ...]
    verdict: Verdict | Literal[""] = ""


def items_of(findings: Sequence[Finding]) -> tuple[Item, ...]:
    """Findings of a judgement, with the hosts that share each and what to do next."""
    return tuple(_item(finding) for finding in findings)


def _item(finding: Finding) -> Item:
    hosts = finding.evidence.get("hosts")
    shared = f" [{fold(hosts, 60)}]" if isinstance(hosts, list) and len(hosts) > 1 else ""
    details = (("next", finding.advice),) if finding.advice else ()
    return Item(finding.severity, f"{finding.message}{shared}", finding.code, details)


def words_of(cell: Cell) -> str:
    """What a cell says in words; "" for a bar or an interval: the numbers stand beside it."""
    if isinstance(cell, Value):
        return cell.text
    return cell if isinstance(cell, str) else getattr(cell, "words", "")


def full_of(table: Table) -> float:
    """What a full bar of the table's figures is: the largest value, or the largest distance of an
    end of an interval from its center.
    """
    sizes = [abs(size) for row in table.rows for cell in row.cells for size in _sizes(cell)]
    return max((size for size in sizes if math.isfinite(size)), default=0.0)


def _sizes(cell: Cell) -> tuple[float, ...]:
    if isinstance(cell, Bar):
        return (cell.value or 0.0, cell.due or 0.0)
    if isinstance(cell, Span):
        ends = (cell.value, cell.low, cell.high)
        return tuple(end - cell.center for end in ends if end is not None)
    return ()
