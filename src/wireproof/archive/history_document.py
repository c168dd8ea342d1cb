"""A history as documents: its results, the trend of each number, when each node last passed."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from wireproof.logs.document import judgement_document
from wireproof.logs.json import JudgementDocument
from wireproof.model import quantity
from wireproof.model.finding import Verdict
from wireproof.model.history import (
    FEWEST,
    GOOD,
    Entry,
    NodeAge,
    Number,
    NumberChange,
    Regression,
    Trend,
)
from wireproof.report.document import (
    Document,
    Facts,
    Findings,
    Head,
    Item,
    Part,
    Row,
    Section,
    Spark,
    Table,
    Text,
    Tone,
)
from wireproof.report.gate import age
from wireproof.report.names import clean, fold

_MOST_CHANGED = 6
_LONGEST_CURVE = 60
_HEADLINES = (("pingpong", 8), ("stream", 1 << 20))
_ALL = 1_000_000
_NEWEST = 40
_ENTRY = (
    Head("result", 9, left=True),
    Head("verdict", 8, left=True),
    Head("hosts", 6, left=True),
    Head("link", 4, left=True),
    Head("MPI", 3, left=True),
    Head("8 B", 5),
    Head("1 MiB", 7),
)


def _value(unit: str, value: float) -> str:
    if unit == "ns":
        return f"{quantity.microseconds(value)} us"
    return f"{quantity.megabytes(value)} MB/s"


def _tone(verdict: str) -> Tone:
    """Return a colour only for verdicts other than pass."""
    return "fail" if verdict == "fail" else "warning" if verdict == "inconclusive" else ""


def entries_document(entries: Sequence[Entry], last: int = _NEWEST) -> Document:
    """Return a row for each result: id, verdict, hosts, link, MPI, half round trip at 8 B and
    goodput at 1 MiB; for an imported log, its tools and file. The table has the ``last`` of them.
    """
    rows = tuple(
        Row(
            (
                entry.id,
                f"imported: {entry.verdict}" if entry.imported else entry.verdict,
                clean(entry.hosts, 40) or "-",
                clean(entry.link, 20) or "-",
                _carried(entry),
                *(_headline(entry.numbers, *which) for which in _HEADLINES),
            ),
            _tone(entry.verdict),
        )
        for entry in entries[-last:]
    )
    older = len(entries) - len(rows)
    note = f"{older} older: --last {len(entries)} shows all" if older else ""
    count = Counter(entry.verdict for entry in entries)
    verdicts = ", ".join(f"{count[each]} {each}" for each in sorted(count))
    answer = f"{quantity.counted(len(entries), 'result')}, oldest first"
    answer += f": {verdicts}" if rows else ""
    return Document("Results", answer, (Table(_ENTRY, rows, note=note, most=_ALL),))


def _carried(entry: Entry) -> str:
    if entry.imported is not None:
        return clean(", ".join(entry.imported.tools), 24)
    return clean(entry.mpi.partition(" (")[0], 24) or clean(entry.transport, 10) or "-"


_DATED = {
    "given": "",
    "log": ", according to the log (read as UTC)",
    "file": ", the modification time of its file: give the time of the measurement with --measured",
}


def added_line(entry: Entry) -> str:
    """Return the name of the added entry; for a log, also its interpretation."""
    log = entry.imported
    if log is None:
        return entry.id
    by = f"by {clean(entry.link)}" if entry.link else "without a link"
    return (
        f"{entry.id}, log of {clean(', '.join(log.tools))}, {entry.verdict} {by}, of"
        f" {clean(entry.measured, 40)}{_DATED[log.dated]}"
    )


def log_document(
    entry: Entry, judged: JudgementDocument, advice: Mapping[str, str] | None = None
) -> Document:
    """Return a log of the history, judged again. ``advice``: as for `judgement_document`."""
    document = judgement_document(judged, advice=advice)
    lead = Text(_imported(entry), "note")
    return replace(document, title=entry.id, parts=(lead, *document.parts))


def _imported(entry: Entry) -> str:
    log = entry.imported
    if log is None:
        return ""
    of = f" of {clean(entry.hosts, 200)}" if entry.hosts else ""
    return (
        f"imported log {clean(log.file)} (SHA-256 {log.sha256}){of}, {clean(entry.measured, 40)}"
        f"{_DATED[log.dated]}; its numbers are claims and do not prove any node"
    )


def _headline(numbers: Sequence[Number], name: str, size: int) -> str:
    known = [number for number in numbers if (number.name, number.message_bytes) == (name, size)]
    return _value(known[0].unit, known[0].value) if known else "-"


def trend_document(found: Sequence[Trend], newest: Sequence[str], verdict: Verdict) -> Document:
    """Return each number with its curve, its last value, and its changes. ``newest``: the lines of
    `regression_lines` for the newest result.
    """
    answer, *more = newest
    answer += _since(found) if verdict != "fail" else ""
    parts: list[Part] = [Text(line) for line in more]
    parts += [Section(_trend_title(trend), tuple(_trend(trend))) for trend in found]
    return Document("Numbers over time", answer, tuple(parts), verdict)


def _since(found: Sequence[Trend]) -> str:
    """Return the number that fell most since a change; "" if none fell."""
    fallen = [(one.changes[-1], one) for one in found if one.changes and not one.imported]
    if not fallen:
        return ""
    change, one = min(fallen, key=lambda each: each[0].ratio)
    if change.ratio >= 1:
        return ""
    what = f"{clean(one.name)} {quantity.size(one.message_bytes)}"
    share = (1 - change.ratio) * 100
    return f"; {what} has been {share:.1f} % worse since {change.since} than before it"


def _trend_title(trend: Trend) -> str:
    what = f"{trend.name} {quantity.size(trend.message_bytes)}"
    what += f", {clean(trend.hosts, 60) or 'hosts not named'}"
    return f"{what}, imported (claimed, no interval)" if trend.imported else what


def _trend(trend: Trend) -> Iterator[Part]:
    values = trend.values[-_LONGEST_CURVE:]
    low, high = min(values), max(values)
    heights = (1 + 7 * (value - low) / (high - low) if high > low else 4.0 for value in values)
    last = _value(trend.unit, trend.values[-1])
    curve = Spark(tuple(heights), 8.0, f"{_value(trend.unit, low)} to {_value(trend.unit, high)}")
    results = quantity.counted(len(trend.values), "result")
    yield Facts(((f"{results}, last {last}", curve),))
    if trend.changes:
        yield Findings(tuple(_change(change) for change in trend.changes))
    if len(trend.values) < 2 * FEWEST:
        yield Text(f"a change needs {2 * FEWEST} or more results to show", "note")


def _change(change: NumberChange) -> Item:
    tone: Tone = "pass" if change.ratio > 1 else "fail"
    word = "better" if change.ratio > 1 else "worse"
    when = change.measured.removesuffix("+00:00")
    chance = f"p {change.p:.4f}" if change.p >= 1e-4 else "p < 0.0001"
    text = f"by {abs(change.ratio - 1) * 100:.1f} % since {when}, {change.since} ({chance})"
    return Item(tone, text, details=tuple(_details(change)), word=word)


def _details(change: NumberChange) -> Iterator[tuple[str, str]]:
    if change.few:
        yield "note", "few results: the test assumes normally distributed noise"
    if change.nodes:
        yield "no longer passing there", fold(change.nodes, 120)
    for text in change.changed[:_MOST_CHANGED]:
        yield "changed there", text
    if len(change.changed) > _MOST_CHANGED:
        yield "and", f"{len(change.changed) - _MOST_CHANGED} more conditions"
    if not change.changed:
        yield "changed there", "no recorded condition"


def regression_lines(newest: str, found: Sequence[Regression], good: int = 0) -> list[str]:
    """Return the numbers that are worse in the newest result than in the ``good`` results before
    it."""
    if not found:
        there = f"there {'is' if good == 1 else 'are'} {good or 'fewer'}"
        needed = f"{GOOD} passing results of these hosts are needed, {there}"
        return [f"{newest}: not compared with earlier results: {needed}"]
    worse = [one for one in found if one.worse]
    if not worse:
        return [f"{newest}: no number is worse than in the last {found[0].results} good results"]
    return [
        f"{newest}: {clean(one.name)} {quantity.size(one.message_bytes)} is"
        f" {(1 - one.ratio) * 100:.1f} % worse than in the last {one.results} good results, which"
        f" vary by {(1 - one.low) * 100:.1f} %"
        for one in worse
    ]


def drift_lines(good: str, changed: Sequence[str]) -> list[str]:
    """Return the changes since the last good result ``good``."""
    if not changed:
        return []
    more = len(changed) - _MOST_CHANGED
    shown = [clean(text, 200) for text in changed[:_MOST_CHANGED]]
    shown += [f"{more} more"] if more > 0 else []
    return [f"changed since {good}, the last good result before: {'; '.join(shown)}"]


def age_document(found: Sequence[NodeAge]) -> Document:
    """Return when each node last passed, longest ago first; by NIC and link if results name
    them."""
    by_link = any(node.nic or node.link for node in found)
    middle = ("NIC", "link") if by_link else ()
    titles = ("node", *middle, "last verdict", "last proven")
    heads = [Head(title, 9, left=True) for title in titles]
    rows = tuple(
        Row(
            (
                clean(node.node, 60),
                *((clean(node.nic, 40) or "-", clean(node.link, 40) or "-") if by_link else ()),
                node.verdict,
                f"{age(node.age_s)} ago" if node.age_s is not None else "never",
            ),
            _tone(node.verdict),
        )
        for node in found
    )
    never = sum(node.age_s is None for node in found)
    proven = f"{never} of them never proven" if never else "each proven at least once"
    answer = f"{quantity.counted(len(found), 'node')}, {proven}"
    table = Table(tuple(heads), rows, most=_ALL)
    return Document("When each node was last proven", answer, (table,))
