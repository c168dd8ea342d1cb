"""The comparison's arithmetic: what is paired, what is dropped, when a target is reached."""

import dataclasses
import math
import random
import time
import tomllib
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from benchmarks.contest import Contest
from benchmarks.lab_sweep import Findings, agreement, default_seconds, rows_of
from benchmarks.paired import (
    Comparison,
    Interleaved,
    Sample,
    Triple,
    compare,
    control,
    interleave,
    interval_of,
    undisturbed,
)
from benchmarks.planted import score
from benchmarks.quiet import busy_seconds
from benchmarks.row import NotRun, Row, exit_status, outcome_of
from benchmarks.setting import least_trials
from benchmarks.stage import rival_argv
from benchmarks.table import as_json, as_text, decisions
from benchmarks.truth import compare_world, world_of

from wireproof.launch.registry import LaunchCommand
from wireproof.measure.points import SIZES
from wireproof.model.errors import CouldNotMeasure
from wireproof.model.topology import Fault, Network, Topology

TABLES = tomllib.loads(Path(__file__).with_name("tables.toml").read_text(encoding="utf-8"))


def sample(value: float, bounce: float | None = 60.0) -> Sample:
    return Sample({"time": value}, bounce)


def triples(ratio: float, number: int, *, drift: float = 1.0) -> list[Triple]:
    """Ours 100 before and 100 x drift after; ratios spread by one percent."""
    return [
        Triple(
            sample(100.0),
            sample(100.0 * drift**0.5 / (ratio * (1 + 0.001 * (i % 11 - 5)))),
            sample(100.0 * drift),
        )
        for i in range(number)
    ]


WISH = Comparison(title="x", rival="r", ours="time", theirs="time", unit="ns", target=1.02)


def row_of(found: list[Triple], wish: Comparison = WISH) -> Row:
    row = compare("g", wish, Interleaved({"r": found}))
    assert isinstance(row, Row)
    return row


@pytest.mark.parametrize(("low", "high", "sense", "outcome"), TABLES["outcomes"])
def test_only_a_whole_interval_reaches_or_misses(low, high, sense, outcome) -> None:  # type: ignore[no-untyped-def]
    low, high = (None, None) if low == "" else (low, high)
    assert outcome_of(low, high, 1.02, sense) == outcome
    assert outcome_of(low, high, None, sense) == "shown"


def test_a_ratio_of_one_reaches_and_one_of_eleven_tenths_misses() -> None:
    assert row_of(triples(1.0, 14)).outcome == "reached"
    assert row_of(triples(1.10, 14)).outcome == "missed"
    assert row_of(triples(1.02, 14)).outcome == "undecided"


def test_below_six_comparisons_nothing_is_decided() -> None:
    assert row_of(triples(0.5, 5)).outcome == "undecided"
    assert row_of(triples(0.5, 6)).outcome == "reached"
    assert interval_of([1.0] * 5) is None


def test_what_lies_across_a_flip_of_the_cores_is_dropped_whatever_it_says() -> None:
    row = row_of(triples(1.0, 10) + triples(0.1, 10, drift=2.4))
    assert (row.pairs, row.dropped) == (10, 10)
    assert row.value == pytest.approx(1.0, rel=0.01)


def test_a_row_that_met_a_gap_is_left_out_and_the_rest_is_as_it_was() -> None:
    calm = [1.0, 1.1, 1.2, 1.3, 1.4]
    assert undisturbed(calm) == 1.2
    assert undisturbed([*calm, 9.0, 40.0, 7.0]) == 1.2
    with pytest.raises(ValueError, match="without a row"):
        undisturbed([])


def test_busy_time_is_all_but_idle_and_waiting() -> None:
    assert busy_seconds("cpu  100 10 50 9999 7 1 2 30 0 0\ncpu0 1 2 3\n", 100) == pytest.approx(
        1.93
    )
    assert busy_seconds("no such file\n", 100) is None


def test_many_comparisons_give_a_narrower_interval_that_still_forgets_outliers() -> None:
    few, many = row_of(triples(1.0, 14)), row_of(triples(1.0, 100) + triples(3.0, 4))
    assert many.value == pytest.approx(1.0, abs=0.002)
    assert many.high < few.high
    assert row_of(triples(1.06, 100)).outcome == "missed"


def test_a_printed_digit_that_is_too_coarse_widens_the_interval() -> None:
    fine = row_of(triples(1.0, 14))
    coarse = row_of(triples(1.0, 14), dataclasses.replace(WISH, resolution=5.0))
    assert fine.outcome == "reached"
    assert coarse.outcome == "undecided"


def counting(value: float) -> tuple[Callable[[], Sample], Iterator[int]]:
    calls = count()

    def run() -> Sample:
        next(calls)
        return sample(value)

    return run, calls


def test_ours_runs_before_and_after_each_rival() -> None:
    order: list[str] = []

    def named(name: str) -> Callable[[], Sample]:
        return lambda: order.append(name) or sample(1.0)  # type: ignore[func-returns-value]

    found, rivals = Interleaved(), {"B": named("B"), "C": named("C")}
    last = interleave(named("A"), rivals, found)
    interleave(named("A"), rivals, found, last)
    assert "".join(order) == "ABCABCA"
    assert [len(found.triples[name]) for name in "BC"] == [2, 2]


def test_a_rival_that_fails_is_named_once_and_the_others_go_on() -> None:
    def broken() -> Sample:
        raise CouldNotMeasure("IMB-P2P ended with status 1: no such provider")

    good = varying(1.02, 0.05, 4)
    wishes = [WISH, dataclasses.replace(WISH, rival="s")]
    contest = Contest("g", good, {"r": broken, "s": good}, wishes, rounds=7)
    contest.advance(lambda _line: None)
    missing, other = contest.rows()
    assert isinstance(missing, NotRun)
    assert "no such provider" in missing.reason
    assert isinstance(other, Row)
    assert other.pairs == 7


def varying(centre: float, spread: float, seed: int) -> Callable[[], Sample]:
    draw = random.Random(seed)
    return lambda: sample(centre * math.exp(draw.gauss(0, spread)))


def fought(ratio: float, spread: float, seed: int, rounds: int = 60) -> Row:
    ours, theirs = varying(ratio, spread, seed), varying(1.0, spread, seed + 10_000)
    contest = Contest("g", ours, {"r": theirs}, [WISH], rounds=rounds)
    contest.advance(lambda _line: None)
    (row,) = contest.rows()
    assert isinstance(row, Row)
    return row


def test_a_contest_ends_at_the_look_that_decides() -> None:
    clear = fought(0.8, 0.03, 1)
    assert (clear.outcome, clear.pairs) == ("reached", 8)
    assert fought(1.3, 0.03, 2).outcome == "missed"
    assert fought(1.0, 0.03, 3, rounds=200).outcome == "reached"


def test_looking_often_keeps_the_error() -> None:
    """At the target itself neither answer is right: few contests give one."""
    answers = [fought(1.02, 0.05, seed, rounds=40).outcome for seed in range(200)]
    assert sum(answer != "undecided" for answer in answers) <= 0.08 * len(answers)


def test_a_contest_stops_in_time_and_goes_on_from_there() -> None:
    ours, calls = counting(1.0)
    contest = Contest("g", ours, {"r": ours}, [WISH], rounds=100)
    contest.advance(lambda _line: None, time.monotonic() - 1)
    assert next(calls) == 0
    assert not contest.settled
    contest.advance(lambda _line: None)
    assert contest.settled
    assert [row.outcome for row in contest.rows() if isinstance(row, Row)] == ["reached"]


def test_a_rival_that_is_decided_is_launched_no_more() -> None:
    ours, _ = counting(1.0)
    far, calls = counting(2.0)
    near = varying(1.02 / 1.0, 0.05, 5)
    wishes = [WISH, dataclasses.replace(WISH, rival="near")]
    contest = Contest("g", ours, {"r": far, "near": near}, wishes, rounds=12)
    contest.advance(lambda _line: None)
    assert next(calls) == 8


def test_how_many_trials_would_decide_is_told() -> None:
    assert least_trials(14, 14, 0.99, "at least") == 381
    assert least_trials(0, 14, 0.01, "at most") == 381
    assert least_trials(10, 14, 0.99, "at least") == 0, "no number of trials would"
    assert least_trials(400, 400, 0.99, "at least") == 0, "these do"


def test_the_table_ends_with_what_was_decided() -> None:
    rows = [row_of(triples(1.0, 14)), row_of(triples(1.02, 14)), row_of(triples(1.1, 14))]
    lines = list(decisions(rows, [NotRun(group="OSU", title="osu_bw", reason="no")]))
    assert lines[0] == "decided: 2 of 4 targets, 1 reached, 1 missed"
    assert lines[1:] == ["  undecided: g: x", "  undecided: OSU: osu_bw (not run)"]


def test_control_reads_one_where_the_truth_is_one() -> None:
    row = control("g", "time", "ns", Interleaved({"r": triples(0.5, 12)}))
    assert row.value == pytest.approx(1.0)
    assert row.outcome == "shown"


def test_exit_status_never_passes_without_evidence() -> None:
    good = Row(group="g", title="t", unit="ns", value=1.0, low=1.0, high=1.0, target=2.0)
    for rows, missing, status in (
        ([good], [], 0),
        ([], [], 3),
        ([good, msgspec.structs.replace(good, low=None, high=None)], [], 3),
        ([good, msgspec.structs.replace(good, low=3.0, high=4.0)], [], 1),
        ([good], [NotRun(group="g", title="OSU", reason="no", required=False)], 0),
        ([good], [NotRun(group="g", title="IMB", reason="no")], 3),
    ):
        assert exit_status(rows, missing) == status


def test_table_and_json_tell_the_same() -> None:
    row = row_of(triples(1.0, 14))
    missing = NotRun(group="OSU", title="osu_latency", reason="OSU_HOME is not set", required=False)
    text = as_text([row], [missing], {"load before": "0.1"})
    assert "reached" in text
    assert "OSU_HOME is not set" in text
    document = msgspec.json.decode(as_json([row], [missing], {"load before": "0.1"}))
    assert document["rows"][0]["outcome"] == "reached"
    assert document["not_run"][0]["reason"] == "OSU_HOME is not set"


def test_a_rival_takes_the_engines_place() -> None:
    argv = ("mpiexec", "-n", "2", "/e/engine", "run")
    command = LaunchCommand(argv=argv, environment={}, launcher="hydra", engine=Path("/e/engine"))
    rival = rival_argv(command, ("IMB-P2P", "PingPong"))
    assert rival == ["mpiexec", "-n", "2", "IMB-P2P", "PingPong"]
    with pytest.raises(CouldNotMeasure, match="does not end with our engine"):
        rival_argv(dataclasses.replace(command, argv=("mpiexec", "other")), ("IMB-P2P",))


def findings(ratio: float, rounds: int = 12) -> Findings:
    theirs = {str(size): 1e4 + 8.37 * size for size in SIZES}
    ours = {size: time * ratio for size, time in theirs.items()}
    found = [
        Triple(
            Sample(ours),
            Sample({k: v * (1 + 0.001 * (i % 3)) for k, v in theirs.items()}),
            Sample(ours),
        )
        for i in range(rounds)
    ]
    return Findings(
        pingpong_s=[5.0] * 7,
        both_s=[12.0] * 7,
        imb_s=[6.0] * 7,
        triples=found,
        points=72,
        labelled=3,
    )


def test_lab_rows_hold_the_walls_and_every_size_against_their_targets() -> None:
    rows = [row for row in rows_of(findings(1.005)) if isinstance(row, Row)]
    assert len(rows) == 3 + len(SIZES)
    assert {row.outcome for row in rows} == {"reached"}
    for ratio in (1.05, 0.95):
        assert {row.outcome for row in rows_of(findings(ratio))[3:] if isinstance(row, Row)} == {
            "missed"
        }


def test_default_time_is_of_the_best_rounds_unless_it_was_run() -> None:
    found = findings(1.0)
    best = default_seconds(found)
    found.triples[0] = Triple(Sample({}), Sample({str(size): 1e9 for size in SIZES}), Sample({}))
    assert default_seconds(found) == best  # a disturbed round must not make IMB look slow
    assert 150 < best <= 184
    found.full_s = 190.0
    assert default_seconds(found) == 190.0


def test_agreement_without_enough_rounds_is_undecided() -> None:
    row = agreement(findings(1.0, rounds=5), 8)
    assert isinstance(row, Row)
    assert row.outcome == "undecided"


def test_a_point_called_stable_and_wide_is_a_miss() -> None:
    found = findings(1.0)
    found.wide.append("pingpong 8 B +/- 4 %")
    row = rows_of(found)[2]
    assert isinstance(row, Row)
    assert row.outcome == "missed"


def test_a_perfect_sweep_of_a_world_gives_the_world_back() -> None:
    for seed in range(10):
        world = world_of(seed)
        times = {
            size: world.latency_ns
            + world.gap_ns_per_byte * size
            + (world.rendezvous_ns if size > world.eager_limit_bytes else 0.0)
            for size in SIZES
        }
        found = compare_world(world, times)
        assert found.switch_found
        assert max(found.latency, found.gap) < 1e-6


def test_worlds_differ_and_are_the_same_again() -> None:
    assert world_of(3) == world_of(3)
    assert world_of(3) != world_of(4)


def planted_document(verdict: str, *blamed: tuple[str, str]) -> dict[str, Any]:
    blames = [{"subject": node, "direction": direction} for node, direction in blamed]
    return {"verdict": verdict, "findings": [], "located": [{"blames": blames}]}


@pytest.mark.parametrize(("nodes", "kind", "verdict", "blamed", "expected"), TABLES["planted"])
def test_a_planted_fault_is_found_when_its_node_is_named(
    nodes: int, kind: str, verdict: str, blamed: list[tuple[str, str]], expected: str
) -> None:
    document = planted_document(verdict, *blamed) if verdict else None
    network = Network(name="hsn", device="hsn0", rate="1gbit", subnet="10.20.1.0/24")
    names = tuple(f"n{number}" for number in range(1, nodes + 1))
    topology = Topology(nodes=names, networks=(network,), wire="store-and-forward", seed=1)
    fault = Fault(node="n2", network="hsn", kind=kind, direction="tx", value="1%") if kind else None
    assert score(document, topology, fault) == expected


@pytest.mark.parametrize(("way", "expected"), [("n2 -> n1", "right"), ("n1 -> n2", "wrong")])
def test_of_two_nodes_the_slow_direction_is_the_planted_one(way: str, expected: str) -> None:
    network = Network(name="hsn", device="hsn0", rate="1gbit", subnet="10.20.1.0/24")
    topology = Topology(nodes=("n1", "n2"), networks=(network,))
    fault = Fault(node="n2", network="hsn", kind="rate", direction="tx", value="500mbit")
    finding = {"code": "direction-slow", "severity": "fail", "subject": way}
    document = planted_document("fail") | {"findings": [finding]}
    assert score(document, topology, fault) == expected
