"""What a study concludes of made-up runs: effects, what was obeyed, what is recommended."""

import math
import random

import msgspec
import pytest

from wireproof.experiment import Design
from wireproof.experiment.study import (
    Configuration,
    Knob,
    Library,
    Probe,
    Readback,
    StudiedPattern,
    Study,
    StudyRun,
)
from wireproof.experiment.study.conclude import concluded, judged
from wireproof.experiment.study.job import library_called
from wireproof.model.experiment import Metric

RATE = Metric(name="goodput", unit="bytes_per_s", better="higher", source="")
TIME = Metric(name="half round trip", unit="ns", better="lower", source="")
PATTERNS = [
    StudiedPattern(name="stream", what="a stream", metric=RATE),
    StudiedPattern(name="latency", what="a ping-pong", metric=TIME),
]
KNOB = Knob(name="X_RAILS", what="rails", values=("1",), source="")
LIBRARY = Library(id="x", title="X", prefixes=("X_",), knob=(KNOB,))
OBEYED = Probe(
    readbacks=[Readback(setting="X_RAILS", asked="1", seen="1", source="settings", agrees=True)]
)


def runs(
    effects: list[dict[str, float]], rounds: int, noise: float = 0.01, proof: str = "on-wire"
) -> list[StudyRun]:
    """Runs in the design's own order on a machine that drifts by half within the study.
    ``effects``: of configurations 1, 2 ..., by pattern.
    """
    draw = random.Random(7)
    found: list[StudyRun] = []
    block = 0
    arms = tuple(range(len(effects) + 1))
    design = Design(arms=arms, seed="study/3", shape="small")
    for number in range(rounds):
        for places in design.order(number):
            for one in places:
                drift = 1.0 + 0.5 * len(found) / (rounds * len(effects) * 2)
                numbers = {
                    each.name: drift
                    * 100.0
                    * math.exp(draw.gauss(0.0, noise))
                    * (effects[one - 1].get(each.name, 1.0) if one else 1.0)
                    for each in PATTERNS
                }
                found.append(
                    StudyRun(
                        block=block, configuration=one, numbers=numbers, seconds=1.0, proof=proof
                    )
                )
            block += 1
    return found


def study(made: list[StudyRun], probes: dict[int, Probe]) -> Study:
    values = sorted(probes)
    empty = Study(
        library="x",
        title="X",
        hosts=["n1", "n2"],
        rails=["a"],
        patterns=PATTERNS,
        configurations=[Configuration()]
        + [Configuration(knob="X_RAILS", value=str(one)) for one in values],
        runs=made,
        smallest=0.03,
        alpha=0.05,
        seed=1,
        rounds=12,
        rounds_planned=12,
        budget_s=1.0,
        seconds=1.0,
        stopped="complete",
    )
    return concluded(empty, probes, {"X_RAILS": KNOB}, LIBRARY)


def answers(found: Study) -> dict[tuple[int, str], str]:
    return {(one.configuration, one.pattern): one.answer for one in found.effects}


def test_twice_the_stream_and_no_other_ping_pong() -> None:
    found = study(runs([{"stream": 2.0}], 12), {1: OBEYED})
    assert answers(found) == {(1, "stream"): "helps", (1, "latency"): "no-effect"}
    effect = found.effects[0]
    assert effect.low < 2.0 < (effect.high or 0.0)
    assert [one.kind for one in found.advice] == ["use"]
    assert "X_RAILS=1: stream +" in found.advice[0].text
    assert found.verdict == "pass"
    assert not found.findings
    assert found.precision["latency"] < 0.02


def test_a_gain_here_and_a_loss_there_is_a_trade() -> None:
    found = study(runs([{"stream": 1.3, "latency": 1.3}], 12), {1: OBEYED})
    assert answers(found) == {(1, "stream"): "helps", (1, "latency"): "hurts"}
    assert [one.kind for one in found.advice] == ["trade"]
    assert "but latency +" in found.advice[0].text


def test_nothing_is_recommended_of_what_was_not_obeyed() -> None:
    altered = Probe(
        readbacks=[
            Readback(setting="X_RAILS", asked="1", seen="0", source="settings", agrees=False)
        ]
    )
    found = study(runs([{"stream": 2.0}], 12), {1: altered})
    assert not found.advice
    assert found.findings[0].code == "setting-not-honoured"
    assert (
        "1 was requested, the library says 0 (settings); nevertheless," in found.findings[0].message
    )


@pytest.mark.parametrize("proof", ["off-wire", "wrong-path", "mixed", "unproven", ""])
def test_nothing_is_recommended_of_runs_that_no_wire_is_proven_of(proof: str) -> None:
    found = study(runs([{"stream": 2.0}], 12, proof=proof), {1: OBEYED})
    assert not found.advice
    assert set(answers(found).values()) == {"undecided"}
    assert found.verdict == "inconclusive"


def test_too_few_rounds_decide_nothing() -> None:
    found = study(runs([{"stream": 2.0}], 5), {1: OBEYED})
    assert set(answers(found).values()) == {"undecided"}
    assert found.verdict == "inconclusive"


def test_each_silence_has_its_own_sentence() -> None:
    same = runs([{}, {}, {"stream": 1.5}, {}], 14)
    found = study(
        same,
        {
            1: Probe(listed=["X_OTHER"]),
            2: Probe(),
            3: Probe(),
            4: Probe(failed="no data available"),
        },
    )
    assert [one.seen for one in found.honoured] == ["unread", "unsaid", "by-effect", "refused"]
    unread, unsaid, _, refused = (one.text for one in found.honoured)
    assert "X_RAILS is not among the 1 setting that X lists as read" in unread
    assert "behaves like the base within" in unread
    assert "the library reports nothing about it; it behaves like the base within" in unsaid
    assert refused == "no run works with it: no data available"


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ("no such device", "64176 (the text as a hexadecimal number) is refused in the same words"),
        ("rank 1 aborted", "64176 (the text as a hexadecimal number) is refused too"),
        ("", ""),
    ],
)
def test_another_spelling_shows_what_a_name_was_taken_for(outcome: str, words: str) -> None:
    psm3 = library_called("psm3")
    knob = next(one for one in psm3.knob if one.name == "PSM3_NIC")
    asked = Configuration(knob="PSM3_NIC", value="fab0", variables={"PSM3_NIC": "fab0"})
    probe = Probe(failed="no such device", controls={"[f]ab0": "", "64176": outcome})
    found = judged(1, asked, knob, probe, [], psm3)
    assert found.seen == "refused"
    assert "written as [f]ab0" in found.text
    assert found.text.endswith(words or "was read as something else")


def test_a_small_effect_is_no_reason_for_a_setting() -> None:
    found = study(runs([{"stream": 1.02}], 20, noise=0.002), {1: OBEYED})
    assert answers(found)[1, "stream"] == "no-effect"
    assert found.effects[0].p < 0.05
    assert not found.advice


def test_runs_without_a_number_are_left_out() -> None:
    made = runs([{"stream": 2.0}], 12)
    gone = [msgspec.structs.replace(one, numbers={}) if one.block < 3 else one for one in made]
    assert study(gone, {1: OBEYED}).effects[0].blocks == 9
    assert not study([], {1: OBEYED}).effects


def test_what_the_counters_say_of_most_launches_is_told_once() -> None:
    made = [
        msgspec.structs.replace(
            one,
            said={
                "psm-retransmits": "sent again",
                **({"psm-errors": "bad"} if one.configuration else {}),
            },
        )
        for one in runs([{"stream": 2.0}], 12)
    ]
    found = study(
        [*made, msgspec.structs.replace(made[0], said={"psm-long-queues": "long"})], {1: OBEYED}
    )
    assert [(one.code, one.subject) for one in found.findings] == [
        ("psm-retransmits", "base"),
        ("psm-errors", "X_RAILS=1"),
    ]
    assert found.findings[1].message == "X_RAILS=1: bad (in 12 of 12 launches)"


def test_what_it_means_when_a_value_helps() -> None:
    telling = msgspec.structs.replace(KNOB, helps={"1": "the fabric drops"})
    made = runs([{"stream": 2.0}], 12)
    found = concluded(study(made, {1: OBEYED}), {1: OBEYED}, {"X_RAILS": telling}, LIBRARY)
    assert found.advice[0].text.endswith("]; the fabric drops")


def test_what_no_library_reports_is_no_conclusion() -> None:
    made = runs([{"stream": 2.0}, {}], 2)
    found = study(made, {1: Probe(), 2: Probe()})
    assert [one.seen for one in found.honoured] == ["unsaid", "unsaid"]
    assert found.verdict == "inconclusive"
    known = study(made, {1: Probe(), 2: Probe(failed="no")})
    assert known.verdict == "pass"
