"""Measure a plan: start the engine, check and store every frame, and report how the run ended."""

import contextlib
import dataclasses
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from wireproof.files.hostile import read_bounded
from wireproof.instrument.ending import (
    Ending,
    classify,
    missing_points,
    under_way,
    unreachable,
)
from wireproof.instrument.folder import DiskFull, RunFolder, open_folder
from wireproof.instrument.lost import LARGE_MESSAGES_HANG, SignsOfLife
from wireproof.instrument.plan_text import write_plan
from wireproof.instrument.process import GuardedProcess, hydra_files_removed, scratch
from wireproof.launch.engines import find_program
from wireproof.launch.mpi.environment import effective
from wireproof.launch.registry import LaunchCommand
from wireproof.model.claim import Claim
from wireproof.model.errors import BadInput, member_of
from wireproof.model.frames import BadFrame, FrameReader, assemble, sealed_points
from wireproof.model.plan import Plan
from wireproof.model.record import (
    Close,
    EngineError,
    Frame,
    Open,
    PlanRead,
    PointRecord,
    Start,
)
from wireproof.model.run import Ended, Provenance, Run, RunDocument

OnFrame = Callable[[Frame], None]
START_SECONDS = 60.0
"""Time limit from the launcher's start to the first frame; large machines start slowly, and broken
ones never do.
"""
SLACK_SECONDS = 10.0
"""Time by which the engine may exceed its deadline before it is considered hung."""
_WAITS = 3.0
"""The engine may wait twice after the last point for counters that are updated late."""
TALK_BYTES = 64 << 10
_TICK = 0.25
_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)  # Windows has no SIGHUP


@dataclasses.dataclass(frozen=True, kw_only=True)
class Recording:
    """The recording of a run. ``out``: its folder, None for a private temporary folder; ``resume``:
    continue the run in it. ``on_frame`` is called for each frame, ``observed`` once at the end: it
    returns observations from outside the engine, which are stored with the frames. ``deadline_s``:
    for the whole run, None for the plan's deadline. ``on_this_machine``: all processes run here, so
    their temporary files can be in a private folder that is removed with the run. ``guard``: the
    guard's program, None for the default. ``meanwhile``: short steps to take while the ranks start,
    in order. No step begins once all ranks have connected, because they then read the counters of
    an idle network.
    """

    out: Path | None = None
    resume: bool = False
    on_frame: OnFrame | None = None
    deadline_s: float | None = None
    observed: Callable[[], Sequence[EngineError]] = tuple
    on_this_machine: bool = False
    guard: Path | None = None
    meanwhile: Sequence[Callable[[], object]] = ()


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """A measured (or interrupted) run. ``ending.ended == "done"``: every planned point has its
    frame.
    """

    run: Run
    ending: Ending
    exit_status: int | None
    folder: Path

    @property
    def complete(self) -> bool:
        return self.ending.ended == "done"


class _Recorder:
    """Handles the engine's output: frames go to the folder and to ``on_frame``, other output to the
    log, times to the watch.
    """

    def __init__(self, plan: Plan, folder: RunFolder, recording: Recording) -> None:
        self.plan = plan
        self.folder = folder
        self.frames: list[Frame] = []
        self.talk = b""
        self.plan_read_bytes = 0
        self._reader = FrameReader()
        self._on_frame = recording.on_frame
        self._meanwhile = [*recording.meanwhile]
        self._begun = time.monotonic()
        self._signs = SignsOfLife(plan, self._begun)
        self._stopped: dict[int, str] = {}
        own = plan.policy.run_deadline_ms / 1000 + START_SECONDS
        self._deadline_s = recording.deadline_s or own
        self._until = self._begun + START_SECONDS
        self._waiting_for = (
            f"no frame came within {START_SECONDS:.0f} s of the start" + unreachable(plan)
        )

    def take(self, channel: str, data: bytes) -> None:
        """Handle ``data``. Raise ``BadFrame`` and ``DiskFull``; frames before a bad
        frame are kept.
        """
        if channel == "talk":
            self._keep_talk(self._signs.take(data, time.monotonic()))
            return
        try:
            for line, frame in self._reader.feed(data):
                if isinstance(frame, PlanRead):
                    self.plan_read_bytes = frame.read_bytes
                    continue
                self.folder.append(line)
                self.frames.append(frame)
                self._watch(frame)
                if self._on_frame is not None:
                    self._on_frame(frame)
        finally:
            for foreign in self._reader.take_talk():
                self._keep_talk(foreign + b"\n")

    def note(self, errors: Sequence[EngineError]) -> None:
        """Store observations from outside the engine; a full disk loses only these."""
        for error in errors:
            self.frames.append(error)
            with contextlib.suppress(DiskFull):
                self.folder.append(msgspec.json.encode(error))

    def _keep_talk(self, data: bytes) -> None:
        self.folder.log(data)
        self.talk = (self.talk + data)[-TALK_BYTES:]

    def _watch(self, frame: Frame) -> None:
        """Update the time after which silence means a hang."""
        policy = self.plan.policy
        now = time.monotonic()
        self._signs.moved(now)
        if isinstance(frame, Start):
            self._set(
                now + policy.point_deadline_ms / 1000 + SLACK_SECONDS,
                "the engine hung past the point's deadline",
            )
        elif isinstance(frame, PointRecord | Open):
            facts = sum(fact.timeout_ms for fact in self.plan.facts) / 1000
            late = max((ms for _, ms in self.plan.witness.late), default=0) / 1000
            silent_s = facts + max(START_SECONDS, _WAITS * late)
            silent = f"the engine was silent for {silent_s:.0f} s"
            if isinstance(frame, Open):
                self._meanwhile.clear()
                silent += unreachable(self.plan)
            self._set(now + silent_s, silent)
        elif isinstance(frame, Close):
            self._set(now + SLACK_SECONDS, "the engine did not end after its last frame")

    @property
    def has_time(self) -> bool:
        """True if the ranks are still starting, so that a step can be taken meanwhile."""
        return bool(self._meanwhile)

    def use_time(self) -> None:
        """Take the next step if there is time. Signals are delayed until it ends, because an
        interrupted import cannot always be repeated; a failed import is reported when the module is
        used.
        """
        if not self._meanwhile:
            return
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            with contextlib.suppress(ImportError):
                self._meanwhile.pop(0)()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _set(self, until: float, waiting_for: str) -> None:
        self._until, self._waiting_for = until, waiting_for

    def ending(self, status: int | None, late: str) -> Ending:
        """Return the ending of the run: it exited with ``status``, or wireproof ended it for the
        reason ``late``.
        """
        self._keep_talk(self._signs.rest())
        return classify(
            self.plan, self.frames, self.talk, status, timed_out=late, stopped=self._stopped
        )

    def timed_out(self) -> str:
        """Return the deadline that has passed or the rank that has stopped, as a reason, or
        None.
        """
        now = time.monotonic()
        self._stopped = self._signs.stopped(self.frames, now)
        if self._stopped:
            return "; ".join(self._stopped.values())
        if dropped := self._signs.dropped(self.frames, now):
            self.note([EngineError(code=LARGE_MESSAGES_HANG, message=dropped)])
            return dropped
        if now > self._begun + self._deadline_s:
            return f"the run's deadline of {self._deadline_s:.0f} s passed"
        return self._waiting_for if now > self._until else ""


def _listen(process: GuardedProcess, recorder: _Recorder) -> tuple[int | None, str]:
    """Listen until the tree has ended or a deadline has passed; return (exit status, passed
    deadline).
    """
    while process.listening:
        recorder.use_time()
        for channel, data in process.hear(0.0 if recorder.has_time else _TICK):
            recorder.take(channel, data)
            process.plan_read(recorder.plan_read_bytes)
        if late := recorder.timed_out():
            status = process.end()
            _drain(process, recorder)
            return status, late
        if process.poll() is not None:
            _drain(process, recorder)
            break
    ended = process.wait(START_SECONDS)
    return (
        (process.end(), "the launcher did not end after its output was closed")
        if ended is None
        else (ended, "")
    )


def _drain(process: GuardedProcess, recorder: _Recorder) -> None:
    for channel, data in process.rest():
        recorder.take(channel, data)


@contextlib.contextmanager
def _one_interrupt() -> Iterator[None]:
    """Let only the first SIGINT interrupt the run; further signals cannot disturb the clean-up."""

    def once(_number: int, _frame: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    main = threading.current_thread() is threading.main_thread()
    old = signal.signal(signal.SIGINT, once) if main else None
    try:
        yield
    finally:
        if old is not None:
            signal.signal(signal.SIGINT, old)


def _run(process: GuardedProcess, recorder: _Recorder) -> tuple[Ending, int | None]:
    try:
        status, late = _listen(process, recorder)
        return recorder.ending(status, late), status
    except KeyboardInterrupt:
        status = process.end()
        with contextlib.suppress(BadFrame, DiskFull):  # frames that were in transit
            _drain(process, recorder)
        return _broken_off("interrupted", "interrupted by the user", recorder), status
    except DiskFull as error:
        return _broken_off("disk-full", str(error), recorder), process.end()
    except BadFrame as error:
        return _broken_off("bad-frame", str(error), recorder), process.end()


def _broken_off(ended: Ended, reason: str, recorder: _Recorder) -> Ending:
    return Ending(ended=ended, reason=reason, culprit=under_way(recorder.frames))


def _remaining(plan: Plan, folder: RunFolder) -> Plan:
    """Return ``plan`` without the points that an earlier run has sealed."""
    sealed = sealed_points(folder.known)
    return msgspec.structs.replace(
        plan, points=tuple(point for point in plan.points if point.id not in sealed)
    )


_LARGEST_DOCUMENT = 256 << 20


def _check_same(plan: Plan, folder: RunFolder) -> None:
    """Check that a folder is resumed with the plan with which its run started."""
    path = folder.path / "run.json"
    try:
        before = member_of(read_bounded(path, _LARGEST_DOCUMENT, follow=False), "plan", Plan)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{path} is not a wireproof run ({error}): it cannot be resumed.") from error
    if (before.points, before.ranks, before.transport) != (plan.points, plan.ranks, plan.transport):
        raise BadInput(
            f"{folder.path} contains a run of another plan: resume it with the same options, or"
            " give another --out."
        )


def measure(
    plan: Plan,
    command: LaunchCommand,
    *,
    claim: Claim,
    provenance: Provenance,
    recording: Recording = Recording(),
) -> Outcome:
    """Run ``plan`` with ``command`` and store its output in a run folder.

    Ctrl-C ends the process tree and returns the sealed points (``ending.ended == "interrupted"``);
    a lost rank, a hang or a full disk has the same effect, with another ending. Raise ``BadInput``
    for a folder in use and ``CouldNotMeasure`` if nothing could be started or recorded. No process
    is left behind.
    """
    guard = recording.guard or find_program("wireproof-node")
    folder = open_folder(recording.out, resume=recording.resume)
    try:
        if recording.resume:
            _check_same(plan, folder)
        document = RunDocument(claim=claim, provenance=provenance, plan=plan)
        recorder = _Recorder(_remaining(plan, folder), folder, recording)
        with (
            _one_interrupt(),
            hydra_files_removed(),
            scratch(recording.on_this_machine) as temporary,
        ):
            ending, status = _start_and_run(recorder, document, command, guard, temporary)
            recorder.note(recording.observed())
            return _finish(document, folder, recorder, ending, status)
    finally:
        folder.close()


def _start_and_run(
    recorder: _Recorder,
    document: RunDocument,
    command: LaunchCommand,
    guard: Path,
    temporary: dict[str, str],
) -> tuple[Ending, int | None]:
    folder = recorder.folder
    if folder.known and not recorder.plan.points:
        return Ending(ended="done", reason=""), None
    folder.write("plan.txt", write_plan(recorder.plan).encode())
    folder.document(document)
    folder.reserve(len(document.plan.points))
    environment = {**effective(command, os.environ), **temporary}
    with GuardedProcess(command.argv, environment, folder.path / "plan.txt", guard) as process:
        return _run(process, recorder)


def _finish(
    document: RunDocument,
    folder: RunFolder,
    recorder: _Recorder,
    ending: Ending,
    status: int | None,
) -> Outcome:
    frames = [*folder.known, *recorder.frames]
    missing = missing_points(document.plan, frames, ending)
    if ending.ended == "done" and missing:
        # The engine reported success, but a point is missing; missing evidence is never a pass.
        ending = Ending(ended="failed", reason=f"{len(missing)} planned points have no result")
    document = msgspec.structs.replace(
        document, ended=ending.ended, reason=ending.reason, exit_status=status, missing=missing
    )
    try:
        folder.document(document)
    except DiskFull:
        # The state in run.json is still "running", but the frames are good: load_run handles this
        # case.
        if ending.ended != "disk-full":
            raise
    run = assemble(frames, claim=document.claim, provenance=document.provenance, missing=missing)
    return Outcome(run=run, ending=ending, exit_status=status, folder=folder.path)
