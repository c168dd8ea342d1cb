"""A measurement that is ended from outside ends in order, and says by what."""

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from tests.records import PROVENANCE, opened
from tests.synthetic import lab, run_of

from wireproof.cli.console import as_interrupt
from wireproof.instrument import Outcome
from wireproof.instrument.ending import Ending
from wireproof.launch.registry import Allocation
from wireproof.launch.schedulers import slurm_job
from wireproof.measure.session.launch import ended_from_outside
from wireproof.measure.session.merge import merged_run
from wireproof.model.claim import Claim
from wireproof.model.errors import CouldNotMeasure
from wireproof.model.record import EngineError
from wireproof.model.run import Ended, Missing, Run
from wireproof.report.reporter import LoggingReporter
from wireproof.target import Target
from wireproof.verdict.run import judge

HOSTS = ("a", "b")


def outcome(ended: Ended, reason: str = "a signal ended rank 1") -> Outcome:
    errors = [
        EngineError(code="rank-lost", message="x", rank=1),
        EngineError(code="nic-down", message="y"),
    ]
    run = Run(
        claim=Claim(hosts=[], wire=True),
        provenance=PROVENANCE,
        open=None,
        hosts=[],
        points=[],
        errors=errors,
        missing={3: Missing("rank-lost", reason), 4: Missing("rank-lost", reason, reached=False)},
    )
    return Outcome(
        run=run,
        ending=Ending(ended=ended, reason=reason, lost={1: "b was lost"}),
        exit_status=1,
        folder=Path(),
    )


class Signalled(LoggingReporter):
    """Has heard these signals."""

    def __init__(self, signals: Sequence[str]) -> None:
        self._signals = signals

    def interruption(self) -> str:
        return self._signals[0] if self._signals else ""


def named(outcome: Outcome, target: Target, signals: Sequence[str]) -> Outcome:
    return ended_from_outside(outcome, target, Signalled(signals))


def place(scheduler: str = "slurm") -> Target:
    allocation = Allocation(scheduler=scheduler, job="12", hosts=HOSTS)  # type: ignore[arg-type]
    return Target(hosts=HOSTS, start_on=HOSTS, allocation=allocation)


@pytest.fixture
def slurm(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[int, str, str]]:
    """What Slurm's programs answer, by name: (status, stdout, stderr)."""
    answers: dict[str, tuple[int, str, str]] = {"sinfo": (0, "a|idle|none\nb|idle|none\n", "")}

    def ask(argv: Sequence[str], _through: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
        if argv[0] not in answers:
            raise CouldNotMeasure(f"{argv[0]} did not answer")
        status, out, err = answers[argv[0]]
        return subprocess.CompletedProcess(list(argv), status, out, err)

    monkeypatch.setattr(slurm_job, "_ask", ask)
    return answers


def job(state: str, reason: str = "None") -> tuple[int, str, str]:
    return (
        0,
        (
            f"JobId=12 JobState={state} Reason={reason} TimeLimit=00:01:00 NodeList=a,b"
            " Partition=all\n"
        ),
        "",
    )


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (job("TIMEOUT", "TimeLimit"), "job 12 was ended at its time limit of 00:01:00"),
        (job("COMPLETING", "TimeLimit"), "job 12 was ended at its time limit of 00:01:00"),
        (job("CANCELLED"), "job 12 was cancelled"),
        (job("COMPLETING"), "Slurm ends job 12 before its time"),
        (job("NODE_FAIL", "NodeDown"), "one of its nodes failed"),
        (job("PENDING", "BeginTime"), "job 12 was ended and put back into the queue"),
        (
            (1, "", "slurm_load_jobs error: Invalid job id specified\n"),
            "Slurm no longer knows job 12",
        ),
    ],
)
def test_the_end_of_the_job_is_the_reason_and_nobody_is_blamed(
    slurm: dict[str, tuple[int, str, str]], answer: tuple[int, str, str], words: str
) -> None:
    slurm["scontrol"] = answer
    told = named(outcome("rank-lost"), place(), ["SIGTERM"])
    assert told.ending.ended == "interrupted"
    assert words in told.ending.reason
    assert told.ending.lost == {}
    assert words in told.run.missing[3].text
    assert told.run.missing[4] == Missing("interrupted", told.ending.reason, reached=False)
    assert str(told.run.missing[4]) == f"not reached: {told.ending.reason}"
    assert [one.code for one in told.run.errors] == ["broken-off", "nic-down"]


def test_a_node_that_took_the_job_with_it_is_named(slurm: dict[str, tuple[int, str, str]]) -> None:
    slurm["scontrol"] = job("NODE_FAIL", "NodeDown")
    slurm["sinfo"] = (0, "a|idle|none\nb|down*|Not responding\n", "")
    assert (
        "b cannot be used: its state in Slurm is down"
        in named(outcome("failed"), place(), []).ending.reason
    )


@pytest.mark.parametrize(
    "answer",
    [
        job("RUNNING"),
        (1, "", "Unable to contact slurm controller (connect failure)"),
        (0, "\0\xff", ""),
        None,
    ],
)
def test_a_job_that_runs_or_a_slurm_that_does_not_say_changes_nothing(
    slurm: dict[str, tuple[int, str, str]], answer: tuple[int, str, str] | None
) -> None:
    if answer is not None:
        slurm["scontrol"] = answer
    before = outcome("rank-lost")
    assert named(before, place(), []) is before


@pytest.mark.parametrize("ended", ["done", "mismatch", "bad-frame", "disk-full"])
def test_an_ending_of_its_own_stays(slurm: dict[str, tuple[int, str, str]], ended: Ended) -> None:
    slurm["scontrol"] = job("COMPLETED")
    before = outcome(ended)
    assert named(before, place(), []) is before


@pytest.mark.parametrize("where", [place("pbs"), Target(hosts=HOSTS, start_on=HOSTS)])
def test_elsewhere_a_signal_has_its_name(where: Target) -> None:
    assert "SIGTERM" in named(outcome("interrupted"), where, ["SIGTERM"]).ending.reason
    by_hand = outcome("interrupted", "interrupted by the user")
    assert named(by_hand, where, []) is by_hand


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_an_interrupt_once(number: signal.Signals) -> None:
    old = signal.getsignal(number)
    try:
        signal.signal(number, signal.SIG_DFL)
        with as_interrupt() as seen:
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), number)
            os.kill(os.getpid(), number)  # a second one does not disturb the sealing
        assert seen == [number.name] * 2
        assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, old)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def test_nohup_is_respected_and_without_a_signal_all_is_as_before() -> None:
    old = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with as_interrupt() as seen:
            os.kill(os.getpid(), signal.SIGHUP)
        assert seen == []
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, old)


def test_an_attempt_that_did_not_start_does_not_speak_for_those_that_did() -> None:
    begun = opened()
    dead, measured = (
        outcome("not-started").run,
        msgspec.structs.replace(outcome("done").run, open=begun),
    )
    assert merged_run([dead, measured]).open == begun
    assert merged_run([dead, dead]).open is None


def test_a_job_that_is_gone_before_anything_started_is_no_interruption(
    slurm: dict[str, tuple[int, str, str]],
) -> None:
    slurm["scontrol"] = (1, "", "slurm_load_jobs error: Invalid job id specified\n")
    told = named(outcome("not-started"), place(), []).ending
    assert told.ended == "not-started"
    assert told.reason == "Slurm no longer knows job 12"


def test_an_interruption_that_was_resumed_is_over() -> None:
    run = run_of(lab(nodes=2))

    def interrupted(at: int) -> Run:
        error = EngineError(code="interrupted", message="a signal ended the run", id=at, rank=0)
        return msgspec.structs.replace(run, errors=[error])

    assert judge(interrupted(run.points[0].id)).verdict == "pass"
    assert judge(interrupted(999)).verdict == "inconclusive"
    cut = msgspec.structs.replace(interrupted(run.points[0].id), close=None)
    assert "interrupted" in {one.code for one in judge(cut).findings}
