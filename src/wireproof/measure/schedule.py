# pure
"""Schedule the pairs to measure: rounds of disjoint pairs for a screen and for its suspects. Pure.

Up to 64 nodes, every pair is measured once (circle method). Above that, 12 to 20 stratified rounds
are enough: a node's score is a median over its partners, and the rounds needed to find a 5 % fault
grow with log N, not with N. A third of the rounds stays inside the leaves (no up-link, so no
collision); the others cross leaves.
"""

import math
import random
from collections.abc import Sequence

from wireproof.measure.stratified import Pair, Stratified, circle_round, complete, ordered

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
"""Largest number of nodes for which every pair is measured."""
MOST_SUSPECTS = 16
"""Maximum number of suspects that are confirmed, worst first: 16 x 3 partners x 5 repeats are 240
rounds."""
MOST_BESIDE = 4
_FEWEST, _MOST = 12, 20
# with more rounds than a third of the nodes, random matching would run out of partners, unlike the
# circle method
_DENSE = 3


def screen_round_count(count: int) -> int:
    """Return the number of rounds of a screen: a whole tournament up to 64 nodes, then 12 up to
    1,024 nodes. Beyond that, it grows with log N to 20 at 10,000.
    """
    if count <= ALL_PAIRS:
        return complete(count)
    share = math.log(max(count, 1024) / 1024) / math.log(10_000 / 1024)
    return min(_MOST, _FEWEST + math.ceil(share * (_MOST - _FEWEST)))


def screen_size(line_rate_bits_per_s: float | None) -> int:
    """Return the message size in bytes: about 1 ms at line rate, a power of two from 64 KiB to 4
    MiB.

    1 MiB if the rate is unknown.
    """
    if line_rate_bits_per_s is None or not line_rate_bits_per_s > 0:
        return 1 << 20
    wanted = min(max(line_rate_bits_per_s / 8 * 1e-3, 1.0), 1e12)
    return min(max(1 << round(math.log2(wanted)), 64 << 10), 4 << 20)


def screen_rounds(
    count: int, leaves: Sequence[int] | None, seed: int, rounds: int | None = None
) -> list[list[Pair]]:
    """Return rounds of disjoint pairs of ``count`` nodes, each pair (lower, higher), sorted within
    its round.

    ``leaves``: the leaf number of each node, -1 if unknown; None: no leaf is known. No pair repeats
    unless more ``rounds`` are requested than a tournament has. Every node is in every round (with
    an odd count, another node rests in each); the partners of a node are on different leaves as
    long as there are enough leaves. Across leaves, flows that leave one leaf go to different
    positions on other leaves, and so do flows that reach it: routing by destination (D-mod-k) then
    spreads them evenly over the up-links. Raises ValueError if ``leaves`` has the wrong length.
    """
    if leaves is not None and len(leaves) != count:
        raise ValueError(f"there are {len(leaves)} leaf numbers for {count} nodes")
    wanted = screen_round_count(count) if rounds is None else rounds
    if count < 2 or wanted < 1:
        return []
    if wanted * _DENSE > count:
        return _tournament(count, seed, wanted)
    return Stratified(count, leaves, seed, wanted).rounds()


def _tournament(count: int, seed: int, wanted: int) -> list[list[Pair]]:
    """Return ``wanted`` rounds of a tournament of shuffled nodes, which restarts after its last
    round.
    """
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
    """Return rounds that measure each of ``pairs`` ``repeats`` times without interference, in
    order.

    Pairs share a round only if they cannot interfere, which means within different leaves. A pair
    across leaves has a round, and therefore all up-links, to itself, as does every pair if
    ``leaves`` is None or its leaf is unknown (-1).
    """
    batch: list[list[Pair]] = []
    busy: list[set[int]] = []  # the leaves used in each round; empty: no further pair may join
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
    pairs: Sequence[Pair], good: Sequence[int], leaves: Sequence[int] | None
) -> list[list[Pair]]:
    """Return rounds in which both ends of each of ``pairs`` meet a known-good node.

    A pair itself is slow only if both ends are fast with other partners *now*. At most
    `MOST_BESIDE` pairs; each end has one partner, on its own leaf if possible.
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
    return alone_rounds(list(found), leaves)


def unconfirmed(suspects: Sequence[int]) -> list[int]:
    """Return the suspects beyond `MOST_SUSPECTS` that `confirm_rounds` leaves out; the caller
    reports them.
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
    """Return rounds in which each suspect meets ``partners`` known-good nodes, ``repeats`` times
    each.

    ``suspects``: worst first; at most `MOST_SUSPECTS` are measured (`unconfirmed` returns the
    others). ``good``: best first. At least one partner is on the suspect's leaf and one on another
    leaf, if they exist; good nodes that serve no other suspect yet come first. Pairs are (suspect,
    partner). Without any good node, the suspects meet each other. Pairs share a round only if they
    cannot interfere (see `alone_rounds`).
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
    """Return the least used and best of ``known``: one on the suspect's leaf, then other leaves,
    then any.
    """
    # stable sort: among equally used nodes the best stay first
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
