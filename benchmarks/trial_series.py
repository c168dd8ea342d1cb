"""Trials of a setting on made-up series with a known effect: how often is the answer right?"""

from __future__ import annotations

import dataclasses
import math
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

from wireproof.experiment import ALPHA, Design, against_base, is_look, level
from wireproof.experiment.effects import compared
from wireproof.model.experiment import Answer, Metric, TrialRun

__all__ = ["World", "answers", "conclude", "design_of"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class World:
    """``effect``: true, a share of the metric; ``sigma``: spread of single runs, a share;
    ``drift``: change over the whole trial, a share, ``wave``: amplitude of a slow one. ``memory``:
    lag-1 autocorrelation of the noise; ``outliers``: share of runs that are slower, on average
    twice as slow. ``late``: the first run of each block is slower by this share.
    """

    effect: float = 0.0
    sigma: float = 0.03
    blocks: int = 30
    values: int = 2
    drift: float = 0.0
    wave: float = 0.0
    memory: float = 0.0
    outliers: float = 0.0
    late: float = 0.0
    smallest: float = 0.05


def _noise(world: World, seed: int) -> Iterator[float]:
    """Factors of successive runs."""
    random_ = random.Random(f"noise/{seed}")
    total = world.blocks * 2 * world.values
    state = random_.gauss(0.0, world.sigma)
    for position in range(total):
        share = position / total
        factor = math.exp(state) * (1.0 + world.drift * share)
        factor *= 1.0 + world.wave * math.sin(7.0 * share)
        if random_.random() < world.outliers:
            factor *= 1.0 + random_.expovariate(1.0)
        if position % (2 * world.values) == 0:
            factor *= 1.0 + world.late
        yield factor
        fresh = math.sqrt(1.0 - world.memory**2)
        state = world.memory * state + fresh * random_.gauss(0.0, world.sigma)


def design_of(values: int, seed: int, **more: Any) -> Design:
    """A try of so many values; the metric is a time: lower is better."""
    arms = tuple(range(values))
    given = {
        "metrics": (Metric(name="time", unit="ns", better="lower", source=""),),
        "contrasts": against_base(arms),
        "test": "interval",
    }
    return Design(arms=arms, seed=str(seed), shape="mirrored", **given | more)


def conclude(world: World, seed: int) -> tuple[Answer, int]:
    """Answer about the last value (a time: lower is better), and after how many blocks."""
    noise = _noise(world, seed)
    design = design_of(world.values, seed, smallest=world.smallest)
    runs: list[TrialRun] = []
    spent: list[float] = []
    for block in range(world.blocks):
        for value in design.order(block)[0]:
            gain = 1.0 - world.effect if value == world.values - 1 else 1.0
            runs.append(TrialRun(block=block, value=value, metric=next(noise) * gain, seconds=1.0))
        last = block + 1 == world.blocks
        if not last and not is_look(block + 1):
            continue
        spent.append(level(ALPHA, spent, last=last))
        found = compared(dataclasses.replace(design, alpha=spent[-1]), runs)
        if last or all(one.answer != "undecided" for one in found):
            return found[-1].answer, block + 1
    raise ValueError("a trial without blocks")


def answers(world: World, trials: int) -> tuple[Counter[str], float]:
    """How often each answer is given by seeds 0, 1, ..., and the mean number of runs."""
    found = [conclude(world, seed) for seed in range(trials)]
    runs = sum(blocks for _, blocks in found) * 2 * world.values / trials
    return Counter(answer for answer, _ in found), runs
