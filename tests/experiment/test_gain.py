"""The gain of rails: the interval, the verdict, and what is normal."""

import msgspec
import numpy as np
import pytest

from wireproof.experiment.rails_document import gain_document
from wireproof.experiment.rails_verdict import gain_of, goodput_of, judge_gain
from wireproof.model.experiment import GainRow, Interval, RailGain, RailNumber
from wireproof.report.document import Span, Table
from wireproof.report.ink import Look
from wireproof.report.text import document_text

SIZE = 1 << 20
LINE = 117.7e6


def launches(rate: float, noise: float = 0.01, seed: int = 1) -> list[list[float]]:
    """Times (ns) of five launches of a stream at ``rate`` bytes/s, each a little different."""
    rng = np.random.default_rng(seed)
    centres = SIZE / rate * 1e9 * (1 + noise * rng.standard_normal(5))
    return [list(centre * (1 + noise * rng.standard_normal(40))) for centre in centres]


def row(
    one: float, other: float, together: float, *, pattern: str = "stream", noise: float = 0.01
) -> GainRow:
    times = [launches(rate, noise, seed) for seed, rate in enumerate((one, other, together))]
    numbers = [
        RailNumber(
            rail=rail,
            goodput=goodput_of(SIZE, own),
            limit=LINE if rail else 2 * LINE,
            proof="on-wire",
        )
        for rail, own in zip(("hsn0", "hsn1", ""), times, strict=True)
    ]
    gain, of_sum = gain_of(SIZE, times[:2], times[2])
    return GainRow(
        pattern=pattern,
        form="",
        message_bytes=SIZE,
        origin="n1",
        target="n2",
        alone=numbers[:2],
        together=numbers[2],
        gain=gain,
        of_sum=of_sum,
        of_limits=together / (2 * LINE),
        striping="striped",
        expected=pattern == "stream",
    )


def codes(rows: list[GainRow]) -> list[str]:
    return [one.code for one in judge_gain(rows).findings]


@pytest.mark.parametrize("seed", range(20))
def test_the_interval_holds_the_true_gain(seed: int) -> None:
    times = [launches(rate, 0.02, 3 * seed + place) for place, rate in enumerate((1e8, 1e8, 1.9e8))]
    gain, of_sum = gain_of(SIZE, times[:2], times[2])
    assert gain.low <= gain.value <= gain.high
    assert gain.low * 0.97 <= 1.9 <= gain.high * 1.03
    assert of_sum.low * 0.97 <= 0.95 <= of_sum.high * 1.03
    assert gain_of(SIZE, times[:2], times[2]) == (gain, of_sum)


def test_a_stream_that_doubles_passes_and_a_ping_pong_need_not() -> None:
    waiting = row(LINE, LINE, LINE, pattern="pingpong")
    found = judge_gain([row(LINE, LINE, 1.97 * LINE), waiting])
    assert (found.verdict, found.findings) == ("pass", [])
    assert "this is normal" in found.answer


def test_a_ping_pong_that_is_shared_is_said_to_be() -> None:
    waiting = row(LINE, LINE, 1.9 * LINE, pattern="pingpong")
    assert "each message is shared" in judge_gain([row(LINE, LINE, 1.95 * LINE), waiting]).answer


def test_a_slow_rail_is_named_and_the_even_stripe_explained() -> None:
    found = judge_gain([row(LINE, 0.3 * LINE, 0.6 * LINE)])
    assert found.verdict == "fail"
    assert [one.code for one in found.findings] == ["slow-rail", "no-rail-gain"]
    assert found.findings[0].evidence["rail"] == "hsn1"
    assert "2 x the slowest rail" in found.findings[1].message


def test_rails_that_add_nothing_are_found() -> None:
    assert codes([row(LINE, LINE, LINE)]) == ["no-rail-gain"]


def test_rails_below_their_sum_are_found() -> None:
    assert codes([row(LINE, LINE, 1.4 * LINE)]) == ["rails-below-sum"]


def test_noise_is_open_and_no_failure() -> None:
    found = judge_gain([row(LINE, LINE, 1.75 * LINE, noise=0.3)])
    assert (found.verdict, found.findings) == ("inconclusive", [])


def test_an_unproven_path_never_passes() -> None:
    good = row(LINE, LINE, 1.97 * LINE)
    blind = msgspec.structs.replace(good.alone[0], proof="unproven")
    found = judge_gain([msgspec.structs.replace(good, alone=[blind, good.alone[1]])])
    assert found.verdict == "inconclusive"
    assert "Not all paths are proven" in found.answer


def test_no_rail_is_blamed_for_bytes_that_nobody_saw_on_it() -> None:
    slow = row(LINE, 0.3 * LINE, 0.6 * LINE)
    assert judge_gain([slow]).verdict == "fail"
    blind = msgspec.structs.replace(slow.alone[1], proof="unproven")
    found = judge_gain([msgspec.structs.replace(slow, alone=[slow.alone[0], blind])])
    assert (found.verdict, found.findings) == ("inconclusive", [])


@pytest.mark.parametrize("together", [1.4 * LINE, 1.97 * LINE])
@pytest.mark.parametrize(("alone", "both", "decided"), [(0.4, 0.4, False), (0.1, 0.4, True)])
def test_busy_hosts_decide_nothing_about_rails(
    together: float, alone: float, both: float, decided: bool
) -> None:
    """Rails that wait for a processor alone are slow alone: together they would seem to add up."""
    good = row(LINE, LINE, together)
    busy = msgspec.structs.replace(
        good,
        alone=[msgspec.structs.replace(one, waited=alone) for one in good.alone],
        together=msgspec.structs.replace(good.together, waited=both),
    )
    found = judge_gain([busy])
    assert (found.verdict == "inconclusive" and not found.findings) is not decided
    assert ("waited for a processor" in found.answer) is not decided


def test_without_large_one_way_messages_it_stays_open() -> None:
    assert judge_gain([row(LINE, LINE, LINE, pattern="pingpong")]).verdict == "inconclusive"
    assert judge_gain([]).verdict == "inconclusive"


def told(rows: list[GainRow]) -> RailGain:
    judged = judge_gain(rows)
    return RailGain(
        verdict=judged.verdict,
        answer=judged.answer,
        hosts=["n1", "n2"],
        rails=["hsn0", "hsn1"],
        link="2 x 1gbe",
        rounds=5,
        seed=1,
        rows=rows,
        findings=judged.findings,
        told={"UCX_NET_DEVICES": "hsn0,hsn1"},
        seconds=30.0,
    )


@pytest.mark.parametrize("width", [80, 120])
def test_the_text_names_every_rail_and_fits(width: int) -> None:
    rows = [row(LINE, 0.3 * LINE, 0.6 * LINE), row(LINE, LINE, LINE, pattern="pingpong")]
    gain = told(rows)
    text = document_text(gain_document(gain), Look(width=width))
    assert all(len(line) <= width for line in text.splitlines())
    for word in ("hsn0", "hsn1", "together", "slow-rail", "UCX_NET_DEVICES=hsn0,hsn1"):
        assert word in text
    tables = [part for part in gain_document(gain).parts if isinstance(part, Table)]
    assert [cells[-1] for cells, *_ in tables[0].rows] == [
        Span(each.gain.value, each.gain.low, each.gain.high) for each in gain.rows
    ]


def test_a_single_launch_has_no_interval_and_passes_nothing() -> None:
    found = goodput_of(SIZE, [[1e7] * 8])
    assert found == Interval(value=found.value)
    good = row(LINE, LINE, 1.97 * LINE)
    once = msgspec.structs.replace(good, of_sum=Interval(value=0.99), gain=Interval(value=1.97))
    assert judge_gain([once]).verdict == "inconclusive"


def test_a_drift_of_the_machine_changes_no_gain() -> None:
    """The launches of one round are slow together."""
    slow = (1.0, 1.5, 2.0, 2.5, 3.0)
    alone, together = ([[each * 1e7 * factor] for each in slow] for factor in (1.0, 0.5))
    gain, of_sum = gain_of(SIZE, [alone, alone], together)
    assert (gain.low, gain.high) == pytest.approx((2.0, 2.0))
    assert (of_sum.low, of_sum.high) == pytest.approx((1.0, 1.0))
