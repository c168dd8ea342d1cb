"""A study from its plan to its end, on launches that are made up."""

import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from wireproof import catalogue
from wireproof.experiment.study import (
    Configuration,
    Knob,
    Probe,
    Readback,
    StudiedPattern,
    Study,
    StudyRun,
)
from wireproof.experiment.study import job as under_test
from wireproof.experiment.study.catalogue import library_of
from wireproof.experiment.study.job import StudySpecification, library_called, run_study
from wireproof.experiment.study.readback import agreed_rails
from wireproof.measure.session import Storage
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.experiment import Metric
from wireproof.model.finding import Proof
from wireproof.model.record import Host, Nic
from wireproof.options.table import Options
from wireproof.target import Target

RATE = Metric(name="goodput", unit="bytes_per_s", better="higher", source="")


class World:
    """What the made-up launches do."""

    proof: Proof = "on-wire"
    fails_at: int | None = None
    interrupted_at: int | None = None
    launches = 0
    probes = 0


class Launcher:
    """Launches that take no time; 4096 doubles the stream."""

    target = Target(hosts=("n1", "n2"), start_on=("n1", "n2"), nics=("a0", "a0"))
    patterns: ClassVar = [StudiedPattern(name="stream", what="a stream", metric=RATE)]
    names = ("stream",)
    asked = ("a0",)
    base: ClassVar = {"PSM3_NIC": "a0"}
    rails: tuple[str, ...] = ()

    def __init__(self, world: World) -> None:
        self.world, self.draw = world, random.Random(1)

    def check(self, _one: Configuration) -> None:
        """Everything is read here."""

    def run(
        self, number: int, block: int, one: Configuration, _seed: str, _folder: Path
    ) -> StudyRun:
        if block >= 0:
            self.world.launches += 1
            if self.world.launches == self.world.interrupted_at:
                raise KeyboardInterrupt
            if self.world.launches == self.world.fails_at:
                raise CouldNotMeasure("the host went away")
        value = 2.0 if one.value == "4096" else 1.0
        return StudyRun(
            block=block,
            configuration=number,
            numbers={"stream": value * self.draw.gauss(100.0, 0.5)},
            seconds=1e-6,
            proof=self.world.proof,
        )


class Prober:
    """The library takes every value but 1."""

    def __init__(self, world: World) -> None:
        self.world = world

    def base(self) -> list[Host]:
        return [host("n1", "a0"), host("n2", "a0")]

    def probe(self, one: Configuration, _knob: Knob) -> Probe:
        self.world.probes += 1
        if one.value == "1":
            return Probe(failed="no such packet")
        said = Readback(
            setting=one.knob, asked=one.value, seen=one.value, source="taken", agrees=True
        )
        return Probe(readbacks=[said])


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    found = World()
    monkeypatch.setattr(under_test, "Launcher", lambda *_: Launcher(found))
    monkeypatch.setattr(under_test, "Prober", lambda *_: Prober(found))
    return found


SLOW = """id = "site"
title = "the site's library"
prefixes = ["PSM3_"]
says = SAID
complaints = [COMPLAINT]

[[knob]]
name = "PSM3_A"
what = "a knob"
source = "here"
valid = VALID
values = ["1"]
moves = ["latency"]
read = [{of = "line", expect = {"*" = EXPECT}}]
"""


@pytest.mark.timeout(60)
@pytest.mark.parametrize("slow", ["SAID", "COMPLAINT", "VALID", "EXPECT"])
def test_a_knobs_pattern_without_end_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, slow: str
) -> None:
    """As (a+)+ does, with a text that it almost fits."""
    monkeypatch.setattr(catalogue, "LONGEST_S", 0.5)
    end = "'(?P<value>(a|aa)+)!'"
    given = {"SAID": "{line = " + end + "}" if slow == "SAID" else "{line = '(?P<value>a+)'}"}
    given |= {name: end if name == slow else "'a?1?'" for name in ("COMPLAINT", "VALID", "EXPECT")}
    text = SLOW
    for name, pattern in given.items():
        text = text.replace(name, pattern)
    library = library_of(text, "site.toml")
    if slow == "VALID":
        wanted = StudySpecification(
            target=Options(), library=library, values={"PSM3_A": ("a" * 60,)}
        )
        with pytest.raises(BadInput, match="repeats a repetition"):
            run_study(wanted, Heard(), {})
        return
    started = SimpleNamespace(probe=lambda *_: ([], "a" * 60, ""))
    prober = under_test.Prober(started, library, tmp_path)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="the study site"):
        prober.probe(Configuration(knob="PSM3_A", value="1"), library.knob[0])


def host(name: str, *nics: str, speed: int = 10_000, **more: Any) -> Host:
    return Host(
        rank=0,
        host=name,
        hostname=name,
        nics=[Nic(name=one, address=["10.0.0.1"], speed_mbps=speed, **more) for one in nics],
    )


class Heard:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)

    warn = say

    def interruption(self) -> str:
        return ""

    def progress(self, *_: Any) -> Any:
        raise AssertionError("no run is shown")


def study(
    *values: str, heard: Heard | None = None, environment: dict[str, str] | None = None, **more: Any
) -> Study:
    wanted = StudySpecification(
        library=library_called("psm3"),
        target=Options(),
        values={"PSM3_MTU": values or ("4096", "8192", "1")},
        seed=5,
        **more,
    )
    return run_study(wanted, heard or Heard(), environment or {})


def test_what_works_is_measured_and_the_rest_is_named(world: World) -> None:
    heard = Heard()
    found = study(heard=heard)
    assert (found.stopped, found.rounds, found.verdict) == ("complete", 12, "pass")
    assert {run.configuration for run in found.runs} == {0, 1, 2}
    assert [one.answer for one in found.effects] == ["helps", "no-effect"]
    assert [one.seen for one in found.honoured] == ["honoured", "honoured", "refused"]
    assert [one.message for one in found.findings] == [
        "PSM3_MTU=1: no run works with it: no such packet"
    ]
    assert any("12 rounds of 3 launches" in line for line in heard.lines)
    assert any(line.startswith("round 3 of 12; ") for line in heard.lines)


def test_a_launch_that_fails_costs_itself_alone(world: World) -> None:
    world.fails_at = 4
    found = study()
    assert len(found.runs) == 35
    assert "failed and is left out: the host went away" in found.notes[-1]
    assert found.effects[0].answer == "helps"


def test_an_interrupted_study_keeps_what_it_has_and_goes_on(world: World, tmp_path: Path) -> None:
    world.interrupted_at = 17
    first = study(storage=Storage(folder=tmp_path / "s"))
    assert (first.stopped, first.rounds, len(first.runs)) == ("interrupted", 5, 16)
    assert {file.name for file in (tmp_path / "s").iterdir()} == {"begun.json", "study.json"}
    world.interrupted_at, before = None, world.probes
    again = study(storage=Storage(folder=tmp_path / "s", resume=True))
    assert (again.stopped, again.rounds, len(again.runs)) == ("complete", 12, 36)
    assert world.probes == before
    assert len({(run.block, run.configuration) for run in again.runs}) == 36
    with pytest.raises(BadInput, match="was started with the values 'PSM3_MTU=4096"):
        study("4096", storage=Storage(folder=tmp_path / "s", resume=True))
    with pytest.raises(BadInput, match="is not empty"):
        study(storage=Storage(folder=tmp_path / "s"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "begun.json is damaged"),
        ("{}", "begun.json is damaged"),
        ("", "begun.json is damaged"),
    ],
)
def test_a_damaged_folder(world: World, tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "begun.json").write_text(text)
    tmp_path.chmod(0o700)
    with pytest.raises(BadInput, match=says):
        study(storage=Storage(folder=tmp_path, resume=True))


def test_a_base_beside_the_wire_ends_it(world: World) -> None:
    world.proof = "off-wire"
    with pytest.raises(CouldNotMeasure, match="the runs without any value are off-wire of a0"):
        study()


def test_a_budget_that_is_too_small_is_said(world: World) -> None:
    found = study(budget_s=1e-12)
    assert (found.rounds, found.stopped) == (1, "complete")
    assert "to detect any effect: give a larger --budget" in found.notes[-1]
    assert "1 round in" in found.notes[-1]
    assert {one.answer for one in found.effects} == {"undecided"}


def test_when_no_value_works_the_study_still_says_so(world: World) -> None:
    found = study("1")
    assert (found.rounds, found.runs, found.verdict) == (0, [], "pass")


def test_rails_are_those_of_one_speed_on_all_hosts() -> None:
    both = [host("n1", "a0", "b0"), host("n2", "b0", "a0")]
    rails, notes = agreed_rails(both, ("a0",))
    assert rails == ("a0", "b0")
    assert notes == ["rails: a0, b0 (of equal speed on all hosts); --nic NIC,NIC selects others"]
    assert agreed_rails([both[0], host("n2", "a0")], ("a0",)) == (("a0",), [])
    assert agreed_rails(both, ("a0", "b0")) == (("a0", "b0"), [])
    assert agreed_rails(both, ("x0",)) == ((), [])


def test_rails_that_cannot_be_used() -> None:
    mixed = Host(
        rank=0,
        host="n1",
        hostname="n1",
        nics=[
            Nic(name="a0", address=["10.0.0.1"], speed_mbps=10_000),
            Nic(name="b0", address=["10.0.1.1"], speed_mbps=1_000),
            Nic(name="c0", speed_mbps=10_000),
        ],
    )
    for asked, says in (
        (("a0", "b0"), r"differ in speed \(a0 10000 Mb/s, b0 1000 Mb/s\)"),
        (("a0", "c0"), "c0 of n1 has no address"),
        (("a0", "d0"), "n1 has no NIC 'd0'; it has a0, b0, c0"),
    ):
        with pytest.raises(BadInput, match=says):
            agreed_rails([mixed], asked)


def test_what_is_set_here_is_said(world: World) -> None:
    set_here = {"PSM3_TRACEMASK": "1", "PSM3_X_TOKEN": "abc", "HOME": "/root", "PSM3_NIC": "b0"}
    notes = study("4096", environment=set_here).notes
    assert notes[0].endswith("in every run: PSM3_TRACEMASK=1 PSM3_X_TOKEN=***")
