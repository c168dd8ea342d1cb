"""A comparison of results as a document: the lowest ratio, each number, and the differences."""

from collections.abc import Iterator, Sequence

from wireproof.model import gathered, quantity
from wireproof.model.history import (
    LAUNCHES,
    Comparison,
    Conclusion,
    Ratio,
    Scaling,
    ScalingCurve,
    Source,
)
from wireproof.report.document import (
    Bar,
    Document,
    Head,
    Part,
    Picture,
    Row,
    Section,
    Span,
    Table,
    Text,
    Tone,
)
from wireproof.report.figure.series import scaling_chart

_WORDS: dict[Conclusion, tuple[str, Tone]] = {
    "better": ("B is better", "pass"),
    "worse": ("B is worse", "fail"),
    "no-difference": ("no difference", ""),
    "undecided": ("undecided", "inconclusive"),
    "not-compared": ("not compared", "note"),
}
_HEADS = (
    Head("number", 9, left=True),
    Head("size", 8),
    Head("A", 4),
    Head("B", 5),
    Head("change", 7),
    Head("", 6, left=True),
    Head("", 3, left=True),
)
_SOURCES = (
    Head("", 9, left=True),
    Head("result", 8, left=True),
    Head("hosts", 7, left=True),
    Head("measured", 5, left=True),
    Head("verdict", 6, left=True),
)
_DIFFERENCES = (Head("", 9, left=True), Head("A", 8, left=True), Head("B", 8, left=True))
_COUNTING = "osu_mbw_mr"
_LEFT = (Head("number", 9, left=True), Head("sizes", 8), Head("why not", 7, left=True))


def comparison_document(found: Comparison, *, everything: bool = False) -> Document:
    """Return the comparison. ``everything``: also show the numbers that are not compared, and
    why."""
    compared = [row for row in found.rows if row.ratio is not None]
    parts: list[Part] = []
    if compared:
        how = "as the logs claim" if found.claimed else "95 % interval"
        title = f"B against A, {how}; above 0 % B is better (times: A/B)"
        parts.append(Table(_HEADS, tuple(map(_ratio, compared)), title, most=len(compared)))
    parts += _left(found, everything=everything or not compared)
    parts += _differences(found)
    parts.append(_sources((found.a, found.b), "AB"))
    parts += [Text(note, "note", "-") for note in found.notes]
    title = f"{found.b.name} against {found.a.name}"
    return Document(title, _answer(found, compared), tuple(parts), found.verdict)


def _left(found: Comparison, *, everything: bool) -> Iterator[Part]:
    left = [row for row in found.rows if row.ratio is None]
    if left and everything:
        sizes = gathered(((row.name, row.reason), row.message_bytes) for row in left)
        why = tuple(Row((name, _span(each), reason)) for (name, reason), each in sizes.items())
        yield Section("Not compared", (Table(_LEFT, why),))
    elif left:
        yield Text(
            f"Not compared: {quantity.counted(len(left), 'number')} (--all shows the reasons).",
            "note",
        )


def _span(sizes: Sequence[int]) -> str:
    """Return ``23: 1 B to 4 MiB``."""
    least, most = quantity.size(min(sizes)), quantity.size(max(sizes))
    return least if len(sizes) == 1 else f"{len(sizes)}: {least} to {most}"


def _differences(found: Comparison) -> Iterator[Part]:
    for title, differ in (("What differs", found.differ), ("Settings that differ", found.settings)):
        if differ:
            rows = tuple(Row((each.name, each.a, each.b)) for each in differ)
            yield Section(title, (Table(_DIFFERENCES, rows),))
    if not found.differ and not found.settings:
        yield Text("No recorded condition differs.")


def _answer(found: Comparison, compared: Sequence[Ratio]) -> str:
    if not compared:
        why = found.rows[0].reason if found.rows else "A and B have no number in common"
        return f"Nothing is compared: {why}."
    count = quantity.counted(len(compared), "number")
    if found.claimed:
        return f"Nothing is decided from logs: no path is proven. Of {count}, {_extreme(compared)}."
    worse = sum(row.conclusion == "worse" for row in compared)
    if found.verdict == "fail":
        return f"B is worse in {worse} of {count}; {_extreme(compared)}."
    if found.verdict == "pass":
        return f"B is not worse in any of {count}; {_extreme(compared)}."
    few = any(row.launches < LAUNCHES for row in compared)
    why = f"fewer than {LAUNCHES} launches on one side" if few else "intervals are too wide"
    return f"Undecided ({why}): of {count}, {_extreme(compared)}."


def _extreme(rows: Sequence[Ratio]) -> str:
    """Return ``the lowest is ring, 8 B: -3.0 %``."""
    row = min(rows, key=lambda each: each.ratio or 0.0)
    return f"the lowest is {_what(row)}: {quantity.change(row.ratio, row.low, row.high)}"


def _what(row: Ratio | ScalingCurve) -> str:
    return f"{row.name}, {quantity.size(row.message_bytes)}"


def _ratio(row: Ratio) -> Row:
    word, tone = _WORDS[row.conclusion]
    few = row.launches < LAUNCHES and row.conclusion != "undecided"
    cells = (
        row.name,
        quantity.size(row.message_bytes),
        *sides(row),
        quantity.change(row.ratio, row.low, row.high),
        word + " (few launches)" if few else word,
        Span(row.ratio or 0.0, row.low, row.high),
    )
    return Row(cells, tone)


def sides(row: Ratio) -> tuple[str, str]:
    """Return the numbers of A and B with their units: messages/s for a benchmark that counts
    messages.
    """
    counts = row.pattern.startswith(_COUNTING) and row.unit == "bytes_per_s" and row.message_bytes
    unit, of = ("messages_per_s", row.message_bytes) if counts else (row.unit, 1)
    a, b = (
        "-" if side is None else quantity.amount(side.value / of, unit) for side in (row.a, row.b)
    )
    return a, b


def _sources(sources: Sequence[Source], letters: str = "") -> Table:
    """Return the sources. ``letters``: names for the results, if any."""
    when = [each.measured.removesuffix("+00:00").replace("T", " ") for each in sources]
    cells = [
        (each.name, each.hosts, at, each.verdict) for each, at in zip(sources, when, strict=True)
    ]
    if letters:
        named = zip(letters, cells, strict=True)
        return Table(_SOURCES, tuple(Row((letter, *each)) for letter, each in named), "Results")
    return Table(_SOURCES[1:], tuple(map(Row, cells)), "Results")


def scaling_document(found: Scaling, *, everything: bool = False) -> Document:
    """Return a table with bars for each number; the shape of a curve is not judged. ``everything``:
    all message sizes, not only the two most relevant sizes of each number.
    """
    shown = found.curves if everything else _first_sizes(found.curves)
    parts: list[Part] = [Picture(lambda: (scaling_chart(found),))] if found.curves else []
    parts += [_curve(curve, found.against) for curve in shown]
    if len(shown) < len(found.curves):
        left = quantity.counted(len(found.curves) - len(shown), "other message size")
        parts.append(Text(f"Not shown: {left} (--all).", "note"))
    parts.append(_sources(found.sources))
    parts += [Text(note, "note", "-") for note in found.notes]
    title = f"Results against {found.against}"
    if not shown:
        answer = f"No number has results at two counts of {found.against}."
        return Document(title, answer, tuple(parts), found.verdict)
    return Document(title, _growth(shown[0], found.against), tuple(parts))


def _growth(curve: ScalingCurve, against: str) -> str:
    first, last = curve.points[0], curve.points[-1]
    low, high = (quantity.amount(point.value, curve.unit) for point in (first, last))
    return (
        f"{_what(curve)}: from {low} at {first.count:,} {against} to {high} at {last.count:,},"
        f" {quantity.significant(last.value / first.value)} times as much."
    )


def _first_sizes(curves: Sequence[ScalingCurve]) -> list[ScalingCurve]:
    """Return the curves at 8 B for times and 1 MiB for rates, or at the nearest size."""
    nearest: dict[tuple[str, str], ScalingCurve] = {}
    for curve in curves:
        wanted = 8 if curve.unit == "ns" else 1 << 20
        best = nearest.setdefault((curve.name, curve.unit), curve)
        if abs(curve.message_bytes - wanted) < abs(best.message_bytes - wanted):
            nearest[curve.name, curve.unit] = curve
    return list(nearest.values())


def _curve(curve: ScalingCurve, against: str) -> Table:
    first = curve.points[0].value
    rows = []
    for point in curve.points:
        known = point.low is not None and point.high is not None
        low, high = (quantity.amount(end or 0.0, curve.unit) for end in (point.low, point.high))
        cells = (
            f"{point.count:,}",
            quantity.amount(point.value, curve.unit),
            f"x {point.value / first:.3g}",
            f"{low} to {high}" if known else "",
            Bar(point.value),
        )
        rows.append(Row(cells))
    sure = "95 %" if any(row.cells[3] for row in rows) else ""
    heads = (Head(against, 9), Head("", 8), Head("", 7), Head(sure, 6), Head("", 5, left=True))
    return Table(heads, tuple(rows), _what(curve), most=len(rows))
