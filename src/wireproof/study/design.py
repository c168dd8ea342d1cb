"""The order of a study's launches: small random blocks that all hold the base. Pure.

A round tries every value once. Its values are shared out at random to blocks of a few launches, and
each block holds the base once, too, in random order: within a block value and base are as likely to
have each other's place (Fisher's randomisation), so that the difference of their logarithms is
symmetric about the effect whatever the noise is like, and a block is over before the machine has
changed much.
"""

from __future__ import annotations

import math
import random

__all__ = ["BLOCK_VALUES", "launches", "least_rounds", "round_blocks"]

BLOCK_VALUES = 4
"""At most so many values share a block with the base: the base costs a quarter more launches, and
value and base are at most four launches apart.
"""


def round_blocks(values: int, seed: int, number: int) -> list[tuple[int, ...]]:
    """Blocks of round ``number``: configurations 1 to ``values``, each once, and 0 in every block.
    Same arguments, same order.
    """
    draw = random.Random(f"study/{seed}/{number}")
    order = list(range(1, values + 1))
    draw.shuffle(order)
    count = math.ceil(values / BLOCK_VALUES)
    found = []
    for index in range(count):
        block = [0, *order[index::count]]
        draw.shuffle(block)
        found.append(tuple(block))
    return found


def launches(values: int) -> int:
    """Launches of one round."""
    return values + math.ceil(values / BLOCK_VALUES)


def least_rounds(comparisons: int, alpha: float) -> int:
    """The fewest rounds after which the clearest of so many effects can be told from none at
    ``alpha``: the signed-rank test's smallest p is 2 / 2^rounds, Holm's first step asks for
    alpha / comparisons.
    """
    return max(6, math.ceil(1.0 + math.log2(comparisons / alpha) - 1e-9))
