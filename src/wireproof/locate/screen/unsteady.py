# pure
"""Find ports that are slow for some of the time: from a moment on, up to a moment, or at times. The
median over all samples of a port of this kind may be a little slow, slow, or normal, depending on
chance, and a pair that was measured at the wrong time looks like a slow pair. So this module orders
the samples of each port by time.
"""

import dataclasses
import datetime
import math
from collections.abc import Mapping
from typing import Literal

import numpy as np

from wireproof.locate.samples import Flags, Floats, Indices, Samples

Shape = Literal["since", "until", "at times"]

_FEWEST, _FEWEST_FAST = 3, 2  # minimum number of slow samples, and of fast samples
# minimum slowness of a slow sample: multiple of the practical threshold, and number of standard
# deviations
_LARGE, _BEYOND = 2.0, 4.0
# standard deviations from the 5 % quantile to the 25 % quantile of a normal variable
_QUANTILES_APART = 0.9704
_ALIKE = 0.5
_ASTRAY = 0.1  # share of samples that may be on the wrong side of the change
_MOST = 16
# minimum number of routes that were slow at one time and fast at another: otherwise the routes may
# be slow instead
_ROUTES = 2
_REAL_TIME = 1e9  # smaller times count from the start of a synthetic sweep, not from 1970


@dataclasses.dataclass(frozen=True, kw_only=True)
class Unsteady:
    """``port``: index into the ports of both directions (sending first). ``rows``: its slow
    samples. ``slowness``: their median (log). ``p``: probability that chance and the tail of the
    noise caused it, adjusted for all ports. ``sentence``: the evidence.
    """

    port: int
    rows: Indices
    slowness: float
    p: float
    sentence: str


@dataclasses.dataclass(frozen=True)
class _SlowView:
    """``ends``: the ports of each sample, shape (2, K). ``usable``: ends that may be at fault.
    ``slow``: slow samples that no port explains yet.
    """

    samples: Samples
    leftover: Floats
    ends: Indices
    usable: Flags
    slow: Flags


def unsteady_ports(
    samples: Samples,
    leftover: Floats,
    noise: float,
    practical: float,
    alpha: float,
    steady: Mapping[int, float],
) -> list[Unsteady]:
    """Return the ports that explain most of the temporarily slow samples, one after the other; each
    sample counts once.

    ``leftover``: log slowness beyond what paths explain. ``steady``: ports that are always slow,
    with their log slowness; samples that are equally slow with them are no evidence about their
    partners. Needs times and goodput.
    """
    if samples.metric != "goodput" or samples.when.size != len(samples):
        return []
    least = max(_LARGE * practical, _BEYOND * min(noise, _noise_of_fast(leftover)))
    ends = np.stack((samples.origin, samples.target + len(samples.nodes))).astype(np.intp)
    known = np.asarray([steady.get(port, 0.0) for port in range(2 * len(samples.nodes))])
    # a port that is always slow explains its own samples and those of its partners
    view = _SlowView(samples, leftover, ends, known[ends] <= 0.0, leftover > least)
    unsteady: list[Unsteady] = []
    while len(unsteady) < _MOST:
        drafts = [draft for port in _candidates(view) if (draft := _look(view, port)) is not None]
        best = min(drafts, key=lambda draft: (-draft.rows.size, draft.p), default=None)
        if best is None or best.p > alpha:
            return unsteady
        unsteady.append(best)
        view.slow[best.rows] = False
        view.usable[:, best.rows] = False
    return unsteady


def _noise_of_fast(leftover: Floats) -> float:
    """Return sigma from the faster quarter of the samples: a port that changes affects the slower
    samples.
    """
    if not leftover.size:
        return math.inf
    low, high = np.quantile(leftover, (0.05, 0.25))
    return float(high - low) / _QUANTILES_APART


def _candidates(view: _SlowView) -> list[int]:
    """Return ports with enough slow samples and enough fast samples."""
    count = 2 * len(view.samples.nodes)
    total, slow = np.zeros(count), np.zeros(count)
    for side, far in ((0, 1), (1, 0)):
        use = view.usable[far]
        total += np.bincount(view.ends[side][use], minlength=count)
        slow += np.bincount(view.ends[side][use & view.slow], minlength=count)
    return [int(port) for port in np.nonzero((slow >= _FEWEST) & (total - slow >= _FEWEST_FAST))[0]]


def _look(view: _SlowView, port: int) -> Unsteady | None:
    """Return a port whose samples are slow only at some times, else None."""
    samples, leftover = view.samples, view.leftover
    side = 0 if port < len(samples.nodes) else 1
    rows = np.nonzero((view.ends[side] == port) & view.usable[1 - side])[0]
    rows = rows[np.argsort(samples.when[rows], kind="stable")]
    # Samples far less slow than the rest are a tail of the noise, before or after the moment.
    slow = view.slow[rows]
    very_slow = slow & (leftover[rows] > _ALIKE * float(np.median(leftover[rows][slow])))
    count, size = int(np.sum(very_slow)), int(rows.size)
    if count < _FEWEST or size - count < _FEWEST_FAST:
        return None
    shape, place, order = _shape(very_slow)
    if order > 1.0 / _FEWEST or shape == "at times":
        if _mixed_routes(view.ends[1 - side][rows], very_slow) < _ROUTES:
            return None
        shape, place, order = "at times", int(np.argmax(very_slow)), 1.0
    chance = _at_least(count, size, _usual(view, port)) * 2 * len(samples.nodes)
    moment = float(samples.when[rows[min(place, size - 1)]])
    return Unsteady(
        port=port,
        rows=rows[very_slow].astype(np.intp),
        slowness=float(np.median(leftover[rows[very_slow]])),
        p=min(1.0, chance * order),
        sentence=_sentence(shape, count, size, moment, float(np.min(samples.when))),
    )


def _usual(view: _SlowView, port: int) -> float:
    """Return the share of slow samples among those without the port's node."""
    node = port % len(view.samples.nodes)
    others = (view.samples.origin != node) & (view.samples.target != node)
    others = others & view.usable[0] & view.usable[1]
    return (float(np.sum(view.slow & others)) + 1.0) / (float(np.sum(others)) + 1.0)


def _shape(slow: Flags) -> tuple[Shape, int, float]:
    """Return (shape, index of the first sample after the change, probability that chance produces
    an order this clean).
    """
    size, count = slow.size, int(np.sum(slow))
    before = np.concatenate(([0], np.cumsum(slow)))  # slow samples among the first k
    fast_before = np.arange(size + 1) - before
    since = before + (
        size - count - fast_before
    )  # samples on the wrong side if the port is slow after the change
    until = fast_before + (count - before)
    shape: Shape = "since" if since.min() <= until.min() else "until"
    astray = since if shape == "since" else until
    place, wrong = int(np.argmin(astray)), int(astray.min())
    if wrong > max(1, int(_ASTRAY * size)) or wrong >= count:
        return "at times", place, 1.0
    orders = sum(math.comb(size, j) for j in range(wrong + 1)) * 2
    return shape, place, min(1.0, orders / math.comb(size, count))


def _mixed_routes(partners: Indices, slow: Flags) -> int:
    """Return the number of partners with which the port was slow at one time and fast at
    another.
    """
    return sum(
        bool(np.any(slow[partners == partner]) and not np.all(slow[partners == partner]))
        for partner in np.unique(partners)
    )


def _at_least(count: int, size: int, share: float) -> float:
    """Return the probability that at least ``count`` of ``size`` samples are slow if each is slow
    with probability ``share``.
    """
    share = min(max(share, 1e-9), 1.0 - 1e-9)
    return min(
        1.0,
        sum(
            math.comb(size, k) * share**k * (1.0 - share) ** (size - k)
            for k in range(count, size + 1)
        ),
    )


def _sentence(shape: Shape, count: int, size: int, moment: float, first: float) -> str:
    when = f"{max(0.0, moment - first):.2g} s after the first sample"
    if moment >= _REAL_TIME:
        clock = datetime.datetime.fromtimestamp(moment, tz=datetime.UTC)
        when = f"{clock:%H:%M:%S} UTC, {when}"
    if shape == "since":
        return f"slow from a moment on ({when}): {count} of its {size} samples, and fast before"
    if shape == "until":
        return f"slow up to a moment ({when}): {count} of its {size} samples, and fast since"
    return f"slow at times: {count} of its {size} samples, with the same partners as fast ones"
