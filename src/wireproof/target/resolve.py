"""Resolve the user's options into a target: a job's nodes, a lab's nodes, hosts reached by ssh, or
this machine.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shlex
import socket
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from wireproof.files.hostile import read_bounded
from wireproof.files.programs import by_path
from wireproof.model.claim import LinkClaim, first_rail
from wireproof.model.errors import BadInput, reading
from wireproof.model.located import Fabric
from wireproof.options.table import Options
from wireproof.report.reporter import Reporter
from wireproof.target import Target, lab_target, this_machine

if TYPE_CHECKING:
    from wireproof.lab.cluster import Lab
    from wireproof.launch.registry import Allocation


# --- The fabric that connects a target's hosts: read from a file or from the scheduler.

LARGEST_FILE = 256 << 20


def read_fabric(path: Path) -> Fabric:
    """Read the fabric that a file describes.

    Raises ``BadInput`` with the file and its error.
    """
    with reading(f"the topology {path}"):
        text = read_bounded(path, LARGEST_FILE).decode("utf-8", "replace")
    from wireproof.topology import read_topology

    return read_topology(text, str(path))


def fabric_for(path: Path | None, target: Target, reporter: Reporter) -> Fabric | None:
    """Return the fabric of the target's hosts, or None without a description; report the parts that
    are left out.
    """
    fabric = read_fabric(path) if path is not None else _fabric_of_scheduler(target, reporter)
    if fabric is None:
        return None
    from wireproof.topology import against

    fabric, notes = against(fabric, target.hosts, first_rail(target.nics[0]) if target.nics else "")
    for note in (*fabric.notes, *notes):
        reporter.say(note)
    return fabric


def _fabric_of_scheduler(target: Target, reporter: Reporter) -> Fabric | None:
    """Return the switches above a job's nodes as its scheduler knows them, or None."""
    if target.scheduler is None or target.scheduler.queries is None:
        return None
    queries = target.scheduler.queries
    text = queries.topology(target.through())
    if not text.strip():
        return None
    from wireproof.topology import read_topology

    try:
        return read_topology(text, queries.topology_command)
    except BadInput as error:
        # The user did not request it, and a check without a topology is better than no check.
        reporter.warn(f"{str(error).rstrip('.')}; the check continues without a topology")
        return None


def refuse_lone_claims(options: Options, target: Target) -> None:
    """Raise ``BadInput`` if a NIC or a link is given without hosts: the run would ignore it, even
    if it is misspelt. The model and null transports have no hosts.
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
            f"{' and '.join(claims)} describes the link between two hosts, but no hosts are"
            " given: add --hosts A,B, or leave it out to measure this machine alone."
        )


def claimed_link(options: Options) -> LinkClaim | None:
    """Return the link of ``--link`` for the claimed NIC or rails, or None without the option."""
    if not options.link:
        if options.mtu or options.pcie:
            raise BadInput(
                "--mtu and --pcie describe a link in more detail: give the link with --link."
            )
        return None
    from wireproof.physics.rails import claim_of_rails

    source = options.source("link") or "--link"
    return claim_of_rails(
        options.link, options.nic, mtu=options.mtu, pcie=options.pcie, source=source
    )


def agent_of(launcher: str) -> str:
    """Return the program of ``--launcher``, which is called like ssh, or "" for ssh itself."""
    if launcher in ("", "ssh"):
        return ""
    path = Path(launcher)
    if not path.is_file():
        raise BadInput(
            f"--launcher {launcher!r} is neither ssh nor a program: give the path of a program"
            " that is called like ssh."
        )
    return str(path.absolute())


def prefix_of(text: str) -> tuple[str, ...]:
    """Split ``--prefix`` into words. Raises ``BadInput`` if its quotes are not closed."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise BadInput(
            f"--prefix {text[:60]!r} cannot be split into words ({error}): close its quotes."
        ) from error


def reader_prefix(text: str) -> tuple[str, ...]:
    """Return the words of ``prove --prefix``, with which the reader of the ports is started."""
    from wireproof.launch.command import check_prefix

    words = prefix_of(text)
    check_prefix(words)
    return words


def resolve_target(asked: Options, environment: Mapping[str, str]) -> Target:
    """Return the target: a lab's nodes, the allocation in ``environment``, hosts reached by ssh, or
    this machine.

    Raises ``BadInput`` if none of these matches, or if host names are ambiguous.
    """
    if asked.scheduler == "auto":
        from wireproof.launch.known import check_task, current

        check_task(environment)
        allocation = current(environment)
        if allocation is not None and (
            len(asked.hosts) > 1 or (not asked.hosts and len(allocation.hosts) > 1)
        ):
            return allocated(asked, allocation)
    return dataclasses.replace(
        _named(asked), prefix=prefix_of(asked.prefix), sysfs_root=asked.sysfs_root
    )


def _named(asked: Options) -> Target:
    """Return the target without an allocation: from the names of hosts or of a lab."""
    if not asked.hosts and asked.lab is None:
        return this_machine(claimed_link(asked))
    if len(asked.hosts) == 1 and not asked.alone:
        raise BadInput(
            f"one host ({asked.hosts[0]}) has no partner: give two or more, or none for this"
            " machine alone."
        )
    played = asked.transport in ("null", "model")  # no host is contacted, so any name is valid
    lab = None if played and asked.lab is None else lab_of(asked.hosts, asked.lab, asked.launcher)
    if lab is None:
        return _by_ssh(asked, asked.hosts)
    target = lab_target(lab, asked.hosts or lab.nodes, nic=asked.nic, link=claimed_link(asked))
    if asked.lab is not None:
        return target
    note = f"the hosts are nodes of lab {lab.name}: links are virtual"
    return dataclasses.replace(target, notes=(note, *target.notes))


def _by_ssh(asked: Options, hosts: tuple[str, ...]) -> Target:
    return Target(
        hosts=hosts,
        start_on=hosts,
        nics=(asked.nic,) * len(hosts) if asked.nic else (),
        link=claimed_link(asked),
        agent=agent_of(asked.launcher),
        virtual=asked.virtual,
    )


def allocated(asked: Options, allocation: Allocation) -> Target:
    """Return the target of an allocation's nodes, or of those that ``--hosts`` selects, in that
    order.
    """
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
            f"{job} has one node ({hosts[0]}), which has no partner: request two or more, or "
            "give --scheduler none for this machine alone."
        )
    lab = lab_of(hosts, asked.lab, asked.launcher)
    target = (
        lab_target(lab, hosts, nic=asked.nic, link=claimed_link(asked))
        if lab is not None
        else _by_ssh(asked, hosts)
    )
    return dataclasses.replace(
        target,
        allocation=allocation,
        starter="mpi" if asked.starter == "mpi" else "scheduler",
        prefix=prefix_of(asked.prefix),
        sysfs_root=asked.sysfs_root,
        notes=(f"{job}: {len(hosts)} nodes", *target.notes, *allocation.notes),
    )


# --- Whether host names are nodes of a virtual cluster or real hosts.

ASK_S = 2.0


def lab_of(hosts: tuple[str, ...], name: str | None, launcher: str = "") -> Lab | None:
    """Return the lab called ``name``; without a name, the only lab that has all these hosts as
    nodes, unless ``launcher`` specifies how to reach them.

    Raises ``BadInput`` if the names belong both to nodes of a lab and to real hosts: wireproof
    never guesses the target.
    """
    if name:
        return _opened(name)
    if launcher:
        return None
    from wireproof.lab.state import find_labs

    # Inside a node its lab appears to have crashed, because the supervisor is in another PID
    # namespace.
    labs = [lab for lab in find_labs() if lab.state in ("up", "degraded")]
    having = [lab.name for lab in labs if lab.topology and set(hosts) <= set(lab.topology.nodes)]
    if len(having) > 1:
        raise BadInput(f"the labs {', '.join(having)} all have these nodes: choose one with --lab.")
    if having and (real := real_host(hosts)):
        raise BadInput(
            f"{real} is both a node of lab {having[0]} and a real host: choose with --lab"
            f" {having[0]} or --launcher ssh."
        )
    return _opened(having[0]) if having else None


def _opened(name: str) -> Lab:
    from wireproof.lab.cluster import open_lab

    return open_lab(name)


def real_host(hosts: tuple[str, ...]) -> str:
    """Return the first of these names that resolves to an address or has an ssh configuration, or
    "".
    """
    asked, known = hosts[:4], dict[str, bool]()

    def ask(host: str) -> None:
        known[host] = _has_address(host)

    # A name server that does not respond must delay neither the check nor the exit of wireproof.
    threads = [threading.Thread(target=ask, args=(host,), daemon=True) for host in asked]
    for thread in threads:
        thread.start()
    until = time.monotonic() + ASK_S
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return next((host for host in asked if known.get(host) or _configured(host)), "")


def _has_address(host: str) -> bool:
    with contextlib.suppress(OSError, UnicodeError):
        return bool(socket.getaddrinfo(host, None))
    return False


def _configured(host: str) -> bool:
    """Return whether the ssh configuration maps this name to another."""
    try:
        done = subprocess.run(
            **by_path(["ssh", "-G", host]),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ASK_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    target = next((line.split(" ", 1)[1] for line in lines if line.startswith("hostname ")), host)
    return target.lower() != host.lower()


def options_of(target: Target) -> Options:
    """Return options that name the same hosts."""
    lab = target.lab.name if target.lab is not None else None
    return Options(
        hosts=target.hosts,
        launcher="" if lab else target.agent,
        lab=lab,
        scheduler="none",
        prefix=shlex.join(target.prefix),
        virtual=target.virtual,
        alone=True,
    )
