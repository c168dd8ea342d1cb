"""``python -m benchmarks.trial_power``: how often `tune try` answers rightly, on made-up series of
known effect. Seeds 0, 1, ... for each row; the table is the one of docs/try.md.
"""

from __future__ import annotations

import dataclasses
import sys

from benchmarks.trial_series import World, answers

TRIALS = 1000
_LAB = World(sigma=0.03, blocks=20)
NOISES = {
    "1 % per run": World(sigma=0.01, blocks=20),
    "3 % per run": _LAB,
    "5 % per run": World(sigma=0.05, blocks=20),
    "8 % per run": World(sigma=0.08, blocks=20),
    "8 % per run, 60 blocks": World(sigma=0.08, blocks=60),
    "3 %, drift of 20 %": dataclasses.replace(_LAB, drift=0.2),
    "3 %, a slow wave of 10 %": dataclasses.replace(_LAB, wave=0.1),
    "3 %, autocorrelation 0.6": dataclasses.replace(_LAB, memory=0.6),
    "3 %, 3 % of the runs twice as slow": dataclasses.replace(_LAB, outliers=0.03),
    "the same, 40 blocks": dataclasses.replace(_LAB, outliers=0.03, blocks=40),
    "3 %, first run of a block 4 % slower": dataclasses.replace(_LAB, late=0.04),
}
EFFECTS = (0.0, 0.03, 0.10)


def table(trials: int) -> str:
    """Markdown: for each noise and true effect the shares of the answers and the runs."""
    lines = [
        "| noise | true effect | helps | no effect | hurts | undecided | runs |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, world in NOISES.items():
        for effect in EFFECTS:
            found, runs = answers(dataclasses.replace(world, effect=effect), trials)
            shares = [
                f"{100 * found[answer] / trials:.1f} %"
                for answer in ("helps", "no-effect", "hurts", "undecided")
            ]
            lines.append(f"| {name} | {100 * effect:.0f} % | {' | '.join(shares)} | {runs:.0f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(int(sys.argv[1]) if sys.argv[1:] else TRIALS))
