# pure
"""Fit lines through time against size (start, gap, switch point), and levels through a series, with
their break points.
"""

import math
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from wireproof.model.history import FEWEST
from wireproof.stats import Floats

# --- Lines through time against size. LogGP (Alexandrov et al. 1995) models t(s) = start + gap s.
# The line breaks if the library changes from eager to rendezvous, and a single line across the
# break would describe neither side (netgauge's warning). Errors are relative, because a sweep spans
# four orders of magnitude and every size has about the same relative accuracy.

_MIN_SIDE = 3
# a break must change the time at the next size by at least this share of the lower line's
# prediction
_MIN_JUMP = 0.03
_MIN_GAIN = 4.0  # and must reduce the squared error by this factor


class FittedLine(msgspec.Struct, frozen=True):
    """t = start_ns + gap_ns_per_byte x s.

    ``residual``: relative root mean square error.
    """

    start_ns: float
    gap_ns_per_byte: float
    residual: float

    def at(self, size: float) -> float:
        return self.start_ns + self.gap_ns_per_byte * size


class CurveFit(msgspec.Struct, frozen=True):
    """``eager_limit_bytes``: largest measured size before the break (None: no break);
    ``next_bytes``: the size after it.

    ``start_ns`` is the lower line's, ``gap_ns_per_byte`` the upper line's: latency of small
    messages, time per byte of large ones.
    """

    lines: tuple[FittedLine, ...]
    eager_limit_bytes: int | None
    next_bytes: int | None
    step_ns: float

    @property
    def start_ns(self) -> float:
        return self.lines[0].start_ns

    @property
    def gap_ns_per_byte(self) -> float:
        return self.lines[-1].gap_ns_per_byte


def fit_sizes(times_ns: Mapping[int, float]) -> CurveFit | None:
    """Fit message size -> time of one message (half round trip, or time per message of a stream).

    None for fewer than 3 sizes or times that are not positive. A break needs 3 or more sizes on
    each side; it must reduce the squared error by a factor of 4 and jump by 3 % or more.
    """
    sizes = np.asarray(sorted(times_ns), dtype=np.float64)
    times = np.asarray([times_ns[int(size)] for size in sizes], dtype=np.float64)
    if sizes.size < _MIN_SIDE or not bool(np.all(np.isfinite(times))) or bool(np.any(times <= 0)):
        return None
    whole = _line(sizes, times)
    cut = _best_break(sizes, times, whole)
    return _broken(sizes, times, whole, cut)


def fit_with_break(times_ns: Mapping[int, float], eager_limit_bytes: int | None) -> CurveFit | None:
    """Fit like ``fit_sizes``, with the break after a known size (None: no break).

    Also None if there are fewer than 2 sizes on a side of it.
    """
    sizes = np.asarray(sorted(times_ns), dtype=np.float64)
    times = np.asarray([times_ns[int(size)] for size in sizes], dtype=np.float64)
    if sizes.size < 2 or not bool(np.all(np.isfinite(times))) or bool(np.any(times <= 0)):
        return None
    whole = _line(sizes, times)
    if eager_limit_bytes is None:
        return _broken(sizes, times, whole, None)
    cut = int(np.searchsorted(sizes, eager_limit_bytes, side="right"))
    return None if min(cut, sizes.size - cut) < 2 else _broken(sizes, times, whole, cut)


def _broken(sizes: Floats, times: Floats, whole: FittedLine, cut: int | None) -> CurveFit:
    if cut is None:
        return CurveFit((whole,), None, None, 0.0)
    lines = (_line(sizes[:cut], times[:cut]), _line(sizes[cut:], times[cut:]))
    step = lines[1].at(sizes[cut]) - lines[0].at(sizes[cut])
    return CurveFit(lines, int(sizes[cut - 1]), int(sizes[cut]), step)


def _line(sizes: Floats, times: Floats) -> FittedLine:
    """Fit by least squares of relative errors: minimise sum ((start + gap s - t) / t)^2."""
    weighted = np.stack([1.0 / times, sizes / times], axis=1)
    (start, gap), *_ = np.linalg.lstsq(weighted, np.ones_like(times), rcond=None)
    error = weighted @ np.asarray([start, gap]) - 1.0
    residual = math.sqrt(float(np.mean(error * error)))
    return FittedLine(float(start), float(gap), residual)


def _squares(line: FittedLine, count: int) -> float:
    return line.residual**2 * count


def _best_break(sizes: Floats, times: Floats, whole: FittedLine) -> int | None:
    best: int | None = None
    least = _squares(whole, sizes.size) / _MIN_GAIN
    for cut in range(_MIN_SIDE, sizes.size - _MIN_SIDE + 1):
        lower, upper = _line(sizes[:cut], times[:cut]), _line(sizes[cut:], times[cut:])
        foretold = lower.at(sizes[cut])
        squares = _squares(lower, cut) + _squares(upper, sizes.size - cut)
        if squares < least and abs(times[cut] - foretold) > _MIN_JUMP * foretold:
            best, least = cut, squares
    return best


# --- Changes of level in a series: binary segmentation with a permutation test.
#
# The statistic is the largest weighted difference of the mean ranks before and after a place
# (Pettitt, Applied Statistics 28, 1979; weighted as in Csorgo and Horvath, Limit Theorems in
# Change-Point Analysis, 2.1). Its p comes from random orders of the same values, so a series of
# independent values without a change shows one with probability ``alpha``, whatever its
# distribution. The position of the change minimises the squared deviations of the values without
# their extremes.
# Fewer than sixteen values have too few orders for that test. Then two or more on either side are
# compared by Student's t, which assumes normal noise, and the change is marked ``few``.

LEAST = 4
"""Minimum number of values on either side of a change found by ranks."""
_MANY = 16
_BLOCKS = (99, 400, 1500)
"""Numbers of random orders, in blocks drawn one after the other."""


class ChangePoint(msgspec.Struct, frozen=True):
    """``index``: first value after the change.

    ``few``: found by the test that assumes normal noise.
    """

    index: int
    p: float
    few: bool = False


def change_points(
    values: Sequence[float] | Floats, *, alpha: float = 0.01, seed: int = 0, floor: float = 0.0
) -> list[ChangePoint]:
    """Return the changes in order.

    ``values``: in order of time, with equal weights. ``alpha``: probability of a change in a series
    that has none. ``floor``: the minimum standard deviation assumed for few values.
    """
    x = np.asarray(values, dtype=np.float64)
    if x.size < _MANY:
        return _of_few(x, alpha, floor)
    changes = _segments(x, 0, alpha, np.random.default_rng(seed))
    return sorted(changes, key=lambda change: change.index)


def _segments(x: Floats, first: int, alpha: float, rng: np.random.Generator) -> list[ChangePoint]:
    if x.size < 2 * LEAST:
        return []
    ranks = _ranks(x)
    if np.ptp(ranks) == 0:
        return []
    p = _p(ranks, float(_highest(ranks[None, :])[0]), alpha, rng)
    if p > alpha:
        return []
    cut = _parting(np.clip(x, *np.quantile(x, (0.05, 0.95))))
    return [
        ChangePoint(first + cut, p),
        *_segments(x[:cut], first, alpha, rng),
        *_segments(x[cut:], first + cut, alpha, rng),
    ]


def _p(ranks: Floats, height: float, alpha: float, rng: np.random.Generator) -> float:
    """Return p from random orders.

    Counting stops as soon as too many orders for ``alpha`` have as large a difference: without a
    change, a few dozen orders suffice.
    """
    above = 0
    for count in _BLOCKS:
        orders = rng.permuted(np.tile(ranks, (count, 1)), axis=1)
        above += int(np.count_nonzero(_highest(orders) >= height - 1e-12))
        if (1 + above) / (1 + sum(_BLOCKS)) > alpha:
            break
    return (1 + above) / (1 + sum(_BLOCKS))


def _ranks(x: Floats) -> Floats:
    """Return centred mid-ranks."""
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    middle = ends - (counts - 1) / 2.0
    ranks: Floats = np.asarray(middle[inverse.reshape(-1)], dtype=np.float64)
    ranks -= ranks.mean()
    return ranks


def _of_few(x: Floats, alpha: float, floor: float) -> list[ChangePoint]:
    """Find one change among four to fifteen values by Student's t over all possible places."""
    if x.size < 2 * FEWEST or np.ptp(x) == 0:
        return []
    cut, freedom = _parting(x), x.size - 2
    parts = x[:cut], x[cut:]
    squares = sum(float(np.sum((part - part.mean()) ** 2)) for part in parts)
    error = max(np.sqrt(squares / freedom), floor) * np.sqrt(1 / cut + 1 / (x.size - cut))
    apart = abs(float(parts[1].mean() - parts[0].mean()))
    chance = _two_sided(apart / float(error), freedom) if error > 0 else 0.0
    p = min(1.0, chance * (x.size - 2 * FEWEST + 1))
    return [ChangePoint(cut, p, few=True)] if p <= alpha else []


def _two_sided(t: float, freedom: int) -> float:
    """Return the probability that Student's t is beyond ``t`` on either side, for whole degrees of
    freedom.

    The finite series of Abramowitz and Stegun, 26.7.3 and 26.7.4.
    """
    angle = math.atan(t / math.sqrt(freedom))
    square, odd = math.cos(angle) ** 2, freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = term if freedom > 1 else 0.0
    for step in range(1, (freedom - odd) // 2):
        term *= square * (2 * step - 1 + odd) / (2 * step + odd)
        total += term
    within = math.sin(angle) * total
    return 1.0 - (2.0 / math.pi * (angle + within) if odd else within)


def _parting(x: Floats) -> int:
    """Return the place with the least squares about the means before and after it."""
    places = np.arange(FEWEST, x.size - FEWEST + 1)
    sums = np.cumsum(x - x.mean())[places - 1]
    return int(places[np.argmax(sums**2 / (places * (x.size - places)))])


def _highest(rows: Floats) -> Floats:
    """Return the statistic of each row at its best place."""
    n = rows.shape[1]
    k = np.arange(1, n)
    weight = np.sqrt(k * (n - k) / n)
    sums = np.cumsum(rows, axis=1)[:, :-1]
    apart = np.abs(sums * n / (k * (n - k))) * weight
    highest: Floats = apart[:, LEAST - 1 : n - LEAST].max(axis=1)
    return highest
