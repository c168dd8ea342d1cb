"""From options to what is read live, and under which load."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from wireproof.model.errors import BadInput
from wireproof.settings.durations import parse_duration
from wireproof.settings.resolve import Settings
from wireproof.workflow.pfc.incast import Incast, check_incast
from wireproof.workflow.pfc.live import LiveSpecification
from wireproof.workflow.pfc.options import PfcOptions
from wireproof.workflow.prove.hosts import entered_node, target_of_command
from wireproof.workflow.specification import Method
from wireproof.workflow.target.resolve import TargetSpecification, resolve_target

__all__ = ["live_specification"]

_SECONDS = "10s"


def live_specification(
    asked: TargetSpecification,
    settings: Settings,
    environment: Mapping[str, str],
    options: PfcOptions,
) -> LiveSpecification:
    """Raises ``BadInput``, before anything is started."""
    seconds = parse_duration(options.get("duration") or _SECONDS)
    argv = tuple(options.get("argv", ()))
    if argv:
        return _of_command(asked, settings, environment, argv)
    alone = dataclasses.replace(asked, alone=True)
    if options.get("no_load"):
        target = resolve_target(alone, environment)
        return LiveSpecification(target=target, load="none", nic=asked.nic, seconds=seconds)
    method = Method.from_settings(settings)
    if method.plays_hosts:
        raise BadInput(
            f"--transport {method.transport} sends nothing: give mpi, tcp or ofi for the incast."
        )
    senders = options.get("senders")
    target = resolve_target(alone, environment)
    check_incast(len(target.hosts), senders)
    incast = Incast(method=method, seconds=seconds, senders=senders)
    return LiveSpecification(
        target=target, load="incast", nic=asked.nic, seconds=seconds, incast=incast
    )


def _of_command(
    asked: TargetSpecification,
    settings: Settings,
    environment: Mapping[str, str],
    argv: tuple[str, ...],
) -> LiveSpecification:
    """The hosts of the command, as ``prove`` finds them."""
    lab, node = asked.lab, ""
    entered = entered_node(argv)
    if entered is not None:
        lab, node, argv = entered
    target = target_of_command(settings, argv, lab=lab, link=asked.link, environment=environment)
    start_on = (node, *target.start_on) if node else target.start_on
    target = dataclasses.replace(
        target, sysfs_root=asked.sysfs_root, prefix=asked.prefix, start_on=start_on
    )
    return LiveSpecification(target=target, load="command", nic=asked.nic, argv=argv)
