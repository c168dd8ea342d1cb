"""The points of a screen of many nodes: rounds of disjoint pairs, and the suspects again, each
alone.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from wireproof.measure.points import sweep
from wireproof.measure.schedule import (
    Pair,
    alone_rounds,
    beside_rounds,
    confirm_rounds,
    screen_rounds,
    screen_size,
    unconfirmed,
)
from wireproof.model.located import Fabric
from wireproof.model.plan import Point, Policy
from wireproof.target import Target

if TYPE_CHECKING:
    from wireproof.locate.screen.screened import Screened

SCREEN_S = 10.0
"""Maximum time of all rounds together in s; a fast link needs a tenth of this."""
LEAST_BUDGET_MS, MOST_BUDGET_MS = 250, 1000
CONTROLS = 2
"""Number of pairs of known-good nodes that are measured with the suspects for comparison."""
CONFIRM_MS = 250
"""Budget of each point of the confirm stage, which becomes certain through its partners and
repeats.
"""
REPEATS = ((2.5, 2), (1.6, 3))
"""(factor, repeats): if a suspect's pair is slower than expected by this factor, it is measured
with this number of repeats instead of five. Among 360 simulated ports at half rate or less, with
noise of 2 to 12 %, three repeats found as many as five.
"""
ENOUGH_ROUNDS, MOST_REPEATS = 12, 4
"""With few nodes each node has few partners, so the rounds are repeated until each node has about
``ENOUGH_ROUNDS`` samples in each direction.
"""
BRIEF_ABOVE = 64
"""Above this number of nodes the raw batches of each pair are not recorded, because they would take
gigabytes.
"""
IN_FLIGHT_NS = 8e6
"""Data in flight, as time at line rate: enough to keep the link full while a process waits for a
time slice, and little enough for many batches within the budget even on a slow link.
"""
MOST_APART = 32
"""Limit on the pairs that a machine with fewer cores than ranks measures one after another; more
pairs would take too long and are measured several at a time.
"""


def leaves_of(hosts: Sequence[str], fabric: Fabric | None) -> list[int] | None:
    """Return the number of each host's leaf switch, -1 if unknown; return None without a fabric."""
    if fabric is None:
        return None
    leaves = fabric.leaves
    number = {name: index for index, name in enumerate(sorted(set(leaves.values())))}
    return [number.get(leaves.get(host, ""), -1) for host in hosts]


def screen_window(size: int, rate_bits_per_s: float | None) -> int:
    """Return the number of messages that take ``IN_FLIGHT_NS`` at line rate: even, at least 2, and
    at most the default policy's limit of messages in flight.
    """
    message_ns = size * 8e9 / (rate_bits_per_s or 1e10)
    most = Policy().in_flight_bytes // size // 2 * 2
    return max(2, min(most, 2 * round(IN_FLIGHT_NS / message_ns / 2)))


def crowded(target: Target) -> bool:
    """Return whether one machine has more ranks than cores (a lab): a half round trip would show
    the kernel's time slices.
    """
    return target.machine_ranks > len(os.sched_getaffinity(0))


def _of_rounds(
    rounds: Sequence[Sequence[Pair]],
    target: Target,
    budget_ms: int,
    *,
    brief: bool,
    size: int | None = None,
) -> list[Point]:
    """Return each round as a stream one way, a stream the other way, and a half round trip at 8
    B.
    """
    rate_bits_per_s = target.link.rate_bits_per_s if target.link else None
    points: list[Point] = []
    size = size or screen_size(rate_bits_per_s)
    window = screen_window(size, rate_bits_per_s)
    for pairs in rounds:
        back = [(second, first) for first, second in pairs]
        points += sweep("stream", [size], pairs, window=window, budget_ms=budget_ms)
        points += sweep("stream", [size], back, window=window, budget_ms=budget_ms)
        points += (
            []
            if crowded(target)
            else sweep("pingpong", [8], pairs, budget_ms=max(1, budget_ms // 2))
        )
    return [msgspec.structs.replace(point, detail="brief") for point in points] if brief else points


def screen_repeats(rounds: int) -> int:
    """Return the number of repeats of ``rounds``: with few rounds each node has few samples, so
    they are repeated.
    """
    return max(1, min(MOST_REPEATS, round(ENOUGH_ROUNDS / max(1, rounds))))


def screen_budget_ms(rounds: int) -> int:
    """Return the budget of each stream of a screen of ``rounds`` in ms."""
    return max(LEAST_BUDGET_MS, min(MOST_BUDGET_MS, round(SCREEN_S * 1000 / max(1, 2 * rounds))))


def screen_points(
    target: Target,
    fabric: Fabric | None,
    *,
    seed: int,
    rounds: int | None,
    all_pairs: bool,
    size: int | None = None,
) -> list[Point]:
    """Return the rounds of a screen: every pair up to 64 hosts; above that 12 to 20 rounds, unless
    ``all_pairs`` is set. If all ranks share too few cores, a few hosts are measured pair by pair,
    because simultaneous streams would show the cores and not the links.
    """
    count = target.size
    wanted = count - 1 + count % 2 if all_pairs else rounds
    leaves = leaves_of(target.hosts, fabric)
    chosen = screen_rounds(count, leaves, seed, wanted)
    apart = [[pair] for pairs in chosen for pair in pairs]
    if crowded(target) and len(apart) <= MOST_APART:
        chosen = apart
    chosen = chosen * screen_repeats(len(chosen))
    budget_ms = screen_budget_ms(len(chosen))
    return _of_rounds(chosen, target, budget_ms, brief=count > BRIEF_ABOVE, size=size)


def again_rounds(
    screens: Sequence[Screened], index: Mapping[str, int], leaves: Sequence[int] | None, seed: int
) -> tuple[list[list[Pair]], list[int]]:
    """Return (rounds of the confirm stage, suspects that do not fit into them).

    Suspects of any metric are paired with nodes that are good in all metrics; lone pairs are
    measured again, and some good pairs serve as controls.
    """
    suspects, good = _suspects_and_partners(screens, index)
    found = [
        pair.nodes for result in screens for pair in result.pairs if set(pair.nodes) <= set(index)
    ]
    lone = [(index[first], index[second]) for first, second in found]
    if not (suspects or lone) or not good:
        return [], []
    rounds = confirm_rounds(suspects, good, leaves, seed) if suspects else []
    controls = list(zip(good[: 2 * CONTROLS : 2], good[1 : 2 * CONTROLS : 2], strict=False))
    again = dict.fromkeys((min(pair), max(pair)) for pair in (*lone, *controls))
    rounds += alone_rounds(list(again), leaves)
    return rounds + beside_rounds(list(dict.fromkeys(lone)), good, leaves), unconfirmed(suspects)


def _suspects_and_partners(
    screens: Sequence[Screened], index: Mapping[str, int]
) -> tuple[list[int], list[int]]:
    """Return the suspects of any metric, and the nodes that are good in all metrics."""
    names = dict.fromkeys(
        name for result in screens for suspect in result.suspects for name in suspect.nodes
    )
    telling = [set(result.good) for result in screens if result.good]
    shared = set.intersection(*telling) - set(names) if telling else set()
    first = screens[0].good if screens else []
    return (
        [index[name] for name in names if name in index],
        [index[name] for name in first if name in shared and name in index],
    )


def confirm_points(
    screens: Sequence[Screened],
    target: Target,
    fabric: Fabric | None,
    *,
    seed: int,
    size: int | None = None,
) -> tuple[list[Point], list[str]]:
    """Return the points of the confirm stage (each pair alone, both directions, repeated), and the
    suspects for which there is no time.
    """
    index = {host: rank for rank, host in reversed(list(enumerate(target.hosts)))}
    rounds, left = again_rounds(screens, index, leaves_of(target.hosts, fabric), seed)
    affordable = _affordable(rounds, _slowdowns(screens, index))
    points = _of_rounds(affordable, target, CONFIRM_MS, brief=False, size=size)
    return points, [target.hosts[rank] for rank in left]


_MOST_SLOWNESS = math.log(1e3)


def _slowdowns(screens: Sequence[Screened], index: Mapping[str, int]) -> dict[int, float]:
    """Return, by rank of the suspected nodes, the factor by which a message takes longer; 1 if
    unknown, as for both ends of a lone pair.
    """
    factors: dict[int, float] = {}
    for result in screens:
        by_rate = result.samples.metric == "goodput"
        for suspect in (*result.suspects, *result.pairs):
            known = by_rate and suspect.kind != "pair"
            times = math.exp(min(suspect.slowness, _MOST_SLOWNESS)) if known else 1.0
            for rank in (index[name] for name in suspect.nodes if name in index):
                factors[rank] = max(times, factors.get(rank, 1.0))
    return factors


def _affordable(
    rounds: Sequence[Sequence[Pair]], slowdowns: Mapping[int, float]
) -> list[list[Pair]]:
    """Drop the last repeats of pairs for which ``REPEATS`` needs fewer: a port at 1 % of its rate
    needs no fifth measurement, and each would take ten seconds. Pairs of good nodes get as many
    repeats as the least slow suspect.
    """
    least = min(slowdowns.values(), default=1.0)
    seen: dict[Pair, int] = {}
    kept: list[list[Pair]] = []
    for pairs in rounds:
        stay = []
        for pair in pairs:
            seen[pair] = seen.get(pair, 0) + 1
            factors = [slowdowns[rank] for rank in pair if rank in slowdowns]
            slowdown = max(factors, default=min(least, REPEATS[-1][0]))
            enough = next((count for times, count in REPEATS if slowdown >= times), math.inf)
            if seen[pair] <= enough:
                stay.append(pair)
        kept += [stay] if stay else []
    return kept
