"""Order of the runs, interval, looks and answers of a trial: small cases with known results."""

import math
from typing import Any

import msgspec
import pytest
from benchmarks.trial_series import design_of
from tests.records import point_record

from wireproof.experiment import ALPHA, is_look, level
from wireproof.experiment.effects import compared, said
from wireproof.ledger.measured import guards_of, losses
from wireproof.model.experiment import Better, Metric, TrialRun, TriedKnob, ValueEffect
from wireproof.model.record import WitnessReading
from wireproof.stats import least_size, shift


@pytest.mark.parametrize(
    ("alpha", "low", "high"),
    [
        # Ranks 1..10 without ties. Tables of the signed-rank test (Hollander and Wolfe, A.4):
        # P(T <= 8) = 0.0244, P(T <= 3) = 0.0049: 9 and 4 averages lie outside.
        (0.05, 3.0, 8.0),
        (0.01, 2.0, 9.0),
    ],
)
def test_the_interval_is_that_of_the_tables(alpha: float, low: float, high: float) -> None:
    found = shift([3.0, 1.0, 2.0, 10.0, 9.0, 8.0, 7.0, 6.0, 5.0, 4.0], alpha)
    assert (found.value, found.low, found.high) == (5.5, low, high)


def test_too_few_values_have_a_centre_and_no_interval() -> None:
    assert [least_size(alpha) for alpha in (0.05, 0.01, 0.5)] == [6, 8, 2]
    five = shift([1.0, 2.0, 3.0, 4.0, 5.0], 0.05)
    assert (five.value, five.low, five.high) == (3.0, None, None)
    six = shift([1.0, 2.0, 3.0, 4.0, 5.0, 60.0], 0.05)
    assert (six.low, six.high) == (1.0, 60.0)
    with pytest.raises(ValueError, match="no values"):
        shift([], 0.05)


def test_the_approximation_for_many_values_continues_the_exact_one() -> None:
    exact, approximate = shift(range(150), 0.02), shift(range(151), 0.02)
    assert exact.low is not None
    assert approximate.low == pytest.approx(exact.low, abs=1.0)


def test_looks_never_spend_more_than_there_is() -> None:
    assert [blocks for blocks in range(1, 100) if is_look(blocks)] == [8, 12, 18, 27, 40, 60, 90]
    for early in range(12):
        spent: list[float] = []
        for _ in range(early):
            spent.append(level(ALPHA, spent, last=False))
        assert level(ALPHA, spent, last=True) == pytest.approx(ALPHA - sum(spent))
        assert level(ALPHA, spent, last=True) >= 0.19 * ALPHA
    assert least_size(level(ALPHA, [], last=False)) == 8


def runs_of(*blocks: tuple[float, ...], proofs: tuple[str, str] = ("", "")) -> list[TrialRun]:
    """Blocks of (base, value, value, base)."""
    return [
        TrialRun(
            block=number,
            value=value,
            metric=metric,
            seconds=1.0,
            guards={"p99_ns": metric * (1.1 if value else 1.0), "retransmits": 3.0 * value},
            proof=proofs[value],
        )
        for number, block in enumerate(blocks)
        for value, metric in zip((0, 1, 1, 0), block, strict=True)
    ]


def one_of(runs: list[TrialRun], **more: Any) -> ValueEffect:
    return compared(design_of(2, 1, **more), runs)[0]


def steady(ratio: float, blocks: int = 8) -> list[TrialRun]:
    return runs_of(*((100.0, 100.0 * ratio, 100.0 * ratio, 100.0),) * blocks)


@pytest.mark.parametrize(
    ("ratio", "better", "answer"),
    [
        (0.9, "lower", "helps"),
        (0.9, "higher", "hurts"),
        (1.1, "lower", "hurts"),
        (1.1, "higher", "helps"),
        (1.0, "lower", "no-effect"),
        (0.995, "lower", "no-effect"),  # known, and not worth it
        (1.009, "higher", "no-effect"),
    ],
)
def test_answers(ratio: float, better: Better, answer: str) -> None:
    metric = Metric(name="x", unit="", better=better, source="")
    found = one_of(steady(ratio), metrics=(metric,))
    assert (found.answer, found.more_runs) == (answer, 0)
    assert found.ratio == pytest.approx(ratio)


def test_a_straight_drift_within_a_block_leaves_no_trace() -> None:
    blocks = [
        tuple(100.0 * 1.5 ** (4 * number + place) for place in range(4)) for number in range(6)
    ]
    found = one_of(runs_of(*blocks))
    assert found.ratio == pytest.approx(1.0)
    assert found.answer == "no-effect"


def test_too_few_blocks_and_too_wide_intervals_say_how_much_is_missing() -> None:
    few = one_of(steady(0.5, blocks=2))
    assert (few.answer, few.low, few.more_runs) == ("undecided", None, 16)
    wild = runs_of(*((100.0, 100.0 * f, 100.0 * f, 100.0) for f in (0.8, 1.25) * 4))
    found = one_of(wild)
    assert found.answer == "undecided"
    blocks = 8 * (math.log(1.25) / 0.05) ** 2  # the width falls with the root of their number
    assert found.more_runs == pytest.approx(4 * (blocks - 8), rel=0.01)


def test_guards_that_every_run_has_are_held() -> None:
    runs = steady(0.9)
    found = one_of(runs)
    tail, resent = found.guards
    assert (tail.name, tail.kind, tail.worse) == ("p99_ns", "ratio", False)
    assert tail.change == pytest.approx(-0.01)
    assert (resent.kind, resent.change, resent.worse) == ("count", 3.0, True)
    assert found.worse == ("retransmits",)
    del runs[3].guards["p99_ns"]
    assert [guard.name for guard in one_of(runs).guards] == ["retransmits"]


@pytest.mark.parametrize(
    ("proofs", "concluded"),
    [
        (("on-wire", "off-wire"), False),
        (("off-wire", "off-wire"), False),
        (("unproven", "wrong-path"), False),
        (("on-wire", "on-wire"), True),
        (("on-wire", "unproven"), False),
        (("unproven", "unproven"), False),
        (("", ""), True),
    ],
)
def test_nothing_is_concluded_of_runs_beside_the_wire(
    proofs: tuple[str, str], concluded: bool
) -> None:
    found = one_of(runs_of(*((100.0, 50.0, 50.0, 100.0),) * 8, proofs=proofs))
    assert found.answer == ("helps" if concluded else "undecided")
    sentence = said(found, KNOB, RATE, 0.5)
    assert ("the claimed wire" in sentence) is not concluded


def test_runs_without_a_proof_hide_no_path_that_is_disproved() -> None:
    """Without a claim, a run of a command whose path cannot be judged has no proof."""
    runs = runs_of(*((100.0, 50.0, 50.0, 100.0),) * 9, proofs=("", ""))
    few = [
        msgspec.structs.replace(run, proof="wrong-path" if run.value and run.block < 3 else "")
        for run in runs
    ]
    assert one_of(few).paths == ("", "wrong-path")
    assert one_of(few).answer == "undecided"


def test_a_path_that_half_of_the_runs_took_is_not_proven() -> None:
    runs = runs_of(*((100.0, 50.0, 50.0, 100.0),) * 8, proofs=("on-wire", "on-wire"))
    half = [
        msgspec.structs.replace(run, proof="off-wire" if run.value and run.block % 2 else run.proof)
        for run in runs
    ]
    assert one_of(half).paths == ("on-wire", "unproven")
    assert one_of(half).answer == "undecided"


@pytest.mark.parametrize(
    ("base", "other", "concluded"),
    [
        (0.4, 0.5, False),
        (0.4, None, False),
        (0.4, 0.1, True),  # the value itself makes the processes wait less
        (0.1, 0.4, True),
        (None, None, True),
    ],
)
def test_nothing_is_concluded_of_runs_on_busy_hosts(
    base: float | None, other: float | None, concluded: bool
) -> None:
    runs = [
        msgspec.structs.replace(run, waited=other if run.value else base) for run in steady(0.8)
    ]
    found = one_of(runs)
    assert found.answer == ("helps" if concluded else "undecided")
    assert ("waited for a processor" in said(found, KNOB, RATE, 0.5)) is not concluded


def test_three_values_share_the_error() -> None:
    runs = [
        TrialRun(block=number, value=value, metric=(100.0, 80.0, 120.0)[value], seconds=1.0)
        for number in range(6)
        for value in design_of(3, 5).order(number)[0]
    ]
    shared = compared(design_of(3, 5), runs)
    assert [one.low for one in shared] == [None, None]  # 0.025 needs seven blocks
    assert [one.answer for one in shared] == ["undecided"] * 2
    single = compared(design_of(3, 5, alpha=0.1), runs)
    assert [one.answer for one in single] == ["helps", "hurts"]


KNOB = TriedKnob(name="UCX_X", kind="variable", values=(None, "1"))
RATE = Metric(name="goodput", unit="bytes_per_s", better="higher", source="engine")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            {"answer": "helps", "low": 1.08, "high": 1.12},
            "UCX_X=1 helps by 10.0 % [8.0, 12.0] (goodput 100.0 MB/s -> 110.0 MB/s)",
        ),
        (
            {"answer": "hurts", "ratio": 0.9, "low": 0.88, "high": 0.92},
            "UCX_X=1 hurts by 10.0 % [8.0, 12.0] (goodput 100.0 MB/s -> 110.0 MB/s)",
        ),
        (
            {"answer": "no-effect", "ratio": 1.0, "low": 0.97, "high": 1.02},
            "UCX_X=1: no effect larger than 3.0 % (goodput 100.0 MB/s -> 110.0 MB/s)",
        ),
        (
            {"answer": "undecided", "low": 0.9, "high": 1.2, "more_runs": 40},
            (
                "UCX_X=1 undecided: needs about 40 more runs (20 s); so far -10.0 to +20.0 %"
                " (goodput 100.0 MB/s -> 110.0 MB/s)"
            ),
        ),
    ],
)
def test_sentences(change: dict[str, Any], text: str) -> None:
    given: dict[str, Any] = {"low": None, "high": None, "ratio": 1.1, **change}
    one = ValueEffect(value=1, base=1e8, other=1.1e8, blocks=8, **given)
    assert said(one, KNOB, RATE, 0.5) == text


def test_a_counter_that_did_not_change_is_zero_and_one_that_was_not_read_is_unknown() -> None:
    def guards(**more: Any) -> dict[str, float]:
        seen = {"ip/Tcp/OutSegs": (5, 9), "net/hsn0/rx_dropped": (1, 3)}
        reading = WitnessReading(rank=0, interval_ns=1.0, counters=seen, **more)
        shared = WitnessReading(rank=1, interval_ns=1.0, counters=seen, shared_with=0)
        return guards_of(point_record(witness=[reading, shared]))

    assert guards() == {"drops": 2.0, "retransmits": 0.0}
    assert guards(unreadable=["ip/Tcp"]) == {"drops": 2.0}


def test_losses_are_what_ports_and_tcp_count() -> None:
    rose = {
        "ip/Tcp/RetransSegs": 4,
        "ip/Tcp/OutSegs": 900,
        "net/hsn0/rx_dropped": 3,
        "net/lo/rx_dropped": 9,
        "net/hsn0/rx_bytes": 10**9,
    }
    assert losses(rose) == {"drops": 3.0, "retransmits": 4.0}
    assert losses({}) == {"drops": 0.0}
    assert math.isfinite(losses({"ip/Tcp/RetransSegs": -1})["retransmits"])
