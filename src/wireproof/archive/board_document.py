"""The pages of a history as linked documents: cluster, nodes, results, sets of hosts,
comparisons.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from msgspec.structs import replace

from wireproof.archive.board import Board
from wireproof.archive.compare_document import comparison_document
from wireproof.archive.history_document import regression_lines
from wireproof.model import quantity
from wireproof.model.finding import Verdict
from wireproof.model.history import (
    Comparison,
    Entry,
    Group,
    HostSet,
    NodeNow,
    NumberChange,
    SeriesLine,
    State,
    Trend,
)
from wireproof.report.document import (
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
    Value,
)
from wireproof.report.figure import Chart, Ink
from wireproof.report.figure.series import (
    node_map,
    number_name,
    percent_change,
    trend_chart,
    value_text,
)
from wireproof.report.gate import age
from wireproof.report.html.document import document_page
from wireproof.report.names import clean
from wireproof.report.results import number

CLUSTER, NODES, RESULTS, TRENDS = "index.html", "nodes.html", "results.html", "trends.html"
STYLE = "style.css"
PER_PAGE = 500
_PAGES = (("Cluster", CLUSTER), ("Nodes", NODES), ("Results", RESULTS), ("Trends", TRENDS))
_PLAIN = re.compile(r"[a-z0-9][a-z0-9.-]{0,79}", re.ASCII)
_STATES: dict[State, Tone] = {
    "pass": "pass",
    "inconclusive": "inconclusive",
    "fail": "fail",
    "never": "note",
}
_MOST_BAD, _NEWEST, _MOST_CHANGED = 30, 12, 12
_NODE = (
    Head("node", 9, left=True),
    Head("last verdict", 8, left=True, name="state"),
    Head("last proven", 7, name="proven_age_s"),
    Head("last result", 6, left=True, name="result"),
    Head("why it does not pass", 5, left=True, name="reason"),
)
_RESULT = tuple(
    Head(title, 9 - at, left=True)
    for at, title in enumerate(("result", "measured", "verdict", "hosts", "link", "MPI"))
)
_COMPARED = Head("compared with the previous one", 3, left=True, name="compared")
_SET = (
    Head("hosts", 9, left=True),
    Head("results", 8),
    *(Head(title, 7, left=True) for title in ("link", "transport", "MPI", "newest")),
)
_NUMBER = (
    Head("number", 9, left=True),
    Head("size", 8, name="message_bytes"),
    Head("window", 5),
    Head("results", 6),
    Head("last value", 7, name="value"),
    Head("95 % interval", 4, left=True, name="interval"),
)
_T = TypeVar("_T")


def is_plain(name: str) -> bool:
    """Return True if a name can be used unchanged in a file name, also on file systems without
    upper case.
    """
    return _PLAIN.fullmatch(name) is not None


def file_of(kind: str, name: str) -> str:
    """Return the page of a node, run, set or comparison. Any other name is hashed, so that no part
    of it becomes a path.
    """
    word = name if is_plain(name) else f"_{hashlib.sha256(name.encode()).hexdigest()[:32]}"
    return f"{kind}-{word}.html"


def _numbered(page: str, at: int) -> str:
    """Return ``nodes.html``, ``nodes-2.html``, ...: page ``at`` (from 1) of a long list."""
    return page if at < 2 else page.replace(".html", f"-{at}.html")


def framed(document: Document, root: str, here: str = "") -> str:
    """Return a page of the history ``root``; ``here``: the group of pages that it belongs to."""
    return document_page(document, when=root, pages=_PAGES, here=here, beside=STYLE)


def _linked(text: str, kind: str, name: str, places: Collection[str]) -> Value:
    place = file_of(kind, name)
    return Value(text, place=place if place in places else "")


def cluster_document(
    found: Board, groups: Sequence[Group], places: Collection[str], written: str
) -> Document:
    """Return the map, nodes that do not pass, and the newest results. ``groups``: all nodes;
    ``places``: existing pages of results; ``written``: time of writing.
    """
    nodes = [node for group in groups for node in group.nodes]
    newest = found.entries[: -_NEWEST - 1 : -1]
    bad = sorted(
        (one for one in nodes if one.state in ("fail", "inconclusive")),
        key=lambda one: (one.state != "fail", one.proven),
    )
    parts: list[Part] = [*_troubles(found)]
    if nodes:
        parts.append(_map(groups, nodes, by_switch=found.by_switch))
    elif newest:
        parts.append(
            Text(
                "No result covers a node: results without a wire, or from a model, do not prove "
                "any node."
            )
        )
    if bad:
        some = f"{_MOST_BAD} of {len(bad):,} nodes" if len(bad) > _MOST_BAD else "Nodes"
        title = f"{some} whose last result does not pass"
        parts.append(Section(title, (node_table(bad[:_MOST_BAD], places),)))
    if newest:
        lines = map(Text, regression_lines(newest[0].id, found.regressions))
        rest = Text(f"All {len(found.entries):,} results", place=RESULTS)
        parts.append(Section("Newest results", (*lines, result_table(newest, places), rest)))
    note = "`wireproof history pages` writes the pages that have changed since."
    parts.append(Text(f"Written {written}; ages refer to that time. {note}", "note"))
    return Document("Cluster", "", tuple(parts))


def _troubles(found: Board) -> Iterator[Section]:
    if found.troubles:
        lines = [Text(clean(one, 400), mark="-") for one in found.troubles]
        more = found.troubled - len(lines)
        lines += [Text(f"and {more} more")] if more > 0 else []
        yield Section("Not everything could be read", tuple(lines), "inconclusive")


def _map(groups: Sequence[Group], nodes: Sequence[NodeNow], *, by_switch: bool) -> Section:
    counted = Counter(one.state for one in nodes)
    counts = tuple(
        (_word(state), Value(f"{counted[state]:,}", place=file_of("nodes", state), tone=tone))
        for state, tone in _STATES.items()
        if counted[state]
    )
    what = "below their switches" if by_switch else "in blocks of neighbours by name"
    title = f"{quantity.counted(len(nodes), 'node')}, {what}"
    return Section(title, (Facts(counts), Picture(partial(_drawn, groups))))


def _drawn(groups: Sequence[Group]) -> list[Ink]:
    places = {
        node.node: file_of("node", node.node)
        for group in groups
        for node in group.nodes
        if not is_plain(node.node)
    }
    return [node_map(groups, places)]


def _word(state: State) -> str:
    return "never measured" if state == "never" else state


def node_table(nodes: Sequence[NodeNow], places: Collection[str] = ()) -> Table:
    """Return a row for each node. ``places``: existing pages of results."""
    rows = tuple(
        Row(
            (
                Value(clean(one.node, 80), place=file_of("node", one.node)),
                Value(_word(one.state), tone=_STATES[one.state]),
                number(one.age_s, "never" if one.age_s is None else f"{age(one.age_s)} ago"),
                _linked(one.result, "run", one.result, places),
                clean(one.reason, 300),
            )
        )
        for one in nodes
    )
    return Table(_NODE, rows, name="nodes")


def result_table(
    entries: Sequence[Entry],
    places: Collection[str] = (),
    verdicts: Sequence[Verdict] = (),
    *,
    compared: bool = False,
) -> Table:
    """Return a row for each result.

    ``places``: existing pages of results and comparisons. ``verdicts``: they replace the verdicts
    of the results. ``compared``: link to the comparison with the previous result.
    """
    chosen = verdicts or [one.verdict for one in entries]
    pairs = zip(entries, chosen, strict=True)
    rows = tuple(Row(_result(one, verdict, places, compared=compared)) for one, verdict in pairs)
    return Table((*_RESULT, _COMPARED) if compared else _RESULT, rows, name="results")


def _result(
    one: Entry, verdict: Verdict, places: Collection[str], *, compared: bool
) -> tuple[str | Value, ...]:
    word = f"imported: {verdict}" if one.imported else verdict
    cells = (
        _linked(one.id, "run", one.id, places),
        _measured(one),
        Value(word, tone=verdict),
        clean(one.hosts, 60) or "-",
        clean(one.link, 30) or "-",
        _carried(one),
    )
    if not compared:
        return cells
    there = _linked("compare", "compare", one.id, places)
    return (*cells, there if there.place else "")


def _measured(one: Entry) -> str:
    return clean(one.measured, 40).removesuffix("+00:00").replace("T", " ")


def _carried(one: Entry) -> str:
    if one.imported is not None:
        return clean(", ".join(one.imported.tools), 40)
    return clean(one.mpi.partition(" (")[0], 40) or "-"


def set_table(sets: Sequence[HostSet]) -> Table:
    """Return the sets of results that may be compared over time."""
    rows = tuple(
        Row(
            (
                Value(clean(newest.hosts, 60) or "-", place=file_of("set", newest.fingerprint)),
                str(results),
                clean(newest.link, 30) or "-",
                clean(newest.transport, 20) or "-",
                _carried(newest),
                _measured(newest),
            )
        )
        for newest, results in sets
    )
    note = "Results are compared over time if hosts, link, transport, MPI and NIC are the same."
    return Table(_SET, rows, note=note, name="sets")


def list_pages(
    root: str,
    page: str,
    title: str,
    here: str,
    found: Sequence[_T],
    table: Callable[[Sequence[_T]], Table],
    none: str,
) -> Iterator[tuple[str, str]]:
    """Yield file name and text of each page of a long list; the pages are linked. ``none``: text
    for an empty list.
    """
    total = len(found)
    for at, first in enumerate(range(0, max(1, total), PER_PAGE), start=1):
        rows = found[first : first + PER_PAGE]
        words, turns = f"{total:,} in all", []
        if total > len(rows):
            words = f"{first + 1:,} to {first + len(rows):,} of {total:,}"
            turns += [Text("before", place=_numbered(page, at - 1))] if at > 1 else []
            more = first + len(rows) < total
            turns += [Text("next", place=_numbered(page, at + 1))] if more else []
        shown: list[Part] = [Text(words, "note"), *turns]
        shown += [table(rows), *turns] if rows else [Text(none)]
        yield _numbered(page, at), framed(Document(title, "", tuple(shown)), root, here)


def node_document(
    node: NodeNow,
    results: Sequence[tuple[Entry, Verdict]],
    total: int,
    places: Collection[str],
) -> Document:
    """Return one node with the newest of its ``total`` results."""
    rows = (
        ("last verdict", Value(_word(node.state), tone=_STATES[node.state])),
        ("last proven", clean(node.proven, 40) or "never"),
        *((("why", clean(node.reason, 300)),) if node.reason else ()),
        ("its neighbours", Value("group", place=file_of("group", str(node.group)))),
    )
    entries, verdicts = [one for one, _ in results], [verdict for _, verdict in results]
    more = f": the newest {len(results)} of {total:,}" if total > len(results) else ""
    table = result_table(entries, places, verdicts)
    title = f"Results with this node{more}"
    return Document(clean(node.node, 80), "", (Facts(rows), Section(title, (table,))))


def compared_document(a: str, b: str, found: Comparison, places: Collection[str]) -> Document:
    """Return the comparison of two results; ``a``, ``b``: their names."""
    document = comparison_document(found, everything=True)
    named = ((letter, _linked(name, "run", name, places)) for letter, name in (("A", a), ("B", b)))
    return replace(document, title="Compare", parts=(Facts(tuple(named)), *document.parts))


def set_document(
    newest: Entry,
    series: Sequence[SeriesLine],
    trends: Iterable[tuple[SeriesLine, Trend]],
    places: Collection[str],
) -> Document:
    """Return one set of hosts: its numbers over time, and their changes.

    ``trends``: the members of ``series`` that are drawn. ``places``: existing pages of results and
    comparisons.
    """
    mpi = clean(newest.mpi.partition(" (")[0], 40)
    kinds = (clean(newest.hosts, 120), clean(newest.link, 30), clean(newest.transport, 20), mpi)
    drawn = [
        _trend(line, found, chart, places)
        for at, (line, found) in enumerate(trends, 1)
        if (chart := trend_chart(line.number, found, f"trend{at}")) is not None
    ]
    parts: list[Part] = [Text("All sets of hosts", place=TRENDS), *drawn]
    if series:
        parts += [] if drawn else [Text("A curve needs two results of one number.")]
        table = Table(_NUMBER, tuple(map(_number, series)), name="numbers")
        parts.append(Section("Numbers of these hosts: the last value of each", (table,)))
    else:
        none = "No number of these results has a proven path, so there is no trend to show."
        parts.append(Text(none))
    return Document("Trends", ", ".join(one for one in kinds if one), tuple(parts))


def _trend(line: SeriesLine, found: Trend, chart: Chart, places: Collection[str]) -> Section:
    count, total = len(found.values), line.results
    window = f"{total:,} results"
    if total > count:
        window = f"The newest {count:,} of {total:,} results, which are searched for changes."
    changes = tuple(_change(one, places) for one in reversed(found.changes))
    none = (
        f"No change was found in {quantity.counted(count, 'result')}."
        " False alarms: about 1 in 100 series that have not changed."
    )
    shown: Part = Findings(changes) if changes else Text(none)
    return Section(
        number_name(line.number),
        (Picture(lambda: (chart,)), Text(window, "note"), shown),
    )


def _change(one: NumberChange, places: Collection[str]) -> Item:
    tone: Tone = "pass" if one.ratio > 1 else "fail"
    details: list[tuple[str, str | Value]] = [
        ("since", _linked(one.since, "run", one.since, places))
    ]
    there = _linked("compare it with the previous result", "compare", one.since, places)
    details += [("", there)] if there.place else []
    lines = [clean(text, 240) for text in one.changed[:_MOST_CHANGED]]
    if len(one.changed) > _MOST_CHANGED:
        lines.append(f"and {len(one.changed) - _MOST_CHANGED} more conditions")
    details += [("changed there", line) for line in lines or ["no recorded condition"]]
    text = f"{percent_change(one)} since {clean(one.measured, 40)} (p {one.p:.4f})"
    return Item(tone, text, details=tuple(details))


def _number(one: SeriesLine) -> Row:
    found = one.number
    return Row(
        (
            clean(found.name, 60),
            Value(quantity.size(found.message_bytes), str(found.message_bytes)),
            str(found.window) if found.window else "-",
            str(one.results),
            number(found.value, value_text(found, found.value)),
            f"{value_text(found, found.low)} to {value_text(found, found.high)}",
        )
    )
