"""``wireproof measure PATTERN``: one measurement with its proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from wireproof.cli.console import Console, current_context, remark
from wireproof.cli.declare import Sectioned, number, sections, setting
from wireproof.cli.options import (
    JUDGED_BY,
    OUTPUT,
    TARGET,
    method_of,
    settings_of,
    storage_of,
)
from wireproof.model.errors import BadInput
from wireproof.model.pattern import GROUP_PATTERNS, PAIR_PATTERNS
from wireproof.settings.options import ROWS

if TYPE_CHECKING:
    from wireproof.workflow.specification import MeasureSpecification


EXAMPLES = (
    "wireproof measure pingpong --hosts n1,n2 --sizes 0:4MiB",
    "wireproof measure stream --hosts n1,n2 --sizes 1MiB --both-directions --json",
    "wireproof measure stream --hosts n1,n2 --formula osu",
    "wireproof measure ring --hosts 'n[1-8]' --ppn 4 --order random --formula hpcc",
)


_LATER = ("sizes", "gain", "ranks")
ALL_PATTERNS = (*PAIR_PATTERNS, *GROUP_PATTERNS, "saturation")
OPTIONS: tuple[click.Parameter, ...] = (
    click.Argument(["pattern"], metavar="PATTERN", type=click.Choice(ALL_PATTERNS)),
    setting("sizes", about="message sizes: 0,8,64KiB or 0:4MiB (doubling); default 0:4MiB."),
    *(setting(name) for name in ROWS if ROWS[name].group == "measure" and name not in _LATER),
    setting("repeat"),
    setting("gain"),
    number("--rounds", 1, 1000, "for --gain: how often each is measured; default 5."),
    setting("ranks"),
    setting("dry_run"),
    setting("model"),
)


@click.command(
    "measure",
    cls=Sectioned,
    sections=sections(OPTIONS, "What is measured", target=TARGET, link=JUDGED_BY, output=OUTPUT),
    examples=EXAMPLES,
    first="sizes window formula form ppn both_directions",
)
def command(pattern: str, **options: Any) -> int:
    """Measure one PATTERN over a range of sizes, prove its path, judge it.

    Pairs: pingpong (half round trip), stream (one way, acknowledged), exchange (both ways), put,
    get, accumulate, fetch_and_op, compare_and_swap (remote access), persistent, partitioned
    (MPI-4), threads.

    All ranks: message_rate, ring, incast, all_to_all, congestion, barrier, broadcast, allreduce,
    allgather, alltoall; saturation (message_rate over sizes and ranks per host: where is the link
    full?).
    """
    from wireproof.cli.options import deliver, show_planned
    from wireproof.workflow.measure import measure, plan_measure
    from wireproof.workflow.specification import MeasureSpecification

    settings = settings_of(options)
    environment = current_context().environment
    kept = bool(settings.out or settings.history or options["resume"])
    specification = MeasureSpecification.of(
        settings,
        storage_of(settings, kept=kept),
        pattern=pattern,
        method=method_of(settings),
    )
    if options["gain"] and options["dry_run"]:
        raise BadInput("--gain starts several commands in turn: --dry-run prints one, without it.")
    if options["gain"] and settings.origin("history") == "option":
        raise BadInput("a history cannot keep the result of --gain: give --out for its records.")
    if options["gain"]:
        return _gain(specification, options["rounds"])
    if options["rounds"]:
        raise BadInput("--rounds is for --gain: --repeat measures each point again.")
    if options["dry_run"]:
        return show_planned(plan_measure(specification, Console(), environment))
    return deliver(measure(specification, Console(), environment))


def _gain(specification: MeasureSpecification, rounds: int | None) -> int:
    from wireproof.cli.options import answer
    from wireproof.report.documents.experiments import gain_document
    from wireproof.workflow.rails import measure_gain

    environment = current_context().environment
    gain, folder = measure_gain(specification, Console(), environment, rounds=rounds)
    status = answer(gain, gain_document)
    if folder is not None:
        remark(f"records: {folder}")
    return status
