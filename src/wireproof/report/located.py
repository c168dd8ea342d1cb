"""What was located, arranged for reading: culprits of one kind folded, then what was cleared,
tiers, what is missing.

Words only; both the text and the page take theirs from here. Concludes nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import msgspec

from wireproof.model import quantity
from wireproof.model.located import ABOUT, Blame, Cause, Contention, Located, Metric, Tier
from wireproof.report.names import clean, fold

__all__ = ["CulpritRow", "Story", "each", "metric_value", "stories"]

MOST_LINES = 12
_NAMES = 300


@dataclass(frozen=True)
class CulpritRow:
    """One culprit, or several alike. ``who`` is folded; ``loss`` and ``sure`` are words."""

    who: str
    what: str
    loss: str
    value: str
    sure: str
    confirmed: bool
    causes: list[Cause]
    evidence: list[str]


@dataclass(frozen=True)
class Story:
    """One metric: everything is text, made safe. ``silence``: what the sweep would have found, in
    one sentence.
    """

    metric: Metric
    title: str
    culprits: list[CulpritRow]
    cleared: str
    contention: list[tuple[str, str, str, str]]
    tiers: list[tuple[str, str, str, str]]
    missing: list[tuple[str, str]]
    silence: str
    notes: list[str]


def stories(located: tuple[Located, ...]) -> list[Story]:
    """One story for each metric, in the order given."""
    return [_story(one) for one in located]


def each(located: Located, most: int) -> list[CulpritRow]:
    """The first ``most`` culprits one by one, in the order of ``located``."""
    return [_culprit([blame]) for blame in located.blames[:most]]


def metric_value(metric: Metric, value: float) -> str:
    """``119 MB/s`` or ``2.40 µs``; what is not a number is unknown."""
    if not math.isfinite(value):
        return "unknown"
    return (
        f"{quantity.megabytes(value)} MB/s"
        if metric == "goodput"
        else f"{quantity.microseconds(value)} µs"
    )


def _story(located: Located) -> Story:
    what = "goodput" if located.metric == "goodput" else "half round trip"
    count = (
        f"{located.measured} of {located.nodes} nodes,"
        f" {quantity.counted(located.rounds, 'round')}, "
        f"{quantity.counted(located.samples, 'sample')}"
    )
    return Story(
        metric=located.metric,
        title=f"Who is slow, by {what} ({count})",
        culprits=_culprits(located),
        cleared=fold(located.cleared, _NAMES),
        contention=[_contention(located.metric, one) for one in located.contention],
        tiers=[_tier(located.metric, one) for one in located.tiers],
        missing=_missing(located.missing),
        silence=_silence(located),
        notes=[clean(note, 400) for note in located.notes],
    )


def _silence(located: Located) -> str:
    """How much the absence of culprits is worth."""
    least, wanted = located.detectable, located.practical
    noise = f"noise of one sample {_share(located.noise)}"
    if located.samples <= 0:
        return "There is no sample: no node is known to be slow, and none to be good."
    if not math.isfinite(least):
        return f"No slowdown, however large, would be found reliably ({noise})."
    enough = (
        "" if least <= ABOUT * wanted else f", which is not enough: {_share(wanted)} is of interest"
    )
    return f"A node slower by {_share(least)} or more would have been found ({noise}){enough}."


def _share(share: float) -> str:
    if not math.isfinite(share):
        return "?"
    return quantity.percent(share, 0 if abs(share) >= 0.0995 else 1)


def _culprits(located: Located) -> list[CulpritRow]:
    """Those of one kind, direction, stage and likeliest cause together, in the order of the first
    of each; of those that were not confirmed, only with the same evidence.
    """
    groups: dict[tuple[str, ...], list[Blame]] = {}
    for blame in located.blames:
        cause = blame.causes[0].code if blame.causes else ""
        seen = blame.evidence if blame.stage == "screened" else []
        groups.setdefault((blame.kind, blame.direction, blame.stage, cause, *seen), []).append(
            blame
        )
    return [_culprit(group) for group in groups.values()]


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


def _culprit(group: list[Blame]) -> CulpritRow:
    first = group[0]
    plural = len(group) > 1
    worst = max(group, key=lambda one: one.slowdown if math.isfinite(one.slowdown) else 0.0)
    value, expected = (metric_value(first.metric, one) for one in (worst.value, worst.expected))
    return CulpritRow(
        who=_KINDS[first.kind][plural] + fold([one.subject for one in group], _NAMES),
        what=_DOES[first.direction][plural],
        loss=_loss(group),
        value=f"{'at worst ' if plural else ''}{value} of {expected} expected",
        sure=_sure(first, min(one.confidence for one in group)),
        confirmed=first.stage == "confirmed",
        causes=[_clean_cause(cause) for cause in first.causes],
        evidence=[clean(line, 300) for line in worst.evidence[:MOST_LINES]],
    )


def _loss(group: list[Blame]) -> str:
    more = "less" if group[0].metric == "goodput" else "more"
    if len(group) == 1:
        one = group[0]
        low, high = sorted((one.low, one.high))
        return f"{_share(one.slowdown)} {more} ({_share(low)} to {_share(high)})"
    known = [one.slowdown for one in group if math.isfinite(one.slowdown)]
    return (
        f"{_share(min(known))} to {_share(max(known))} {more}"
        if known
        else f"{more} by an unknown share"
    )


def _sure(blame: Blame, confidence: float) -> str:
    number = (
        "unknown"
        if not math.isfinite(confidence)
        else "> 0.999"
        if confidence > 0.999
        else f"{confidence:.3g}"
    )
    stage = "confirmed alone" if blame.stage == "confirmed" else "not confirmed alone"
    return f"confidence {number}, {stage}"


def _clean_cause(cause: Cause) -> Cause:
    return msgspec.structs.replace(
        cause,
        code=clean(cause.code, 40),
        sentence=clean(cause.sentence, 400),
        fix=clean(cause.fix, 300),
        undo=clean(cause.undo, 200),
        evidence=[clean(line, 300) for line in cause.evidence[:MOST_LINES]],
    )


def _contention(metric: Metric, one: Contention) -> tuple[str, str, str, str]:
    words = metric_value(metric, one.loaded), metric_value(metric, one.alone)
    return clean(one.subject, 120), *words, clean(one.sentence, 400)


def _tier(metric: Metric, one: Tier) -> tuple[str, str, str, str]:
    factor = one.oversubscription
    # A factor that rounds to 1.0 is no property of the fabric.
    slower = (
        f"{quantity.significant(factor, 2)} times slower than the best, by design"
        if factor >= 1.05
        else ""
    )
    return clean(one.name, 80), metric_value(metric, one.median), str(one.samples), slower


def _missing(missing: dict[str, str]) -> list[tuple[str, str]]:
    """(nodes folded, reason): one line for each reason."""
    reasons: dict[str, list[str]] = {}
    for node, reason in missing.items():
        reasons.setdefault(clean(reason, 200) or "no reason was seen", []).append(node)
    listed = sorted(reasons.items(), key=lambda item: -len(item[1]))
    lines = [(fold(nodes, _NAMES), reason) for reason, nodes in listed[:MOST_LINES]]
    left = sum(len(nodes) for _, nodes in listed[MOST_LINES:])
    return [*lines, (f"{left} more nodes", "other reasons")] if left else lines
