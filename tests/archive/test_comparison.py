"""Two results compared with each other: ratios with intervals that hold what they say."""

import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import some_of
from tests.synthetic import lab, run_of

import wireproof
from wireproof.archive.compare import HEADLINES, compare
from wireproof.archive.compare_document import comparison_document
from wireproof.measure.comparison import ComparedResult, Key, _with_ratio, compared, samples_of
from wireproof.measure.conditions import differing_settings
from wireproof.model.errors import BadInput
from wireproof.model.history import Comparison, Ratio, Source
from wireproof.model.setting import Audit, AuditResult
from wireproof.report.reporter import LoggingReporter
from wireproof.report.text import document_text
from wireproof.verdict.run import judge

STREAM = Key("stream", "", "robust", "", True, 2, 1 << 20, 64, "bytes_per_s")
PING = Key("pingpong", "", "robust", "", True, 2, 8, 0, "ns")


def side(
    factor: float, *, routes: int, launches: int, seed: int, route_sigma: float = 0.02
) -> list[ComparedResult]:
    """Results of one side: routes differ by 10 % for good, launches by 2 %, results by 1 %."""
    rng, own = random.Random(seed), random.Random(99)
    of_route = [own.gauss(0, 0.1) for _ in range(routes)]
    found = []
    for launch in range(launches):
        of_launch = rng.gauss(0, 0.02)
        for route in range(routes):
            noise = rng.gauss(0, 0.01)
            value = 1e9 * factor * math.exp(of_route[route] + of_launch + noise)
            found.append(ComparedResult((f"n{route}", "m"), value, 0.01, launch))
    return found


def ratio(
    a: list[ComparedResult], b: list[ComparedResult], launches: int = 1, key: Key = STREAM
) -> Ratio:
    (row,) = compared({key: a}, {key: b}, launches=launches)
    return row


def interval_of(
    a: list[ComparedResult], b: list[ComparedResult], launches: int, seed: int
) -> Ratio:
    """The row of both sides with its interval. For one seed in ten also check that ``compared``
    gives this row alone: its search for nodes apart takes nine tenths of the time.
    """
    row = Ratio(
        name="stream",
        pattern="stream",
        message_bytes=STREAM.message_bytes,
        unit="bytes_per_s",
        conclusion="not-compared",
    )
    found = _with_ratio(row, STREAM, (a, b), launches)
    if seed % 10 == 0:
        whole = ratio(a, b, launches)
        assert (found.low, found.ratio, found.high) == (whole.low, whole.ratio, whole.high)
        assert found.conclusion == whole.conclusion
    return found


@pytest.mark.parametrize("routes", some_of([2, 1, 12], 1))
def test_the_interval_holds_the_truth_95_times_in_100(routes: int) -> None:
    """With launches on both sides: their scatter is in the interval, whatever the routes are."""
    held = 0
    for seed in range(400):
        a = side(1.0, routes=routes, launches=5, seed=2 * seed)
        b = side(1.1, routes=routes, launches=5, seed=2 * seed + 1)
        found = interval_of(a, b, 5, seed)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 1.1 <= found.high
    assert 0.92 <= held / 400 <= 0.98


def test_one_launch_each_is_said_and_decides_nothing() -> None:
    a, b = (side(f, routes=12, launches=1, seed=s) for f, s in ((1.0, 1), (0.5, 2)))
    found = ratio(a, b)
    assert (found.conclusion, found.launches, found.routes) == ("worse", 1, 12)
    assert "B is worse (few launches)" in document_text(comparison_document(comparison(found)))
    assert comparison(found).verdict == "inconclusive"


def comparison(*rows: Ratio) -> Comparison:
    source = Source(name="a", hosts="n1", measured="", verdict="pass")
    return Comparison(a=source, b=source, practical=0.03, rows=list(rows))


@pytest.mark.parametrize(
    ("factor", "conclusion", "verdict"),
    [(0.8, "worse", "fail"), (1.25, "better", "pass"), (1.0, "no-difference", "pass")],
)
def test_conclusions(factor: float, conclusion: str, verdict: str) -> None:
    a = [ComparedResult(("n1", "n2"), 1e9 * (1 + 0.001 * i), 0.01, i) for i in range(5)]
    b = [ComparedResult(("n1", "n2"), factor * 1e9 * (1 + 0.001 * i), 0.01, i) for i in range(5)]
    found = ratio(a, b, launches=5)
    assert found.conclusion == conclusion
    assert comparison(found).verdict == verdict


def test_one_launch_without_a_difference_decides_nothing_either() -> None:
    a = [ComparedResult(("n1", "n2"), 1e9, 0.001)]
    found = ratio(a, a)
    assert found.conclusion == "no-difference"
    assert comparison(found).verdict == "inconclusive"
    assert "few launches" in document_text(comparison_document(comparison(found)))


def test_a_shorter_time_is_better() -> None:
    a = [ComparedResult(("n1", "n2"), 1000.0, 0.01, i) for i in range(3)]
    b = [ComparedResult(("n1", "n2"), 800.0, 0.01, i) for i in range(3)]
    found = ratio(a, b, launches=3, key=PING)
    assert found.ratio == pytest.approx(1.25)
    assert found.conclusion == "better"


def test_only_routes_that_both_have_are_compared() -> None:
    both, slow = ("n1", "n2"), ("n1", "n9")
    a = [ComparedResult(both, 1e9, 0.001), ComparedResult(slow, 1e6, 0.001)]
    b = [ComparedResult(both, 1e9, 0.001)]
    found = ratio(a, b)
    assert (found.ratio, found.routes) == (pytest.approx(1.0), 1)
    other = ratio([ComparedResult(("x", "y"), 1e9, 0.001)], b)
    assert (other.ratio, other.routes) == (pytest.approx(1.0), 0)


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ([], [ComparedResult(("n1", "n2"), 1e9, 0.01)], "A has no such result"),
        (
            [ComparedResult(("n1", "n2"), 1e9, 0.01)],
            [ComparedResult(("n1", "n2"), 1e9, 0.0, 0, "its path is off-wire")],
            "B: its path is off-wire",
        ),
    ],
)
def test_what_is_not_compared_says_why(
    a: list[ComparedResult], b: list[ComparedResult], said: str
) -> None:
    found = ratio(a, b)
    assert (found.conclusion, found.ratio, found.reason) == ("not-compared", None, said)
    assert comparison(found).verdict == "inconclusive"
    assert said in comparison_document(comparison(found)).answer


def group(pattern: str, order: str, members: int = 64) -> Key:
    return Key(pattern, "", "robust", order, True, members, 8, 64, "ns")


def test_the_five_numbers_of_two_fabrics_come_first() -> None:
    five = [
        PING,
        STREAM,
        group("message_rate", ""),
        group("ring", "natural"),
        group("ring", "random"),
    ]
    other = Key("stream", "", "robust", "", True, 2, 4096, 64, "bytes_per_s")
    one = {
        key: [ComparedResult(("all",), 1000.0, 0.001, i) for i in range(3)]
        for key in [other, *five]
    }
    rows = compared(one, one, HEADLINES, launches=3)
    assert [row.headline for row in rows] == [True] * 5 + [False]
    assert {row.name for row in rows[:5]} == {
        "pingpong",
        "stream",
        "message rate of 64 ranks",
        "natural ring of 64 ranks",
        "random ring of 64 ranks",
    }
    assert {(row.conclusion, row.ratio) for row in rows} == {("no-difference", 1.0)}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"formula": "imb"}, "B has this result with formula imb and not robust"),
        ({"members": 32}, "B has this result with ranks 32 and not 64"),
        ({"window": 1}, "B has this result with window 1 and not 64"),
        ({"unit": "bytes_per_s"}, "B has this result with unit bytes_per_s and not ns"),
        ({"message_bytes": 64}, "B has no such result"),
        ({"order": "random"}, "B has no such result"),
    ],
)
def test_what_was_measured_otherwise_says_how(changes: dict[str, Any], said: str) -> None:
    key, samples = group("ring", "natural"), [ComparedResult(("all",), 1000.0, 0.001)]
    rows = compared({key: samples}, {replace(key, **changes): samples}, HEADLINES)
    assert {row.conclusion for row in rows} == {"not-compared"}
    assert said in {row.reason for row in rows}


@pytest.mark.parametrize(("routes", "launches"), [(1, 3), (2, 5), (12, 3)])
def test_a_fabric_is_seldom_another_than_itself(routes: int, launches: int) -> None:
    """The interval leaves 1 out in 5 of 100 cases; a difference that matters is called in fewer."""
    left_out = called = 0
    for seed in range(300):
        a, b = (side(1.0, routes=routes, launches=launches, seed=2 * seed + at) for at in (0, 1))
        found = interval_of(a, b, launches, seed)
        assert found.low is not None
        assert found.high is not None
        left_out += not found.low <= 1.0 <= found.high
        called += found.conclusion in ("better", "worse")
    assert left_out / 300 <= 0.09
    assert called / 300 <= 0.02


def test_off_wire_results_never_count() -> None:
    run = run_of(lab(nodes=2, path="shm"))
    assert all(one.why for samples in samples_of(judge(run), run).values() for one in samples)


@pytest.mark.engine
def test_two_results_end_to_end(tmp_path: Path) -> None:
    """Two played clusters, one of which is 20 % slower; numbers of a model prove nothing, and are
    said to be such.
    """
    for name, gap in (("a", 0.1), ("b", 0.12)):
        wireproof.check(
            hosts="n[1-4]",
            transport="model",
            model=f"latency_ns=1500,gap_ns_per_byte={gap}",
            budget="20ms",
            out=tmp_path / name,
        )
    found = compare(tmp_path / "a", tmp_path / "b", LoggingReporter())
    assert any("numbers of a model" in note for note in found.notes)
    assert {row.reason for row in found.rows} == {"A: its path is unproven"}
    assert any("neither result contains: stream of 1 MiB" in note for note in found.notes)
    assert {one.name for one in found.differ} <= {"settings"}
    with pytest.raises(BadInput, match="given twice"):
        compare(tmp_path / "a", tmp_path / "a", LoggingReporter())
    with pytest.raises(BadInput, match="c does not exist"):
        compare(tmp_path / "a", tmp_path / "c", LoggingReporter())


def cluster(nodes: int, seed: int, slow: str = "", share: float = 0.3) -> list[ComparedResult]:
    """One stream each way between all nodes, 2 % noise; ``slow`` has ``share`` of it."""
    rng = random.Random(seed)
    return [
        ComparedResult(
            (f"n{a}", f"n{b}"),
            1e9 * math.exp(rng.gauss(0, 0.02)) * (share if slow in (f"n{a}", f"n{b}") else 1.0),
            0.01,
        )
        for a in range(nodes)
        for b in range(nodes)
        if a != b
    ]


@pytest.mark.parametrize("nodes", [3, 4, 8])
@pytest.mark.parametrize("mended", [False, True])
def test_a_node_that_changed_apart_has_a_row_of_its_own(nodes: int, mended: bool) -> None:
    good, bad = cluster(nodes, 1), cluster(nodes, 2, slow="n2")
    sides = (bad, good) if mended else (good, bad)
    rows = compared({STREAM: sides[0]}, {STREAM: sides[1]})
    by_name = {row.name: row for row in rows}
    assert set(by_name) == {"stream, the others", "stream, n2"}
    own = by_name["stream, n2"]
    assert own.conclusion == ("better" if mended else "worse")
    assert own.ratio == pytest.approx(1 / 0.3 if mended else 0.3, rel=0.05)
    assert own.routes == 2 * (nodes - 1)


@pytest.mark.parametrize("routes", [1, 2, 3, 12])
@pytest.mark.parametrize("launches", [1, 3])
def test_the_ratio_is_that_of_the_values_beside_it(routes: int, launches: int) -> None:
    """A has a route more than B, ten times as fast, and one side's routes have more samples."""
    a = side(1.0, routes=routes, launches=launches, seed=3)
    b = side(0.9, routes=routes, launches=launches, seed=4)
    a += [ComparedResult(("x", "y"), 1e10, 0.01, number) for number in range(launches)]
    for row in compared({STREAM: a}, {STREAM: b}, launches=launches):
        assert row.b.value / row.a.value == pytest.approx(row.ratio)
        assert row.low <= row.ratio <= row.high


def test_healthy_clusters_have_no_node_apart() -> None:
    extra = 0
    for seed in range(100):
        nodes = 3 + seed % 8
        extra += len(compared({STREAM: cluster(nodes, seed)}, {STREAM: cluster(nodes, 900 + seed)}))
    assert extra <= 102  # 100 rows, at most one more in a hundred


def settings(**wmem: str) -> Audit:
    """tcp-wmem of hosts, which no rule could judge."""
    return Audit(
        hosts=list(wmem),
        results=[
            AuditResult(id="tcp-wmem", host=host, status="unknown", seen=value)
            for host, value in wmem.items()
        ],
    )


def test_a_setting_that_was_not_judged_is_compared_host_by_host() -> None:
    before = settings(n1="4 16 4M", n2="4 16 4M", n3="4 16 4M")
    after = settings(n1="4 16 4M", n2="4 16 4M", n3="4 16 64K")
    (found,) = differing_settings(before, after)
    assert (found.name, found.a, found.b) == ("tcp-wmem on n3", "4 16 4M", "4 16 64K")
    assert differing_settings(before, before) == []
    (other,) = differing_settings(before, settings(m1="4 16 4M", m2="4 16 64K"))
    assert other.b == "4 16 4M (m1), 4 16 64K (m2)"
