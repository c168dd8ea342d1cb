# pure
"""Find settings that may be causes: compare the shortfall with the effect that the catalogue
expects of a wrong value. Pure.

An effect applies to a quantity (bandwidth: goodput; latency: half round trips), one direction or
both, and either kernel sockets or the adapter's transport. If the effect is smaller than the
shortfall, the setting is reported with the remark that it is not enough.
"""

import math
from collections.abc import Iterable, Sequence

import msgspec

from wireproof.locate.causes import MOST_CAUSES, RDMA
from wireproof.locate.causes.differing import Wrong, WrongSettings, effect_here
from wireproof.locate.causes.rules import in_line
from wireproof.model import gathered
from wireproof.model.claim import LinkClaim
from wireproof.model.finding import Both, Direction, Link, Node, Port, Route, Switch
from wireproof.model.located import Blame, Cause, Located, Metric
from wireproof.model.quantity import percent
from wireproof.model.setting import SettingEffect

_TOUCHES: dict[Metric, dict[str, float]] = {
    "goodput": {"bandwidth": 1.0, "variation": 0.5},
    "hrt": {"latency": 1.0, "variation": 0.5},
}
"""Quantities that affect a metric, each with its weight."""
_QUANTITY = {"goodput": "less bandwidth", "hrt": "more latency"}
_GENERAL = "setting-differs"
"""The rule that reports any differing setting; dropped if a specific setting explains enough."""
_SURE = {"measured": 1.0, "vendor": 0.95, "literature": 0.9, "practice": 0.8, "estimate": 0.6}
_BOTH_WAYS, _TOO_MUCH, _TOO_LITTLE, _NEARBY = 0.6, 0.7, 0.2, 0.7
"""Factors for: an effect on both directions if only one is slow; more expected than missing; less
expected than missing; evidence from the ends about the path between them.
"""
_ROUGH = 1.25
"""Expected effects are rough, so a shortfall of up to this factor times the largest effect still
counts as explained."""
_CALCULATED = 0.85
"""Rules with at least this confidence have calculated the cost here, which is better than a rough
figure.
"""
_LACKS = ", so it is not enough"
_MOST = 0.95
_MOST_BELOW = 32
_SOCKETS = ("tcp", "loopback")
_NOT_MEASURED = ("gpu", "shm")
"""Traffic that does not occur in a test of the wire."""


class Shortfall(msgspec.Struct, frozen=True):
    """The shortfall of ``metric``: ``share`` of the expected value (for ``hrt``: added time), with
    its interval. ``ends``: the nodes to examine, each with its slow direction. ``between``: the
    slow part may lie between them. ``both``: the other direction is also slow.
    """

    metric: Metric
    share: float
    low: float
    high: float
    ends: tuple[tuple[str, Direction], ...]
    between: bool = False
    both: bool = False


def with_settings(located: Located, wrong: WrongSettings, link: LinkClaim | None) -> Located:
    """Add to each culprit's causes the settings that may explain it."""
    accused = {node for blame in located.blames for node, _ in ends_of(blame)}
    equals = [host for host in wrong.hosts if host not in accused]
    return msgspec.structs.replace(
        located, blames=[_joined(blame, wrong, equals, link) for blame in located.blames]
    )


def _joined(
    blame: Blame, wrong: WrongSettings, equals: Sequence[str], link: LinkClaim | None
) -> Blame:
    ends = tuple(ends_of(blame))
    between = isinstance(blame.about, Link | Switch | Route | Both)
    low, high = sorted((blame.low, blame.high))
    short = Shortfall(blame.metric, blame.slowdown, low, high, ends, between)
    causes = causes_of(short, of_ends(short, wrong, equals), link)
    if isinstance(blame.about, Switch | Link):
        causes = _of_many(causes, len(ends))
    known = [cause for cause in blame.causes if not _of_processors(cause, blame.metric, link)]
    return msgspec.structs.replace(blame, causes=_merged(known, causes)[:MOST_CAUSES])


def _of_processors(cause: Cause, metric: Metric, link: LinkClaim | None) -> bool:
    """Return whether a rule blames a latency setting for goodput that the adapter carries: slow
    processors limit sockets, not RDMA.
    """
    latency = cause.expected is not None and cause.expected.on == "latency"
    return latency and metric == "goodput" and _kind(link) == "rdma"


def ends_of(blame: Blame) -> list[tuple[str, Direction]]:
    """Return the nodes to examine for a culprit, each with its slow direction."""
    match blame.about:
        case Node(name=name) | Port(node=name):
            return [(name, blame.direction)]
        case Route(origin=one, target=other):
            return [(one, "tx"), (other, "rx")]
        case Both(one=one, other=other):
            return [(one, ""), (other, "")]
    return [(name, blame.direction) for name in blame.nodes[:_MOST_BELOW]]


def of_ends(
    short: Shortfall, wrong: WrongSettings, equals: Sequence[str]
) -> list[tuple[Wrong, Direction]]:
    """Return the differences between each end and comparable hosts. If only two ends exist, compare
    them with each other and return a setting once, at the end that is wrong or has the smaller
    value.
    """
    if equals:
        return [
            (wrong_here, way) for name, way in short.ends for wrong_here in wrong.of(name, equals)
        ]
    names = [name for name, _ in short.ends]
    by_setting: dict[str, tuple[Wrong, Direction]] = {}
    for name, way in short.ends:
        for wrong_here in wrong.of(name, [other for other in names if other != name]):
            known = by_setting.get(wrong_here.setting.id)
            if known is None or _rather(wrong_here) < _rather(known[0]):
                by_setting[wrong_here.setting.id] = wrong_here, way
    return list(by_setting.values())


def _rather(wrong: Wrong) -> tuple[bool, float]:
    seen = wrong.result.seen.split()
    return wrong.result.status == "pass", float(seen[0]) if seen and seen[0].isdecimal() else 0.0


def causes_of(
    short: Shortfall, wrong: Iterable[tuple[Wrong, Direction]], link: LinkClaim | None
) -> list[Cause]:
    """Return the causes among ``wrong`` (each with the slow direction at its host), the most likely
    first and insufficient ones last.
    """
    kind = _kind(link)
    felt = [(candidate, way) for candidate, way in wrong if not candidate.setting.effect.pauses]
    named = [
        cause
        for candidate, way in felt
        if (cause := _cause(short, candidate, way, kind)) is not None
    ]
    if short.metric == "goodput" and any(not way for _, way in short.ends):
        named = _both_ways(named)
    enough = [(_way(cause), cause) for cause in named if cause.explains]
    total = {
        way: sum(candidate.confidence for at, candidate in enough if at == way) for way, _ in enough
    }
    causes = [
        _scaled(cause, min(1.0, _MOST / total[_way(cause)])) if cause.explains else cause
        for cause in named
    ]
    return sorted(causes, key=_order)


def _way(cause: Cause) -> Direction:
    return cause.expected.direction if cause.expected is not None else ""


def _both_ways(causes: Sequence[Cause]) -> list[Cause]:
    """If both directions are slow, let a setting of one direction explain them only together with a
    setting of the other.
    """
    ways = {_way(cause) for cause in causes if cause.explains}
    return [
        cause
        if not _way(cause) or not cause.explains or {"tx", "rx"} <= ways
        else msgspec.structs.replace(
            cause,
            explains=False,
            confidence=round(cause.confidence * _TOO_LITTLE, 3),
            sentence=f"{cause.sentence}; it affects only "
            f"{'sent' if _way(cause) == 'tx' else 'received'} data, but both directions are slow",
        )
        for cause in causes
    ]


def _order(cause: Cause) -> tuple[bool, float, str]:
    return not cause.explains, -cause.confidence, cause.code


def _kind(link: LinkClaim | None) -> str:
    protocol = link.protocol if link is not None else ""
    return "rdma" if protocol in RDMA else "ip" if protocol in _SOCKETS else ""


def _scaled(cause: Cause, factor: float) -> Cause:
    """Scale the confidence: it is divided among several sufficient causes, because any of them may
    be the real cause.
    """
    return msgspec.structs.replace(cause, confidence=round(cause.confidence * factor, 3))


def _cause(short: Shortfall, wrong: Wrong, way: Direction, kind: str) -> Cause | None:
    """Return the cause; None if the setting cannot affect the shortfall."""
    effect = effect_here(wrong)
    if not _touches(effect, short.metric, way, kind):
        return None
    enough = math.isfinite(short.low) and short.low <= _ROUGH * effect.high
    return Cause(
        code=wrong.setting.id,
        sentence=_sentence(short, wrong, effect, enough),
        confidence=round(wrong.confidence * _factor(effect, short, way, enough), 3),
        fix=_fix(wrong),
        undo=wrong.result.undo or (wrong.setting.fix.undo if wrong.setting.fix else ""),
        evidence=list(wrong.evidence),
        setting=wrong.setting.id,
        expected=effect,
        explains=enough,
    )


def _touches(effect: SettingEffect, metric: Metric, way: Direction, kind: str) -> bool:
    """Return whether a wrong value shows in this metric, direction and kind of traffic."""
    other_kind = effect.over not in ("", kind) if kind else effect.over in _NOT_MEASURED
    other_way = effect.direction and way and effect.direction != way
    return effect.on in _TOUCHES[metric] and effect.high > 0 and not other_kind and not other_way


def _factor(effect: SettingEffect, short: Shortfall, way: Direction, enough: bool) -> float:
    """Return a factor for the certainty of the effect and its fit to the shortfall."""
    factor = _TOUCHES[short.metric][effect.on] * _SURE[effect.sure]
    factor *= _TOO_LITTLE if not enough else _TOO_MUCH if short.high < effect.low else 1.0
    fits = bool(way) if effect.direction else not way or short.both
    factor *= 1.0 if fits else _BOTH_WAYS
    return factor * (_NEARBY if short.between else 1.0)


def expected_text(effect: SettingEffect) -> str:
    """Return the expected effect as text: ``4 to 10 %``, ``up to 50 %``."""
    least = f"{100 * effect.low:.3g}" if effect.low else "up"
    return f"{least} to {100 * effect.high:.3g} %"


def _sentence(short: Shortfall, wrong: Wrong, effect: SettingEffect, enough: bool) -> str:
    place = f" ({wrong.result.instance})" if wrong.result.instance else ""
    measured = percent(short.share, 0 if abs(short.share) >= 0.0995 else 1)
    name, value = f"{wrong.setting.id}{place}", wrong.result.seen or "not set"
    here = f"{wrong.result.host}'s {name} is {value}"
    what = f"{name} is {value} on {wrong.shared}" if wrong.shared else here
    text = (
        f"{what}, {wrong.others}: {expected_text(effect)} {_QUANTITY[short.metric]} expected, "
        f"{measured} measured"
    )
    return text if enough else text + _LACKS


def _fix(wrong: Wrong) -> str:
    result = wrong.result
    if wrong.usual or not result.fix:
        return in_line(wrong.setting, result.host, _names(result.instance), wrong.usual)
    return f"{wrong.shared or result.host}: {result.fix}."


def _names(instance: str) -> dict[str, str]:
    """Return the values of a setting's placeholders from an interface or ``DEVICE:PORT``."""
    device, _, port = instance.partition(":")
    return {"nic": instance, "device": device, "port": port} if instance else {}


def _of_many(causes: Sequence[Cause], nodes: int) -> list[Cause]:
    """Keep settings that are wrong on at least half of the nodes below a switch or link."""
    counts = gathered((cause.code, cause) for cause in causes)
    return [
        msgspec.structs.replace(
            same[0], evidence=[*same[0].evidence, f"the same on {len(same)} of {nodes} nodes"]
        )
        for same in counts.values()
        if 2 * len(same) >= nodes
    ]


def _merged(known: Sequence[Cause], of_audit: Sequence[Cause]) -> list[Cause]:
    """Merge both lists with each setting once: the evidence of rule and audit is combined."""
    by_setting = {cause.setting: cause for cause in known if cause.setting}
    named = {cause.setting for cause in of_audit}
    if any(cause.explains for cause in of_audit):
        known = [cause for cause in known if cause.code != _GENERAL]
    joined = [_with_rule(cause, by_setting.get(cause.setting)) for cause in of_audit]
    return sorted([*(one for one in known if one.setting not in named), *joined], key=_order)


def _with_rule(cause: Cause, rule: Cause | None) -> Cause:
    if rule is None:
        return cause
    evidence = list(dict.fromkeys([*cause.evidence, *rule.evidence]))
    if not cause.explains and rule.confidence >= _CALCULATED:
        return msgspec.structs.replace(
            cause,
            explains=True,
            confidence=rule.confidence,
            sentence=f"{cause.sentence.removesuffix(_LACKS)}; {rule.evidence[-1]}",
            evidence=evidence,
        )
    sure = max(cause.confidence, rule.confidence) if cause.explains else cause.confidence
    return msgspec.structs.replace(cause, confidence=sure, evidence=evidence)
