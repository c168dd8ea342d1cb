"""Tables of few nodes, one row a pair: what is slow stands out by the rows, healthy ones have no
culprit, and the power that is claimed is there. Everything is seeded.
"""

import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest

from wireproof.locate.document import LocateDocument
from wireproof.locate.samples import Samples
from wireproof.locate.screen import screen
from wireproof.locate.screen.few import by_rows
from wireproof.model.finding import Both, Node, Port, Route, Subject
from wireproof.model.located import Located, Metric

Pairs = list[tuple[int, int]]
KINDS = ("sends", "receives", "node", "route", "pair")


@dataclasses.dataclass(frozen=True)
class Drawn:
    """A random table's form: each pair once or both ways, all of them or four of five, and its
    noise, 0.5 to 5 %.
    """

    nodes: int
    pairs: Pairs
    noise: float

    def table(
        self,
        rng: np.random.Generator,
        slow: Pairs = [],  # noqa: B006  read only
        share: float = 1.0,
        metric: Metric = "goodput",
    ) -> Samples:
        factor = np.asarray([share if pair in slow else 1.0 for pair in self.pairs])
        value = 1.1e9 * factor * np.exp(rng.normal(0.0, self.noise, len(self.pairs)))
        origin, target = np.asarray(self.pairs, dtype=np.int32).T
        return Samples(
            metric=metric,
            nodes=tuple(f"n{number}" for number in range(self.nodes)),
            origin=origin,
            target=target,
            round=np.zeros(len(value), dtype=np.int32),
            value=value if metric == "goodput" else 1e12 / value,
            half_width=np.full(len(value), np.nan),
        )


def drawn(rng: np.random.Generator, count: int) -> Iterator[Drawn]:
    for _ in range(count):
        nodes = int(rng.integers(3, 17))
        both = rng.random() < 0.5
        pairs = [(a, b) for a in range(nodes) for b in range(nodes) if a < b or (both and a != b)]
        if rng.random() < 0.5:
            pairs = [pair for pair in pairs if rng.random() < 0.8]
        if len(pairs) >= 3:
            yield Drawn(nodes, pairs, float(np.exp(rng.uniform(np.log(0.005), np.log(0.05)))))


def planted(kind: str, pairs: Pairs, rng: np.random.Generator) -> tuple[Pairs, Subject]:
    """The rows that one fault slows down, and the fault."""
    a, b = pairs[rng.integers(len(pairs))]
    if kind == "sends":
        return [pair for pair in pairs if pair[0] == a], Port(f"n{a}", "tx")
    if kind == "receives":
        return [pair for pair in pairs if pair[1] == b], Port(f"n{b}", "rx")
    if kind == "node":
        return [pair for pair in pairs if a in pair], Node(f"n{a}")
    if kind == "route":
        return [(a, b)], Route(f"n{a}", f"n{b}")
    return [(a, b), (b, a)], Both(f"n{a}", f"n{b}")


def document(samples: Samples) -> LocateDocument:
    found, undecided = by_rows(screen(samples))
    return LocateDocument(located=(found,), undecided=tuple(undecided))


def located(samples: Samples) -> Located:
    return document(samples).located[0]


def is_named(found: Located, fault: Subject) -> bool:
    """Whether the only culprit is ``fault``, or says that the rows cannot tell it from it."""
    if len(found.blames) != 1:
        return False
    words = " ".join([str(found.blames[0].about), *found.blames[0].evidence])
    names = [fault.node] if isinstance(fault, Port) else str(fault).split()[::2]
    return all(name in words.replace(",", "").split() for name in names)


def missed(kind: str, count: int, seed: int) -> float:
    rng = np.random.default_rng(seed)
    hits = []
    for one in drawn(rng, count):
        slow, fault = planted(kind, one.pairs, rng)
        hits.append(is_named(located(one.table(rng, slow, 0.5)), fault))
    return 1.0 - float(np.mean(hits))


@pytest.mark.parametrize("kind", KINDS)
def test_half_the_rate_is_named_in_a_table_of_3_to_16_nodes(kind: str) -> None:
    assert missed(kind, 120, 11) <= 0.01


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_half_the_rate_is_named_in_99_of_100_tables(kind: str) -> None:
    assert missed(kind, 2000, 12) <= 0.01


def false_and_kept(count: int, seed: int) -> tuple[float, float]:
    """The share of healthy tables with a culprit, and that of claims of power that held when a
    node's sending or receiving was slowed down by what was claimed.
    """
    rng = np.random.default_rng(seed)
    false, kept = [], []
    for number, one in enumerate(drawn(rng, count)):
        metric: Metric = "hrt" if number % 4 == 3 else "goodput"
        found = located(one.table(rng, metric=metric))
        false.append(bool(found.blames))
        slow, _ = planted("node" if metric == "hrt" else KINDS[number % 2], one.pairs, rng)
        least = found.detectable
        if np.isfinite(least):
            share = 1.0 - least if metric == "goodput" else 1.0 / (1.0 + least)
            again = one.table(rng, slow, share, metric)
            kept.append(document(again).verdict != "pass")
    return float(np.mean(false)), float(np.mean(kept))


def test_healthy_tables_have_no_culprit_and_no_power_is_claimed_in_vain() -> None:
    false, kept = false_and_kept(400, 21)
    assert false <= 0.01
    assert kept >= 0.93  # 95 % less the luck of 400 draws


@pytest.mark.slow
def test_at_most_1_of_100_healthy_tables_has_a_culprit_and_95_of_100_claims_hold() -> None:
    false, kept = false_and_kept(6000, 22)
    assert false <= 0.01
    assert kept >= 0.95


def small(rows: dict[tuple[int, int], float], nodes: int) -> LocateDocument:
    pairs = list(rows)
    table = Drawn(nodes, pairs, 0.0).table(np.random.default_rng(1))
    values = np.asarray(list(rows.values())) * 1e6
    return document(dataclasses.replace(table, value=values))


@pytest.mark.parametrize("nodes", [3, 4, 5, 6, 8])
@pytest.mark.parametrize("rate", [500.0, 55.0])
def test_a_slow_sender_among_equal_rows_is_named(nodes: int, rate: float) -> None:
    """All other rows are exactly equal: rounded values have no noise of their own."""
    rows = {
        (a, b): rate if a == 2 else 1100.0 for a in range(nodes) for b in range(nodes) if a != b
    }
    found = small(rows, nodes)
    assert found.verdict == "fail"
    assert [str(blame.about) for blame in found.located[0].blames] == ["n2 tx"]


def test_what_the_rows_cannot_tell_apart_is_named_with_it() -> None:
    """Each pair once: n1 receives in this row alone, n0 sends well to n2."""
    found = small({(0, 1): 500.0, (0, 2): 1100.0, (1, 2): 1105.0}, 3)
    (blame,) = found.located[0].blames
    assert str(blame.about) == "n0 -> n1"
    assert blame.confidence < 0.6
    assert any(one.endswith("from: n1 receives slowly") for one in blame.evidence)


def test_equal_rows_of_three_nodes_are_no_proof_of_health() -> None:
    found = small({(0, 1): 1100.0, (0, 2): 1100.0, (1, 2): 1100.0}, 3)
    assert found.verdict == "inconclusive"
    assert found.located[0].blames == []


def test_the_tail_of_one_sided_noise_is_no_slow_pair() -> None:
    rng = np.random.default_rng(7)
    pairs = [(a, b) for a in range(12) for b in range(12) if a != b]
    found = 0
    for _ in range(40):
        rates = 1000 * (1 - np.abs(rng.normal(0.0, 0.05, len(pairs))))
        rows = dict(zip(pairs, rates.tolist(), strict=True))
        found += len(small(rows, 12).located[0].blames)
    assert found <= 1


@pytest.mark.parametrize("nodes", [6, 16])
def test_two_single_rows_are_named_and_neither_fail_nor_pass(nodes: int) -> None:
    rng = np.random.default_rng(5)
    pairs = [(a, b) for a in range(nodes) for b in range(nodes) if a != b]
    found = document(Drawn(nodes, pairs, 0.01).table(rng, [(0, 1), (3, 4)], 0.8))
    assert found.located[0].blames == []
    (sentence,) = found.undecided
    assert "n0 -> n1" in sentence
    assert "n3 -> n4" in sentence
    assert found.verdict == "inconclusive"


def names(found: Located) -> set[str]:
    return {node for blame in found.blames for node in blame.nodes}


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("noise", [0.01, 0.05])
def test_two_slow_nodes_are_both_named(both: bool, noise: float) -> None:
    """Each is the noise that hides the other, if only a set after the other is tested."""
    rng = np.random.default_rng(6)
    for nodes in (6, 7, 11, 16):
        pairs = [(a, b) for a in range(nodes) for b in range(nodes) if a < b or (both and a != b)]
        for slow in (
            [pair for pair in pairs if pair[0] == 1 or pair[1] == 3],
            [pair for pair in pairs if pair[0] in (1, 3)],
            [pair for pair in pairs if 1 in pair or 3 in pair],
        ):
            found = located(Drawn(nodes, pairs, noise).table(rng, slow, 0.5))
            assert names(found) == {"n1", "n3"}, slow


def test_two_of_four_nodes_may_as_well_be_the_fast_ones() -> None:
    rng = np.random.default_rng(7)
    pairs = [(a, b) for a in range(4) for b in range(4) if a != b]
    found = document(Drawn(4, pairs, 0.02).table(rng, [p for p in pairs if {1, 3} & {*p}], 0.5))
    assert found.verdict == "inconclusive"
    assert found.located[0].detectable > 0.5


def test_a_healthy_route_is_not_named_beside_a_slow_node() -> None:
    """Of 14 nodes' 182 rows the slowest healthy one is 3.5 times the noise away."""
    rng = np.random.default_rng(8)
    for _ in range(60):
        pairs = [(a, b) for a in range(14) for b in range(14) if a != b]
        slow = [pair for pair in pairs if pair[0] == 2]
        found = located(Drawn(14, pairs, 0.05).table(rng, slow, 0.5))
        assert names(found) == {"n2"}
