"""The course of a ladder over layers that are made up: what fails, what is missing, what is asked
for.
"""

from pathlib import Path
from typing import Any

import pytest

from wireproof.experiment.ladder import LayerName
from wireproof.experiment.ladder import job as course
from wireproof.experiment.ladder.job import LadderSpecification, methods_of, run_ladder
from wireproof.experiment.ladder.steps import Round
from wireproof.measure.session import Storage
from wireproof.model.errors import CouldNotMeasure
from wireproof.model.finding import Proof
from wireproof.options.resolve import resolve
from wireproof.options.table import Options
from wireproof.report.reporter import LoggingReporter
from wireproof.target import Target

SIZES = (8, 64, 512, 65536, 262144, 1 << 20)
TARGET = Target(hosts=("a", "b"), start_on=("a", "b"))


class Made:
    """A layer of 20 us and 1 GB/s, that fails in the rounds of ``fails``."""

    def __init__(
        self, name: LayerName, *fails: int, start_ns: float = 2e4, proof: Proof = "on-wire"
    ) -> None:
        self.name: LayerName = name
        self.title = f"the {name}"
        self.target, self._fails, self._start_ns, self._proof = TARGET, fails, start_ns, proof

    def run(self, number: int, _seed: int, _reporter: Any) -> Round:
        if number in self._fails:
            raise CouldNotMeasure(f"{self.title}: no {self.name} here.")
        jitter = 1.0 + 0.001 * ((7 * number) % 5)
        return Round({size: jitter * (self._start_ns + size) for size in SIZES})

    def part(self) -> None:
        return None

    def titled(self) -> str:
        return self.title

    def how(self) -> str:
        return "made up"

    def waited(self) -> float:
        return 0.0

    def proof(self) -> Proof:
        return self._proof


def ladder(monkeypatch: pytest.MonkeyPatch, *layers: Made, **more: Any) -> Any:
    mpi, ofi = methods_of(resolve({}, {}))
    monkeypatch.setattr(course, "layers_of_hosts", lambda *_: list(layers))
    wanted = LadderSpecification(
        target=Options(), mpi=mpi, ofi=ofi, **{"layers": (), "storage": Storage(kept=False), **more}
    )
    return run_ladder(wanted, LoggingReporter(), {})[0]


def test_a_layer_that_is_not_here_is_named_and_the_step_spans_over_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = ladder(monkeypatch, Made("tcp"), Made("ofi", *range(20)), Made("mpi", start_ns=4e4))
    assert [(one.name, one.why) for one in found.missing] == [
        ("ofi", "no ofi here"),
        ("verbs", "the first active port is not an RDMA device on both hosts"),
    ]
    assert [(one.lower, one.upper, one.answer) for one in found.steps] == [
        ("tcp", "mpi", "loses"),
        ("tcp", "mpi", "no-loss"),
    ]
    assert found.verdict == "fail"


def test_one_that_is_asked_for_must_be_here(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CouldNotMeasure, match="no ofi here"):
        ladder(monkeypatch, Made("tcp"), Made("ofi", 0), layers=("tcp", "ofi"))


def test_one_round_may_fail_and_no_second(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ladder(monkeypatch, Made("tcp"), Made("mpi", 3))
    assert [one.rounds for one in found.layers] == [found.rounds, found.rounds - 1]
    assert found.verdict == "pass"
    with pytest.raises(CouldNotMeasure, match="no mpi here"):
        ladder(monkeypatch, Made("tcp"), Made("mpi", 3, 4))


def test_when_nothing_can_be_measured_the_first_reason_is_the_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(CouldNotMeasure, match=r"no (tcp|mpi) here"):
        ladder(monkeypatch, Made("tcp", 0), Made("mpi", 0))


def test_a_layer_beside_the_wire_is_in_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    layers = Made("tcp"), Made("ofi", start_ns=9e4, proof="off-wire"), Made("mpi")
    found = ladder(monkeypatch, *layers)
    assert {(one.lower, one.upper) for one in found.steps} == {("tcp", "mpi")}
    assert found.verdict == "inconclusive"
    assert "layer-off-wire" in {one.code for one in found.findings}


def test_raw_verbs_take_the_place_of_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course, "rdma_device", lambda *_: ("mlx5_0", ""))
    monkeypatch.setattr(course, "raw_verbs", lambda *_, **__: Made("verbs"))
    found = ladder(monkeypatch, Made("tcp"), Made("mpi"))
    assert [one.name for one in found.layers] == ["verbs", "mpi"]
    both = ladder(monkeypatch, Made("tcp"), Made("mpi"), layers=("verbs", "tcp", "mpi"))
    assert [one.name for one in both.layers] == ["verbs", "tcp", "mpi"]


def test_an_interrupted_ladder_keeps_its_whole_rounds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Stopping(Made):
        def run(self, number: int, seed: int, reporter: Any) -> Round:
            if number == 2:
                raise KeyboardInterrupt
            return super().run(number, seed, reporter)

    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        ladder(monkeypatch, Made("tcp"), Stopping("mpi"), storage=Storage(folder=out))
    assert b'"rounds":2' in (out / "ladder.json").read_bytes()
