"""From what is asked for to a target: a job's nodes, a lab's, hosts by ssh, or this machine."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from wireproof.model.claim import LinkClaim
from wireproof.model.errors import BadInput
from wireproof.settings.options import Options
from wireproof.workflow.target.lab_or_hosts import lab_of
from wireproof.workflow.target.target import Target, lab_target, this_machine

if TYPE_CHECKING:
    from wireproof.launch.schedulers.allocation import Allocation

__all__ = [
    "agent_of",
    "allocated",
    "claimed_link",
    "prefix_of",
    "reader_prefix",
    "refuse_lone_claims",
    "resolve_target",
]


def refuse_lone_claims(options: Options, target: Target) -> None:
    """Raise ``BadInput`` for a NIC or a link that was given for this run, and no hosts: it would
    be ignored, and a typing error with it. The model and the null transport have no hosts.
    """
    if target.hosts or options.transport in ("null", "model"):
        return
    link = claimed_link(options)
    wire = link is not None and link.protocol not in ("shm", "loopback")
    claims = [
        f"{options.source(name)} {value}"
        for name, value in (("nic", options.nic), ("link", options.link if wire else ""))
        if value and options.origin(name) == "option"
    ]
    if claims:
        raise BadInput(
            f"{' and '.join(claims)} says what is between two hosts, and no hosts are given: add"
            " --hosts A,B, or leave it out to measure this machine alone."
        )


def claimed_link(options: Options) -> LinkClaim | None:
    """The link of ``--link`` for the claimed NIC or rails; None when it was not given."""
    if not options.link:
        if options.mtu or options.pcie:
            raise BadInput("--mtu and --pcie say more about a link: name it with --link.")
        return None
    from wireproof.physics.rails import claim_of_rails

    source = options.source("link") or "--link"
    return claim_of_rails(
        options.link, options.nic, mtu=options.mtu, pcie=options.pcie, source=source
    )


def agent_of(launcher: str) -> str:
    """The program of ``--launcher``, called like ssh; "" for ssh itself."""
    if launcher in ("", "ssh"):
        return ""
    path = Path(launcher)
    if not path.is_file():
        raise BadInput(
            f"--launcher {launcher!r} is neither ssh nor a program: give the path of one called"
            " like ssh."
        )
    return str(path.absolute())


def prefix_of(text: str) -> tuple[str, ...]:
    """The words of ``--prefix``; ``BadInput`` when its quotes are not closed."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise BadInput(
            f"--prefix {text[:60]!r} cannot be split into words ({error}): close its quotes."
        ) from error


def reader_prefix(text: str) -> tuple[str, ...]:
    """The words of ``prove --prefix``, that the reader of the ports is started through."""
    from wireproof.launch.command import check_prefix

    words = prefix_of(text)
    check_prefix(words)
    return words


def resolve_target(asked: Options, environment: Mapping[str, str]) -> Target:
    """A lab's nodes, the allocation that ``environment`` belongs to, hosts by ssh, or this machine.

    Raises ``BadInput`` when it is none of these, or could be two.
    """
    if asked.scheduler == "auto":
        from wireproof.launch.known import check_task, current

        check_task(environment)
        found = current(environment)
        if found is not None and (
            len(asked.hosts) > 1 or (not asked.hosts and len(found.hosts) > 1)
        ):
            return allocated(asked, found)
    return dataclasses.replace(
        _named(asked), prefix=prefix_of(asked.prefix), sysfs_root=asked.sysfs_root
    )


def _named(asked: Options) -> Target:
    """The target without an allocation: by the names of hosts or of a lab."""
    if not asked.hosts and asked.lab is None:
        return this_machine(claimed_link(asked))
    if len(asked.hosts) == 1 and not asked.alone:
        raise BadInput(
            f"one host ({asked.hosts[0]}) has no partner: give two or more, or none for this"
            " machine alone."
        )
    found = lab_of(asked.hosts, asked.lab, asked.launcher)
    if found is None:
        return _by_ssh(asked, asked.hosts)
    target = lab_target(found, asked.hosts or found.nodes, nic=asked.nic, link=claimed_link(asked))
    if asked.lab is not None:
        return target
    note = f"the hosts are nodes of lab {found.name}: links are virtual"
    return dataclasses.replace(target, said=(note, *target.said))


def _by_ssh(asked: Options, hosts: tuple[str, ...]) -> Target:
    """Hosts that ssh, or a program called like it, reaches."""
    return Target(
        hosts=hosts,
        start_on=hosts,
        nics=(asked.nic,) * len(hosts) if asked.nic else (),
        link=claimed_link(asked),
        agent=agent_of(asked.launcher),
        virtual=asked.virtual,
    )


def allocated(asked: Options, allocation: Allocation) -> Target:
    """The nodes of an allocation, or those of them that ``--hosts`` names, in that order."""
    hosts = asked.hosts or allocation.hosts
    job = f"{allocation.scheduler} job {allocation.job}"
    strangers = [host for host in hosts if host not in allocation.hosts]
    if strangers:
        raise BadInput(
            f"{strangers[0]} is not a node of {job} ({len(allocation.hosts)} nodes,"
            f" {allocation.hosts[0]} the first): leave --hosts out, or give --scheduler none to use"
            " ssh."
        )
    if len(hosts) < 2 and not asked.alone:
        raise BadInput(
            f"{job} has one node ({hosts[0]}), which has no partner: ask for two or more, or"
            " give --scheduler none for this machine alone."
        )
    found = lab_of(hosts, asked.lab, asked.launcher)
    target = (
        lab_target(found, hosts, nic=asked.nic, link=claimed_link(asked))
        if found is not None
        else _by_ssh(asked, hosts)
    )
    return dataclasses.replace(
        target,
        allocation=allocation,
        starter="mpi" if asked.starter == "mpi" else "scheduler",
        prefix=prefix_of(asked.prefix),
        sysfs_root=asked.sysfs_root,
        said=(f"{job}: {len(hosts)} nodes", *target.said, *allocation.notes),
    )
