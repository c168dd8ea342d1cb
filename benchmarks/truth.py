"""The model transport's latency, gap and switch point, recovered from a sweep that knows nothing of
them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from benchmarks.own import alone
from benchmarks.row import Row, certain
from benchmarks.setting import Setting
from wireproof.measure.points import SIZES, numbered, sweep
from wireproof.model.errors import WireproofError
from wireproof.model.plan import ModelWorld

__all__ = ["Recovered", "compare_world", "run", "world_of"]

GROUP = "known truth"
WORLDS = 20
TARGET = 0.01


@dataclass(frozen=True)
class Recovered:
    """Relative errors of one world; ``switch_found``: the break lies between the two sizes around
    the limit.
    """

    latency: float
    gap: float
    step: float
    switch_found: bool


def world_of(seed: int) -> ModelWorld:
    """A plausible interconnect: 0.3 to 30 us, 0.1 to 40 GB/s, a switch at a size of the sweep, 1 %
    noise, some stalls.

    The switch costs at least 10 % of the time at its size: a smaller step is not what anybody calls
    a switch point.
    """
    draw = random.Random(seed)
    latency = 300.0 * 100 ** draw.random()
    gap = 0.025 * 400 ** draw.random()
    limit = 1 << draw.randrange(9, 17)
    at_limit = latency + gap * limit
    return ModelWorld(
        latency_ns=latency,
        gap_ns_per_byte=gap,
        eager_limit_bytes=limit,
        rendezvous_ns=at_limit * draw.uniform(0.1, 1.0),
        noise=0.01,
        stall=0.001,
    )


def compare_world(world: ModelWorld, times_ns: dict[int, float]) -> Recovered | None:
    """The fit held against the world; None where nothing can be fitted."""
    from wireproof.stats.fit import fit_sizes

    fit = fit_sizes(times_ns)
    if fit is None:
        return None
    found = fit.eager_limit_bytes == world.eager_limit_bytes
    return Recovered(
        latency=abs(float(fit.start_ns) / world.latency_ns - 1),
        gap=abs(float(fit.gap_ns_per_byte) / world.gap_ns_per_byte - 1),
        step=abs(float(fit.step_ns) / world.rendezvous_ns - 1) if found else 1.0,
        switch_found=found,
    )


def _recover(seed: int) -> Recovered | None:
    world = world_of(seed)
    run = alone("model", numbered(sweep("pingpong", SIZES, [(0, 1)]), seed=seed), world, seed)
    times = {
        point.message_bytes: pair.estimate.median_ns
        for point in run.points
        for pair in point.pairs
        if pair.estimate
    }
    return compare_world(world, times)


def _row(title: str, errors: list[float], **more: Any) -> Row:
    fields = {"quantity": "worst relative error", "pairs": len(errors), **more}
    return certain(GROUP, title, "relative error", max(errors), **{"target": TARGET, **fields})


def run(setting: Setting) -> None:
    """Adds the rows: the worst of all seeded worlds is what is judged."""
    setting.say(f"{GROUP}: {WORLDS} seeded worlds")
    try:
        found = [_recover(seed) for seed in range(WORLDS)]
    except WireproofError as error:
        setting.skip(GROUP, "model transport", error)
        return
    fits = [one for one in found if one is not None]
    if len(fits) < WORLDS:
        setting.skip(GROUP, "fit", f"{WORLDS - len(fits)} of {WORLDS} worlds could not be fitted")
    if not fits:
        return
    setting.add(
        _row("latency", [one.latency for one in fits]),
        _row("gap per byte", [one.gap for one in fits]),
    )
    missed = sum(not one.switch_found for one in fits)
    setting.add(_row("switch point (share of worlds where it was not found)", [missed / len(fits)]))
    steps = [one.step for one in fits if one.switch_found]
    if steps:
        note = "not part of the target: the step is a difference of two fitted lines"
        setting.add(_row("time that the switch costs", steps, target=None, note=note))
