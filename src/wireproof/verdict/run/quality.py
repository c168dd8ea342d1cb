# pure
"""Check whether a number can be judged: status, integrity, precision and disturbances of the hosts;
and settle a doubtful number with a repeat of its measurement. Pure.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from wireproof.ledger.changes import trouble_counters
from wireproof.ledger.measured import Measured, busy_blocks, typical_times
from wireproof.ledger.traffic import rises
from wireproof.model import quantity
from wireproof.model.finding import (
    Finding,
    Judgement,
    Node,
    PairVerdict,
    Route,
    Subject,
    nodes_of,
    worst_proof,
)
from wireproof.model.record import Estimate, GroupResult, Nic, PairResult, PointRecord
from wireproof.stats import MIN_SAMPLES, two_modes
from wireproof.verdict.context import Context
from wireproof.verdict.issue import Issue, overall

_BUSY_BLOCKS = 0.5
_ALL_CLOSE = 0.01
# a half-width up to this value is narrow enough if the interval contains no threshold
_STILL_DECIDES = 0.5
_WAITED_SHARE = 0.05  # share of the timed part, spent waiting for a processor
_FAR_RATIO = 1.5
_MEDIANS_APART = (
    0.10  # a block may last longer than its batches, such as by the last acknowledgement
)


def status_issues(
    ctx: Context, point: PointRecord, who: Subject, where: str, result: PairResult | GroupResult
) -> Iterator[Issue]:
    """Report a deadline, an error, missing times, or a payload that was corrupted or not checked.
    ``where``: the pair or group with the size, for messages.
    """
    code, what = "", ""
    timed = isinstance(result, PairResult) and bool(result.batch_ns)
    if result.status == "deadline" or result.stop == "deadline":
        code, what = "deadline", "stopped at its deadline"
    elif result.status == "error":
        code, what = "points-missing", "ended with an error"
    elif result.estimate is None and not timed:
        code, what = "points-missing", "ended without a number"
    if code:
        yield Issue(code, "inconclusive", who, f"{where}: {what}", point=point.id)
    if result.integrity == "corrupt":
        text = f"{where}: the payload arrived corrupted"
        yield Issue("payload-corrupt", "fail", who, text, point=point.id, weight=1.0)
    elif result.integrity == "unchecked" and result.status == "ok" and not ctx.moves_nothing:
        text = f"{where}: the payload was not checked when it arrived"
        yield Issue("payload-unchecked", "inconclusive", who, text, point=point.id)


def enough_samples(time: Estimate) -> bool:
    """Return whether there are enough independent samples for a 95 % interval.

    Dependent samples that all lie within one percent also suffice.
    """
    close = time.half_width <= _ALL_CLOSE
    return time.blocks >= MIN_SAMPLES and (time.effective_blocks >= MIN_SAMPLES or close)


def decides(time: Estimate) -> bool:
    """Return whether a number may pass or fail: enough samples and a usable interval."""
    return enough_samples(time) and time.half_width <= _STILL_DECIDES


def precision_issues(
    ctx: Context, point: PointRecord, who: Subject, where: str, time: Estimate, enough: bool
) -> Iterator[Issue]:
    """Report wide intervals and separate groups of samples. ``enough``: even a wide interval
    decides.
    """
    wide = time.half_width > ctx.criteria.max_half_width or not enough_samples(time)
    if wide or time.label == "unstable":
        samples = quantity.counted(time.blocks, "sample")
        known = f"{quantity.plus_minus(time.half_width)} ({samples})"
        noisy = (
            f"noisy, {known}; but precise enough for a verdict" if enough else f"too noisy: {known}"
        )
        text = f"{where}: {noisy if wide else known}"
        yield Issue(
            "unstable",
            ("warning" if enough else "inconclusive") if wide else "note",
            who,
            text,
            point=point.id,
            weight=time.half_width,
        )
    if time.label == "multimodal" and not ctx.moves_nothing:  # the times of a model are simulated
        text = f"{where}: the samples form separate groups"
        yield Issue("multimodal", "warning", who, text, point=point.id, weight=time.half_width)


def arithmetic_issues(
    ctx: Context, point: PointRecord, pair: PairResult, where: str, number: Measured
) -> list[Issue]:
    """Check the sums in the record: bytes = messages x size; timed <= moved; batches <= elapsed;
    estimate = median.
    """
    return [
        Issue("row-arithmetic", "fail", ctx.route(pair), f"{where}: {text}", point=point.id)
        for text in (*_wrong_counts(point, pair), *_wrong_times(ctx, point, pair, number))
    ]


def _wrong_counts(point: PointRecord, pair: PairResult) -> Iterator[str]:
    for way, messages, payload in (
        ("forward", pair.messages_forward, pair.payload_forward_bytes),
        ("backward", pair.messages_backward, pair.payload_backward_bytes),
    ):
        if payload not in (0, messages * point.message_bytes):
            yield (
                f"{messages} messages {way} of {quantity.size(point.message_bytes)} are not"
                f" {payload} B"
            )
    timed = len(pair.batch_ns) * pair.operations_per_batch
    if timed > max(pair.messages_forward, pair.messages_backward):
        yield f"{timed} operations were timed, but {pair.messages_forward} messages moved"


def _wrong_times(
    ctx: Context, point: PointRecord, pair: PairResult, number: Measured
) -> Iterator[str]:
    virtual = ctx.run.open is not None and ctx.run.open.clock.source == "virtual"
    taken, elapsed = sum(pair.batch_ns), point.elapsed_ns
    if not virtual and elapsed > 0 and taken > 1.01 * elapsed:
        yield f"batches took {taken / 1e9:.3f} s of {elapsed / 1e9:.3f} s elapsed"
    if pair.batch_ns and pair.estimate is not None and number.time.label == "stable":
        stated = pair.estimate.median_ns
        apart = _MEDIANS_APART + 2 * pair.estimate.half_width
        # one match is enough: for most records the cheapest test matches
        if not any(abs(one / stated - 1) <= apart for one in typical_times(point, pair)):
            typical = next(typical_times(point, pair))
            yield f"the estimate is {stated:.0f} ns, but its batches give {typical:.0f} ns"


def waited_share(pair: PairResult) -> float:
    """Return the share of the timed part for which the worse end waited for a processor; 0 if
    unknown.
    """
    timed = max(sum(pair.batch_ns), pair.target_elapsed_ns or 0.0)
    waited = max(pair.origin_waited_ns or 0.0, pair.target_waited_ns or 0.0)
    return min(1.0, waited / timed) if timed > 0 else 0.0


def crowded(pair: PairResult) -> bool:
    """Return whether either end lost its processor in most blocks or for a large part of the
    time.
    """
    often = busy_blocks(pair) > _BUSY_BLOCKS * len(pair.sentinels)
    return often or waited_share(pair) > _WAITED_SHARE


def disturbance(pair: PairResult) -> str:
    """Return why the processes lost their CPU; "" if they did not."""
    if not crowded(pair):
        return ""
    share = waited_share(pair)
    if share > _WAITED_SHARE:
        return f"its processes waited for a processor for {share:.0%} of the time"
    return "the ranks were preempted meanwhile"


def sentinel_issues(ctx: Context, point: PointRecord, pair: PairResult) -> Iterator[Issue]:
    """Report scheduler interference and a changing distance between the two cores."""
    who, marks = ctx.route(pair), pair.sentinels
    busy, share = busy_blocks(pair), waited_share(pair)
    if crowded(pair):
        text = f"{who}: its ranks were preempted in {busy} of {len(marks)} blocks"
        text += (
            f"; a process waited for a CPU {share:.0%} of the time" if share > _WAITED_SHARE else ""
        )
        yield Issue("oversubscribed", "warning", who, text, point=point.id, weight=busy + share)
    bounces = [m.bounce_ns for m in marks if m.bounce_ns is not None and m.bounce_ns > 0]
    if len(bounces) >= 6 and two_modes(bounces) and max(bounces) > _FAR_RATIO * min(bounces):
        near, far = min(bounces), max(bounces)
        text = (
            f"{who}: the time of a cache-line bounce between the two cores changed between "
            f"{near:.0f} and {far:.0f} ns"
        )
        yield Issue("far-core-state", "warning", who, text, point=point.id)


def _elsewhere(nic: Nic | None, counter: str) -> bool:
    """Return whether the counter is the carrier loss of an interface that ``nic`` does not use, as
    when a container starts or ends.
    """
    owner, _, leaf = counter.removeprefix("net/").partition("/")
    return leaf == "carrier_changes" and nic is not None and owner not in (nic.name, *nic.lower)


def down_between_points(ctx: Context) -> dict[int, dict[str, int]]:
    """Return, by reader, the number of times that links went down or recovered while no point
    ran."""
    within: Counter[tuple[int, str]] = Counter()
    for point in ctx.run.points:
        for reading in point.witness:
            within.update({(reading.rank, name): rise for name, rise in rises(reading).items()})
    return {
        total.rank: {
            name: rise - within[total.rank, name]
            for name, rise in trouble_counters(rises(total)).get("link", {}).items()
        }
        for total in ctx.run.totals
    }


def trouble_issues(
    ctx: Context, point: int | None, deltas: Mapping[int, Mapping[str, int]]
) -> Iterator[Issue]:
    """Report counters of links, retransmissions, drops and pauses that rose at a host during the
    point, or between two points if ``point`` is None.
    """
    when = "between two points" if point is None else f"at point {point}"
    for reader, counters in sorted(deltas.items()):
        who = ctx.node(reader)
        # Retransmissions of the kernel's TCP are reported for the whole run (``loss``).
        ports = {
            name: rose
            for name, rose in counters.items()
            if not name.startswith("ip/") and not _elsewhere(ctx.claimed_nic(reader), name)
        }
        for group, rose in trouble_counters(ports).items():
            listed = ", ".join(f"{name} +{count}" for name, count in list(rose.items())[:4])
            lost = group == "link" or any("carrier" in name for name in rose)
            code = "nic-down" if lost else "retransmits"
            what = "the link went down or recovered" if lost else f"{group} counters rose"
            text = f"{who}: {what} {when} ({listed})"
            total = sum(rose.values())
            yield Issue(code, "warning", who, text, dict(rose), point, weight=float(total))


# --- Settle samples of a route by repeats: a sample with too wide an interval or too few bytes does
# not override a sample that passes. Screens repeat the rounds of a few nodes, and undecided pairs
# are measured again. If one sample is in doubt only because its interval is wide or its bytes were
# too few, a passing sample of the same route, pattern and size settles it. The settled sample stays
# in the JSON document as `settled`, it is not shown as a result, and its findings become warnings.

_WIDE = frozenset({"unstable", "below-expectation", "multimodal", "launches-disagree"})
"""Codes that a wide interval alone can cause; none of them is about the path."""
_FAST = "above-ceiling"
"""Inconclusive if the interval reaches down to the ceiling or the times are in doubt. If the bytes
are proven on the wire, another sample decides; if the claimed link is too slow, that sample exceeds
the ceiling again.
"""
_FEW = "unproven-too-few-bytes"
_LATE, _WAITED = "slow-start", "oversubscribed"
"""A late reply of processes that waited for a processor: another sample decides."""
_SOFTER = _WIDE | {"direction-slow", _FEW, _FAST, _LATE}
"""Codes of findings that may become warnings; they include comparisons of a route's two
directions."""
_BESIDE = frozenset({_WAITED, "clock-not-tsc", "far-core-state"})
"""Warnings about the machine that accompany a wide interval and decide nothing."""
_FEW_LOST = 1000.0
"""Lost segments per million that a repeat may settle: a busy host's queue drops some hundreds. If a
link loses more, one passing sample does not excuse it.
"""
Measurement = tuple[Route, str, int]


def _measurement(pair: PairVerdict) -> Measurement:
    return pair.route, pair.pattern, pair.message_bytes


def settled_by_repeats(judgement: Judgement) -> Judgement:
    """Judge again without the inconclusive samples that a repeat of their route settles."""
    passing = {_measurement(pair) for pair in judgement.pairs if pair.verdict == "pass"}
    pairs = [
        msgspec.structs.replace(pair, settled=True)
        if _measurement(pair) in passing and may_settle(pair)
        else pair
        for pair in judgement.pairs
    ]
    left = [pair for pair in pairs if not pair.settled]
    if len(left) == len(pairs):
        return judgement
    findings = _over(judgement.findings, pairs)
    return msgspec.structs.replace(
        judgement,
        pairs=pairs,
        findings=findings,
        verdict=overall(findings, left, judgement.groups),
        proof=worst_proof([*(one.proof for one in left), *(one.proof for one in judgement.groups)]),
    )


def _over(findings: Sequence[Finding], pairs: Sequence[PairVerdict]) -> list[Finding]:
    """Return the findings, with those that a repeat settled as warnings."""
    routes = {pair.route for pair in pairs if pair.settled}
    open_ = {pair.route for pair in pairs if not pair.settled and pair.verdict != "pass"}
    return [_softer(each) if _is_over(each, routes, open_) else each for each in findings]


def may_settle(pair: PairVerdict) -> bool:
    """Return whether another sample may settle this inconclusive one.

    This is true only if the reason is the width of its interval, a number above the ceiling or the
    number of its bytes. An unknown reason is never settled.
    """
    codes = set(pair.codes)
    late = {_LATE} if _WAITED in codes else set[str]()
    if pair.verdict != "inconclusive" or not codes <= _WIDE | _BESIDE | {_FEW, _FAST} | late:
        return False
    if pair.proof == "on-wire":
        return bool(codes & (_WIDE | {_FAST, _LATE}))
    return too_few_bytes(pair) and _FAST not in codes


def too_few_bytes(pair: PairVerdict) -> bool:
    """Return whether the path is unproven only because too few bytes moved."""
    return pair.proof == "unproven" and _FEW in pair.codes


def _is_over(finding: Finding, routes: set[Route], still_open: set[Route]) -> bool:
    """Return whether a finding was inconclusive only because of a wide interval and is now settled:
    for its route, or for every route that loses packets.
    """
    about = finding.about
    if finding.severity != "inconclusive":
        return False
    if finding.code in ("packet-loss", "reordering"):
        share = finding.evidence.get("per_million")
        if not isinstance(share, int | float) or share > _FEW_LOST:
            return False
        ends = set(nodes_of(about)) if isinstance(about, Node | Route) else set[str]()
        return bool(ends) and not any(ends & {one.origin, one.target} for one in still_open)
    return finding.code in _SOFTER and about in routes - still_open


def _softer(finding: Finding) -> Finding:
    return msgspec.structs.replace(
        finding,
        severity="warning",
        message=f"{finding.message}; when measured again, the same route passes",
    )
