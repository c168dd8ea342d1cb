"""The order of the runs: random blocks, each read the same from both ends."""

from __future__ import annotations

import random

__all__ = ["block_order"]


def block_order(values: int, seed: int, number: int) -> tuple[int, ...]:
    """Indices of the values in block ``number``: a random order of all, then the same backwards.

    For two values ABBA or BAAB. A drift that is straight within the block has the same sum at both
    places of each value, so it cancels. Whatever else the noise does, value and base are as likely
    to change places (Fisher's randomisation), therefore their difference in a block is symmetric
    about the effect: that is all that the interval assumes. Same seed and number, same order.
    """
    order = list(range(values))
    random.Random(f"{seed}/{number}").shuffle(order)
    return (*order, *reversed(order))
