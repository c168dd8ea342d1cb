"""How long the screen of a check takes: its own rounds and budgets, before anything is started."""

from __future__ import annotations

from typing import NamedTuple

from wireproof.model.planning.bounds import Bounds
from wireproof.plan.scale.network import MachineCosts, SimulatedNetwork, barrier
from wireproof.plan.scale.topology import ScaleTopology
from wireproof.plan.schedule import screen_round_count, screen_size
from wireproof.workflow.session.screen_plan import screen_budget_ms, screen_repeats, screen_window

__all__ = ["ScreenTime", "screen_time"]

_WINDOWS = 8  # two that warm up, six that an interval needs
_ROUND_TRIPS = 8 * 128
_POINTS = 3  # of a round: a stream each way, and half round trips in half of a stream's budget
_BUDGETS = 2.5
_BESIDE_S = 0.1
"""Of a point beside its timed part, at most: readings of the counters and windows of quiet. With 3
to 8 nodes of a lab 80 to 97 ms were measured.
"""


class ScreenTime(NamedTuple):
    """``pairs``: measured in all; ``samples``: of each node in one direction; ``size``: bytes."""

    rounds: int
    pairs: int
    size: int
    seconds: Bounds


def screen_time(
    machine: MachineCosts,
    topology: ScaleTopology,
    rounds: int | None = None,
    repeats: int | None = None,
) -> ScreenTime:
    """``rounds``, ``repeats``: those of a check unless they are given.

    From the least that gives intervals to the budget of every point; a barrier of all ranks
    before each point. Start-up of the MPI comes on top, and what is confirmed afterwards.
    """
    nodes = topology.nodes
    rate_bits = 8e9 / machine.byte_ns
    wanted = screen_round_count(nodes) if rounds is None else rounds
    count = wanted * (screen_repeats(wanted) if repeats is None else repeats)
    size = screen_size(rate_bits)
    window = screen_window(size, rate_bits)
    own = ScaleTopology(
        nodes=nodes,
        kind=topology.kind,
        leaf=topology.leaf,
        group=topology.group,
        seed=topology.seed,
    )
    apart = _POINTS * barrier(SimulatedNetwork(machine, own))
    stream = _WINDOWS * (window * size * machine.byte_ns + machine.start_ns)
    least = 2 * stream + _ROUND_TRIPS * machine.start_ns
    budget = _BUDGETS * screen_budget_ms(count) * 1e6
    seconds = Bounds(
        count * (min(least, budget) + apart) * 1e-9,
        count * ((max(least, budget) + apart) * 1e-9 + _POINTS * _BESIDE_S),
    )
    return ScreenTime(rounds=count, pairs=count * (nodes // 2), size=size, seconds=seconds)
