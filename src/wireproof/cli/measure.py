"""``wireproof measure PATTERN``: one measurement with its proof."""

from __future__ import annotations

import contextlib
import dataclasses
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
import msgspec

from wireproof.cli.options import link_options, output_options, place_options, settings_of
from wireproof.cli.patterns import GROUP_PATTERNS, PATTERNS, SATURATED
from wireproof.model.plan import Policy
from wireproof.settings.model_world import model_of
from wireproof.settings.resolve import Settings

if TYPE_CHECKING:
    from wireproof.workflow.target.target import Target

__all__ = ["claimed_rate", "command", "pinned", "policy_of"]


def policy_of(settings: Settings) -> Policy:
    """Budget and deadline as given; a point's deadline grows with its budget."""
    policy = Policy()
    if settings.budget.value is not None:
        budget = max(1, round(settings.budget.value * 1000))
        deadline = max(policy.point_deadline_ms, 10 * budget)
        policy = msgspec.structs.replace(policy, point_budget_ms=budget, point_deadline_ms=deadline)
    if settings.deadline.value is not None:
        policy = msgspec.structs.replace(
            policy, run_deadline_ms=max(1, round(settings.deadline.value * 1000))
        )
    return policy


def pinned(policy: Policy, target: Target) -> Policy:
    """Each rank on a core of its NIC's socket, where several are left to it; a lab's nodes have no
    sockets.
    """
    real = target.hosts and target.lab is None and not target.virtual
    return msgspec.structs.replace(policy, pin="nic") if real else policy


def claimed_rate(target: Target) -> float | None:
    """Bits per second that are claimed of the link between hosts; None where no wire is."""
    return target.link.rate_bits_per_s if target.hosts and target.link else None


@contextlib.contextmanager
def _folder(keep: Path | None, resume: bool, origin: str) -> Iterator[Path]:
    """Where the records go: ``keep``, or a folder that goes with us."""
    from wireproof.cli.console import say
    from wireproof.cli.delivery import result_folder

    if keep is None and not resume:
        with tempfile.TemporaryDirectory(prefix="wireproof-") as scratch:
            try:
                yield Path(scratch)
            except KeyboardInterrupt:
                say("nothing is kept: give --out to keep what is measured.")
                raise
        return
    with result_folder(keep, "measure", resume=resume, origin=origin) as folder:
        yield folder


@click.command("measure")
@click.argument("pattern", metavar="PATTERN", type=click.Choice(PATTERNS))
@click.option(
    "--sizes", metavar="LIST", help="message sizes: 0,8,64KiB or 0:4MiB (doubling); default 0:4MiB."
)
@click.option(
    "--window",
    metavar="N",
    help="messages in flight (bounded by 4 MiB, or 32 ms of the link); default 64.",
)
@click.option(
    "--formula",
    metavar="robust|osu|imb-mpi1|imb-p2p|hpcc",
    help="whose loop and formula gives the number.",
)
@click.option(
    "--form",
    type=click.Choice(["latency", "stream"]),
    help="put, get, accumulate: flush each or each "
    "window; persistent, partitioned, threads: there and back, or one way.",
)
@click.option(
    "--ppn", type=click.IntRange(1, 4096), default=1, show_default=True, help="ranks on each host."
)
@click.option(
    "--order", type=click.Choice(["natural", "random"]), help="ring: of the ranks; default natural."
)
@click.option(
    "--nonblocking",
    is_flag=True,
    help="collectives: the non-blocking form, and how much of it overlaps.",
)
@click.option(
    "--threads", type=click.IntRange(1, 256), metavar="N", help="threads: how many in each rank."
)
@click.option(
    "--partitions", type=click.IntRange(1, 4096), metavar="N", help="partitioned: of each message."
)
@click.option(
    "--window-kind",
    type=click.Choice(["allocate", "create"]),
    default="allocate",
    show_default=True,
    help="put, get: how the remote memory is made.",
)
@click.option("--both-directions", is_flag=True, help="also from the second host to the first.")
@click.option("--repeat", metavar="N", help="how often each point is measured; default 1.")
@click.option(
    "--ranks",
    type=click.IntRange(1, 4096),
    default=2,
    show_default=True,
    help="ranks, without --hosts.",
)
@click.option("--model", "model_world", metavar="NAME=N,...", help="world of the model transport.")
@place_options
@link_options
@output_options
def command(pattern: str, **options: Any) -> int:
    """Measure one PATTERN over a range of sizes, prove its path, judge it.

    Pairs: pingpong (half round trip), stream (one way, acknowledged), exchange (both ways), put,
    get, accumulate, fetch_and_op, compare_and_swap (remote access), persistent, partitioned
    (MPI-4), threads.

    All ranks: message_rate, ring, incast, all_to_all, congestion, barrier, broadcast, allreduce,
    allgather, alltoall; saturation (message_rate over sizes and ranks per host: where is the link
    full?).
    """
    from wireproof.cli.console import say
    from wireproof.cli.delivery import deliver
    from wireproof.plan.pace import paced, with_time
    from wireproof.plan.sweep import numbered
    from wireproof.settings.physics_table import read_table
    from wireproof.workflow.measure import extra_of, points_of, saturated, spread
    from wireproof.workflow.session.disturbed import run_settled
    from wireproof.workflow.session.session import Session
    from wireproof.workflow.target.target import TargetOptions, resolve_target, this_machine

    settings = settings_of(options)
    table = read_table(options["physics"])
    transport = settings.transport.value
    target = resolve_target(settings, TargetOptions.of(options))
    if not target.hosts:
        alone = (
            1
            if transport in ("null", "model") and pattern not in (*GROUP_PATTERNS, "saturation")
            else 0
        )
        here = this_machine(target.link, ranks=alone or options["ranks"])
        target = dataclasses.replace(here, sysfs_root=target.sysfs_root)
    target = spread(
        target,
        max(options["ppn"], SATURATED if pattern == "saturation" and options["ppn"] == 1 else 1),
    )
    policy = policy_of(settings) if pattern == "threads" else pinned(policy_of(settings), target)
    rate = claimed_rate(target)
    points, policy = with_time(
        points_of(pattern, settings, options, target),
        paced(policy, rate),
        rate,
        budget_given=settings.budget.value is not None,
    )
    for line in target.said:
        say(line)
    seed = settings.seed.value if settings.seed.value is not None else secrets.randbelow(1 << 31)
    keep = settings.out.value
    with _folder(keep, options["resume"], settings.out.origin) as folder:
        session = Session(
            title=f"{pattern} over {transport}",
            points=numbered(points, seed=seed, repeats=settings.repeat.value),
            seed=seed,
            transport=cast(Any, transport),
            mpi=settings.mpi.value,
            fabric=cast(Any, settings.fabric.value),
            nic_selection=cast(Any, settings.nic_selection.value),
            policy=policy,
            model=model_of(options["model_world"]) if transport == "model" else None,
            out=folder / "run",
            kept=keep is not None,
            resume=options["resume"],
            deadline_s=settings.deadline.value,
            table=table,
            extra=extra_of(pattern, options, target),
        )
        section, outcomes = run_settled(session, target)
        part = (saturated(section) if pattern == "saturation" else section, outcomes)
        return deliver(
            [part], title=session.title, folder=keep and folder, as_json=settings.json.value
        )
