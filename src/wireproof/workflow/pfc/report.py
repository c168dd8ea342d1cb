"""The work of ``wireproof pfc``: a record, taken or stored, and its judgement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from wireproof.model.errors import BadInput
from wireproof.model.pfc import PfcRecord, PfcReport
from wireproof.model.rails import rails_of
from wireproof.settings.durations import parse_duration
from wireproof.settings.hosts import check_nic
from wireproof.settings.resolve import Settings
from wireproof.workflow.pfc.judged import judged
from wireproof.workflow.pfc.options import PfcOptions
from wireproof.workflow.pfc.stored import record_of, write_snapshot
from wireproof.workflow.prove.watch import NOWHERE, Sinks
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.target.resolve import TargetSpecification

__all__ = ["pfc_report"]


def pfc_report(
    target: TargetSpecification,
    settings: Settings,
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
        record = _live(target, settings, environment, reporter, sinks, options)
    if snapshot := options.get("snapshot"):
        write_snapshot(snapshot, record)
    return judged(record, options.get("priority"), options.get("cable_m"))


def _check(target: TargetSpecification, options: PfcOptions) -> None:
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


def _live(
    asked: TargetSpecification,
    settings: Settings,
    environment: Mapping[str, str],
    reporter: Reporter,
    sinks: Sinks,
    options: PfcOptions,
) -> PfcRecord:
    from wireproof.workflow.pfc.live import record_live
    from wireproof.workflow.pfc.wanted import live_specification

    wanted = live_specification(asked, settings, environment, options)
    for line in wanted.target.said:
        reporter.say(line)
    return record_live(wanted, environment=environment, reporter=reporter, sinks=sinks)
