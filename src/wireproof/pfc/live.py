"""Read every host before and after a load: wireproof's incast, a command, or the existing
traffic.
"""

import contextlib
import dataclasses
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from wireproof.audit.job import reader_argv
from wireproof.instrument.ending import Ending
from wireproof.instrument.plan_text import Collected, collect
from wireproof.measure.points import paced
from wireproof.measure.resume import result_folder
from wireproof.measure.session import Method, Storage
from wireproof.measure.session.rounds import launched_once
from wireproof.model.claim import rails_of
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.plan import Point
from wireproof.model.record import Nic
from wireproof.model.traffic import Watched
from wireproof.pfc import PfcLoad, PfcRecord, PfcSettings
from wireproof.pfc.counters import ports_of
from wireproof.pfc.host_files import commands_of, settings_of
from wireproof.report.reporter import Reporter
from wireproof.target import Target, launcher_environment
from wireproof.watch.command import NOWHERE, Sinks, Watch, allow_files
from wireproof.watch.prove import ProofSpecification, run_command


def settings_on(
    target: Target, watched: Sequence[Watched], named: Mapping[str, str]
) -> list[PfcSettings]:
    """Return the settings of each port in question; hosts with the same ports are queried
    together.
    """
    argv_of = reader_argv(target)
    groups: dict[tuple[str, ...], list[tuple[str, list[Nic]]]] = defaultdict(list)
    for reading in watched:
        if reading.about is not None and reading.host in argv_of:
            names = ports_of(reading.about.nics, named.get(reading.host, ""))
            ports = [nic for nic in reading.about.nics if nic.name in names]
            groups[tuple(nic.name for nic in ports)].append((reading.host, ports))
    settings: list[PfcSettings] = []
    for members in groups.values():
        wanted = [request for port in members[0][1] for request in commands_of(port)]
        if not wanted:
            continue
        answers = collect({host: argv_of[host] for host, _ in members}, wanted)
        for (host, ports), answer in zip(members, answers, strict=True):
            texts = _texts(answer)
            settings += [settings_of(host, port, texts) for port in ports]
    return settings


def _texts(answer: Collected) -> dict[str, str]:
    return {
        " ".join(frame.argv) or frame.path: frame.text
        for frame in answer.frames
        if frame.status == "ok"
    }


_INTERVAL_S = 0.5
_LONGEST_S = 86_400.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class LiveSpecification:
    """``load``: ``incast``, wireproof's load by ``method``, with ``senders`` (None: all the other
    hosts, at most ``MOST_SENDERS``); ``command``, ``argv``; ``none``, the existing traffic.
    ``seconds``: duration, if the load does not determine it.
    """

    target: Target
    load: Literal["incast", "command", "none"]
    nic: str = ""
    seconds: float = 10.0
    argv: tuple[str, ...] = ()
    method: Method = dataclasses.field(default_factory=Method)
    senders: int | None = None


def record_live(
    wanted: LiveSpecification,
    *,
    environment: Mapping[str, str],
    reporter: Reporter,
    sinks: Sinks = NOWHERE,
) -> PfcRecord:
    """Read the counters of the hosts before and after the load.

    Raises ``BadInput`` before anything is sent if no host has the named port, and
    ``CouldNotMeasure`` if no host can be read, or the load did not start.
    """
    if not 0 < wanted.seconds <= _LONGEST_S:
        raise BadInput("--duration is out of range: give more than 0 and at most a day.")
    target = wanted.target
    allow_files(target)
    whole = {**environment, **launcher_environment(target, environment)}
    with Watch(target, whole, _INTERVAL_S, reporter) as watch:
        watch.begin()
        nics = _nics(wanted, [host.host for host in watch.watched()])
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


def refuse(record: PfcRecord) -> None:
    """Raise ``BadInput`` for a port that no host has: this is a user's mistake, not a missing
    counter.
    """
    listed = {host.host: host.about.nics for host in record.hosts if host.about is not None}
    asked = {rail for name in record.nics.values() for rail in rails_of(name)}
    for name in sorted(asked) if listed else ():
        _refuse_one(name, listed)


def _refuse_one(name: str, listed: Mapping[str, Sequence[Nic]]) -> None:
    found = [nic for nics in listed.values() for nic in nics if name in _names(nic)]
    if not found:
        host, nics = next(iter(listed.items()))
        known = sorted(nic.name for nic in nics if nic.kind != "loopback")[:12]
        raise BadInput(
            f"no host has the interface {name[:60]!r}: {host} has {', '.join(known) or 'none'}."
        )
    if all(nic.kind == "infiniband" for nic in found):
        raise BadInput(
            f"{name[:60]} is an InfiniBand or Omni-Path port: its links are lossless by credits;"
            " priority flow control exists only on Ethernet."
        )


def _names(nic: Nic) -> tuple[str, ...]:
    """Return the names of the port: its interface and its RDMA device."""
    rdma = nic.rdma
    return (nic.name,) if rdma is None else (nic.name, rdma.device, f"{rdma.device}:{rdma.port}")


def _nics(wanted: LiveSpecification, hosts: list[str]) -> dict[str, str]:
    """Return the named interface of each host: the user's, else the claimed one of the target."""
    claimed = dict(zip(wanted.target.hosts, wanted.target.nics, strict=False))
    named = {host: wanted.nic or claimed.get(host, "") for host in hosts}
    return {host: nic for host, nic in named.items() if nic}


def _run(wanted: LiveSpecification, watch: Watch, reporter: Reporter, sinks: Sinks) -> PfcLoad:
    if wanted.load == "incast":
        with _heard(watch):
            return run_incast(wanted, reporter)
    if wanted.load == "command":
        proof = ProofSpecification(argv=wanted.argv, target=wanted.target)
        _, status, seconds = run_command(watch, proof, sinks)
        return PfcLoad(kind="command", seconds=seconds, exit_status=status)
    count = len(watch.watched())
    shown = f"{count} hosts" if count != 1 else "one host"
    reporter.say(f"watching {shown} for {wanted.seconds:g} s")
    begun = time.monotonic()
    with contextlib.suppress(KeyboardInterrupt):  # the readings so far are still judged
        watch.wait(wanted.seconds)
    return PfcLoad(kind="none", seconds=time.monotonic() - begun)


@contextlib.contextmanager
def _heard(watch: Watch) -> Iterator[None]:
    """Drain the readers' pipes while another loop reads the ranks of the load, because a full pipe
    would block its writer.
    """
    over = threading.Event()
    hearing = threading.Thread(target=watch.hearing.listen, args=(_LONGEST_S, over.is_set))
    hearing.start()
    try:
        yield
    finally:
        over.set()
        hearing.join()


# --- wireproof's load: many hosts stream to one receiver, and several hosts take turns as receiver,
# so that all are compared alike. With MPI this is the pattern ``incast``; transports that have only
# pairs use a rank on the receiver for each sender instead, with all pairs at once.

MOST_SENDERS = 16
"""Default limit of simultaneous senders; two already fill a switch's buffer."""
MOST_PAIRS = 4
"""Default limit if each sender needs a separate rank on every host."""
LEAST_SENDERS = 2
_LEAST_POINT_S = 1.0
_MESSAGE_BYTES = 1 << 20
_TO_THE_END = 1_000_000_000
"""Minimum number of operations, so that a load does not end early because it has reached the
precision."""


def check_incast(hosts: int, senders: int | None, most: int = MOST_SENDERS) -> int:
    """Return the number of simultaneous senders. Raises ``BadInput`` if no incast is possible."""
    if hosts < LEAST_SENDERS + 1:
        have = f"{hosts} host{'s are' if hosts != 1 else ' is'}" if hosts else "no hosts are"
        raise BadInput(
            f"an incast needs three --hosts, two senders and a receiver, but {have} given: add"
            " hosts, or watch another load with -- COMMAND or --no-load."
        )
    if senders is not None and not LEAST_SENDERS <= senders < hosts:
        raise BadInput(
            f"--senders {senders} is out of range: of {hosts} hosts, 2 to {hosts - 1} can send to"
            " one receiver."
        )
    return senders if senders is not None else min(hosts - 1, most)


def incast_points(
    hosts: int, senders: int, seconds: float, *, by_pairs: bool = False
) -> list[Point]:
    """Return one point for each receiver: all hosts if the duration allows one second for each,
    else some of them, evenly spaced; its senders are the hosts after it. ``by_pairs``: each host
    has ``senders`` ranks with consecutive numbers.
    """
    count = max(1, min(hosts, int(seconds / _LEAST_POINT_S)))
    budget_ms = max(1, round(1000 * seconds / count))
    points = []
    for number in range(count):
        members = [(number * hosts // count + offset) % hosts for offset in range(senders + 1)]
        receiver, *others = members
        pairs = [(other * senders, receiver * senders + i) for i, other in enumerate(others)]
        points.append(
            Point(
                id=number,
                pattern="stream" if by_pairs else "incast",
                message_bytes=_MESSAGE_BYTES,
                pairs=tuple(pairs) if by_pairs else (),
                members=() if by_pairs else tuple(members),
                form="stream",
                budget_ms=budget_ms,
                least_operations=_TO_THE_END,
            )
        )
    return points


def run_incast(wanted: LiveSpecification, reporter: Reporter) -> PfcLoad:
    """Run the incast. Raises ``CouldNotMeasure`` if it cannot run to its end."""
    target = wanted.target
    hosts = len(target.hosts)
    by_pairs = wanted.method.transport != "mpi"
    senders = check_incast(hosts, wanted.senders, MOST_PAIRS if by_pairs else MOST_SENDERS)
    points = incast_points(hosts, senders, wanted.seconds, by_pairs=by_pairs)
    ranks = target.spread(senders) if by_pairs else target
    storage = Storage(kept=False)
    method = wanted.method
    policy = target.pinned(paced(method.bounds(), target.claimed_rate))
    deadline_ms = round(10_000 * wanted.seconds) + 30_000
    policy = msgspec.structs.replace(policy, point_deadline_ms=deadline_ms)
    title = f"incast, {senders} senders to each of {len(points)} hosts in turn"
    with result_folder(storage, "pfc", reporter) as folder:
        session = method.session(
            title,
            points,
            policy=policy,
            seed=method.chosen_seed(),
            out=folder / "run",
            storage=storage,
        )
        section, outcomes = launched_once(session, ranks, reporter)
    ran = [
        point for outcome in outcomes for point in outcome.run.points if point.pairs or point.group
    ]
    if not ran:
        raise CouldNotMeasure("the incast did not run on any host.")
    # the rank that receives from all others, or a rank of its host
    sinks = [point.group.members[0] if point.group else point.pairs[0].target for point in ran]
    receivers = [ranks.hosts[sink] for sink in sinks]
    return PfcLoad(
        kind="incast",
        receivers=receivers,
        senders=senders,
        seconds=sum(point.elapsed_ns for point in ran) / 1e9,
        transport=method.transport,
        proof=section.judgement.proof,
        trouble=_trouble(outcomes[-1].ending, len(points) - len(ran)),
    )


def _trouble(ending: Ending, missing: int) -> str:
    if ending.ended == "done" and not missing:
        return ""
    return f"the incast did not finish: {ending.reason or f'{missing} hosts had no turn'}"
