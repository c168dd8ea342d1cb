"""A command of the user's as the workload of a trial, between two readings of its hosts' ports."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from wireproof.analysis.trial.reading import losses
from wireproof.audit.facts import HostFacts
from wireproof.instrument.facts import collect
from wireproof.instrument.watch_command import WatchedCommand
from wireproof.launch.engines import find_engine
from wireproof.model.errors import CouldNotMeasure
from wireproof.model.plan import FactRequest
from wireproof.model.trial import Knob, Metric
from wireproof.workflow.prove.command import Companion, last_words, on_target, start_companions
from wireproof.workflow.prove.watch import NOWHERE, Watch, allow_files
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.target.reach import launcher_environment, reach
from wireproof.workflow.target.target import Target
from wireproof.workflow.tune.trial.pattern import processor_s
from wireproof.workflow.tune.trial.specification import Measured, OwnCommand, Variables

__all__ = ["CommandWorkload", "listeners"]

PATIENCE_S = 10.0
_LOOK_EVERY_S = 0.2
_TABLES = tuple(
    FactRequest(kind="file", path=f"/proc/net/{name}", limit_bytes=1 << 18)
    for name in ("tcp", "tcp6")
)
_LISTENS = "0A"


def start_servers(watch: Watch, servers: Sequence[Companion], reporter: Reporter) -> None:
    """Start them, and wait until each of their hosts has as many sockets more that listen. A server
    that opens none by TCP (RDMA's connection manager, UDP) costs the patience once, and is named.
    """
    hosts = Counter(one.host for one in servers)
    before = {host: _sockets(watch.target, host) for host in hosts}
    commands = start_companions(watch, servers, NOWHERE)
    deadline = time.monotonic() + PATIENCE_S
    late = _late(watch.target, hosts, before)
    while late and time.monotonic() < deadline and not any(one.gone for one in commands):
        watch.wait(_LOOK_EVERY_S)
        late = _late(watch.target, {host: hosts[host] for host in late}, before)
    for one in servers:
        if one.host in late:
            reporter.warn(
                f"{one.argv[0]} on {one.host} listens on no new TCP port after {PATIENCE_S:.0f} s:"
                " the command is started all the same."
            )


def _late(
    target: Target, hosts: Mapping[str, int], before: Mapping[str, set[str] | None]
) -> list[str]:
    """The hosts that have fewer new listening sockets than servers."""
    return [host for host, count in hosts.items() if not _more(target, host, before[host], count)]


def _more(target: Target, host: str, before: set[str] | None, count: int) -> bool:
    now = _sockets(target, host)
    return now is None or before is None or len(now - before) >= count


def _sockets(target: Target, host: str) -> set[str] | None:
    """Of the host, by inode; None where it does not say."""
    argv = reach(target, host, [str(find_engine("nompi")), "facts", "--spec", "-"])
    facts = HostFacts.of(host, collect({host: argv}, _TABLES)[0].frames)
    texts = [facts.file(one.path).text for one in _TABLES]
    if all(text is None for text in texts):
        return None
    return {inode for text in texts if text for inode in listeners(text)}


def listeners(table: str) -> list[str]:
    """The inodes of the sockets that listen, in a table of the kernel's /proc/net/tcp."""
    rows = [line.split() for line in table.splitlines()[1:]]
    return [row[9] for row in rows if len(row) > 9 and row[3] == _LISTENS]


READ_EVERY_S = 10.0
"""Ports are read before and after a run; between, only to keep the connection."""


class CommandWorkload:
    """Runs of one command. Its output is kept for its number and shown when it fails."""

    def __init__(
        self, wanted: OwnCommand, reporter: Reporter, environment: Mapping[str, str]
    ) -> None:
        proof = wanted.proof
        self._wanted, self._reporter = wanted, reporter
        self.target = proof.target
        self._environment = {**environment, **launcher_environment(self.target, environment)}
        self._argv = on_target(proof.argv, self.target)
        self.title = " ".join(proof.argv)
        self.notes = list(self.target.said)
        self.metric = (
            Metric(name="wall time", unit="s", better="lower", source="clock")
            if wanted.reader is None
            else Metric(name=wanted.text, unit="", better=wanted.better, source="output")
        )
        allow_files(self.target)
        self._watch = Watch(self.target, self._environment, READ_EVERY_S, reporter)
        self._reads = False

    def __enter__(self) -> Self:
        try:
            self._begin_to_read()
            start_servers(self._watch, self._wanted.proof.companions, self._reporter)
        except BaseException:
            self._watch.__exit__()
            raise
        return self

    def _begin_to_read(self) -> None:
        try:
            self._watch.begin()
            self._watch.mark()
            self._reads = True
        except CouldNotMeasure as error:
            self._reporter.warn(f"no retransmits and drops are seen: {error}")
            self.notes.append(f"no retransmits and drops are seen: {error}")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._watch.__exit__()

    def check(self, knob: Knob) -> None:
        """What a command reads is its own business."""

    def run(self, variables: Variables, shown: str) -> Measured:
        environment = {**self._environment, **{k: v for k, v in variables.items() if v is not None}}
        for name in [name for name, value in variables.items() if value is None]:
            environment.pop(name, None)
        if self._reads:
            self._watch.mark()
        before = processor_s()
        output, seconds = self._output(environment, shown)
        used = processor_s() - before
        guards = {"cpu_s": used, **self._losses()}
        return Measured(metric=self._number(output, seconds, shown), guards=guards)

    def _output(self, environment: Mapping[str, str], shown: str) -> tuple[str, float]:
        """Its output, and the seconds that it took; ``CouldNotMeasure`` when it failed."""
        errors = os.memfd_create("errors")
        begun = time.monotonic()
        command = WatchedCommand(
            self._argv, environment, self._watch.node, (None, errors), self._watch.hearing
        )
        try:
            in_time = self._watch.hearing.listen(self._wanted.longest_s, command.ended)
            seconds = time.monotonic() - begun
            status = command.end()
            said = last_words(errors)
        finally:
            command.close()
            os.close(errors)
        if not in_time:
            raise CouldNotMeasure(
                f"{shown}: the command did not end within {self._wanted.longest_s:.0f} s: give a"
                " larger --budget-s, or a shorter command."
            )
        if status != 0:
            last = f": {said}" if said else "."
            raise CouldNotMeasure(f"{shown}: the command ended with status {status}{last}")
        return command.output.decode("utf-8", "replace"), seconds

    def _number(self, output: str, seconds: float, shown: str) -> float:
        if self._wanted.reader is None:
            return seconds
        value = self._wanted.reader(output)
        if value is None:
            raise CouldNotMeasure(
                f"{shown}: --metric {self._wanted.text[:60]!r} finds no number in the command's"
                " output."
            )
        if not 0.0 < value < float("inf"):
            raise CouldNotMeasure(
                f"{shown}: --metric {self._wanted.text[:60]!r} found {value:g}: ratios need"
                " positive numbers."
            )
        return value

    def _losses(self) -> dict[str, float]:
        """Of all hosts; empty when one of them cannot be read."""
        if not self._reads:
            return {}
        self._watch.mark()
        found: dict[str, float] = {}
        for host in self._watch.watched():
            if host.error or host.before is None or host.after is None:
                return {}
            before = host.before.counters
            rose = {name: n - before.get(name, n) for name, n in host.after.counters.items()}
            for name, count in losses(rose).items():
                found[name] = found.get(name, 0.0) + count
        return found
