"""Which way is tried first in a job, and which next."""

from pathlib import Path

import pytest
from tests.records import PROVENANCE

from wireproof.instrument import Outcome
from wireproof.instrument.ending import Ending
from wireproof.launch.registry import Allocation, LaunchCommand, Starter
from wireproof.measure.session import Session
from wireproof.measure.session.launch import install_for, launch_options, started
from wireproof.model.claim import Claim
from wireproof.model.run import Ended, Run
from wireproof.options.table import Options
from wireproof.report.reporter import LoggingReporter
from wireproof.target import Target
from wireproof.target.resolve import resolve_target

HOSTS = ("c1", "c2", "c3")
WISH = Session(title="t", points=(), seed=1, mpi="mpich")


def job(scheduler: str, starter: Starter = "scheduler", **more: object) -> Target:
    allocation = Allocation(scheduler=scheduler, job="7", hosts=HOSTS)  # type: ignore[arg-type]
    return Target(hosts=HOSTS, start_on=HOSTS, allocation=allocation, starter=starter, **more)  # type: ignore[arg-type]


def ways(place: Target) -> list[LaunchCommand]:
    return launch_options(WISH, place, install_for(WISH))


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The schedulers' own launchers on PATH."""
    for name in ("pbs_tmrsh", "blaunch", "flux"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")


@pytest.mark.parametrize(
    ("scheduler", "word"), [("pbs", "pbs_tmrsh"), ("lsf", "lsf"), ("flux", "flux")]
)
def test_the_schedulers_way_comes_first_and_ssh_next(
    programs: None, scheduler: str, word: str
) -> None:
    first, second = ways(job(scheduler))
    assert word in first.argv
    assert word not in second.argv
    assert second.argv[1:3] == ("-launcher", "ssh")
    assert "over ssh" in second.why
    assert second.why in second.notes


@pytest.mark.parametrize(
    ("scheduler", "word"), [("pbs", "pbs_tmrsh"), ("lsf", "blaunch"), ("flux", "flux")]
)
def test_a_launcher_that_is_not_there_is_not_tried_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scheduler: str, word: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    first, second = ways(job(scheduler))
    assert first.argv[1:3] == ("-launcher", "ssh")
    assert f"{word} is not on PATH" in first.why
    assert first.argv != second.argv


def test_what_the_schedulers_launcher_cannot_say_is_left_to_the_mpis(programs: None) -> None:
    (only,) = ways(job("flux", nics=("ib0", "ib0", "ib1")))
    assert only.argv[1:3] == ("-launcher", "ssh")
    assert "ib1" in only.why


@pytest.mark.parametrize("scheduler", ["pbs", "lsf", "flux", "slurm"])
def test_a_program_of_the_users_own_is_stronger_than_any_scheduler(
    scheduler: str, tmp_path: Path
) -> None:
    (only,) = ways(job(scheduler, agent=str(tmp_path / "reach")))
    assert str(tmp_path / "reach") in only.argv
    assert "srun" not in only.argv


def test_the_program_of_the_option_reaches_the_nodes_of_a_job(tmp_path: Path) -> None:
    reach = tmp_path / "reach"
    reach.write_text("#!/bin/sh\n")
    (tmp_path / "nodes").write_text("c1\nc1\nc2\n")
    job = {"PBS_JOBID": "12.srv", "PBS_NODEFILE": str(tmp_path / "nodes")}
    place = resolve_target(Options(launcher=str(reach)), job)
    assert place.hosts == ("c1", "c2")
    assert place.agent == str(reach)


class Heard(LoggingReporter):
    """Remembers what was said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def warn(self, text: str) -> None:
        self.said.append(text)


def outcome(ended: Ended, lost: dict[int, str] | None = None) -> Outcome:
    run = Run(
        claim=Claim(hosts=[], wire=True), provenance=PROVENANCE, open=None, hosts=[], points=[]
    )
    return Outcome(
        run=run,
        ending=Ending(ended=ended, reason="no daemon", lost=lost or {}),
        exit_status=1,
        folder=Path(),
    )


def test_the_next_way_is_tried_only_when_nothing_started() -> None:
    two = [
        LaunchCommand(argv=(name,), environment={}, launcher=name, why=f"by {name}")
        for name in "ab"
    ]
    here, heard, tried = Target(hosts=HOSTS, start_on=HOSTS), Heard(), list[tuple[str, bool]]()

    def run(way: LaunchCommand, begun: bool) -> Outcome:
        tried.append((way.launcher, begun))
        return outcome("not-started" if way.launcher == "a" else "failed")

    assert started(two, here, run, heard).ending.ended == "failed"
    assert tried == [("a", False), ("b", True)]
    assert heard.said == ["no daemon; trying another launcher: by b"]
    assert started(two[1:], here, run, heard).ending.ended == "failed"
    assert len(tried) == 3


@pytest.mark.parametrize(
    ("lost", "tries"), [({2: "c3 refused"}, 1), ({1: "c2 refused", 2: "c3 refused"}, 2), ({}, 2)]
)
def test_a_way_that_misses_a_host_only_is_kept_and_the_host_is_left_out(
    lost: dict[int, str], tries: int
) -> None:
    two = [
        LaunchCommand(argv=(name,), environment={}, launcher=name, why=f"by {name}")
        for name in "ab"
    ]
    tried: list[str] = []

    def run(way: LaunchCommand, _begun: bool) -> Outcome:
        tried.append(way.launcher)
        return outcome("not-started", lost if way.launcher == "a" else None)

    ending = started(two, Target(hosts=HOSTS, start_on=HOSTS), run, LoggingReporter()).ending
    assert len(tried) == tries
    assert ending.lost == (lost if tries == 1 else {})
