"""mpiGraph's tables: the slow node, the slow pair, two ranks of one host, and a pair above the
link.
"""

import pytest

from wireproof.logs.readers import read
from wireproof.logs.verdict import judge_log, judge_series
from wireproof.model.series import SeriesVerdict
from wireproof.physics import claim_from_text

LINK = claim_from_text("hdr100")
USUAL = 11400.0  # MiB/s: 11.95 GB/s


def table(speeds: dict[tuple[int, int], float], names: list[str]) -> bytes:
    lines = [
        "START mpiGraph v1.5",
        "MsgSize\t1048576",
        "Times\t10",
        "Window\t25",
        f"Procs\t{len(names)}",
        "",
    ]
    for side, word in (("Send", "to"), ("Recv", "from")):
        lines += ["", f"{side}\t" + "\t".join(names) + "\t"]
        for row, name in enumerate(names):
            cells = []
            for column in range(len(names)):
                pair = (row, column) if side == "Send" else (column, row)
                cells.append("0.000" if row == column else f"{speeds.get(pair, USUAL):.3f}")
            lines.append(f"{name} {word}\t" + "\t".join(cells) + "\t")
    return ("\n".join([*lines, "END mpiGraph"]) + "\n").encode()


def judged(
    speeds: dict[tuple[int, int], float], names: list[str] | None = None
) -> list[SeriesVerdict]:
    found = read(table(speeds, names or [f"c{i}:{i}" for i in range(6)]), "graph.txt")
    return [judge_series(series, LINK) for series in found]


def codes(verdict: SeriesVerdict) -> set[str]:
    return {reason.code for reason in verdict.reasons if reason.severity == "fail"}


def test_a_good_fabric_passes() -> None:
    for verdict in judged({}):
        assert (verdict.verdict, codes(verdict)) == ("pass", set())


def test_a_node_that_sends_slowly_is_named() -> None:
    for verdict in judged({(2, target): 4000.0 for target in range(6)}):
        (reason,) = [one for one in verdict.reasons if one.code == "node-direction-slow"]
        assert reason.evidence["node"] == "c2"
        assert reason.evidence["direction"] == "sends"
        assert "slow-pair" not in codes(verdict)


def test_one_bad_link_is_a_pair() -> None:
    for verdict in judged({(1, 4): 3000.0}):
        assert codes(verdict) == {"slow-pair"}
        assert "c1 -> c4" in next(one.message for one in verdict.reasons if one.code == "slow-pair")


def test_two_ranks_of_one_host_are_no_pair_of_the_link() -> None:
    names = ["c0:0", "c0:1", "c1:2", "c1:3", "c2:4", "c2:5"]
    speeds = {(a, b): 30000.0 for a in range(6) for b in range(6) if a // 2 == b // 2}
    for verdict in judged(speeds, names):
        assert codes(verdict) == set()
        assert verdict.verdict == "inconclusive"


def test_a_pair_above_the_link_fails() -> None:
    for verdict in judged({(0, 3): 15000.0}):
        assert "above-ceiling" in codes(verdict)


PAIR, NODE = {(1, 4): 3000.0}, {(2, target): 4000.0 for target in range(6)}


@pytest.mark.parametrize(
    ("first", "second", "failed"),
    [
        (PAIR, {}, set()),
        (NODE, {}, set()),
        (PAIR, {(4, 1): 3000.0}, set()),
        (PAIR, PAIR, {"slow-pair"}),
        (PAIR, PAIR | NODE, {"slow-pair"}),
        (NODE, NODE, {"node-direction-slow"}),
    ],
)
def test_what_another_table_of_the_log_does_not_repeat_is_a_doubt(
    first: dict[tuple[int, int], float], second: dict[tuple[int, int], float], failed: set[str]
) -> None:
    names = [f"c{i}:{i}" for i in range(6)]
    tables = table(first, names) + table(second, names)
    for verdict in judge_log(read(tables, "graph.txt"), LINK)[:2]:
        assert codes(verdict) == failed
        assert verdict.verdict == ("fail" if failed else "inconclusive")
        text = " ".join(reason.message for reason in verdict.reasons)
        assert "the 2 tables of this log" in text
        assert "slow-pair" not in failed or "1 of 30 pairs is" in text
    other_size = table(first, names) + table(second, names).replace(b"1048576", b"4194304")
    assert codes(judge_log(read(other_size, "graph.txt"), LINK)[0]), "another size: no repetition"


NAMES = [f"c{i}:{i}" for i in range(12)]
CELLS = [(a, b) for a in range(12) for b in range(12) if a != b]
FAIR = 10000.0
# A busy fabric: a quarter of the pairs is 5 % below the median, and some are slower.
BUSY = {pair: FAIR * (1 - 0.012 * (at * 7 % 17 - 8)) for at, pair in enumerate(CELLS)}
BUSY |= {(3, 7): 0.8 * FAIR, (9, 2): 0.78 * FAIR}


def test_pairs_that_are_slow_by_chance_are_a_doubt() -> None:
    for verdict in judge_log(read(table(BUSY, NAMES) * 2, "graph.txt"), LINK):
        (reason,) = [one for one in verdict.reasons if one.code == "slow-pair"]
        assert (verdict.verdict, reason.severity) == ("inconclusive", "inconclusive")
    slow = BUSY | {(3, 7): 0.3 * FAIR}
    for verdict in judge_log(read(table(slow, NAMES), "graph.txt"), LINK):
        assert (verdict.verdict, codes(verdict)) == ("fail", {"slow-pair"})


def test_a_node_that_is_slow_in_a_single_repetition_fails_no_table() -> None:
    once = BUSY | {(5, target): 0.5 * FAIR for target in range(12)}
    tables = table(once, NAMES) + table(BUSY, NAMES)
    for verdict in judge_log(read(tables, "graph.txt"), LINK):
        assert (verdict.verdict, codes(verdict)) == ("inconclusive", set())
