"""A result as a document: an answer followed by parts. Each verb builds one document, and one
renderer per format turns it into text, Markdown or HTML.

Texts may contain names from outside: each renderer makes them safe.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, TypeAlias, get_args

import msgspec

from wireproof.model.atlas import Place, Quantity
from wireproof.model.finding import Finding, Verdict
from wireproof.model.quantity import short_time, throughput
from wireproof.report.names import fold

if TYPE_CHECKING:
    from wireproof.report.figure import Chart, Ink


Form = Literal["text", "html", "markdown", "json"]
"""The formats in which every verb can print its result."""
FORMS: tuple[Form, ...] = get_args(Form)

Tone = Literal["", "pass", "fail", "inconclusive", "warning", "note"]
"""The colour of a text; ``note`` is dimmed."""
WORDS: dict[str, str] = {
    "pass": "PASS",
    "fail": "FAIL",
    "inconclusive": "INCONCLUSIVE",
    "warning": "WARNING",
    "note": "note",
}
"""The words for verdicts and severities."""


class Value(NamedTuple):
    """A text with its meaning: ``raw``: number for sorting and for CSV; ``place``: page that it
    links to; ``tone``: colour of a word such as a verdict.
    """

    text: str
    raw: str = ""
    place: str = ""
    tone: Tone = ""


class Bar(NamedTuple):
    """A bar that starts at zero. The longest bar of a column is full unless ``full`` is given.
    ``due``: expected end of the bar, None if unknown; ``words``: text beside it.
    """

    value: float | None
    full: float = 0.0
    due: float | None = None
    words: str = ""


class Span(NamedTuple):
    """An estimate with its interval relative to ``center``: a row of a forest plot."""

    value: float
    low: float | None
    high: float | None
    center: float = 1.0


class Spark(NamedTuple):
    """A curve on one line: values in order; ``full`` is the value of a full bar. ``words`` describe
    the curve and replace it if pictures are not possible.
    """

    values: tuple[float, ...]
    full: float
    words: str


class Dots(NamedTuple):
    """Published numbers (ns or bytes/s), faster ones to the right. ``value``: the measured number
    among them, None if there is none.
    """

    values: tuple[float, ...]
    quantity: Quantity
    value: float | None = None
    words: str = ""

    @classmethod
    def of(cls, place: Place) -> Dots:
        return cls(tuple(place.values), place.quantity, place.value, place.sentence)

    @property
    def ends(self) -> tuple[float, float]:
        """The slowest and the fastest number."""
        every = [*self.values, *([self.value] if self.value else [])]
        ends = (min(every), max(every))
        return ends[::-1] if self.quantity == "time" else ends

    def share(self, value: float) -> float:
        """Return the position of a number between the ends, on a logarithmic scale."""
        low, high = sorted(self.ends)
        share = math.log(value / low) / math.log(high / low) if high > low else 0.5
        return 1 - share if self.quantity == "time" else share

    def shown(self, value: float) -> str:
        return short_time(value) if self.quantity == "time" else throughput(value)


Figure: TypeAlias = Bar | Span | Spark | Dots
Cell: TypeAlias = str | Value | Figure


class Head(NamedTuple):
    """A column. ``keep``: columns with higher numbers are kept longer if the width is small.
    ``name``: name of the column in a CSV file, with the unit of the raw values; "" for its
    title.
    """

    title: str
    keep: int
    left: bool = False
    name: str = ""


class Row(NamedTuple):
    cells: tuple[Cell, ...]
    tone: Tone = ""


class Text(msgspec.Struct, frozen=True):
    """A paragraph. ``mark``: a sign before it, as in a list (``!``, ``-``); ``place``: the page
    that it links to.
    """

    kind: ClassVar[str] = "text"
    text: str
    tone: Tone = ""
    mark: str = ""
    place: str = ""


class Facts(msgspec.Struct, frozen=True):
    """Names with values."""

    kind: ClassVar[str] = "facts"
    rows: tuple[tuple[str, Cell], ...]


class Table(msgspec.Struct, frozen=True):
    """A table. Each row has as many cells as there are ``heads``. A column contains either texts or
    figures, and a table has at most one column of figures. Text shows the first ``most`` rows.
    ``name``: the name of the file that a page saves it as; "" for its title.
    """

    kind: ClassVar[str] = "table"
    heads: tuple[Head, ...]
    rows: tuple[Row, ...]
    title: str = ""
    note: str = ""
    most: int = 40
    name: str = ""


class Item(NamedTuple):
    """One finding or list item. ``details``: pairs of label and text, such as ``("next", advice)``;
    without a label, only the text is shown. ``right``: the correct content, as lines to paste.
    ``more``: pairs of label and text that a page folds and text omits. ``anchor``: its
    identifier on a page.
    """

    tone: Tone
    text: str
    code: str = ""
    details: tuple[tuple[str, str | Value], ...] = ()
    word: str = ""
    """Replaces the word for ``tone``: a position in a file, or the name of a setting."""
    right: str = ""
    more: tuple[tuple[str, str], ...] = ()
    anchor: str = ""


class Findings(msgspec.Struct, frozen=True):
    kind: ClassVar[str] = "findings"
    items: tuple[Item, ...]
    most: int = 1000
    """Maximum number of items in text and Markdown."""
    whole: bool = False
    """In text, each item is on one line, so that editors can jump to it."""
    cards: bool = False
    """Questions with answers: a page puts each into a box."""


class Step(NamedTuple):
    """A step to take, and the command for it."""

    text: str
    command: str = ""


class Steps(msgspec.Struct, frozen=True):
    kind: ClassVar[str] = "steps"
    steps: tuple[Step, ...]
    most: int = 1000


class Raw(msgspec.Struct, frozen=True):
    """Lines whose spaces matter: a diff or a script."""

    kind: ClassVar[str] = "raw"
    lines: tuple[str, ...]


NOTHING = Spark((), 0.0, "")


class Picture(msgspec.Struct, frozen=True):
    """Pictures on a page, created only if they are drawn. Text shows the ``spark``, Markdown its
    words; a table contains the same numbers.
    """

    kind: ClassVar[str] = "picture"
    draw: Callable[[], Sequence[Chart | Ink]]
    spark: Spark = NOTHING


class Section(msgspec.Struct, frozen=True):
    """A titled group of parts. ``answer``: the main result, below the title. ``fold``: a page folds
    the section, initially ``open`` or ``closed``. ``anchor``: its identifier on a page.
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
        """True if it contains sections: a document within the document."""
        return any(isinstance(part, Section) for part in self.parts)


Part: TypeAlias = Text | Facts | Table | Findings | Steps | Raw | Picture | Section


class Document(msgspec.Struct, frozen=True):
    """A whole document. ``title``: the kind of result; ``answer``: the sentence that answers the
    user's question."""

    title: str
    answer: str
    parts: tuple[Part, ...]
    verdict: Verdict | Literal[""] = ""


def items_of(findings: Sequence[Finding]) -> tuple[Item, ...]:
    """Return the findings of a judgement as items, with the hosts that each concerns and what to do
    next.
    """
    return tuple(_item(finding) for finding in findings)


def _item(finding: Finding) -> Item:
    hosts = finding.evidence.get("hosts")
    shared = f" [{fold(hosts, 60)}]" if isinstance(hosts, list) and len(hosts) > 1 else ""
    details = (("next", finding.advice),) if finding.advice else ()
    return Item(finding.severity, f"{finding.message}{shared}", finding.code, details)


def words_of(cell: Cell) -> str:
    """Return the words of a cell; "" for a bar or an interval, whose numbers are in other cells."""
    if isinstance(cell, Value):
        return cell.text
    return cell if isinstance(cell, str) else getattr(cell, "words", "")


def full_of(table: Table) -> float:
    """Return the value of a full bar in the table: the largest value, or the largest distance
    between the end of an interval and its center.
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
