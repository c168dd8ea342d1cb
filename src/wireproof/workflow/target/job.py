"""A job of our own: asked for, waited for with its state told, and given back whatever happens."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
from collections.abc import Iterator
from typing import Any

from wireproof.cli.console import say
from wireproof.launch.schedulers.allocation import Allocation
from wireproof.launch.schedulers.slurm import fold_hosts
from wireproof.launch.schedulers.slurm_job import JobRequest, JobState, allocate, release
from wireproof.model.errors import BadInput
from wireproof.settings.durations import parse_duration
from wireproof.settings.hosts import parse_hosts
from wireproof.settings.resolve import Settings
from wireproof.workflow.target.target import (
    Target,
    TargetOptions,
    allocated,
    claimed_link,
    prefix_of,
)

__all__ = ["imagined_target", "job_target", "request_of", "time_limit_s"]

_LIMIT = re.compile(r"(?:([0-9]{1,3})-)?([0-9]{1,6}(?::[0-9]{1,2}){0,2})", re.ASCII)

DEFAULT_LIMIT_S = 600.0
LONGEST_WAIT_S = 3600.0


def request_of(options: dict[str, Any]) -> JobRequest:
    """What the job options ask for. Raises ``BadInput`` when not even a number of nodes was
    given.
    """
    nodes, named = options["nodes"], options["job_nodelist"]
    if nodes is None and not named:
        raise BadInput("--slurm needs -N (how many nodes), or --nodelist (which).")
    hosts = parse_hosts(named) if named else ()
    if (nodes or len(hosts)) == 1:
        raise BadInput("one node has nobody to talk to: ask for two or more with -N.")
    return JobRequest(
        nodes=nodes or len(hosts),
        partition=options["job_partition"],
        limit_s=time_limit_s(options["job_time"]) if options["job_time"] else DEFAULT_LIMIT_S,
        account=options["job_account"],
        qos=options["job_qos"],
        hosts=hosts,
        exclude=parse_hosts(options["job_exclude"]) if options["job_exclude"] else (),
        reservation=options["job_reservation"],
        constraint=options["job_constraint"],
        wait_s=parse_duration(options["job_wait"]) if options["job_wait"] else LONGEST_WAIT_S,
    )


def time_limit_s(text: str) -> float:
    """Seconds of a limit as schedulers write it: ``30`` (minutes), ``30:00``, ``1:00:00``,
    ``1-12:00:00``.
    """
    found = _LIMIT.fullmatch(text.strip())
    if found is None:
        raise BadInput(
            f"--time {text[:40]!r} is no time limit: write 30 (minutes), 30:00, 1:00:00 or 1-12:00:00."
        )
    days, rest = found.group(1), [int(part) for part in found.group(2).split(":")]
    if days is not None:
        units = (3600, 60, 1)
        return int(days) * 86400.0 + sum(
            value * unit for value, unit in zip(rest, units, strict=False)
        )
    units = {1: (60,), 2: (60, 1), 3: (3600, 60, 1)}[len(rest)]  # type: ignore[assignment]
    return float(sum(value * unit for value, unit in zip(rest, units, strict=True)))


AGAIN_S = 60.0
"""An unchanged state is told again after so long: a night in the queue is no thousand lines."""


class _Teller:
    """Tells the job's state when it changes, and every ``AGAIN_S`` while it does not."""

    def __init__(self) -> None:
        self._before = ""
        self._at_s = 0.0

    def __call__(self, state: JobState) -> None:
        waits = state.state == "PENDING"
        why = f" ({state.reason})" if waits and state.reason and state.reason != "None" else ""
        starts = f", expected to start {state.starts}" if waits and state.starts else ""
        words = f"Slurm job {state.job}: {state.state.lower()}{why}{starts}"
        if words == self._before and state.waited_s - self._at_s < AGAIN_S:
            return
        if words == self._before and not waits:
            return
        self._before, self._at_s = words, state.waited_s
        say(f"{words}, {state.waited_s:.0f} s" if waits else words)


@contextlib.contextmanager
def _interrupt_told() -> Iterator[None]:
    """Ctrl-C while the job waits: ``allocate`` has cancelled it."""
    try:
        yield
    except KeyboardInterrupt:
        say("interrupted while it waited for the nodes: the job was cancelled.")
        raise


def _through(lab: str | None) -> tuple[str, ...]:
    """Words ahead of Slurm's commands: in a lab its Slurm is reached from inside the nodes only."""
    if lab is None:
        return ()
    from wireproof.lab.cluster import open_lab
    from wireproof.lab.slurm import open_slurm

    found = open_lab(lab)
    slurm = open_slurm(found)
    if slurm is None:
        raise BadInput(f"lab {lab} has no Slurm: start one with `wireproof lab slurm {lab}`.")
    os.environ.update(slurm.environment())
    return tuple(found.exec_argv(slurm.head, ["x"])[:-1])


def imagined_target(settings: Settings, options: dict[str, Any]) -> Target:
    """The target that ``--slurm`` would give, with made-up names for nodes that only the job will
    name.
    """
    request = request_of(options)
    hosts = request.hosts or tuple(f"node{number}" for number in range(1, request.nodes + 1))
    allocation = Allocation(scheduler="slurm", job="", hosts=hosts, partition=request.partition)
    return allocated(settings, allocation, TargetOptions.of({**options, "lab": None}))


def _same_nodes(request: JobRequest, settings: Settings, options: dict[str, Any]) -> JobRequest:
    """What is resumed goes on between the nodes that it was begun on: they are asked for by
    name.
    """
    if not options.get("resume") or request.hosts or settings.out.value is None:
        return request
    from wireproof.workflow.resume import ASKED, recall

    if not (settings.out.value / ASKED).is_file():
        return request
    hosts = parse_hosts(",".join(recall(settings.out.value).hosts), repeats=True)
    say(f"the run was begun on {fold_hosts(hosts)}: a job on these nodes is asked for")
    return dataclasses.replace(request, hosts=hosts, nodes=len(hosts))


@contextlib.contextmanager
def job_target(settings: Settings, options: dict[str, Any]) -> Iterator[Target]:
    """The nodes of a job made for us; the job ends with the block, and no other job is touched."""
    if settings.hosts.value:
        raise BadInput(
            "--hosts names nodes that are there, --slurm gets some: use --nodelist to name the job's nodes."
        )
    asked = TargetOptions.of(options)
    # what is wrong with it is told before anything is asked for
    claimed_link(settings, asked.mtu, asked.pcie)
    prefix_of(asked.prefix)
    request = _same_nodes(
        dataclasses.replace(request_of(options), through=_through(asked.lab)), settings, options
    )
    with _interrupt_told():
        allocation = allocate(request, _Teller())
    try:
        yield allocated(settings, allocation, asked)
    finally:
        release(allocation)
