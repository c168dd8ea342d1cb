"""``python -m benchmarks.study_power [STUDIES]``: how often `study` errs and what it finds, on
made-up studies of known effects. The table is the one of docs/study.md.

Each study has 10 values on 3 patterns in the design's own blocks: the first value changes the first
pattern, the other 29 comparisons have no effect. Seeds 0, 1, ... for each row.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np

from wireproof.experiment import Design, against_base
from wireproof.experiment.effects import Trial, effects
from wireproof.model.experiment import Metric

STUDIES = 300
VALUES, SMALLEST = 10, 0.03
PATTERNS = tuple(
    Metric(name=name, unit="", better="higher", source="")
    for name in ("stream", "pingpong", "latency")
)


@dataclass(frozen=True, kw_only=True)
class World:
    """``sigma``: of a launch's logarithm; ``memory``: its autocorrelation; ``outliers``: share of
    launches that are half as fast; ``drift``: over the whole study.
    """

    sigma: float
    rounds: int = 14
    memory: float = 0.0
    outliers: float = 0.0
    drift: float = 0.0


WORLDS = {
    "1 % per launch": World(sigma=0.01),
    "3 % per launch": World(sigma=0.03),
    "10 % per launch": World(sigma=0.10),
    "3 %, drift of 50 %": World(sigma=0.03, drift=0.5),
    "3 %, autocorrelation 0.8": World(sigma=0.03, memory=0.8),
    "3 %, 5 % of the launches half as fast": World(sigma=0.03, outliers=0.05),
}


def design_of(seed: int) -> Design:
    """The study of one seed."""
    arms = tuple(range(VALUES + 1))
    return Design(
        arms=arms,
        seed=f"study/{seed}",
        shape="small",
        metrics=PATTERNS,
        contrasts=against_base(arms),
        smallest=SMALLEST,
    )


def made(world: World, effect: float, seed: int) -> list[Trial]:
    """The trials of one study."""
    rng = np.random.default_rng(seed)
    design = design_of(seed)
    order = [block for number in range(world.rounds) for block in design.order(number)]
    count = sum(map(len, order))
    noise = np.zeros(len(PATTERNS))
    fresh = math.sqrt(1.0 - world.memory**2)
    runs: list[Trial] = []
    for block, places in enumerate(order):
        for one in places:
            noise = world.memory * noise + fresh * world.sigma * rng.standard_normal(len(PATTERNS))
            slow = math.log(0.5) if rng.random() < world.outliers else 0.0
            logs = noise + slow + world.drift * len(runs) / count
            logs[0] += math.log1p(effect) if one == 1 else 0.0
            numbers = {each.name: math.exp(log) for each, log in zip(PATTERNS, logs, strict=True)}
            runs.append(Trial(block, one, numbers))
    return runs


def row(world: World, effect: float, studies: int) -> tuple[float, float, float]:
    """Shares of studies in which the effect is found and in which another is claimed; the median
    half interval.
    """
    found = wrong = 0
    halves: list[float] = []
    for seed in range(studies):
        answers = effects(design_of(seed), made(world, effect, seed))
        told = [one for one in answers if one.answer in ("helps", "hurts")]
        true = [one for one in told if (one.contrast.other, one.metric.name) == (1, "stream")]
        found += any(one.answer == "helps" for one in true)
        wrong += len(told) > len(true) or (not effect and bool(true))
        ratios = [one.ratio for one in answers]
        halves += [(one.high - one.low) / 2.0 for one in ratios if one.low and one.high]
    return found / studies, wrong / studies, float(np.median(halves))


def table(studies: int) -> str:
    """Markdown."""
    lines = [
        "| noise | true effect | found | another one claimed | half interval |",
        "|---|--:|--:|--:|--:|",
    ]
    for name, world in WORLDS.items():
        for effect in (0.05, 0.10, 1.0):
            found, wrong, half = row(world, effect, studies)
            lines.append(
                f"| {name} | {100 * effect:.0f} % | {100 * found:.1f} % | {100 * wrong:.1f} % |"
                f" {100 * half:.1f} % |"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(int(sys.argv[1]) if sys.argv[1:] else STUDIES))
