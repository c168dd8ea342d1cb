"""The slow nodes, ports, links and switches, as JSON and as a document: culprits with causes,
cleared suspects, contention, types of paths, missing nodes, and the slowdown that would have been
found.
"""

import math
from collections.abc import Iterator, Sequence

import msgspec

from wireproof.model import gathered, quantity
from wireproof.model.finding import Verdict
from wireproof.model.located import ABOUT, LIKELY, Blame, Cause, Located, Metric
from wireproof.report.document import (
    Document,
    Facts,
    Findings,
    Head,
    Item,
    Part,
    Row,
    Section,
    Table,
    Text,
    Tone,
    Value,
)
from wireproof.report.names import clean, fold

# --- The result of ``wireproof locate --json`` as one JSON document.


class WorstPair(msgspec.Struct, frozen=True, kw_only=True):
    """A pair of nodes. ``value``: its result, in bytes/s or ns according to the metric; ``ratio``:
    that value / the value of both nodes with other partners.
    """

    origin: str
    target: str
    value: float
    ratio: float


class LocateDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The output of ``wireproof locate --json``. ``worst_pairs``: pairs of a table that are
    farthest below the values of both nodes with other partners. ``undecided``: sentences about rows
    that show neither a culprit nor that everything is fine. ``notes``: data that was not
    considered.
    """

    located: tuple[Located, ...]
    notes: tuple[str, ...] = ()
    worst_pairs: tuple[WorstPair, ...] = ()
    undecided: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """``fail`` with a culprit that other traffic does not excuse; ``pass`` without a culprit if
        a slow node would have been found; otherwise ``inconclusive``.
        """
        slow = [blame for one in self.located for blame in one.blames]
        if slow:
            return "inconclusive" if all(blame.excused for blame in slow) else "fail"
        blind = any(
            not one.samples or one.missing or not one.detectable <= ABOUT * one.practical
            for one in self.located
        )
        return "inconclusive" if blind or self.undecided else "pass"


_NEXT = {
    "screened": "Measure it beside two nodes that are not slow: `wireproof check --hosts`.",
    "confirmed": "Look at its NIC, cable and switch port, and compare its settings with those of a"
    " node that is not slow: `wireproof audit --against`.",
}
"""What to do about a culprit without a cause, by stage."""
_MOST_FOLDED, _MOST_EACH = 12, 40
"""Maximum number of culprits: grouped by kind, or each with the number of its mark."""
_MOST_LINES = 12
_MOST_CAUSES = 2
_NAMES = 300
_DOES = {
    "": ("is slow", "are slow"),
    "tx": ("sends slowly", "send slowly"),
    "rx": ("receives slowly", "receive slowly"),
}
_KINDS = {
    "node": ("", ""),
    "port": ("", ""),
    "link": ("link ", "links "),
    "switch": ("switch ", "switches "),
    "pair": ("pair ", "pairs "),
}
_TIERS = (
    Head("path", 9, left=True),
    Head("median", 8),
    Head("samples", 5),
    Head("", 6, left=True),
)
_CONTENTION = (
    Head("slow together, fast alone", 9, left=True),
    Head("among others", 8),
    Head("alone", 7),
)
_PAIRS = (Head("from → to", 9, left=True), Head("reaches", 8), Head("of its nodes elsewhere", 7))


def locate_document(found: LocateDocument) -> Document:
    """Return the culprits in a table or a folder, and the pairs farthest below the others."""
    slow = [blame for one in found.located for blame in one.blames]
    slow.sort(key=lambda blame: blame.excused)
    parts: list[Part] = [Text(sentence, "inconclusive") for sentence in found.undecided]
    parts += [located_section(one) for one in found.located]
    if far := [_far(found, pair) for pair in found.worst_pairs]:
        rows = tuple(row for row in far if row is not None)
        title = "Pairs farthest below the rate of their nodes with other partners"
        parts += [Section(title, (Table(_PAIRS, rows, most=len(rows)),))] if rows else []
    parts += [Text(note, "note", "-") for note in found.notes]
    answer = _slowest(*slow) if slow else _no_culprit(found)
    return Document("Which node, port or link is slow", answer, tuple(parts), found.verdict)


def _slowest(first: Blame, *others: Blame) -> str:
    more = f"; {len(others)} more are slow" if others else ""
    why = f". {first.causes[0].sentence}" if first.excused else ""
    return f"{_who([first])}: {_loss([first])}{more}{why}"


def _no_culprit(found: LocateDocument) -> str:
    if found.undecided:
        return found.undecided[0]
    several = len(found.located) > 1
    by = (f"By {_quantity(one)}: " if several else "" for one in found.located)
    silence = " ".join(map("".join, zip(by, map(_silence, found.located), strict=True)))
    lost = dict.fromkeys(name for one in found.located for name in one.missing)
    if lost:
        return f"no sample of {fold(list(lost), _NAMES)}; no other node stands out. {silence}"
    return f"no node stands out. {silence}"


def _quantity(located: Located) -> str:
    return "goodput" if located.metric == "goodput" else "half round trip"


def _far(found: LocateDocument, pair: WorstPair) -> Row | None:
    metric, practical = found.located[0].metric, found.located[0].practical
    if 1 - pair.ratio <= practical:
        return None
    between = f"{pair.origin} → {pair.target}"
    return Row((between, metric_value(metric, pair.value), f"{pair.ratio:.0%}"), "warning")


def located_section(located: Located, *, each: bool = False, more: Sequence[Part] = ()) -> Section:
    """Return one metric. ``each``: list every culprit separately, with the number of its mark in a
    picture; otherwise group them by kind. ``more``: parts that follow the culprits.
    """
    groups = [[blame] for blame in located.blames] if each else _alike(located.blames)
    most = _MOST_EACH if each else _MOST_FOLDED
    items = [_culprit(group, str(at) if each else "") for at, group in enumerate(groups[:most], 1)]
    parts: list[Part] = [Findings(tuple(items))] if items else [Text("no node stands out")]
    if len(groups) > most:
        parts.append(Text(f"and {len(groups) - most} more; --json has them all", "note"))
    parts.append(Text(_silence(located)))
    facts = [
        (
            "cleared: suspected by the screen, fast when measured alone",
            fold(located.cleared, _NAMES),
        )
    ]
    facts += [(f"no sample of {nodes}", reason) for nodes, reason in _missing(located.missing)]
    if known := tuple(fact for fact in facts if fact[1]):
        parts.append(Facts(known))
    parts += [*more, *_tables(located)]
    parts += [Text(note, "note", "-") for note in located.notes]
    count = (
        f"{located.measured} of {located.nodes} nodes,"
        f" {quantity.counted(located.rounds, 'round')},"
        f" {quantity.counted(located.samples, 'sample')}"
    )
    return Section(f"Who is slow, by {_quantity(located)} ({count})", tuple(parts))


def _tables(located: Located) -> Iterator[Part]:
    def shown(value: float) -> str:
        return metric_value(located.metric, value)

    tiers = [
        Row((one.name, shown(one.median), str(one.samples), _slower(one.oversubscription)))
        for one in located.tiers
    ]
    if len(tiers) > 1 or any(row.cells[3] for row in tiers):
        yield Table(_TIERS, tuple(tiers[:_MOST_LINES]))
    if located.contention:
        rows = (
            Row((one.subject, shown(one.loaded), shown(one.alone))) for one in located.contention
        )
        note = "no fault: contention"
        yield Table(_CONTENTION, tuple(rows), note=note, most=_MOST_LINES)


def _slower(factor: float) -> str:
    """Return the factor as text; "" if it rounds to 1.0, which is not a property of the fabric."""
    times = quantity.significant(factor, 2)
    return f"{times} times slower than the best, by design" if factor >= 1.05 else ""


def metric_value(metric: Metric, value: float) -> str:
    """Return ``119 MB/s`` or ``2.40 µs``; "unknown" if the value is not finite."""
    if not math.isfinite(value):
        return "unknown"
    if metric == "goodput":
        return f"{quantity.megabytes(value)} MB/s"
    return f"{quantity.microseconds(value)} µs"


def _silence(located: Located) -> str:
    """Return the slowdown that would have been found, because the absence of culprits proves no
    more than that.
    """
    least, wanted = located.detectable, located.practical
    noise = f"noise of one sample {_share(located.noise)}"
    if located.samples <= 0:
        return "There is no sample, so it is unknown whether any node is slow."
    if not math.isfinite(least):
        return f"Even a large slowdown would not be found reliably ({noise})."
    short = f", which is not enough: {_share(wanted)} is of interest"
    enough = "" if least <= ABOUT * wanted else short
    return (
        f"A node slower than the others by {_share(least)} or more would have been found"
        f" ({noise}){enough}."
    )


def _share(share: float) -> str:
    if not math.isfinite(share):
        return "?"
    return quantity.percent(share, 0 if abs(share) >= 0.0995 else 1)


def _alike(blames: Sequence[Blame]) -> list[list[Blame]]:
    """Group culprits with the same kind, direction, stage and most likely cause, in order of their
    first member. Culprits that were not confirmed must also have the same evidence.
    """
    groups: dict[tuple[str, ...], list[Blame]] = {}
    for blame in blames:
        cause = blame.causes[0].code if blame.causes else ""
        seen = blame.evidence if blame.stage == "screened" else []
        key = (blame.kind, blame.direction, blame.stage, cause, *seen)
        groups.setdefault(key, []).append(blame)
    return list(groups.values())


def _who(group: Sequence[Blame]) -> str:
    first, plural = group[0], len(group) > 1
    names = fold([one.subject for one in group], _NAMES)
    return f"{_KINDS[first.kind][plural]}{names} {_DOES[first.direction][plural]}"


def _culprit(group: Sequence[Blame], number: str) -> Item:
    first = group[0]
    worst = max(group, key=lambda one: one.slowdown if math.isfinite(one.slowdown) else 0.0)
    value, expected = (metric_value(first.metric, one) for one in (worst.value, worst.expected))
    at = "at worst " if len(group) > 1 else ""
    sure = _sure(first, min(one.confidence for one in group))
    text = f"{_who(group)}: {at}{value} of {expected} expected, {_loss(group)}; {sure}"
    evidence = [clean(line, 300) for line in worst.evidence[:_MOST_LINES]]
    details = tuple(_details(first, evidence))
    more = tuple(("seen", line) for line in evidence)
    tone: Tone = "inconclusive" if first.excused else "fail"
    return Item(tone, text, details=details, word=number, more=more)


def _loss(group: Sequence[Blame]) -> str:
    more = "less" if group[0].metric == "goodput" else "more"
    if len(group) == 1:
        one = group[0]
        low, high = sorted((one.low, one.high))
        return f"{_share(one.slowdown)} {more} ({_share(low)} to {_share(high)})"
    known = [one.slowdown for one in group if math.isfinite(one.slowdown)]
    if not known:
        return f"{more} by an unknown share"
    return f"{_share(min(known))} to {_share(max(known))} {more}"


def _sure(blame: Blame, confidence: float) -> str:
    known = f"{confidence:.3g}" if math.isfinite(confidence) else "unknown"
    number = "> 0.999" if confidence > 0.999 else known
    stage = "confirmed alone" if blame.stage == "confirmed" else "not confirmed alone"
    return f"confidence {number}, {stage}"


def _details(blame: Blame, evidence: Sequence[str]) -> Iterator[tuple[str, str | Value]]:
    """Yield the causes that explain the slowdown, with advice, or a remark that there are none;
    then causes that are ruled out.
    """
    enough = [cause for cause in blame.causes if cause.explains]
    lacking = [cause for cause in blame.causes if not cause.explains]
    for cause in enough[:_MOST_CAUSES]:
        yield _cause(cause)
    if enough:
        undo = f" Undo: {enough[0].undo}." if enough[0].undo else ""
        yield "next", f"{enough[0].fix}{undo}"
    elif blame.causes or blame.stage == "confirmed":
        yield "cause", "no counter or configuration difference explains it"
    if not enough:
        yield "next", _NEXT[blame.stage]
    if blame.stage != "confirmed":
        yield from (("seen", sentence) for sentence in evidence[:_MOST_CAUSES])
    yield from (("not the cause", cause.sentence) for cause in lacking[:_MOST_CAUSES])


def _cause(cause: Cause) -> tuple[str, str]:
    """Return a cause with its first evidence; the sentence about a setting already contains it."""
    seen = f" ({cause.evidence[0]})" if cause.evidence and not cause.setting else ""
    word = "cause" if cause.confidence >= LIKELY else "possible cause"
    return f"{word}, confidence {cause.confidence:.2g}", f"{cause.sentence}{seen}"


def _missing(missing: dict[str, str]) -> list[tuple[str, str]]:
    """Return (folded nodes, reason) with one line for each reason."""
    reasons = gathered(
        (clean(reason, 200) or "the reason is unknown", node) for node, reason in missing.items()
    )
    listed = sorted(reasons.items(), key=lambda item: -len(item[1]))
    lines = [(fold(nodes, _NAMES), reason) for reason, nodes in listed[:_MOST_LINES]]
    left = sum(len(nodes) for _, nodes in listed[_MOST_LINES:])
    return [*lines, (f"{left} more nodes", "other reasons")] if left else lines
