"""Ports that are slow for a part of the time: from a moment on, up to a moment, or now and then.

A median over all of a port's samples sees such a port as a little slow, as slow, or not at all, by
chance; and a pair that was measured at the wrong time looks slow by itself. Here each port's
samples stand in the order of their times.
"""

import dataclasses
import datetime
import math
from collections.abc import Mapping
from typing import Literal

import numpy as np

from wireproof.locate.samples import Flags, Floats, Indices, Samples

Shape = Literal["since", "until", "at times"]

_FEWEST, _FEWEST_FAST = 3, 2  # samples of each sort
_LARGE, _BEYOND = 2.0, 4.0  # a slow sample: times the practical threshold, and standard deviations
# standard deviations from the 5 % quantile to the 25 % quantile of a normal variable
_QUANTILES_APART = 0.9704
_ALIKE = 0.5
_ASTRAY = 0.1  # of the samples may be on the wrong side of the moment
_MOST = 16
# that were slow at one time and fast at another: else it may be the routes, not the time
_ROUTES = 2
_REAL_TIME = 1e9  # seconds since 1970: smaller ones are counted from the start of a synthetic sweep


@dataclasses.dataclass(frozen=True, kw_only=True)
class Unsteady:
    """``port``: index into the ports of both directions (sending first). ``rows``: its slow
    samples. ``slowness``: their median (log). ``p``: that chance and the tail of the noise did it,
    for all ports. ``sentence``: what was seen.
    """

    port: int
    rows: Indices
    slowness: float
    p: float
    sentence: str


@dataclasses.dataclass(frozen=True)
class _SlowView:
    """``ends``: the ports of each sample, (2, K). ``usable``: the ends that may be at fault;
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
    """The ports that explain most samples that are slow at their times, one after the other; each
    sample once.

    ``leftover``: log slowness beyond what paths explain. ``steady``: ports that are slow all the
    time (log slowness): what is as slow with them says nothing about their partners. Needs times
    and goodput.
    """
    if samples.metric != "goodput" or samples.when.size != len(samples):
        return []
    least = max(_LARGE * practical, _BEYOND * min(noise, _noise_of_fast(leftover)))
    ends = np.stack((samples.origin, samples.target + len(samples.nodes))).astype(np.intp)
    known = np.asarray([steady.get(port, 0.0) for port in range(2 * len(samples.nodes))])
    # a port that is always slow explains itself, and its partner's sample with it
    view = _SlowView(samples, leftover, ends, known[ends] <= 0.0, leftover > least)
    found: list[Unsteady] = []
    while len(found) < _MOST:
        drafts = [one for port in _candidates(view) if (one := _look(view, port)) is not None]
        best = min(drafts, key=lambda one: (-one.rows.size, one.p), default=None)
        if best is None or best.p > alpha:
            return found
        found.append(best)
        view.slow[best.rows] = False
        view.usable[:, best.rows] = False
    return found


def _noise_of_fast(leftover: Floats) -> float:
    """Sigma by the faster quarter of the samples: a port that changes makes the slower ones differ,
    not these.
    """
    if not leftover.size:
        return math.inf
    low, high = np.quantile(leftover, (0.05, 0.25))
    return float(high - low) / _QUANTILES_APART


def _candidates(view: _SlowView) -> list[int]:
    """Ports with enough slow samples and enough fast ones."""
    count = 2 * len(view.samples.nodes)
    total, own = np.zeros(count), np.zeros(count)
    for side, far in ((0, 1), (1, 0)):
        use = view.usable[far]
        total += np.bincount(view.ends[side][use], minlength=count)
        own += np.bincount(view.ends[side][use & view.slow], minlength=count)
    return [int(port) for port in np.nonzero((own >= _FEWEST) & (total - own >= _FEWEST_FAST))[0]]


def _look(view: _SlowView, port: int) -> Unsteady | None:
    """A port whose samples are slow at some times only; None when it is no such port."""
    samples, leftover = view.samples, view.leftover
    side = 0 if port < len(samples.nodes) else 1
    rows = np.nonzero((view.ends[side] == port) & view.usable[1 - side])[0]
    rows = rows[np.argsort(samples.when[rows], kind="stable")]
    # What is far less slow than the rest is the tail of the noise, before or after.
    slow = view.slow[rows]
    own = slow & (leftover[rows] > _ALIKE * float(np.median(leftover[rows][slow])))
    count, size = int(np.sum(own)), int(rows.size)
    if count < _FEWEST or size - count < _FEWEST_FAST:
        return None
    shape, place, order = _shape(own)
    if order > 1.0 / _FEWEST or shape == "at times":
        if _mixed_routes(view.ends[1 - side][rows], own) < _ROUTES:
            return None
        shape, place, order = "at times", int(np.argmax(own)), 1.0
    chance = _at_least(count, size, _usual(view, port)) * 2 * len(samples.nodes)
    moment = float(samples.when[rows[min(place, size - 1)]])
    return Unsteady(
        port=port,
        rows=rows[own].astype(np.intp),
        slowness=float(np.median(leftover[rows[own]])),
        p=min(1.0, chance * order),
        sentence=_sentence(shape, count, size, moment, float(np.min(samples.when))),
    )


def _usual(view: _SlowView, port: int) -> float:
    """The share of slow samples among those that do not meet the port's node."""
    node = port % len(view.samples.nodes)
    others = (view.samples.origin != node) & (view.samples.target != node)
    others = others & view.usable[0] & view.usable[1]
    return (float(np.sum(view.slow & others)) + 1.0) / (float(np.sum(others)) + 1.0)


def _shape(slow: Flags) -> tuple[Shape, int, float]:
    """(shape, place of the first sample after the change, chance that the order is that clean by
    itself).
    """
    size, count = slow.size, int(np.sum(slow))
    before = np.concatenate(([0], np.cumsum(slow)))  # slow ones among the first k
    fast_before = np.arange(size + 1) - before
    since = before + (size - count - fast_before)  # astray when slow means after
    until = fast_before + (count - before)
    shape: Shape = "since" if since.min() <= until.min() else "until"
    astray = since if shape == "since" else until
    place, wrong = int(np.argmin(astray)), int(astray.min())
    if wrong > max(1, int(_ASTRAY * size)) or wrong >= count:
        return "at times", place, 1.0
    orders = sum(math.comb(size, j) for j in range(wrong + 1)) * 2
    return shape, place, min(1.0, orders / math.comb(size, count))


def _mixed_routes(partners: Indices, slow: Flags) -> int:
    """With how many partners the port was slow at one time and fast at another."""
    return sum(
        bool(np.any(slow[partners == one]) and not np.all(slow[partners == one]))
        for one in np.unique(partners)
    )


def _at_least(count: int, size: int, share: float) -> float:
    """Probability of ``count`` or more of ``size`` samples that are each slow with probability
    ``share``.
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
