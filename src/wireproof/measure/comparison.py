# pure
"""Compare two judged results, number by number. Pure.

Numbers are compared only if the path is proven on both sides and pattern, form, size, formula and
window are equal, and only on routes that both results have. With three or more launches on each
side, the launch is the unit and the interval is Welch's (Biometrika 34, 1947). With fewer launches,
the interval excludes the variation between launches, and the report states this: with six or more
routes, each route serves as its own control in the signed-rank test (Hollander and Wolfe,
Nonparametric Statistical Methods, 3.2 and 3.3); otherwise, the interval combines the intervals of
the results.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, variance

import msgspec

from wireproof.locate.node import changed_apart
from wireproof.locate.significance import as_student
from wireproof.model import gathered
from wireproof.model.finding import GroupVerdict, Judgement, PairVerdict
from wireproof.model.history import LAUNCHES, PRACTICAL, Conclusion, Number, Ratio, Side
from wireproof.model.run import Run
from wireproof.stats import least_size, shift

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
    """The conditions of a number; only numbers with equal keys are compared."""

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
    """One result: its route (or the group), its value and the relative standard error from its
    interval.

    ``why``: the reason if the result does not count, otherwise "".
    """

    route: tuple[str, ...]
    value: float
    error: float
    repeat: int = 0
    why: str = ""


def samples_of(judgement: Judgement, run: Run) -> dict[Key, list[ComparedResult]]:
    """Group all results by their conditions."""
    windows = {point.id: point.window for point in run.points if point.pattern != "pingpong"}
    pairs = (
        (
            _pair_key(pair, windows.get(pair.point, 0)),
            _sample((pair.origin_host, pair.target_host), pair),
        )
        for pair in judgement.pairs
    )
    groups = (
        (_group_key(group, windows.get(group.point, 0)), _sample(("all",), group))
        for group in judgement.groups
    )
    return gathered((*pairs, *groups))


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


def _sample(route: tuple[str, ...], result: PairVerdict | GroupVerdict) -> ComparedResult:
    why = "" if result.proof == "on-wire" else f"its path is {result.proof}"
    if not why and not (
        0 < result.low <= result.value <= result.high and math.isfinite(result.high)
    ):
        why = "it has no interval"
    error = math.log(result.high / result.low) / (2 * _Z) if not why else 0.0
    return ComparedResult(route, result.value, error, result.repeat, why)


def number_of(key: Key, samples: Sequence[ComparedResult]) -> Number | None:
    """Return the mean of the samples that count, as a history stores it; None if none counts."""
    good = [sample for sample in samples if not sample.why]
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
    """Return a row for each number that either side has, and a row for each node or pair whose
    change differs from the others'.

    ``headlines``: (pattern, size) of the numbers that come first. ``launches``: launches of the
    side that has fewer.
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
    a, b = ([sample for sample in side if not sample.why] for side in sides)
    row = Ratio(
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
    if row.reason:
        return [row]
    return [
        _with_ratio(msgspec.structs.replace(row, name=name), key, (before, after), launches)
        for name, before, after in _split(row.name, key, a, b)
    ]


def _split(
    name: str, key: Key, a: Sequence[ComparedResult], b: Sequence[ComparedResult]
) -> list[tuple[str, Sequence[ComparedResult], Sequence[ComparedResult]]]:
    """Return a name and both sides for each node or pair that changed differently, after the
    rest.
    """
    apart = changed_apart(_ratios(a, b), "hrt" if key.unit == "ns" else "goodput")
    routes = {route for _, apart_routes in apart for route in apart_routes}
    rest = [[sample for sample in side if sample.route not in routes] for side in (a, b)]
    rows = [
        (f"{name}, {words}", _of(set(apart_routes), a), _of(set(apart_routes), b))
        for words, apart_routes in apart
    ]
    if not (rest[0] and rest[1]):
        return [*rows]
    return [(f"{name}, the others" if apart else name, rest[0], rest[1]), *rows]


def _of(routes: set[tuple[str, ...]], side: Sequence[ComparedResult]) -> list[ComparedResult]:
    return [sample for sample in side if sample.route in routes]


def _by_route_of(side: Sequence[ComparedResult]) -> dict[tuple[str, ...], list[ComparedResult]]:
    return gathered((sample.route, sample) for sample in side)


def _ratios(
    a: Sequence[ComparedResult], b: Sequence[ComparedResult]
) -> dict[tuple[str, ...], float]:
    """Return B's value divided by A's for each route that both have."""
    a_routes, b_routes = _by_route_of(a), _by_route_of(b)
    return {
        route: math.exp(_log(b_routes[route]) - _log(samples))
        for route, samples in a_routes.items()
        if route in b_routes
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
    mean = fmean(_log(samples_of_route) for samples_of_route in _by_route_of(samples).values())
    return Side(value=math.exp(mean), results=len(samples))


def _missing(
    name: str, side: Sequence[ComparedResult], good: Sequence[ComparedResult], otherwise: str
) -> str:
    if good:
        return ""
    return f"{name}: {side[0].why}" if side else otherwise


def _otherwise(name: str, key: Key, keys: Iterable[Key]) -> str:
    """Return why a side lacks this number: it was not measured, or only under other conditions."""
    same = (key.pattern, key.message_bytes, key.order)
    near = [
        [
            f"{word} {getattr(other, field)} and not {getattr(key, field)}"
            for field, word in _CONDITIONS
            if getattr(other, field) != getattr(key, field)
        ]
        for other in keys
        if other != key and (other.pattern, other.message_bytes, other.order) == same
    ]
    if not near:
        return f"{name} has no such result"
    closest: list[str] = min(near, key=len)
    return f"{name} has this result with {', '.join(closest)}"


def _with_ratio(
    row: Ratio,
    key: Key,
    sides: tuple[Sequence[ComparedResult], Sequence[ComparedResult]],
    launches: int,
) -> Ratio:
    sign = -1.0 if key.unit == "ns" else 1.0  # a shorter time is better
    routes = {sample.route for sample in sides[0]} & {sample.route for sample in sides[1]}
    alike = bool(routes)
    a, b = ([sample for sample in side if sample.route in routes or not alike] for side in sides)
    by_launch = [_launch_means(side, launches) for side in (a, b)]
    if all(by_launch):
        low, middle, high = _student(*by_launch)
    elif len(routes) > 1:
        low, middle, high = _by_route(_ratios(a, b))
    else:
        low, middle, high = _by_result_intervals(a, b)
    low, high = sorted((sign * low, sign * high))
    ratio, lower, upper = math.exp(sign * middle), math.exp(low), math.exp(high)
    return msgspec.structs.replace(
        row,
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
"""Lower end, centre and upper end of a difference of logarithms."""


def _log(samples: Sequence[ComparedResult]) -> float:
    return fmean(math.log(sample.value) for sample in samples)


def _launch_means(side: Sequence[ComparedResult], launches: int) -> list[float]:
    """Return the mean logarithm of each launch.

    The list is empty if there are too few launches or if a launch did not measure every route.
    """
    if launches < LAUNCHES:
        return []
    means: list[list[float]] = [[] for _ in range(launches)]
    for samples in _by_route_of(side).values():
        if len(samples) % launches:
            return []
        per_launch = len(samples) // launches
        for number, sample in enumerate(sorted(samples, key=lambda sample: sample.repeat)):
            means[number // per_launch].append(math.log(sample.value))
    return [fmean(logs) for logs in means]


def _student(a: Sequence[float], b: Sequence[float]) -> Interval:
    """Return Welch's interval, with the launch as the unit."""
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
    """Return an interval for which each route serves as its own control.

    The centre is the mean, because the values shown are means. The signed-rank test gives the
    interval of the median, so it is widened to include the mean.
    """
    logs = [math.log(ratio) for ratio in ratios.values()]
    middle = fmean(logs)
    if len(logs) < least_size(_ALPHA):
        half = as_student(_Z, len(logs) - 1) * math.sqrt(variance(logs) / len(logs))
        return middle - half, middle, middle + half
    interval = shift(logs, _ALPHA)
    return min(interval.least, middle), middle, max(interval.most, middle)


def _by_result_intervals(a: Sequence[ComparedResult], b: Sequence[ComparedResult]) -> Interval:
    """Combine the results' intervals, or use the scatter of the results if that is larger."""
    middle = _log(b) - _log(a)
    half = _Z * math.sqrt(_variance(a) + _variance(b))
    return middle - half, middle, middle + half


def _variance(side: Sequence[ComparedResult]) -> float:
    """Return the variance of the mean logarithm."""
    from_intervals = sum(sample.error**2 for sample in side) / len(side) ** 2
    if len(side) == 1:
        return from_intervals
    return max(from_intervals, variance([math.log(sample.value) for sample in side]) / len(side))


def _conclusion(low: float, high: float) -> Conclusion:
    if low > 1.0 + PRACTICAL:
        return "better"
    if high < 1.0 / (1.0 + PRACTICAL):
        return "worse"
    inside = low >= 1.0 / (1.0 + PRACTICAL) and high <= 1.0 + PRACTICAL
    return "no-difference" if inside else "undecided"
