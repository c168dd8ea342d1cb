"""What is concluded of a ladder's layers and steps, what is advised, and how it is shown."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from wireproof.audit.job import catalogue
from wireproof.experiment.ladder import Ladder, Layer, LayerLine, LayerName, LayerStep, MissingLayer
from wireproof.experiment.ladder.document import ladder_document
from wireproof.experiment.ladder.job import ModelStep
from wireproof.experiment.ladder.launched import sizes_for
from wireproof.experiment.ladder.verdict import KNOBS, hints_for, judge_ladder
from wireproof.model.experiment import Interval
from wireproof.model.plan import ModelWorld
from wireproof.options.knobs import FAMILIES
from wireproof.report.ink import Look
from wireproof.report.text import document_text
from wireproof.verdict.catalogue import CATALOGUE

GB = 1e9


def layer(name: LayerName, rate: float = 1.2 * GB, **more: Any) -> Layer:
    found = Layer(
        name=name,
        title=f"layer {name}",
        how="",
        form="t(s) = o + s/R",
        proof="on-wire",
        line=LayerLine(
            start=Interval(value=2e4, low=1.9e4, high=2.1e4),
            rate=Interval(value=rate, low=rate * 0.99, high=rate * 1.01),
        ),
        times=[],
        rounds=9,
    )
    return msgspec.structs.replace(found, **more)


def step(lower: LayerName, upper: LayerName, **more: Any) -> LayerStep:
    found = LayerStep(
        lower=lower,
        upper=upper,
        quantity="start",
        answer="no-loss",
        ratio=1.0,
        low=0.98,
        high=1.02,
        difference=Interval(value=0.0, low=-100.0, high=100.0),
        p=1.0,
    )
    return msgspec.structs.replace(found, **more)


LOST = {"answer": "loses", "ratio": 1.6, "low": 1.5, "high": 1.7, "p": 0.01}


def judged(steps: list[LayerStep], *layers: Layer, **more: Any) -> Any:
    given = list(layers) or [layer("tcp"), layer("mpi")]
    return judge_ladder(given, more.pop("missing", []), steps, smallest=0.25, **more)


def codes(found: Any) -> list[tuple[str, str]]:
    return [(one.code, one.severity) for one in found.findings]


def test_no_loss_passes_and_says_what_is_left_of_the_rate() -> None:
    found = judged([step("tcp", "mpi")])
    assert (found.verdict, codes(found)) == ("pass", [])
    assert found.answer.startswith("no layer loses more than 25%")
    assert "(100%) remain in layer mpi" in found.answer


def test_a_loss_of_start_and_of_rate_fail_by_their_own_codes() -> None:
    found = judged([step("tcp", "mpi", **LOST), step("tcp", "mpi", quantity="rate", **LOST)])
    assert found.verdict == "fail"
    assert codes(found) == [("layer-latency", "fail"), ("layer-rate", "fail")]
    assert "62 % of its rate [59, 67]" in found.findings[1].message
    assert all(one.advice == CATALOGUE[one.code].next_action for one in found.findings)


def test_a_loss_that_is_not_paid_above_is_a_note() -> None:
    found = judged([step("tcp", "ofi", **LOST, regained="mpi")], *map(layer, ("tcp", "ofi", "mpi")))
    assert (found.verdict, codes(found)) == ("pass", [("layer-latency", "note")])
    assert "layer mpi does not have this loss" in found.findings[0].message


@pytest.mark.parametrize(
    ("lower", "upper", "severity"),
    [
        (0.6, 0.7, "inconclusive"),  # the hosts have other work
        (0.6, None, "inconclusive"),
        (0.0, 0.7, "fail"),  # the upper layer's own threads
        (0.6, 0.0, "fail"),
        (None, None, "fail"),
    ],
)
def test_a_busy_host_is_not_blamed_on_a_layer(
    lower: float | None, upper: float | None, severity: str
) -> None:
    layers = layer("tcp", waited=lower), layer("mpi", waited=upper)
    found = judged([step("tcp", "mpi", **LOST)], *layers)
    assert codes(found) == [("layer-latency", severity)]
    assert ("waited for a processor" in found.answer) == (severity == "inconclusive")


def test_an_open_step_is_inconclusive() -> None:
    found = judged([step("tcp", "mpi", answer="undecided", low=None, high=None)])
    assert (found.verdict, codes(found)) == ("inconclusive", [("layer-undecided", "inconclusive")])


def test_a_layer_beside_the_wire_and_one_that_is_missing_are_named() -> None:
    beside = layer("mpi", proof="off-wire", apart="its path is off-wire")
    gone = MissingLayer(name="ofi", title="libfabric", why="no library")
    found = judged([], layer("tcp"), beside, missing=[gone])
    assert found.verdict == "inconclusive"
    assert codes(found) == [
        ("layer-off-wire", "inconclusive"),
        ("ladder-too-short", "inconclusive"),
        ("layer-missing", "note"),
    ]


@pytest.mark.parametrize(("rate", "slow"), [(0.3 * GB, True), (1.2 * GB, False)])
def test_the_link_itself_is_named_when_no_layer_fills_it(rate: float, slow: bool) -> None:
    found = judged(
        [step("tcp", "mpi")],
        layer("tcp", 0.3 * GB),
        layer("mpi", rate),
        attainable_bytes_per_s=1.24 * GB,
    )
    assert (("lowest-layer-slow", "fail") in codes(found)) == slow


def test_without_intervals_nothing_is_said_of_the_link() -> None:
    line = LayerLine(start=None, rate=Interval(value=0.1 * GB))
    found = judged(
        [step("tcp", "mpi")], layer("tcp", line=line), layer("mpi"), attainable_bytes_per_s=2 * GB
    )
    assert found.verdict == "pass"


def test_every_knob_is_known_to_what_tries_it() -> None:
    settings = catalogue().entries
    for knob in KNOBS:
        if knob.name.startswith("study "):
            assert knob.name.removeprefix("study ") in ("psm3", "ucx", "ofi", "impi")
            continue
        known = knob.name.startswith(FAMILIES) if knob.values else knob.name in settings
        assert known, knob.name
    for name in ("verbs", "tcp", "ofi", "mpi", "collective", "application"):
        for quantity in ("start", "rate", "windowed"):
            lost = [step("tcp", name, quantity=quantity, **LOST)]  # type: ignore[arg-type]
            assert hints_for(lost, {"ofi": "libfabric psm3 tcp"}, "--hosts A,B"), (name, quantity)


def test_hints_are_of_the_layer_that_loses_and_of_its_provider() -> None:
    lost = [step("tcp", "ofi", **LOST), step("ofi", "mpi")]
    found = hints_for(lost, {"ofi": "libfabric tcp;ofi_rxm"}, "--hosts a,b --nic x")
    assert {one.layer for one in found} == {"ofi"}
    assert not [one for one in found if "PSM3" in one.name or "psm3" in one.name]
    assert all("--hosts a,b --nic x" in one.command for one in found)
    assert all("--transport ofi" in one.command for one in found)


def test_the_text_fits_and_is_harmless() -> None:
    layers = [layer("tcp", title="kernel \x1b[31mTCP"), layer("mpi", title="x" * 200)]
    found = judged([step("tcp", "mpi", **LOST)], *layers)
    ladder = Ladder(
        hosts=["n1", "n\x1b2"],
        nic="eth0",
        link="10gbe",
        attainable_bytes_per_s=None,
        rounds=9,
        seed=1,
        alpha=0.05,
        smallest=0.25,
        layers=layers,
        missing=[],
        steps=found.steps,
        findings=found.findings,
        hints=hints_for(found.steps, {}, "--hosts n1,n2"),
        verdict=found.verdict,
        answer=found.answer,
        seconds=60.0,
    )
    for width in (80, 120):
        text = document_text(ladder_document(ladder), Look(width=width))
        assert "\x1b" not in text
        assert text.split()[0] == "FAIL"
        # commands are pasted, and the figure of a name without end is what it is
        short = [one for one in text.splitlines() if "wireproof" not in one and "xxx" not in one]
        assert max(map(len, short)) <= width


def test_sizes_follow_the_rate_of_the_link() -> None:
    assert max(sizes_for(100e6)) == 65536
    assert max(sizes_for(1e9)) == 1 << 20
    assert max(sizes_for(400e9)) == 4 << 20
    assert sizes_for(None) == sizes_for(1e9)


def test_a_models_step_holds_for_its_world() -> None:
    world = ModelStep(layer="mpi", latency_ns=11_000).put_on(
        ModelWorld(latency_ns=1000, gap_ns_per_byte=0.1)
    )
    assert (world.latency_ns, world.gap_ns_per_byte) == (12_000, 0.1)
