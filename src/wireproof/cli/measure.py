"""``wireproof measure PATTERN``: one measurement with its proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import click

from wireproof.cli.context import current_context
from wireproof.cli.options import (
    link_options,
    method_of,
    output_options,
    place_options,
    settings_of,
    target_specification,
)
from wireproof.model.pattern import GROUP_PATTERNS, PAIR_PATTERNS

if TYPE_CHECKING:
    from wireproof.model.plan import Formula

__all__ = ["command"]


@click.command("measure")
@click.argument(
    "pattern", metavar="PATTERN", type=click.Choice((*PAIR_PATTERNS, *GROUP_PATTERNS, "saturation"))
)
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
    from wireproof.cli.console import Console
    from wireproof.cli.delivery import deliver
    from wireproof.workflow.measure import measure
    from wireproof.workflow.specification import MeasureSpecification, Storage

    settings = settings_of(options)
    out, resume = settings.out.value, options["resume"]
    specification = MeasureSpecification(
        pattern=pattern,
        target=target_specification(settings, options),
        method=method_of(settings, options),
        storage=Storage(
            folder=out,
            kept=out is not None or resume,
            resume=resume,
            may_change_mode=settings.out.origin != "file",
        ),
        sizes=settings.sizes.value,
        window=settings.window.value,
        formula=cast("Formula", settings.formula.value),
        **{name: options[name] for name in _FIELDS},
    )
    result = measure(specification, Console(), current_context().environment)
    return deliver(result, as_json=settings.json.value)


_FIELDS = (
    "form",
    "ppn",
    "ranks",
    "order",
    "nonblocking",
    "threads",
    "partitions",
    "window_kind",
    "both_directions",
)
"""Options that are fields of the specification as they are."""
