"""The work of ``wireproof pfc``: options, a record (taken or stored), and its judgement."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict, Unpack

from wireproof.model.claim import rails_of
from wireproof.model.errors import BadInput
from wireproof.model.pfc import Headroom, PfcRecord, PfcReport
from wireproof.plan.pfc import pfc
from wireproof.settings.durations import parse_duration
from wireproof.settings.hosts import check_nic
from wireproof.settings.options import Options
from wireproof.verdict.pfc.judge import judge_pfc, read
from wireproof.workflow.pfc.live import Incast, LiveSpecification, check_incast, record_live, refuse
from wireproof.workflow.pfc.stored import record_of, write_snapshot
from wireproof.workflow.prove.hosts import entered_node, target_of_command
from wireproof.workflow.prove.watch import NOWHERE, Sinks
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.session.session import Method
from wireproof.workflow.target.resolve import claimed_link, prefix_of, resolve_target


def pfc_report(
    target: Options,
    environment: Mapping[str, str],
    reporter: Reporter,
    sinks: Sinks = NOWHERE,
    **options: Unpack[PfcOptions],
) -> PfcReport:
    """Raises ``BadInput`` before anything is started, ``CouldNotMeasure`` where nothing could be
    read.
    """
    _check(target, options)
    source = options.get("source")
    seconds = parse_duration(options["duration"]) if options.get("duration") else None
    if source is not None:
        record = record_of(source, nic=target.nic, seconds=seconds)
    else:
        wanted = live_specification(target, environment, options)
        for line in wanted.target.said:
            reporter.say(line)
        record = record_live(wanted, environment=environment, reporter=reporter, sinks=sinks)
    if snapshot := options.get("snapshot"):
        write_snapshot(snapshot, record)
    return judged(record, options.get("priority"), options.get("cable_m"))


def _check(target: Options, options: PfcOptions) -> None:
    for nic in rails_of(target.nic):
        check_nic(nic)
    given = [
        name
        for name, value in (
            ("--from", options.get("source") is not None),
            ("--no-load", options.get("no_load")),
            ("a command", options.get("argv")),
        )
        if value
    ]
    if len(given) > 1:
        raise BadInput(f"{given[0]} and {given[1]} are two loads: give one of them.")
    if options.get("senders") is not None and given:
        raise BadInput(f"--senders is of our own incast, and {given[0]} is given.")
    if options.get("source") is not None and target.hosts:
        raise BadInput("--from has the hosts that were read: leave --hosts out.")
    if (snapshot := options.get("snapshot")) and snapshot.exists():
        raise BadInput(f"{snapshot} is there already: give the snapshot another name.")


_SECONDS = "10s"


def live_specification(
    asked: Options,
    environment: Mapping[str, str],
    options: PfcOptions,
) -> LiveSpecification:
    """Raises ``BadInput``, before anything is started."""
    seconds = parse_duration(options.get("duration") or _SECONDS)
    argv = tuple(options.get("argv", ()))
    if argv:
        return _of_command(asked, environment, argv)
    if options.get("no_load"):
        target = resolve_target(asked, environment)
        return LiveSpecification(target=target, load="none", nic=asked.nic, seconds=seconds)
    method = Method.from_options(asked)
    if method.plays_hosts:
        raise BadInput(
            f"--transport {method.transport} sends nothing: give mpi, tcp or ofi for the incast."
        )
    senders = options.get("senders")
    target = resolve_target(asked, environment)
    check_incast(len(target.hosts), senders)
    incast = Incast(method=method, seconds=seconds, senders=senders)
    return LiveSpecification(
        target=target, load="incast", nic=asked.nic, seconds=seconds, incast=incast
    )


def _of_command(
    asked: Options,
    environment: Mapping[str, str],
    argv: tuple[str, ...],
) -> LiveSpecification:
    """The hosts of the command, as ``prove`` finds them."""
    lab, node = asked.lab, ""
    entered = entered_node(argv)
    if entered is not None:
        lab, node, argv = entered
    link = claimed_link(asked)
    target = target_of_command(asked, argv, lab=lab, link=link, environment=environment)
    start_on = (node, *target.start_on) if node else target.start_on
    target = dataclasses.replace(
        target, sysfs_root=asked.sysfs_root, prefix=prefix_of(asked.prefix), start_on=start_on
    )
    return LiveSpecification(target=target, load="command", nic=asked.nic, argv=argv)


# --- The options of ``wireproof pfc``.


class PfcOptions(TypedDict, total=False):
    """As the options of ``wireproof pfc`` are written; ``source``: of --from; ``argv``: the load's
    command; ``no_load``: what runs there anyway is watched; ``senders``: of our own incast.
    """

    priority: int | None
    duration: str
    source: Path | None
    snapshot: Path | None
    cable_m: float | None
    argv: Sequence[str]
    no_load: bool
    senders: int | None


# --- A record judged, with the headroom that its ports need by ``plan pfc``.

CABLES_M = (3.0, 100.0)
"""In a rack and across a hall, where nobody says."""


def judged(record: PfcRecord, priority: int | None, cable_m: float | None = None) -> PfcReport:
    """``cable_m``: of the links to the switch, for the headroom. Raises ``BadInput`` where the
    named interface is on no host, or where PFC is nothing that its link has.
    """
    refuse(record)
    readings = read(record)
    cables = CABLES_M if cable_m is None else (cable_m,)
    kinds = {
        (one.speed_bits_per_s / 1e9, one.mtu)
        for one in readings
        if one.speed_bits_per_s and one.mtu
    }
    needed = {kind: [need for each in cables if (need := _need(*kind, each))] for kind in kinds}
    return judge_pfc(record, readings, priority, needed)


def _need(speed_gbps: float, mtu: int, cable_m: float) -> Headroom | None:
    """None: no response time is known for this speed."""
    try:
        found = pfc(speed_gbps, mtu, cable_m, 1)
    except BadInput:
        return None
    return Headroom(
        speed_gbps=speed_gbps,
        mtu=mtu,
        cable_m=cable_m,
        least_bytes=int(found.headroom_bytes.low),
        most_bytes=int(found.headroom_bytes.high),
    )
