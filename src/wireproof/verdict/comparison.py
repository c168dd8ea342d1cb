"""Two judged results held against each other, number by number. Pure.

Only results whose path is proven on both sides are compared, and only under one pattern, form,
size, formula and window, and on the routes that both have. With three launches or more on each side
a launch is the unit, and the interval is Welch's (Biometrika 34, 1947). With fewer it leaves out
what differs from launch to launch, and says so: with six routes or more each route is its own
control, by the signed-rank test (Hollander and Wolfe, Nonparametric Statistical Methods, 3.2 and
3.3); else it is made of the results' own intervals.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, variance

import msgspec

from wireproof.analysis.signed_rank import least_size, shift
from wireproof.locate.significance import as_student
from wireproof.model.comparison import LAUNCHES, Conclusion, Ratio, Side
from wireproof.model.finding import GroupVerdict, Judgement, PairVerdict
from wireproof.model.history import Number
from wireproof.model.run import Run
from wireproof.verdict.node import changed_apart

PRACTICAL = 0.03
"""Differences below 3 % are those of one machine with itself from day to day."""
_CONDITIONS = (
    ("form", "form"),
    ("formula", "formula"),
    ("members", "ranks"),
    ("window", "window"),
    ("blocking", "blocking"),
    ("unit", "unit"),
)
_ALPHA, _Z = 0.05, 1.96


@dataclass(frozen=True, order=True)
class Key:
    """What a number is of; only equal ones are compared."""

    pattern: str
    form: str
    formula: str
    order: str
    blocking: bool
    members: int
    message_bytes: int
    window: int
    unit: str


@dataclass(frozen=True)
class ComparedResult:
    """One result: the route (or the group), its value and the relative standard error that its
    interval says. ``why``: why it does not count, "" when it does.
    """

    route: tuple[str, ...]
    value: float
    error: float
    repeat: int = 0
    why: str = ""


def samples_of(judgement: Judgement, run: Run) -> dict[Key, list[ComparedResult]]:
    """Every result by what it is of."""
    windows = {point.id: point.window for point in run.points if point.pattern != "pingpong"}
    found: dict[Key, list[ComparedResult]] = {}
    for pair in judgement.pairs:
        found.setdefault(_pair_key(pair, windows.get(pair.point, 0)), []).append(
            _sample((pair.origin_host, pair.target_host), pair)
        )
    for group in judgement.groups:
        found.setdefault(_group_key(group, windows.get(group.point, 0)), []).append(
            _sample(("all",), group)
        )
    return found


def _pair_key(pair: PairVerdict, window: int) -> Key:
    return Key(
        pair.pattern, pair.form, pair.formula, "", True, 2, pair.message_bytes, window, pair.unit
    )


def _group_key(group: GroupVerdict, window: int) -> Key:
    return Key(
        group.pattern,
        "",
        group.formula,
        group.order,
        group.blocking,
        group.members,
        group.message_bytes,
        window,
        "ns",
    )


def _sample(route: tuple[str, ...], one: PairVerdict | GroupVerdict) -> ComparedResult:
    why = "" if one.proof == "on-wire" else f"its path is {one.proof}"
    if not why and not (0 < one.low <= one.value <= one.high and math.isfinite(one.high)):
        why = "it has no interval"
    error = math.log(one.high / one.low) / (2 * _Z) if not why else 0.0
    return ComparedResult(route, one.value, error, one.repeat, why)


def number_of(key: Key, samples: Sequence[ComparedResult]) -> Number | None:
    """The mean of the samples that count, as a history keeps it; None without any."""
    good = [one for one in samples if not one.why]
    if not good:
        return None
    middle, half = _log(good), _Z * math.sqrt(_variance(good))
    return Number(
        name=_name(key),
        message_bytes=key.message_bytes,
        window=key.window,
        unit="ns" if key.unit == "ns" else "bytes_per_s",
        value=math.exp(middle),
        low=math.exp(middle - half),
        high=math.exp(middle + half),
        results=len(good),
    )


def compared(
    a: Mapping[Key, Sequence[ComparedResult]],
    b: Mapping[Key, Sequence[ComparedResult]],
    headlines: Iterable[tuple[str, int]] = (),
    launches: int = 1,
) -> list[Ratio]:
    """A row for each number that either has, in order, and one for each node or pair that changed
    apart from the others; ``headlines``: (pattern, size) of those that come first; ``launches``: of
    the side that has fewer.
    """
    first = set(headlines)
    rows = [
        row
        for key in sorted({*a, *b})
        for row in _rows(
            key,
            (a.get(key, ()), b.get(key, ())),
            (_otherwise("A", key, a), _otherwise("B", key, b)),
            (key.pattern, key.message_bytes) in first,
            launches,
        )
    ]
    return sorted(rows, key=lambda row: (not row.headline, row.ratio is None))


def _rows(
    key: Key,
    sides: tuple[Sequence[ComparedResult], Sequence[ComparedResult]],
    otherwise: tuple[str, str],
    headline: bool,
    launches: int,
) -> list[Ratio]:
    a, b = ([one for one in side if not one.why] for side in sides)
    found = Ratio(
        name=_name(key),
        pattern=key.pattern,
        message_bytes=key.message_bytes,
        unit="ns" if key.unit == "ns" else "bytes_per_s",
        conclusion="not-compared",
        a=_side(a),
        b=_side(b),
        reason=_missing("A", sides[0], a, otherwise[0]) or _missing("B", sides[1], b, otherwise[1]),
        headline=headline,
    )
    if found.reason:
        return [found]
    return [
        _with_ratio(msgspec.structs.replace(found, name=name), key, (one, other), launches)
        for name, one, other in _split(found.name, key, a, b)
    ]


def _split(
    name: str, key: Key, a: Sequence[ComparedResult], b: Sequence[ComparedResult]
) -> list[tuple[str, Sequence[ComparedResult], Sequence[ComparedResult]]]:
    """A name with both sides: of each node or pair that changed apart, and of the others before."""
    apart = changed_apart(_ratios(a, b), "hrt" if key.unit == "ns" else "goodput")
    routes = {route for _, own in apart for route in own}
    rest = [[one for one in side if one.route not in routes] for side in (a, b)]
    rows = [(f"{name}, {words}", _of(set(own), a), _of(set(own), b)) for words, own in apart]
    if not (rest[0] and rest[1]):
        return [*rows]
    return [(f"{name}, the others" if apart else name, rest[0], rest[1]), *rows]


def _of(routes: set[tuple[str, ...]], side: Sequence[ComparedResult]) -> list[ComparedResult]:
    return [one for one in side if one.route in routes]


def _by_route_of(side: Sequence[ComparedResult]) -> dict[tuple[str, ...], list[ComparedResult]]:
    found: dict[tuple[str, ...], list[ComparedResult]] = {}
    for one in side:
        found.setdefault(one.route, []).append(one)
    return found


def _ratios(
    a: Sequence[ComparedResult], b: Sequence[ComparedResult]
) -> dict[tuple[str, ...], float]:
    """B's value over A's of each route that both have."""
    one, other = _by_route_of(a), _by_route_of(b)
    return {
        route: math.exp(_log(other[route]) - _log(samples))
        for route, samples in one.items()
        if route in other
    }


def _name(key: Key) -> str:
    parts = [key.pattern.replace("_", " ")]
    if key.order:
        parts = [f"{key.order} {parts[0]}"]
    parts += [key.form] if key.form and key.pattern not in ("pingpong", "stream") else []
    parts += [] if key.blocking else ["non-blocking"]
    parts += [f"of {key.members} ranks"] if key.members > 2 else []
    parts += [f"({key.formula})"] if key.formula != "robust" else []
    return " ".join(parts)


def _side(samples: Sequence[ComparedResult]) -> Side | None:
    if not samples:
        return None
    mean = fmean(_log(one) for one in _by_route_of(samples).values())
    return Side(value=math.exp(mean), results=len(samples))


def _missing(
    name: str, side: Sequence[ComparedResult], good: Sequence[ComparedResult], otherwise: str
) -> str:
    if good:
        return ""
    return f"{name}: {side[0].why}" if side else otherwise


def _otherwise(name: str, key: Key, found: Iterable[Key]) -> str:
    """Why a side has nothing of this: it was not measured, or under other conditions."""
    same = (key.pattern, key.message_bytes, key.order)
    near = [
        [
            f"{word} {getattr(one, field)} and not {getattr(key, field)}"
            for field, word in _CONDITIONS
            if getattr(one, field) != getattr(key, field)
        ]
        for one in found
        if one != key and (one.pattern, one.message_bytes, one.order) == same
    ]
    if not near:
        return f"{name} has no such result"
    closest: list[str] = min(near, key=len)
    return f"{name} has it with {', '.join(closest)}"


def _with_ratio(
    found: Ratio,
    key: Key,
    sides: tuple[Sequence[ComparedResult], Sequence[ComparedResult]],
    launches: int,
) -> Ratio:
    sign = -1.0 if key.unit == "ns" else 1.0  # a shorter time is a better one
    routes = {one.route for one in sides[0]} & {one.route for one in sides[1]}
    alike = bool(routes)
    a, b = ([one for one in side if one.route in routes or not alike] for side in sides)
    by_launch = [_launch_means(side, launches) for side in (a, b)]
    if all(by_launch):
        low, middle, high = _student(*by_launch)
    elif len(routes) > 1:
        low, middle, high = _by_route(_ratios(a, b))
    else:
        low, middle, high = _by_own_intervals(a, b)
    low, high = sorted((sign * low, sign * high))
    ratio, lower, upper = math.exp(sign * middle), math.exp(low), math.exp(high)
    return msgspec.structs.replace(
        found,
        a=_side(a),
        b=_side(b),
        conclusion=_conclusion(lower, upper),
        ratio=ratio,
        low=lower,
        high=upper,
        routes=len(routes),
        launches=launches if all(by_launch) else 1,
    )


Interval = tuple[float, float, float]
"""Low end, centre and high end of a difference of logs."""


def _log(samples: Sequence[ComparedResult]) -> float:
    return fmean(math.log(one.value) for one in samples)


def _launch_means(side: Sequence[ComparedResult], launches: int) -> list[float]:
    """The mean of the logs of each launch; none where launches are too few, or a route was not
    measured in each.
    """
    if launches < LAUNCHES:
        return []
    means: list[list[float]] = [[] for _ in range(launches)]
    for samples in _by_route_of(side).values():
        if len(samples) % launches:
            return []
        each = len(samples) // launches
        for number, one in enumerate(sorted(samples, key=lambda one: one.repeat)):
            means[number // each].append(math.log(one.value))
    return [fmean(one) for one in means]


def _student(a: Sequence[float], b: Sequence[float]) -> Interval:
    """Welch's interval: a launch is the unit."""
    parts = [variance(side) / len(side) for side in (a, b)]
    total = sum(parts)
    if total <= 0:
        return (fmean(b) - fmean(a),) * 3
    freedom = total**2 / sum(
        part**2 / (len(side) - 1) for part, side in zip(parts, (a, b), strict=True)
    )
    half = as_student(_Z, freedom) * math.sqrt(total)
    middle = fmean(b) - fmean(a)
    return middle - half, middle, middle + half


def _by_route(ratios: Mapping[tuple[str, ...], float]) -> Interval:
    """Each route is its own control. The centre is the mean, whose values are shown; the interval
    of the signed-rank test is that of the median, and is widened to it.
    """
    logs = [math.log(one) for one in ratios.values()]
    middle = fmean(logs)
    if len(logs) < least_size(_ALPHA):
        half = as_student(_Z, len(logs) - 1) * math.sqrt(variance(logs) / len(logs))
        return middle - half, middle, middle + half
    found = shift(logs, _ALPHA)
    assert found.low is not None and found.high is not None  # noqa: S101, PT018  enough routes
    return min(found.low, middle), middle, max(found.high, middle)


def _by_own_intervals(a: Sequence[ComparedResult], b: Sequence[ComparedResult]) -> Interval:
    """By what the results' own intervals say, or by how they scatter where that is more."""
    middle = _log(b) - _log(a)
    half = _Z * math.sqrt(_variance(a) + _variance(b))
    return middle - half, middle, middle + half


def _variance(side: Sequence[ComparedResult]) -> float:
    """Of the mean of the logs."""
    own = sum(one.error**2 for one in side) / len(side) ** 2
    if len(side) == 1:
        return own
    return max(own, variance([math.log(one.value) for one in side]) / len(side))


def _conclusion(low: float, high: float) -> Conclusion:
    if low > 1.0 + PRACTICAL:
        return "better"
    if high < 1.0 / (1.0 + PRACTICAL):
        return "worse"
    inside = low >= 1.0 / (1.0 + PRACTICAL) and high <= 1.0 + PRACTICAL
    return "no-difference" if inside else "undecided"
