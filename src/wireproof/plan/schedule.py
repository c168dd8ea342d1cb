"""Who measures with whom, and when: rounds of disjoint pairs for a screen, and for confirming its
suspects. Pure.

Up to 64 nodes every pair is measured once (circle method). Above that 12 to 20 stratified rounds
are enough: a node's score is a median over its partners, and the rounds that a 5 % fault needs grow
like log N, not like N. A third of the rounds stays inside the leaves (no up-link, so no collision),
the others go across them.
"""

import math
import random
from collections.abc import Sequence

from wireproof.plan.stratified import Pair, Stratified, circle_round, complete, ordered

__all__ = [
    "ALL_PAIRS",
    "MOST_BESIDE",
    "MOST_SUSPECTS",
    "Pair",
    "alone_rounds",
    "beside_rounds",
    "confirm_rounds",
    "screen_round_count",
    "screen_rounds",
    "screen_size",
    "unconfirmed",
]

ALL_PAIRS = 64
"""Up to this many nodes every pair is measured."""
MOST_SUSPECTS = 16
"""So many suspects are confirmed, the worst first: 16 x 3 partners x 5 repeats are 240 rounds at
most.
"""
MOST_BESIDE = 4
_FEWEST, _MOST = 12, 20
# more rounds than a third of the nodes: random matching would run out of partners, the circle never
# does
_DENSE = 3


def screen_round_count(count: int) -> int:
    """All rounds of a tournament up to 64 nodes; then 12 up to 1,024 nodes, growing with log N to
    20 at 10,000.
    """
    if count <= ALL_PAIRS:
        return complete(count)
    share = math.log(max(count, 1024) / 1024) / math.log(10_000 / 1024)
    return min(_MOST, _FEWEST + math.ceil(share * (_MOST - _FEWEST)))


def screen_size(line_rate_bits_per_s: float | None) -> int:
    """Bytes of one message: about 1 ms at line rate, as a power of two from 64 KiB to 4 MiB; 1 MiB
    when unknown.
    """
    if line_rate_bits_per_s is None or not line_rate_bits_per_s > 0:
        return 1 << 20
    wanted = min(max(line_rate_bits_per_s / 8 * 1e-3, 1.0), 1e12)
    return min(max(1 << round(math.log2(wanted)), 64 << 10), 4 << 20)


def screen_rounds(
    count: int, leaves: Sequence[int] | None, seed: int, rounds: int | None = None
) -> list[list[Pair]]:
    """Rounds of disjoint pairs of ``count`` nodes, each pair (lower, higher), sorted within its
    round.

    ``leaves``: the leaf's number of each node, -1 where it is unknown; None: none is known. No pair
    comes twice unless more ``rounds`` are asked for than a tournament has. Every node is in every
    round (of an odd count another one rests in each); the partners of a node hang on different
    leaves as long as there are enough leaves. Across leaves, the flows that leave one leaf go to
    different positions on other leaves, and so do those that reach it: routing by destination
    (D-mod-k) then spreads them evenly over the up-links. ValueError: ``leaves`` of another length.
    """
    if leaves is not None and len(leaves) != count:
        raise ValueError(f"{len(leaves)} leaves for {count} nodes")
    wanted = screen_round_count(count) if rounds is None else rounds
    if count < 2 or wanted < 1:
        return []
    if wanted * _DENSE > count:
        return _tournament(count, seed, wanted)
    return Stratified(count, leaves, seed, wanted).rounds()


def _tournament(count: int, seed: int, wanted: int) -> list[list[Pair]]:
    """``wanted`` rounds of the tournament of shuffled nodes; it starts again after the last."""
    order = random.Random(seed)
    members = list(range(count))
    order.shuffle(members)
    numbers = list(range(complete(count)))
    order.shuffle(numbers)
    return [
        ordered(circle_round(members, numbers[index % len(numbers)])) for index in range(wanted)
    ]


def alone_rounds(
    pairs: Sequence[Pair], leaves: Sequence[int] | None, repeats: int = 5
) -> list[list[Pair]]:
    """Each of ``pairs`` measured ``repeats`` times with nobody in its way, in its order within each
    repeat.

    Pairs share a round only when they cannot meet: within different leaves. A pair across leaves
    has its round, and thereby all up-links, for itself; so has every pair when ``leaves`` is None
    or its leaf is unknown (-1).
    """
    batch: list[list[Pair]] = []
    busy: list[set[int]] = []  # the leaves at work in each round; empty: nobody else may enter
    for one, other in pairs:
        leaf = leaves[one] if leaves is not None and leaves[one] == leaves[other] else -1
        room = (
            next((index for index, own in enumerate(busy) if own and leaf not in own), None)
            if leaf >= 0
            else None
        )
        if room is None:
            batch.append([(one, other)])
            busy.append({leaf} if leaf >= 0 else set())
        else:
            batch[room].append((one, other))
            busy[room].add(leaf)
    return [list(each) for _ in range(repeats) for each in batch]


def beside_rounds(
    pairs: Sequence[Pair], good: Sequence[int], leaves: Sequence[int] | None, repeats: int = 3
) -> list[list[Pair]]:
    """Rounds in which both ends of each of ``pairs`` meet a known-good node: a pair is slow by
    itself only if they are fast with others *now*. At most `MOST_BESIDE` pairs; an end has one
    partner, of its own leaf where there is one.
    """
    found: dict[Pair, None] = {}
    for pair in pairs[:MOST_BESIDE]:
        for end in pair:
            others = [node for node in good if node not in pair]
            near = [
                node for node in others if leaves is not None and leaves[node] == leaves[end] >= 0
            ]
            for partner in (near or others)[:1]:
                found.setdefault((min(end, partner), max(end, partner)))
    return alone_rounds(list(found), leaves, repeats)


def unconfirmed(suspects: Sequence[int]) -> list[int]:
    """The suspects that `confirm_rounds` leaves out because there are more than `MOST_SUSPECTS`:
    say so.
    """
    return list(dict.fromkeys(suspects))[MOST_SUSPECTS:]


def confirm_rounds(
    suspects: Sequence[int],
    good: Sequence[int],
    leaves: Sequence[int] | None,
    seed: int,
    partners: int = 3,
    repeats: int = 5,
) -> list[list[Pair]]:
    """Rounds in which each suspect meets ``partners`` different known-good nodes, ``repeats`` times
    each.

    ``suspects``: worst first; at most `MOST_SUSPECTS` of them are measured (`unconfirmed` tells the
    others). ``good``: best first. One partner at least hangs on the suspect's own leaf and one on
    another, where there are such; good nodes that serve no other suspect yet come first. Pairs are
    (suspect, partner). When there is no good node at all the suspects meet each other. Pairs share
    a round only when they cannot meet (see `alone_rounds`).
    """
    chosen = list(dict.fromkeys(suspects))[:MOST_SUSPECTS]
    known = [node for node in dict.fromkeys(good) if node not in set(suspects)]
    order = random.Random(seed)
    if not known:
        met = [
            pair
            for number in range(min(partners, complete(len(chosen))))
            for pair in circle_round(chosen, number)
        ]
        return alone_rounds(met, leaves, repeats)
    use = dict.fromkeys(known, 0)
    pairs: list[Pair] = []
    for suspect in chosen:
        for partner in _partners(suspect, known, leaves, use, partners):
            use[partner] += 1
            pairs.append((suspect, partner))
    order.shuffle(pairs)
    return alone_rounds(pairs, leaves, repeats)


def _partners(
    suspect: int,
    known: Sequence[int],
    leaves: Sequence[int] | None,
    use: dict[int, int],
    partners: int,
) -> list[int]:
    """The least used and best of ``known``: one on the suspect's leaf, one on each of several
    others, then any.
    """
    # stable: the best stay first among the equally used
    ranked = sorted(known, key=lambda node: use[node])
    if leaves is None or leaves[suspect] < 0:
        return ranked[:partners]
    near = [node for node in ranked if leaves[node] == leaves[suspect]]
    far = [node for node in ranked if leaves[node] != leaves[suspect]]
    other_leaves = list(
        {
            leaves[node]: node for node in reversed(far[1:]) if leaves[node] != leaves[far[0]]
        }.values()
    )
    return list(dict.fromkeys([*near[:1], *far[:1], *reversed(other_leaves), *far, *near]))[
        :partners
    ]
