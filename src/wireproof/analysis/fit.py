"""Fit lines through time against size: start, gap, switch point.

LogGP (Alexandrov et al. 1995) models t(s) = start + gap s. Where the library changes from eager to
rendezvous the line breaks, and one line across the break would describe neither side (netgauge's
warning). Errors are weighted relatively: a sweep spans four orders of magnitude and every size is
known to about the same share.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from wireproof.analysis.interval import Floats

_MIN_SIDE = 3
# a break must change the time at the next size by this share of the lower line's prediction
_MIN_JUMP = 0.03
_MIN_GAIN = 4.0  # and cut the squared error by this factor


@dataclass(frozen=True, slots=True)
class FittedLine:
    """t = start_ns + gap_ns_per_byte x s for first_bytes <= s <= last_bytes.

    ``residual``: relative root mean square error.
    """

    start_ns: float
    gap_ns_per_byte: float
    first_bytes: int
    last_bytes: int
    residual: float

    def at(self, size: float) -> float:
        return self.start_ns + self.gap_ns_per_byte * size


@dataclass(frozen=True, slots=True)
class CurveFit:
    """``eager_limit_bytes``: largest measured size before the break (None: no break);
    ``next_bytes``: the size after it.

    ``start_ns`` is the lower line's, ``gap_ns_per_byte`` the upper line's: latency of small
    messages, pace of large ones.
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

    None also if fewer than 2 sizes are on a side of it.
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
    """Least squares of relative errors: minimise sum ((start + gap s - t) / t)^2."""
    weighted = np.stack([1.0 / times, sizes / times], axis=1)
    (start, gap), *_ = np.linalg.lstsq(weighted, np.ones_like(times), rcond=None)
    error = weighted @ np.asarray([start, gap]) - 1.0
    residual = math.sqrt(float(np.mean(error * error)))
    return FittedLine(float(start), float(gap), int(sizes[0]), int(sizes[-1]), residual)


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
