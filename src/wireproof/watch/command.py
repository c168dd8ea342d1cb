"""The readers of the ports on every host of a target, and the commands that run between the
readings.
"""

from __future__ import annotations

import resource
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from wireproof.instrument.watch import Watcher, watch_argv
from wireproof.instrument.watch_command import Hearing, Stdin, WatchedCommand
from wireproof.launch.engines import find_engine, find_program
from wireproof.ledger.catalogue import patience
from wireproof.ledger.traffic import goes_on, host_traffic
from wireproof.model import gathered
from wireproof.model.errors import CouldNotMeasure
from wireproof.model.record import Nic
from wireproof.model.traffic import Traffic, Watched
from wireproof.report.names import fold
from wireproof.report.reporter import Reporter
from wireproof.target import Target, reach

START_S = 30.0
"""Time limit in seconds for ssh to the slowest host and the engine's first reading there."""
READING_S = 10.0
SAY_AFTER_S = 2.0

Sinks = tuple[int | None, int | None]
"""Descriptors to which a command's output and errors are passed on; None: discarded."""
NOWHERE: Sinks = (None, None)


def allow_files(target: Target) -> None:
    """Raise the limit of open files: three pipes per watched host exceed a soft limit of 1024 at
    300 hosts.
    """
    wanted = 4 * len(target.hosts) + 64
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class Watch:
    """The readers and the commands of one proof; leaving the context ends all of them.

    ``environment``: the complete environment of every process that is started. ``notes``:
    limitations of the proof, which are shown with it.
    """

    def __init__(
        self, target: Target, environment: Mapping[str, str], interval_s: float, reporter: Reporter
    ) -> None:
        self.target, self.environment, self.interval_s = target, environment, interval_s
        self.hearing = Hearing()
        self.notes: list[str] = []
        self._reporter = reporter
        self._watchers: list[Watcher] = []
        self._commands: list[WatchedCommand] = []
        self.node = find_program("wireproof-node")
        self._engine: Path = find_engine("nompi")
        self._marks = 1
        self._patience = patience(())

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        for command in self._commands:
            command.close()
        for watcher in self._watchers:
            watcher.close()
        self.hearing.close()

    def begin(self) -> None:
        """Start a reader on every host. Raises ``CouldNotMeasure`` if no host can be read."""
        for host in self.target.hosts or ("",):
            try:
                self._start_reader(host)
            except OSError as error:
                raise CouldNotMeasure(
                    f"the readers of the ports cannot be started: {error.strerror}."
                ) from error
        if not self.hearing.listen(SAY_AFTER_S, lambda: not self._silent(1)):
            self._reporter.say(f"waiting for {', '.join(self._silent(1)[:8])}")
        self._wait_for_marks(1, START_S, "did not respond within 30 s")
        lost = [watcher.follower for watcher in self._watchers if watcher.follower.error]
        reasons = gathered((_advised(one.error, self._engine), one.host) for one in lost)
        told = [f"{fold(hosts)}: {why}" for why, hosts in reasons.items()]
        if len(lost) == len(self._watchers):
            raise CouldNotMeasure(f"no host can be watched: {'; '.join(told)}.")
        for line in told:
            self._reporter.warn(f"not watched: {line}")

    def _start_reader(self, host: str) -> None:
        name = host or socket.gethostname()
        root = self.target.sysfs_root.replace("{host}", name)
        argv = watch_argv(self._engine, self.interval_s, root=root, prefix=self.target.prefix)
        watcher = Watcher(name, reach(self.target, host, argv), self.environment)
        self._watchers.append(watcher)
        self.hearing.add_watch(watcher)

    def _silent(self, count: int) -> list[str]:
        """Return the hosts that have neither sent ``count`` full readings nor failed."""
        followers = [watcher.follower for watcher in self._watchers]
        return [host.host for host in followers if not host.error and host.readings < count]

    def _wait_for_marks(self, count: int, seconds: float, late: str) -> None:
        if self.hearing.listen(seconds, lambda: not self._silent(count)):
            return
        silent = set(self._silent(count))
        for watcher in self._watchers:
            if watcher.follower.host in silent:
                watcher.follower.error = late

    def mark(self) -> None:
        """Take a full reading of every host now."""
        self._marks += 1
        for watcher in self._watchers:
            watcher.ask()
        self._wait_for_marks(self._marks, READING_S, "sent no reading within 10 s")

    def wait(self, seconds: float) -> None:
        self.hearing.listen(seconds, lambda: False)

    def look_at_the_background(self) -> None:
        """Wait one second without load, then take the reading before the command.

        Counters that are updated late may still show earlier traffic, so wait longer for these.
        """
        self._patience = patience(self._nics())
        if self._patience.before_s > SAY_AFTER_S:
            self._reporter.say(
                f"some counters here are updated late: waiting {self._patience.before_s:.0f} s for"
                " them, before the command and after it"
            )
        for _ in range(self._patience.parts - 1):
            self.wait(self._patience.before_s / self._patience.parts)
            self._read_aside()
        self.wait(self._patience.before_s / self._patience.parts)
        self.mark()
        for watcher in self._watchers:
            watcher.follower.forget_peaks()

    def _read_aside(self) -> None:
        self.mark()
        for watcher in self._watchers:
            watcher.follower.set_aside()

    def traffic(self, seconds: float) -> Traffic:
        """Take the readings after the command, and return the traffic.

        If a counter still changes, another reading shows whether it is updated late or other
        traffic continues.
        """
        self._read_aside()
        self.wait(self._patience.after_s)
        self.mark()
        if any(map(goes_on, self.watched())):
            self.wait(self._patience.after_s)
            self._read_aside()
        for watcher in self._watchers:
            watcher.follower.settled_s = self._patience.settled_s
        hosts = [host_traffic(host) for host in self.watched()]
        return Traffic(
            hosts=hosts,
            seconds=seconds,
            idle_s=self._patience.before_s,
            interval_s=self.interval_s,
        )

    def watched(self) -> list[Watched]:
        return [watcher.follower.watched() for watcher in self._watchers]

    def start(
        self,
        argv: Sequence[str],
        sinks: Sinks,
        *,
        stdin: Stdin = "shared",
        environment: Mapping[str, str] | None = None,
    ) -> WatchedCommand:
        """Start a command under the guard, which ends the command no later than this watch ends.

        ``environment`` None: that of the watch.
        """
        whole = self.environment if environment is None else environment
        started = WatchedCommand(argv, whole, self.node, sinks, self.hearing, stdin=stdin)
        self._commands.append(started)
        return started

    def _nics(self) -> list[Nic]:
        return [
            nic
            for watcher in self._watchers
            if watcher.follower.about
            for nic in watcher.follower.about.nics
        ]


def _advised(error: str, engine: Path) -> str:
    if "engine is missing" in error:
        return f"{error}: copy {engine} to the same path there; no other file is needed."
    return error
