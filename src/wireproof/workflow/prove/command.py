"""Runs a command between two readings of the ports of every host that it uses, and judges the
traffic.
"""

from __future__ import annotations

import dataclasses
import math
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from wireproof.adapters import read
from wireproof.adapters.osu import with_iterations
from wireproof.analysis.traffic import not_watched
from wireproof.files.hostile import open_regular
from wireproof.instrument.watch_command import WatchedCommand
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.finding import Verdict, worst
from wireproof.model.psm3 import JudgedStatistics
from wireproof.model.series import Series
from wireproof.model.traffic import Traffic, TrafficVerdict
from wireproof.report.documents.proof import ProofDocument, proof_document
from wireproof.verdict.external.watched import judge_traffic
from wireproof.workflow.judge_statistics import (
    collected,
    held_against_ports,
    statistics_folder,
)
from wireproof.workflow.prove.hosts import Companion, start_servers
from wireproof.workflow.prove.watch import NOWHERE, Sinks, Watch
from wireproof.workflow.reporter import LoggingReporter, Reporter
from wireproof.workflow.target import Target, launcher_environment, reach

INTERRUPTED = 128 + signal.SIGINT
MOST_RESULTS = 32 << 20
"""Most bytes that are read from a file of results."""
_USUAL_RESULTS = {"hpcc": "hpccoutf.txt"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProofSpecification:
    """``argv`` runs on ``target`` (in a lab inside its first node).

    ``name``: the ``source`` of the series in its output; ``results``: files that it writes numbers
    to; ``hold_stdin``: for a ``guarded`` command; ``longest_s``: time after which it is stopped.
    ``psm_statistics``: use PSM3's counters as a second witness.
    """

    argv: tuple[str, ...]
    target: Target
    companions: tuple[Companion, ...] = ()
    interval_s: float = 0.1
    name: str = ""
    results: tuple[Path, ...] = ()
    hold_stdin: bool = False
    longest_s: float = math.inf
    psm_statistics: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProvedCommand:
    """``exit_status``: of the command (128 + signal for a signal, 130 if the user stopped it).

    ``output``: its standard output, bounded by ``watch_command.MOST_OUTPUT``; ``seconds``: its
    duration; ``last_words``: its last line. ``series``: the numbers in the output. ``statistics``:
    PSM3's counters, if requested.
    """

    exit_status: int
    output: bytes
    seconds: float
    traffic: Traffic
    judgement: TrafficVerdict
    series: list[Series]
    last_words: str = ""
    notes: tuple[str, ...] = ()
    statistics: JudgedStatistics | None = None

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on the path, and on PSM3's counters if they were read."""
        statistics = [self.statistics.verdict] if self.statistics else []
        return worst([self.judgement.verdict, *statistics])

    def document(self, wanted: ProofSpecification) -> ProofDocument:
        """Return what ``wireproof prove --json`` prints for the command in ``wanted``."""
        return proof_document(
            wanted.argv,
            self.exit_status,
            self.traffic,
            self.judgement,
            self.series,
            [*wanted.target.notes, *self.notes],
            self.statistics,
        )


def prove_command(
    wanted: ProofSpecification,
    *,
    environment: Mapping[str, str],
    sinks: Sinks = NOWHERE,
    reporter: Reporter | None = None,
) -> ProvedCommand:
    """Run the command between two readings of every host, and judge.

    The command inherits ``environment``. Its output is passed on to ``sinks`` as it comes. Raises
    ``CouldNotMeasure`` if no host can be watched; the command is not started then.
    """
    with statistics_folder(asked=wanted.psm_statistics) as (folder, more):
        proved = _proved({**environment, **more}, wanted, sinks, reporter or LoggingReporter())
        if folder is None or proved.exit_status == INTERRUPTED:
            return proved
        files, refused = collected(folder)
        judged = held_against_ports(files, proved.traffic, wanted.target)
        return dataclasses.replace(proved, statistics=judged, notes=(*proved.notes, *refused))


def _proved(
    environment: Mapping[str, str], wanted: ProofSpecification, sinks: Sinks, reporter: Reporter
) -> ProvedCommand:
    argv, target = wanted.argv, wanted.target
    whole = {**environment, **launcher_environment(target, environment)}
    files = {path: size_of(path) for path in wanted.results}
    with Watch(target, whole, wanted.interval_s, reporter) as watch:
        watch.begin()
        servers = start_servers(watch, wanted.companions, sinks, reporter)
        watch.look_at_the_background()
        command, status, seconds = run_command(watch, wanted, sinks)
        traffic = watch.traffic(seconds)
        for server in servers:
            server.end()
        watched = watch.watched()
    series = _numbers(bytes(command.output), wanted.name or Path(argv[0]).name, files)
    series = with_iterations(series, argv)
    unwatched = not_watched((host for table in series for host in table.hosts), watched)
    traffic = msgspec.structs.replace(traffic, unwatched=unwatched)
    return ProvedCommand(
        exit_status=status,
        output=bytes(command.output),
        seconds=seconds,
        traffic=traffic,
        judgement=judge_traffic(traffic, series, target.claim()),
        series=series,
        last_words=command.last_words(),
        notes=_notes(command),
    )


def run_command(
    watch: Watch, wanted: ProofSpecification, sinks: Sinks
) -> tuple[WatchedCommand, int, float]:
    """Run the command to its end; return it, its exit status and its duration in s.

    Ctrl-C stops the command, not the proof. Raises ``CouldNotMeasure`` if it takes longer than it
    may.
    """
    begun = time.monotonic()
    argv = on_target(wanted.argv, wanted.target)
    command = watch.start(argv, sinks, hold_stdin=wanted.hold_stdin)
    try:
        while not watch.hearing.listen(min(3600.0, wanted.longest_s), command.ended):
            if time.monotonic() - begun >= wanted.longest_s:
                late = f"did not end within {wanted.longest_s:.0f} s"
                raise CouldNotMeasure(f"{wanted.argv[0]} {late}.")
        return command, command.end(), time.monotonic() - begun
    except KeyboardInterrupt:
        command.end()
        watch.hearing.listen(1.0, command.ended)
        return command, INTERRUPTED, time.monotonic() - begun


def _notes(command: WatchedCommand) -> tuple[str, ...]:
    lost = f"the last {command.dropped} bytes of the output were not read for numbers"
    return (lost,) if command.dropped else ()


def on_target(argv: Sequence[str], target: Target) -> list[str]:
    """Return the command for the target: in a lab it runs inside the first node; else it runs here,
    and its launcher reaches the other hosts.
    """
    if target.lab is not None and target.start_on:
        return reach(target, target.start_on[0], argv)
    return list(argv)


def _numbers(output: bytes, name: str, files: Mapping[Path, tuple[int, int]]) -> list[Series]:
    """Return every series that an adapter recognizes in the output and in the files, given with
    their sizes before the command.
    """
    series: list[Series] = []
    texts = [(written(path, before), path.name) for path, before in files.items()]
    for data, source in [(output, name), *texts]:
        try:
            series += read(data, source) if data else []
        except BadInput:
            continue
    return series


def size_of(path: Path) -> tuple[int, int]:
    """Return the size and the time of the last change; (0, 0) for a missing file."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return (status.st_size, status.st_mtime_ns) if path.is_file() else (0, 0)


def written(path: Path, before: tuple[int, int]) -> bytes:
    """Return what was written to a file of results since ``size_of`` gave ``before``, bounded: the
    part after the old end, or the whole file if it was rewritten.
    """
    size, changed = size_of(path)
    if changed == before[1] or not size:
        return b""
    try:
        with open_regular(path) as file:
            file.seek(before[0] if size > before[0] else 0)
            return file.read(MOST_RESULTS)
    except OSError:
        return b""


def usual_results(argv: Sequence[str], folder: Path) -> list[Path]:
    """Return the files that a program named among the arguments is known to write into
    ``folder``.
    """
    names = {Path(word).name for word in argv[:200]}
    return [folder / file for program, file in _USUAL_RESULTS.items() if program in names]
