"""The five questions of a report, each answered in one or two sentences from the judgement and the
claim.

It draws no new conclusions.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median

from msgspec import structs

from wireproof.model import gathered, quantity
from wireproof.model.finding import Finding, GroupVerdict, Judgement, PairVerdict
from wireproof.model.tuning import Standing, StandingSet
from wireproof.report.document import Item, Tone
from wireproof.report.flows import NicTraffic, flows
from wireproof.report.judged_run import (
    CULPRITS,
    JudgedRun,
    counted,
    is_baseline,
    passing,
    ranked,
    results,
)
from wireproof.report.names import clean, fold
from wireproof.report.why import why


def _answer(question: str, short: str, text: str, tone: Tone) -> Item:
    details = (("", text),) if text else ()
    return Item(tone, short, details=details, word=question)


def answers(
    section: JudgedRun, seen: Sequence[NicTraffic] | None = None, *, advised: bool = True
) -> list[Item]:
    """Return the answers to five questions: normal? wire? which? why? undo?

    ``word`` of an item is the question, ``text`` the short answer. ``seen``: the traffic, if it is
    already added up. If ``advised`` is False, the next step appears only in the findings.
    """
    decisive = _decisive(section)
    if not advised:
        decisive = [structs.replace(one, advice="") for one in decisive]
    return [
        _normal(section),
        _wire(section, flows(section.run) if seen is None else seen),
        _which(section),
        _answer("Why?", *why(section, decisive), "note"),
        _undo(section),
    ]


def seen_of(seen: float, due: float) -> str:
    """Return ``657 MB seen for 629 MB of payload`` (headers add bytes), or ``0 B of 412 MB seen``
    if bytes are missing.
    """
    if seen >= due:
        return f"{quantity.volume(seen)} seen for {quantity.volume(due)} of payload"
    return f"{quantity.volume(seen)} of {quantity.volume(due)} seen"


LEVELS = {
    "wire": "counted at the physical port",
    "function": "counted at a function of the adapter, whose internal switch may return bytes",
    "stack": "counted at the kernel's interface",
}
_QUALITIES = {
    "lower-bound": "a lower bound",
    "stale": "summed over the run, as the counters are refreshed late",
}


def counted_at(judged: Sequence[PairVerdict | GroupVerdict]) -> str:
    """Return the place where the bytes proven on the wire were counted: the weakest level and
    quality; "" if no bytes are proven.
    """
    proven = [one for one in judged if one.proof == "on-wire"]
    levels = {one.level for one in proven}
    qualities = {one.quality for one in proven}
    level = next((name for name in ("stack", "function", "wire") if name in levels), "")
    quality = next((text for name, text in _QUALITIES.items() if name in qualities), "")
    return ", ".join(part for part in (LEVELS.get(level, ""), quality) if part)


def _normal(section: JudgedRun) -> Item:
    judgement = section.judgement
    judged = results(judgement)
    count = f"{passing(judgement)}.{_reached(section)}"
    deciding = ", ".join(dict.fromkeys(one.code for one in _decisive(section)))
    if deciding and judged and all(one.verdict == "pass" for one in judged):
        count += f" The run as a whole does not: {deciding}."
    if section.run.missing:
        count += f" {len(section.run.missing)} planned points are missing."
    if is_baseline(section):
        count = (
            f"{quantity.counted(len(judged), 'result')} of one machine: a baseline that is "
            "not judged, because no wire was measured. Name two hosts to have a link judged."
        )
    short = {"pass": "Yes", "fail": "No", "inconclusive": "Not known"}[judgement.verdict]
    return _answer("Is it normal?", short, count, judgement.verdict)


def _reached(section: JudgedRun) -> str:
    """Return the share of the ceiling that large messages reach: a rate alone does not show whether
    it is normal.
    """
    limits, pairs = section.limits, counted(section.judgement)
    ceiling = limits.attainable_bytes_per_s if limits else None
    rates = [one for one in pairs if one.unit == "bytes_per_s" and one.efficiency is not None]
    if not ceiling or not rates:
        return ""
    size = max(one.message_bytes for one in rates)
    shares = [one.efficiency or 0.0 for one in rates if one.message_bytes == size]
    least = quantity.percent(min(shares))
    low = f" (lowest {least})" if len(shares) > 1 else ""
    middle = f"{quantity.percent(median(shares))}{low} of {quantity.megabytes(ceiling)} MB/s"
    return f" {quantity.size(size)} reaches {middle} attainable."


_PROVEN: dict[str, tuple[str, Tone]] = {
    "on-wire": ("Yes", "pass"),
    "off-wire": ("No", "fail"),
    "wrong-path": ("Another NIC did", "fail"),
    "mixed": ("Partly", "fail"),
    "unproven": ("Not proven", "inconclusive"),
}
_IN_PART = {"No": "Not all of it", "Not proven": "Not proven everywhere"}
"""Replaces the answer if some results are on the wire."""


def _wire(section: JudgedRun, found: Sequence[NicTraffic]) -> Item:
    question = "Did it use the wire?"
    if not section.run.claim.wire:
        text = "Memory or loopback inside one machine; this proves nothing about a wire."
        return _answer(question, "None claimed", text, "note")
    judged = results(section.judgement)
    proofs = Counter(one.proof for one in judged)
    short, tone = _PROVEN[section.judgement.proof]
    if not proofs:
        return _answer(question, short, "Nothing was measured.", tone)
    if proofs["on-wire"]:
        short = _IN_PART.get(short, short)
    total = proofs.total()
    counts = ", ".join(f"{n} of {total} results {proof}" for proof, n in proofs.most_common())
    where = counted_at(judged)
    text = f"{counts}. {_counted(found)}" + (f" The bytes were {where}." if where else "")
    shared = rails_sentence(section.judgement)
    text += f" Rails: {shared}." if shared else ""
    return _answer(question, short, text, tone)


def _counted(found: Sequence[NicTraffic]) -> str:
    """Return the bytes that the counters of the claimed NICs show, compared with the bytes due."""
    claimed = [flow for flow in found if flow.claimed and flow.seen_bytes is not None]
    if not claimed:
        return "No counter of a claimed NIC could be read."
    seen = sum(flow.seen_bytes or 0.0 for flow in claimed)
    due = sum(flow.expected_bytes for flow in claimed)
    return f"{seen_of(seen, due)} on {fold({flow.nic for flow in claimed})}."


def _which(section: JudgedRun) -> Item:
    question = "Which node or link?"
    decisive = _decisive(section)
    # Only the most important code is named, because the findings that it explains, such as the
    # pairs of a node, would only repeat it.
    codes = {finding.code for finding in decisive[:1]}
    codes |= set(CULPRITS) if codes & set(CULPRITS) else set()
    subjects = [
        _subject(finding) for finding in decisive if finding.code in codes and finding.subject
    ]
    named = [name for name in dict.fromkeys(subjects) if name != "run"]
    if named:
        listed = quantity.first_few(named, 3)
        if decisive[0].severity == "fail" or codes & set(CULPRITS):
            return _answer(question, listed, "", decisive[0].severity)
        return _answer(question, "Not known", f"Undecided: {listed}.", "inconclusive")
    if section.judgement.verdict == "pass":
        return _answer(question, "None stands out", "", "pass")
    return _answer(question, "Cannot be determined", "", "inconclusive")


def _subject(finding: Finding) -> str:
    doing = {"tx": "sending", "rx": "receiving"}.get(str(finding.evidence.get("direction", "")))
    node = finding.evidence.get("node")
    return f"{node}, {doing}" if isinstance(node, str) and doing else finding.subject


def _undo(section: JudgedRun) -> Item:
    short, text, known = undo(section.standing)
    return _answer("How to undo?", short, text, "note" if known else "inconclusive")


def _decisive(section: JudgedRun) -> list[Finding]:
    return [
        finding
        for finding in ranked(section.judgement.findings)
        if finding.severity in ("fail", "inconclusive")
    ]


_SHARED = {
    "striped": "shared as expected",
    "one-rail": "one carried all",
    "unequal": "shared unequally",
    "unknown": "shares unknown",
}
_LEAST = ("one-rail", "unequal", "unknown", "striped")


def rails_sentence(judgement: Judgement) -> str:
    """Return ``hsn0 50 %, hsn1 50 %, shared as expected at 4 MiB (shared from 1 MiB on)``; ""
    without rails.
    """
    streams = [one for one in judgement.pairs if one.striping and one.unit == "bytes_per_s"]
    if not streams:
        return ""
    by_size = gathered((one.message_bytes, one) for one in streams)
    sizes = sorted(by_size)
    largest = by_size[sizes[-1]]
    text = f"{_shares(largest)}, {_SHARED[_least(largest)]} at {quantity.size(sizes[-1])}"
    shared = _shared_from(sizes, by_size)
    later = f" (shared from {quantity.size(shared)} on)" if shared not in (None, sizes[0]) else ""
    return text + (later if shared is not None else "")


def _least(pairs: Iterable[PairVerdict]) -> str:
    states = {one.striping for one in pairs}
    return next(state for state in _LEAST if state in states)


def _shared_from(sizes: Sequence[int], by_size: dict[int, list[PairVerdict]]) -> int | None:
    """Return the smallest size from which on every result is striped; None if there is none."""
    found = None
    for size in reversed(sizes):
        if _least(by_size[size]) != "striped":
            break
        found = size
    return found


def _shares(pairs: Sequence[PairVerdict]) -> str:
    shares: dict[str, list[float]] = {}
    for one in pairs:
        for rail in one.rails:
            shares.setdefault(rail.rail, []).extend([rail.share] if rail.share is not None else [])
    each = [
        f"{clean(name, 40)} {quantity.percent(median(seen)) if seen else 'unknown'}"
        for name, seen in shares.items()
    ]
    return ", ".join(each)


_MOST_CHANGES = 6
_OF_ITSELF = "only measured and read counters."
_UNASKED = (
    "Earlier changes that may be in force were not checked: run `wireproof tune status` on"
    " the hosts."
)
_STATES = {
    "applying": "was interrupted while it was applied",
    "armed": "reverts by itself at its deadline",
    "confirmed": "is kept, even after a reboot",
    "partly": "is only partly reverted",
}


def undo(standing: Standing | None) -> tuple[str, str, bool]:
    """Return short answer, text, and whether the state is known. None: the hosts were not asked."""
    if standing is None:
        return "This run changed nothing", f"It {_OF_ITSELF} {_UNASKED}", True
    known = not standing.unread
    mine = [_set(one, standing) for one in standing.sets]
    lines = [f"This run {_OF_ITSELF}", *mine, *_unread(standing)]
    if standing.sets:
        verb = "was" if len(standing.sets) == 1 else "were"
        short = f"{quantity.counted(len(standing.sets), 'change set')} {verb} in force"
        return short, " ".join(lines), known
    if not known:
        return "Unknown", " ".join(lines), known
    if standing.hosts:
        lines.append(f"No change by `wireproof tune` was in force on {fold(standing.hosts)}.")
    return "Nothing was changed", " ".join(lines), known


def _where(names: str, standing: Standing) -> str:
    lab = f" --lab {clean(standing.lab, 64)}" if standing.lab else ""
    return lab if standing.here else f"{lab} --hosts '{names}'"


def _set(change_set: StandingSet, standing: Standing) -> str:
    names, name = fold(change_set.hosts), clean(change_set.id, 64)
    since = f", since {clean(change_set.since, 40)}" if change_set.since else ""
    how = _STATES.get(change_set.state, change_set.state)
    return (
        f"Change set {name} was in force on {names}{since}, and {how}:"
        f" {_changes(change_set.changes)}."
        f" `wireproof tune revert {name}{_where(names, standing)}` reverts it."
    )


def _changes(changes: Sequence[str]) -> str:
    shown = "; ".join(clean(line, 120) for line in changes[:_MOST_CHANGES])
    left = len(changes) - _MOST_CHANGES
    return (shown or "no value could be read") + (f"; {left} more" if left > 0 else "")


def _unread(standing: Standing) -> list[str]:
    return [
        f"What was in force on {fold(hosts)} is unknown: {clean(reason, 200).rstrip('.')}."
        f" Run `wireproof tune status{_where(fold(hosts), standing)}` as root to see it."
        for reason, hosts in standing.unread.items()
    ]
