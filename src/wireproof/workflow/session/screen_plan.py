"""The points of a screen of many nodes: rounds of disjoint pairs, and the suspects again, alone."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from wireproof.model.fabric import Fabric
from wireproof.model.plan import Point, Policy
from wireproof.plan.schedule import (
    Pair,
    alone_rounds,
    beside_rounds,
    confirm_rounds,
    screen_rounds,
    screen_size,
    unconfirmed,
)
from wireproof.plan.sweep import sweep
from wireproof.workflow.target.target import Target

if TYPE_CHECKING:
    from wireproof.locate.screen.screened import Screened

SCREEN_S = 10.0
"""What all rounds together may take at most; a fast link reaches its precision in a tenth of
that.
"""
LEAST_BUDGET_MS, MOST_BUDGET_MS = 250, 1000
CONTROLS = 2
"""Pairs of known-good nodes that are measured with the suspects: they say what is to be expected
now.
"""
CONFIRM_MS = 250
"""Of each point of the confirm stage: its certainty comes from several partners and repeats."""
REPEATS = ((5.0, 2), (1.6, 3))
"""Of suspects that are so many times slower than expected, each pair is measured again so often,
not five times: of 360 made-up ports at half or less, in noise of 2 to 12 %, three found as many.
"""
ENOUGH_ROUNDS, MOST_REPEATS = 12, 4
"""A few nodes have few partners: their rounds are repeated until each node has about so many
samples a way.
"""
BRIEF_ABOVE = 64
"""Above so many nodes the raw batches of each pair are left out of the records: they would be
gigabytes.
"""
IN_FLIGHT_NS = 12e6
"""What is under way at line rate: enough that the link stays full while a process waits for a time
slice, and little enough that even a slow link gives many batches in its time.
"""
MOST_APART = 32
"""Pairs that a machine with fewer cores than ranks measures one after another; more take too long,
and are measured in rounds of several.
"""


def leaves_of(hosts: Sequence[str], fabric: Fabric | None) -> list[int] | None:
    """Number of each host's leaf, -1 where it is not known; None without a fabric."""
    if fabric is None:
        return None
    leaf_by_node = {one.node: one.switch for one in reversed(fabric.attachments)}
    names = sorted(set(leaf_by_node.values()))
    number = {name: index for index, name in enumerate(names)}
    return [number.get(leaf_by_node.get(host, ""), -1) for host in hosts]


def screen_window(size: int, rate_bits_per_s: float | None) -> int:
    """An even number of messages that are ``IN_FLIGHT_NS`` long at line rate, at least 2 and at
    most as many as the usual policy lets be under way.
    """
    message_ns = size * 8e9 / (rate_bits_per_s or 1e10)
    most = Policy().in_flight_bytes // size // 2 * 2
    return max(2, min(most, 2 * round(IN_FLIGHT_NS / message_ns / 2)))


def crowded(target: Target) -> bool:
    """More ranks than cores on one machine (a lab): a half round trip would be the kernel's time
    slices.
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
    """Each round as a stream one way, a stream the other way, and a half round trip at 8 B."""
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
    """How often ``rounds`` are measured: few of them give a node few samples."""
    return max(1, min(MOST_REPEATS, round(ENOUGH_ROUNDS / max(1, rounds))))


def screen_budget_ms(rounds: int) -> int:
    """Of each stream of a screen of ``rounds``."""
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
    """The rounds of a screen. Up to 64 hosts every pair; above 12 to 20 rounds, unless
    ``all_pairs``. Where all ranks share too few cores, a few hosts are measured pair by pair:
    several streams at a time would show the cores and not the links.
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
    """(rounds of the confirm stage, suspects that have no place in it). Suspects of any metric meet
    partners that are known to be good in all; lone pairs are measured again, and some good pairs
    say what is to be expected now.
    """
    suspects, good = _suspects_and_partners(screens, index)
    found = [pair.nodes for one in screens for pair in one.pairs if set(pair.nodes) <= set(index)]
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
    """Suspects of any metric, and nodes that are known to be good in all."""
    names = dict.fromkeys(
        name for one in screens for suspect in one.suspects for name in suspect.nodes
    )
    telling = [set(one.good) for one in screens if one.good]
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
    """The confirm stage's points (each pair alone, both directions, repeated), and the suspects for
    which there is no time in it.
    """
    index = {host: rank for rank, host in reversed(list(enumerate(target.hosts)))}
    rounds, left = again_rounds(screens, index, leaves_of(target.hosts, fabric), seed)
    affordable = _affordable(rounds, _slowdowns(screens, index))
    points = _of_rounds(affordable, target, CONFIRM_MS, brief=False, size=size)
    return points, [target.hosts[rank] for rank in left]


def _slowdowns(screens: Sequence[Screened], index: Mapping[str, int]) -> dict[int, float]:
    """Rank to how many times longer a message takes there, of each suspected node: 1 if that is
    not known, as of both ends of a lone pair.
    """
    found: dict[int, float] = {}
    for one in screens:
        told = one.samples.metric == "goodput"
        for suspect in (*one.suspects, *one.pairs):
            known = told and suspect.kind != "pair"
            times = 1 / max(1 - suspect.slowdown, 1e-3) if known else 1.0
            for rank in (index[name] for name in suspect.nodes if name in index):
                found[rank] = max(times, found.get(rank, 1.0))
    return found


def _affordable(
    rounds: Sequence[Sequence[Pair]], slowdowns: Mapping[int, float]
) -> list[list[Pair]]:
    """The rounds without the last repeats of pairs of which ``REPEATS`` says that fewer are enough:
    a port at 1 % needs no fifth look, and each would take ten seconds. Pairs of good nodes are
    measured as often as the least slow suspect.
    """
    least = min(slowdowns.values(), default=1.0)
    seen: dict[Pair, int] = {}
    kept: list[list[Pair]] = []
    for pairs in rounds:
        stay = []
        for pair in pairs:
            seen[pair] = seen.get(pair, 0) + 1
            own = [slowdowns[rank] for rank in pair if rank in slowdowns]
            if seen[pair] <= _enough(max(own, default=min(least, REPEATS[-1][0]))):
                stay.append(pair)
        kept += [stay] if stay else []
    return kept


def _enough(slowdown: float) -> float:
    """How often a pair is measured again, if one end is so many times slower."""
    return next((count for times, count in REPEATS if slowdown >= times), math.inf)
