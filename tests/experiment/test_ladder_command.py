"""Layers that other programs measure: what is run, and what is made of what they print."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from wireproof.experiment.ladder import commanded
from wireproof.experiment.ladder.commanded import CommandedLayer, application, raw_verbs
from wireproof.experiment.ladder.steps import Round
from wireproof.logs.readers import read
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.finding import Proof
from wireproof.model.traffic import Traffic, TrafficVerdict
from wireproof.options.knobs import metric_reader
from wireproof.report.reporter import LoggingReporter
from wireproof.target import Target
from wireproof.watch import steps
from wireproof.watch.prove import ProofSpecification, ProvedCommand

TARGET = Target(hosts=("n1", "n2"), start_on=("n1", "n2"), nics=("ib0", "ib0"))
OSU = """
# OSU MPI Latency Test v7.2
# Size          Latency (us)
1                       1.20
1024                    2.40
1048576                90.00
"""
BANDWIDTH = """
# OSU MPI Bandwidth Test v7.2
# Size      Bandwidth (MB/s)
1                       2.00
1048576             12000.00
"""


class Fake:
    """Stands for the proof of a command: prints ``output``, ends with ``status``."""

    def __init__(self, output: str, status: int = 0, proof: Proof = "on-wire") -> None:
        self.output, self.status, self.proof = output, status, proof
        self.ran: list[tuple[str, ...]] = []

    def __call__(self, wanted: ProofSpecification, **_: Any) -> ProvedCommand:
        self.ran.append(wanted.argv)
        data = self.output.format(size=wanted.argv[-1]).encode()
        try:
            series = read(data, "osu")
        except BadInput:
            series = []
        return ProvedCommand(
            exit_status=self.status,
            output=data,
            seconds=1.0,
            traffic=Traffic(hosts=[], seconds=1.0, idle_s=1.0, interval_s=0.1),
            judgement=TrafficVerdict(proof=self.proof, verdict="pass", reasons=[], port=""),
            series=series,
        )


def layer(*argv: str, **more: Any) -> CommandedLayer:
    given: dict[str, Any] = {"sizes": (), "number": None, "environment": {}, "folder": None, **more}
    return application(argv, TARGET, **given)


def measured(one: CommandedLayer) -> Round:
    return one.run(0, 1, LoggingReporter())


def test_a_table_gives_times_and_the_rate_of_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = Fake(OSU + BANDWIDTH)
    monkeypatch.setattr(commanded, "prove_command", fake)
    one = layer("mpirun", "osu_latency")
    found = measured(one)
    assert found.times == {1: 1200.0, 1024: 2400.0, 1 << 20: 90_000.0}
    assert found.windowed == 12e9
    assert (one.proof(), len(fake.ran)) == ("on-wire", 1)


def test_a_command_is_run_for_each_size(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = Fake("took {size} us")
    monkeypatch.setattr(commanded, "prove_command", fake)
    read_us = metric_reader("took ([0-9]+)")

    def number(text: str) -> float | None:
        value = read_us(text)
        return None if value is None else value * 1e3

    one = layer("app", "{size}", sizes=(8, 64), number=number, folder=tmp_path)
    assert measured(one).times == {8: 8000.0, 64: 64_000.0}
    assert fake.ran == [("app", "8"), ("app", "64")]
    assert one.proof() == "unproven"  # nothing was read of any port
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "application-1-1.json",
        "application-1-2.json",
    ]


@pytest.mark.parametrize(
    ("output", "status", "said"),
    [("hello", 0, "no known table of sizes"), (OSU, 3, "mpirun ended with status 3")],
)
def test_what_cannot_be_used_is_said(
    monkeypatch: pytest.MonkeyPatch, output: str, status: int, said: str
) -> None:
    monkeypatch.setattr(commanded, "prove_command", Fake(output, status))
    with pytest.raises(CouldNotMeasure, match=said):
        measured(layer("mpirun", "app"))


@pytest.mark.parametrize("output", ["took 0 us", "took us", "took -5 us"])
def test_a_time_that_is_none_is_said(monkeypatch: pytest.MonkeyPatch, output: str) -> None:
    monkeypatch.setattr(commanded, "prove_command", Fake(output))
    with pytest.raises(CouldNotMeasure, match=r"no positive time in the output for 8 B"):
        measured(layer("app", "{size}", sizes=(8,), number=metric_reader("took (-?[0-9]+)")))


def test_an_interrupted_command_ends_the_ladder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commanded, "prove_command", Fake(OSU, 130))
    with pytest.raises(KeyboardInterrupt):
        measured(layer("mpirun", "app"))


def test_a_metric_and_a_size_belong_together() -> None:
    with pytest.raises(BadInput, match="belong together"):
        layer("app", "{size}")
    with pytest.raises(BadInput, match="belong together"):
        layer("app", number=metric_reader("x"))


@pytest.mark.parametrize(
    ("proofs", "whole"),
    [
        (["on-wire", "on-wire"], "on-wire"),
        (["on-wire", "unproven"], "unproven"),
        (["on-wire", "off-wire"], "off-wire"),
    ],
)
def test_every_round_must_be_proven(
    monkeypatch: pytest.MonkeyPatch, proofs: list[Proof], whole: Proof
) -> None:
    one = layer("mpirun", "osu_latency")
    for number, proof in enumerate(proofs):
        monkeypatch.setattr(commanded, "prove_command", Fake(OSU, proof=proof))
        one.run(number, 1, LoggingReporter())
    assert one.proof() == whole


@pytest.mark.parametrize("sizes", [(), (8, 65536)])
def test_raw_verbs_are_perftests_write_on_the_device(
    monkeypatch: pytest.MonkeyPatch, sizes: tuple[int, ...]
) -> None:
    monkeypatch.setattr(steps, "find_tool", lambda *_, **__: Path("/usr/bin/ib_write_x"))
    monkeypatch.setattr(commanded, "ready", commanded.ready)
    fake = Fake(OSU)
    monkeypatch.setattr(commanded, "prove_command", fake)
    local = Target(hosts=("n1", "n2"), start_on=("n1", "n2"), nics=("mlx5_0", "mlx5_0"))
    monkeypatch.setattr("wireproof.watch.benchmark.with_core_and_address", lambda wanted, _: wanted)
    with ExitStack() as stack:
        one = raw_verbs(
            local, ("mlx5_0", "10.0.0.2"), sizes, environment={}, folder=None, stack=stack
        )
        one.run(0, 1, LoggingReporter())
    *latency, bandwidth = (" ".join(argv) for argv in fake.ran)
    assert all("-n 200" in words for words in latency)
    if sizes:
        assert ["-s 8 " in latency[0], "-s 65536" in latency[1]] == [True, True]
        assert "-s 65536" in bandwidth
    else:
        assert "-a" in latency[0].split()
        assert "-s 1048576" in bandwidth
    for words in (*latency, bandwidth):
        assert "-d mlx5_0" in words
        assert "10.0.0.2" in words
