"""Any command between two readings of the ports of every host that it touches, and the judgement of
what was seen.
"""

from __future__ import annotations

import dataclasses
import os
import resource
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from wireproof.analysis.ledger import slowest_refresh_ms
from wireproof.analysis.traffic import host_traffic, not_watched
from wireproof.cli.console import say
from wireproof.cli.outcome import INTERRUPTED
from wireproof.instrument.watch import Watcher, watch_argv
from wireproof.instrument.watch_command import Hearing, WatchedCommand
from wireproof.launch.engines import find_engine, find_program
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.series import Series
from wireproof.model.traffic import Traffic, TrafficVerdict, Watched
from wireproof.verdict.external.watched import judge_traffic
from wireproof.workflow.result_files import ResultFile
from wireproof.workflow.target.reach import guarded, launcher_environment, reach
from wireproof.workflow.target.target import Target

__all__ = ["Companion", "Proved", "run_proved"]

IDLE_S = 1.0
"""Quiet time before the command, for the background."""
START_S = 30.0
"""For ssh to the slowest host, and the engine's first reading there."""
READING_S = 10.0
SETTLE_S = 1.2
"""Drivers refresh their counters once a second at worst; virtual NICs at once."""
SETTLE_VIRTUAL_S = 0.1
COMPANION_S = 0.5
SAY_AFTER_S = 2.0


@dataclasses.dataclass(frozen=True)
class Companion:
    """A server that the command talks to: started on ``host`` before it and ended after it, by
    us.
    """

    host: str
    argv: tuple[str, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Proved:
    """``exit_status`` is the command's (128 + signal for a signal, 130 when the user ended it).
    ``output``: its standard output, bounded by ``watch_command.MOST_OUTPUT``; ``seconds``: its
    time. ``series``: the numbers in it.
    """

    exit_status: int
    output: bytes
    seconds: float
    traffic: Traffic
    judgement: TrafficVerdict
    series: list[Series]
    notes: tuple[str, ...] = ()


class _Session:
    """The watches, the companions and the command of one proof; leaving it leaves none of them."""

    def __init__(self, place: Target, environment: Mapping[str, str], interval_s: float) -> None:
        self.place, self.environment = place, environment
        self.hearing = Hearing()
        self.watchers: list[Watcher] = []
        self.commands: list[WatchedCommand] = []
        self.node = find_program("wireproof-node")
        self.engine: Path = find_engine("nompi")
        self.interval_s = interval_s
        self.marks = 1

    def __enter__(self) -> _Session:
        return self

    def __exit__(self, *_: object) -> None:
        for command in self.commands:
            command.close()
        for watcher in self.watchers:
            watcher.close()
        self.hearing.close()

    def watch(self) -> None:
        """Start a watch on every host; ``CouldNotMeasure`` when none of them can be read."""
        _allow_files(4 * len(self.place.hosts) + 64)
        for host in self.place.hosts or ("",):
            name = host or socket.gethostname()
            root = self.place.sysfs_root.replace("{host}", name)
            argv = watch_argv(self.engine, self.interval_s, root=root, prefix=self.place.prefix)
            watcher = Watcher(name, reach(self.place, host, argv), self.environment)
            self.watchers.append(watcher)
            self.hearing.add_watch(watcher)
        if not self.hearing.listen(SAY_AFTER_S, lambda: not self._silent(1)):
            say(f"waiting for {', '.join(self._silent(1)[:8])}")
        self._wait_for_marks(1, START_S, "did not answer within 30 s")
        lost = [one.follower for one in self.watchers if one.follower.error]
        for follower in lost:
            say(f"{follower.host} is not watched: {_advised(follower.error, self.engine)}")
        if len(lost) == len(self.watchers):
            raise CouldNotMeasure(
                f"no host can be watched: {lost[0].host}: {_advised(lost[0].error, self.engine)}"
            )

    def _silent(self, count: int) -> list[str]:
        """Hosts that have neither given ``count`` full readings nor failed."""
        followers = [one.follower for one in self.watchers]
        return [one.host for one in followers if not one.error and len(one.marks) < count]

    def _wait_for_marks(self, count: int, seconds: float, late: str) -> None:
        if self.hearing.listen(seconds, lambda: not self._silent(count)):
            return
        for host in self._silent(count):
            for one in self.watchers:
                if one.follower.host == host:
                    one.follower.error = late

    def mark(self) -> None:
        """A full reading of every host, now."""
        self.marks += 1
        for one in self.watchers:
            one.ask()
        self._wait_for_marks(self.marks, READING_S, "gave no reading within 10 s")

    def wait(self, seconds: float) -> None:
        self.hearing.listen(seconds, lambda: False)

    def look_at_the_background(self) -> None:
        """A quiet second, then the reading that the command is counted from."""
        self.wait(IDLE_S)
        self.mark()
        for one in self.watchers:
            one.follower.forget_peaks()

    def traffic(self, seconds: float) -> Traffic:
        """The reading after the command, and what the three of them say."""
        settle_s = (
            SETTLE_VIRTUAL_S
            if self.virtual
            else max(SETTLE_S, self._slowest_refresh_s() + SETTLE_VIRTUAL_S)
        )
        self.wait(settle_s)
        for one in self.watchers:
            one.follower.settled_s = min(settle_s, IDLE_S) if not self.virtual else 0.0
        self.mark()
        hosts = [host_traffic(one) for one in self.watched()]
        return Traffic(hosts=hosts, seconds=seconds, idle_s=IDLE_S, interval_s=self.interval_s)

    def watched(self) -> list[Watched]:
        return [one.follower.watched() for one in self.watchers]

    def start(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        sinks: tuple[int | None, int | None],
        *,
        hold_stdin: bool = False,
    ) -> WatchedCommand:
        started = WatchedCommand(
            argv, environment, self.node, sinks, self.hearing, hold_stdin=hold_stdin
        )
        self.commands.append(started)
        return started

    def _slowest_refresh_s(self) -> float:
        """How old a counter of the watched hosts may be, by the catalogue."""
        return (
            max(
                (
                    slowest_refresh_ms(one.follower.about.nics)
                    for one in self.watchers
                    if one.follower.about
                ),
                default=0.0,
            )
            / 1e3
        )

    @property
    def virtual(self) -> bool:
        """No NIC here has counters that lag behind."""
        nics = [
            nic for one in self.watchers if one.follower.about for nic in one.follower.about.nics
        ]
        return all(nic.kind in ("loopback", "virtual") or nic.carrier is False for nic in nics)


def _allow_files(wanted: int) -> None:
    """Three pipes for each host: a soft limit of 1024 files would end at 300 hosts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(
            resource.RLIMIT_NOFILE,
            (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard),
        )


def _advised(error: str, engine: Path) -> str:
    if "engine is not there" in error:
        return f"{error}: copy {engine} to the same path there; it needs nothing else."
    return error


def _start_companions(session: _Session, companions: Sequence[Companion]) -> list[WatchedCommand]:
    started = []
    for one in companions:
        argv = guarded(session.place, one.host, one.argv)
        started.append(session.start(argv, session.environment, (None, _stderr()), hold_stdin=True))
    session.wait(COMPANION_S if started else 0.0)
    for command, one in zip(started, companions, strict=True):
        if command.gone:
            raise CouldNotMeasure(
                f"{one.argv[0]} on {one.host} ended at once, with status {command.end()}; it is started there by "
                f"{session.node}, which has to be at the same path."
            )
    if started:
        session.mark()  # their start is no background
    return started


def _stderr() -> int | None:
    return _descriptor(sys.stderr)


def _descriptor(stream: object) -> int | None:
    try:
        return int(stream.fileno())  # type: ignore[attr-defined]
    except (OSError, ValueError, AttributeError):
        return None


def _run(
    session: _Session,
    argv: Sequence[str],
    environment: Mapping[str, str],
    sinks: tuple[int | None, int | None],
    hold_stdin: bool,
) -> tuple[WatchedCommand, int, float]:
    """The command from start to end: itself, its exit status and its seconds. Ctrl-C ends it, not
    the proof.
    """
    begun = time.monotonic()
    command = session.start(argv, environment, sinks, hold_stdin=hold_stdin)
    try:
        while not session.hearing.listen(3600.0, command.ended):
            continue
        return command, command.end(), time.monotonic() - begun
    except KeyboardInterrupt:
        command.end()
        session.hearing.listen(1.0, command.ended)
        return command, INTERRUPTED, time.monotonic() - begun


def run_proved(
    argv: Sequence[str],
    place: Target,
    *,
    environment: Mapping[str, str] | None = None,
    companions: Sequence[Companion] = (),
    echo: bool = True,
    interval_s: float = 0.1,
    output_to_stderr: bool = False,
    name: str = "",
    results: Sequence[Path] = (),
    hold_stdin: bool = False,
) -> Proved:
    """Run ``argv`` in the place (in a lab: inside its first node) between two readings of every
    host, and judge.

    ``environment`` is added to ours. ``echo``: its output is passed on to ours as it comes,
    standard output to standard error with ``output_to_stderr``. ``name`` is how its output is
    called in the series' ``source``; ``results`` are files that it writes numbers to;
    ``hold_stdin`` is for a ``guarded`` command. Raises ``CouldNotMeasure`` when no host can be
    watched: then the command was not started.
    """
    if not argv:
        raise BadInput(
            "no command was given: write it behind --, as in `wireproof prove -- mpirun osu_bw`."
        )
    inherited = {**os.environ, **(environment or {})}
    ours = {**inherited, **launcher_environment(place, inherited)}
    files = [ResultFile(path) for path in results]
    sinks = _sinks(output_to_stderr) if echo else (None, None)
    with _Session(place, ours, interval_s) as session:
        session.watch()
        servers = _start_companions(session, companions)
        session.look_at_the_background()
        command, status, seconds = _run(session, _in_place(argv, place), ours, sinks, hold_stdin)
        traffic = session.traffic(seconds)
        for server in servers:
            server.end()
        watched = session.watched()
    series = _numbers(bytes(command.output), name or Path(argv[0]).name, files)
    unwatched = not_watched((host for one in series for host in one.hosts), watched)
    traffic = msgspec.structs.replace(traffic, unwatched=unwatched)
    return Proved(
        exit_status=status,
        output=bytes(command.output),
        seconds=seconds,
        traffic=traffic,
        judgement=judge_traffic(traffic, series, place.claim()),
        series=series,
        notes=_notes(command),
    )


def _notes(command: WatchedCommand) -> tuple[str, ...]:
    lost = f"the last {command.dropped} bytes of the output were not read for numbers"
    return (lost,) if command.dropped else ()


def _sinks(output_to_stderr: bool) -> tuple[int | None, int | None]:
    sys.stdout.flush()
    return _stderr() if output_to_stderr else _descriptor(sys.stdout), _stderr()


def _in_place(argv: Sequence[str], place: Target) -> list[str]:
    """In a lab the command runs inside the first node; else it runs here, and its own launcher goes
    elsewhere.
    """
    return (
        reach(place, place.start_on[0], argv)
        if place.lab is not None and place.start_on
        else list(argv)
    )


def _numbers(output: bytes, name: str, files: Sequence[ResultFile]) -> list[Series]:
    """Every series that an adapter knows, in the output and in the files; none when there are
    none.
    """
    from wireproof.adapters import read

    found: list[Series] = []
    for data, source in [(output, name), *((file.written(), file.path.name) for file in files)]:
        try:
            found += read(data, source) if data else []
        except BadInput:
            continue
    return found
