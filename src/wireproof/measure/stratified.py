# pure
"""Stratified rounds: in most pairs, both nodes are on the same leaf or on different leaves, as the
round requires. Pure. No node appears twice in a round.
"""

import random
from collections.abc import Iterator, Sequence

Pair = tuple[int, int]

_SWAPS = 16
_SWAPS_FOR_VARIETY = 4
# cost of a pair that was measured before, and of a pair within one leaf
_DONE, _ONE_LEAF = 1000, 10


def complete(members: int) -> int:
    """Return the number of rounds of a whole tournament: members - 1, or members if one rests in
    each round."""
    return 0 if members < 2 else members - 1 + members % 2


def ordered(pairs: Sequence[Pair] | Iterator[Pair]) -> list[Pair]:
    """Return each pair as (lower, higher), sorted."""
    return sorted((one, other) if one < other else (other, one) for one, other in pairs)


def circle_round(members: Sequence[int], number: int) -> Iterator[Pair]:
    """Yield round ``number`` of the tournament of ``members``: one stays, the others rotate around
    it.

    Rounds 0 to M-2 (M even), or 0 to M-1 (M odd, one rests in each round), together contain each
    pair exactly once.
    """
    seats = len(members) + len(members) % 2
    turning = seats - 1
    if turning < 1:
        return
    if seats == len(members):
        yield members[number % turning], members[turning]
    for step in range(1, seats // 2):
        yield members[(number + step) % turning], members[(number - step) % turning]


class Stratified:
    """The rounds of a large screen: each pairs nodes within or across leaves, and then the rest
    across leaves."""

    def __init__(self, count: int, leaves: Sequence[int] | None, seed: int, wanted: int) -> None:
        self.count = count
        self.wanted = wanted
        self.order = random.Random(seed)
        self.leaf = _leaf_numbers(count, leaves)
        self.members: list[list[int]] = [[] for _ in range(max(self.leaf) + 1)]
        self.place = [0] * count
        for node, leaf in enumerate(self.leaf):
            self.place[node] = len(self.members[leaf])
            self.members[leaf].append(node)
        self.shuffled = [self.order.sample(own, len(own)) for own in self.members]
        self.tallest = max(map(len, self.members))
        self.steps: list[set[int]] = [set() for _ in range(self.tallest)]
        self.done: set[int] = set()  # pairs, as lower * count + higher
        self.met: set[int] = set()  # leaves that a node has reached, as node * leaves + leaf
        self.resting = self.order.sample(range(count), min(wanted, count)) if count % 2 else []

    def rounds(self) -> list[list[Pair]]:
        """Return all rounds; every third round, or every round if there is a single leaf, stays
        inside the leaves.
        """
        alone = len(self.members) == 1
        inside = 0
        result: list[list[Pair]] = []
        for index in range(self.wanted):
            free = bytearray(b"\1") * self.count
            if self.resting:
                free[self.resting[index % len(self.resting)]] = 0
            pairs = self._inside(inside, free) if alone or index % 3 == 0 else self._across(free)
            inside += alone or index % 3 == 0
            pairs += self._leftover([node for node in range(self.count) if free[node]])
            pairs = self._without_repeats(pairs)
            self._remember(pairs)
            result.append(ordered(pairs))
        return result

    def _key(self, one: int, other: int) -> int:
        return one * self.count + other if one < other else other * self.count + one

    def _remember(self, pairs: Sequence[Pair]) -> None:
        leaves = len(self.members)
        for one, other in pairs:
            self.done.add(self._key(one, other))
            self.met.add(one * leaves + self.leaf[other])
            self.met.add(other * leaves + self.leaf[one])

    def _inside(self, number: int, free: bytearray) -> list[Pair]:
        """Pair nodes by round ``number`` of a tournament in each leaf; nodes of a leaf without
        remaining rounds are paired across leaves.
        """
        pairs: list[Pair] = []
        for own in self.shuffled:
            if number >= complete(len(own)):
                continue
            for one, other in circle_round(own, number):
                if free[one] and free[other] and self._key(one, other) not in self.done:
                    free[one] = free[other] = 0
                    pairs.append((one, other))
        return pairs

    def _across(self, free: bytearray) -> list[Pair]:
        """Pair position i of a leaf with position c - i of the leaf that is ``step`` further, for
        every i and every leaf. The map i -> c - i is one to one and its own inverse, so no two
        flows of a leaf share a destination's position, in either direction.
        """
        leaves, done, met, leaf_of, place = (
            len(self.members),
            self.done,
            self.met,
            self.leaf,
            self.place,
        )
        turn = self.order.randrange(self.tallest)
        step, mirrored = self._steps(turn)
        enough = (
            leaves > self.wanted
        )  # otherwise the partners of a node cannot all be on different leaves
        pairs: list[Pair] = []
        for node in range(self.count):
            if not free[node]:
                continue
            position, leaf = place[node], leaf_of[node]
            target = (
                mirrored - leaf if 2 * position % self.tallest == turn else leaf + step[position]
            ) % leaves
            facing = (turn - position) % self.tallest
            if target == leaf or facing >= len(self.members[target]):
                continue
            other = self.members[target][facing]
            if (
                not free[other]
                or self._key(node, other) in done
                or (enough and node * leaves + target in met)
            ):
                continue
            free[node] = free[other] = 0
            pairs.append((node, other))
        return pairs

    def _steps(self, turn: int) -> tuple[list[int], int]:
        """Return the step to the partner's leaf for each position, and a leaf sum for self-facing
        positions.

        Steps of two facing positions are opposite. The leaf sum pairs leaves for a position that
        faces itself. Steps not yet used by a position come first.
        """
        leaves = len(self.members)
        step = [0] * self.tallest
        for position in range(self.tallest):
            facing = (turn - position) % self.tallest
            if facing < position:
                continue
            for _ in range(_SWAPS):
                chosen = self.order.randrange(1, leaves)
                if chosen not in self.steps[position] and leaves - chosen not in self.steps[facing]:
                    break
            step[position], step[facing] = chosen, leaves - chosen
            self.steps[position].add(chosen)
            self.steps[facing].add(leaves - chosen)
        return step, self.order.randrange(leaves)

    def _cost(self, one: int, other: int) -> int:
        """Return the cost of a pair: highest if it was measured before, then for a single leaf,
        then for a leaf that the node has already reached.
        """
        if self._key(one, other) in self.done:
            return _DONE
        if self.leaf[one] == self.leaf[other]:
            return _ONE_LEAF
        leaves = len(self.members)
        met = one * leaves + self.leaf[other] in self.met
        return met + (other * leaves + self.leaf[one] in self.met)

    def _leftover(self, nodes: list[int]) -> list[Pair]:
        """Pair the remaining nodes, sorted by leaf: each with the node half a list further, which
        is on another leaf unless one leaf has more than half of the nodes. Pairs with a cost then
        swap partners.
        """
        rank = self.order.sample(range(len(self.members)), len(self.members)) if nodes else []
        self.order.shuffle(nodes)
        nodes.sort(key=lambda node: rank[self.leaf[node]])
        half = len(nodes) // 2
        pairs = list(zip(nodes[:half], nodes[half:], strict=False))
        costs = [self._cost(*pair) for pair in pairs]
        for index in range(half):
            for _ in range(_SWAPS if costs[index] >= _ONE_LEAF else _SWAPS_FOR_VARIETY):
                if not costs[index]:
                    break
                self._swap(pairs, costs, index, self.order.randrange(half))
        return pairs

    def _swap(self, pairs: list[Pair], costs: list[int], index: int, other: int) -> None:
        """Exchange the partners of two pairs if that is cheaper."""
        if index == other:
            return
        first, second = (pairs[index][0], pairs[other][1]), (pairs[other][0], pairs[index][1])
        cost_first, cost_second = self._cost(*first), self._cost(*second)
        if cost_first + cost_second < costs[index] + costs[other]:
            pairs[index], pairs[other] = first, second
            costs[index], costs[other] = cost_first, cost_second

    def _without_repeats(self, pairs: list[Pair]) -> list[Pair]:
        """Replace repeated pairs by splitting another pair of the round; their nodes rest if none
        can be split.
        """
        kept = [pair for pair in pairs if self._key(*pair) not in self.done]
        for one, other in pairs:
            if self._key(one, other) not in self.done:
                continue
            for index, (third, fourth) in enumerate(kept):
                if (
                    self._key(one, third) not in self.done
                    and self._key(other, fourth) not in self.done
                ):
                    kept[index] = (one, third)
                    kept.append((other, fourth))
                    break
        return kept


def _leaf_numbers(count: int, leaves: Sequence[int] | None) -> list[int]:
    """Number leaves from 0 in order; each node with an unknown leaf gets a separate leaf."""
    known = {
        leaf: index
        for index, leaf in enumerate(sorted({leaf for leaf in leaves or () if leaf >= 0}))
    }
    fresh = len(known)
    numbers: list[int] = []
    for leaf in leaves if leaves is not None else [-1] * count:
        if leaf >= 0:
            numbers.append(known[leaf])
        else:
            numbers.append(fresh)
            fresh += 1
    return numbers
