"""Readings of every host before and after a load: our own incast, a command, or what runs there
anyway.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from wireproof.analysis.pfc import ports_of
from wireproof.instrument.facts import Collected, collect
from wireproof.model.errors import BadInput
from wireproof.model.pfc import PfcLoad, PfcRecord, PfcSettings
from wireproof.model.record import FactFrame, Nic
from wireproof.model.traffic import Watched
from wireproof.workflow.audit import reader_argv
from wireproof.workflow.pfc.configured import commands_of, settings_of
from wireproof.workflow.pfc.incast import Incast, run_incast
from wireproof.workflow.pfc.judged import refuse
from wireproof.workflow.prove.command import ProofSpecification, run_command
from wireproof.workflow.prove.watch import NOWHERE, Sinks, Watch, allow_files
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.target.reach import launcher_environment
from wireproof.workflow.target.target import Target

__all__ = ["LiveSpecification", "record_live"]


def settings_on(
    target: Target, watched: Sequence[Watched], named: Mapping[str, str]
) -> list[PfcSettings]:
    """Of each port that is looked at; hosts with the same ports are asked together."""
    argv_of = reader_argv(target)
    groups: dict[tuple[str, ...], list[tuple[str, list[Nic]]]] = defaultdict(list)
    for one in watched:
        if one.about is not None and one.host in argv_of:
            names = ports_of(one.about.nics, named.get(one.host, ""))
            ports = [each for each in one.about.nics if each.name in names]
            groups[tuple(each.name for each in ports)].append((one.host, ports))
    found: list[PfcSettings] = []
    for members in groups.values():
        wanted = [request for port in members[0][1] for request in commands_of(port)]
        if not wanted:
            continue
        answers = collect({host: argv_of[host] for host, _ in members}, wanted)
        for (host, ports), answer in zip(members, answers, strict=True):
            texts = _texts(answer)
            found += [settings_of(host, port, texts) for port in ports]
    return found


def _texts(answer: Collected) -> dict[str, str]:
    return {_place(one): one.text for one in answer.frames if one.status == "ok"}


def _place(frame: FactFrame) -> str:
    return " ".join(frame.argv) if frame.kind == "command" else frame.path


_INTERVAL_S = 0.5
_LONGEST_S = 86_400.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class LiveSpecification:
    """``load`` ``incast``: our own, as ``incast`` says; ``command``: ``argv``; ``none``: what runs
    there anyway. ``seconds``: how long, where the load does not say it.
    """

    target: Target
    load: Literal["incast", "command", "none"]
    nic: str = ""
    seconds: float = 10.0
    argv: tuple[str, ...] = ()
    incast: Incast | None = None


def record_live(
    wanted: LiveSpecification,
    *,
    environment: Mapping[str, str],
    reporter: Reporter,
    sinks: Sinks = NOWHERE,
) -> PfcRecord:
    """Raises ``BadInput`` before anything is sent where the named port is on no host, and
    ``CouldNotMeasure`` when no host can be read, or the load did not start.
    """
    if not 0 < wanted.seconds <= _LONGEST_S:
        raise BadInput("--duration is out of range: give more than 0 and at most a day.")
    target = wanted.target
    allow_files(target)
    whole = {**environment, **launcher_environment(target, environment)}
    with Watch(target, whole, _INTERVAL_S, reporter) as watch:
        watch.begin()
        nics = _nics(wanted, [one.host for one in watch.watched()])
        none = PfcLoad(kind=wanted.load)
        refuse(PfcRecord(hosts=watch.watched(), settings=[], load=none, nics=nics))
        settings = settings_on(target, watch.watched(), nics)
        watch.look_at_the_background()
        load = _run(wanted, watch, reporter, sinks)
        watch.traffic(load.seconds)
        return PfcRecord(
            hosts=watch.watched(),
            settings=settings,
            load=load,
            nics=nics,
            rate_bits_per_s=target.claimed_rate,
        )


def _nics(wanted: LiveSpecification, hosts: list[str]) -> dict[str, str]:
    """The named interface of each host: the user's, else the one that the target claims."""
    claimed = dict(zip(wanted.target.hosts, wanted.target.nics, strict=False))
    named = {host: wanted.nic or claimed.get(host, "") for host in hosts}
    return {host: nic for host, nic in named.items() if nic}


def _run(wanted: LiveSpecification, watch: Watch, reporter: Reporter, sinks: Sinks) -> PfcLoad:
    if wanted.load == "incast" and wanted.incast is not None:
        with _heard(watch):
            return run_incast(wanted.incast, wanted.target, reporter)
    if wanted.load == "command":
        proof = ProofSpecification(argv=wanted.argv, target=wanted.target)
        _, status, seconds = run_command(watch, proof, sinks)
        return PfcLoad(kind="command", seconds=seconds, exit_status=status)
    count = len(watch.watched())
    shown = f"{count} hosts" if count != 1 else "one host"
    reporter.say(f"watching {shown} for {wanted.seconds:g} s")
    begun = time.monotonic()
    with contextlib.suppress(KeyboardInterrupt):  # what was seen until then is judged
        watch.wait(wanted.seconds)
    return PfcLoad(kind="none", seconds=time.monotonic() - begun)


@contextlib.contextmanager
def _heard(watch: Watch) -> Iterator[None]:
    """The readers' pipes are emptied while the ranks of the load are listened to elsewhere: a full
    one would stop its reader.
    """
    over = threading.Event()
    hearing = threading.Thread(target=watch.hearing.listen, args=(_LONGEST_S, over.is_set))
    hearing.start()
    try:
        yield
    finally:
        over.set()
        hearing.join()
