"""``wireproof pfc``: is priority flow control lossless here, and which host pauses its switch?"""

import sys
from pathlib import Path
from typing import Any

import click

from wireproof.cli.console import Console, current_context
from wireproof.cli.declare import FORM, JSON, Sectioned, file, flag, number, sections, text
from wireproof.cli.delivery import answer
from wireproof.cli.options import TARGET, lone_target
from wireproof.files.streams import descriptor

EXAMPLES = (
    "wireproof pfc --hosts 'n[1-8]' --nic hsn0 --priority 3 --duration 20s",
    "wireproof pfc --hosts 'n[1-8]' --nic hsn0 -- mpirun -f hosts ./application",
    "wireproof pfc --hosts 'n[1-64]' --no-load --duration 1min --json",
    "wireproof pfc --from case-4711 --priority 3 --duration 10s",
)
OPTIONS: tuple[click.Parameter, ...] = (
    number("--priority", 0, 7, "the lossless priority; default: the one that PFC is on for."),
    text("--duration", "10s", "how long; for stored readings the time between them."),
    number(
        "--senders", 2, 4096, "number of hosts that send to one host at once; default: at most 16."
    ),
    flag("--no-load", "send nothing: watch the existing traffic."),
    click.Option(
        ["--from", "source"],
        type=click.Path(path_type=Path),
        metavar="PATH",
        help="stored readings: a folder with before/ and after/, or a --snapshot.",
    ),
    file("--snapshot", "store the readings in this file, to judge them again with --from."),
    click.Option(
        ["--cable", "cable_m"],
        type=click.FloatRange(0, 100_000),
        metavar="METRES",
        help="of the links to the switch, for the headroom that drops call for.",
    ),
    JSON,
    FORM,
    click.Argument(["argv"], metavar="[-- COMMAND...]", nargs=-1, type=click.UNPROCESSED),
)


@click.command(
    "pfc",
    cls=Sectioned,
    sections=sections(OPTIONS, "What is judged", target=TARGET),
    examples=EXAMPLES,
    first="priority duration senders no_load source snapshot cable_m as_json form",
    context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False},
)
def command(**options: Any) -> int:
    """Is priority flow control lossless, and which host pauses its switch?

    Reads the counters of the hosts before and after a load (wireproof's incast, COMMAND, or the
    existing traffic): no drops, Xoff and Xon moving, in this priority alone, link-level flow
    control off. No setting is changed. Exit status: 0 all four are shown under pressure, 1
    something is wrong, 3 not proven.
    """
    from wireproof.report.documents.pfc import pfc_document
    from wireproof.workflow.pfc import pfc_report

    errors = descriptor(sys.stderr)
    report = pfc_report(
        lone_target(options),
        current_context().environment,
        Console(),
        (errors, errors),
        **{name: options[name] for name in _FIELDS},
    )
    return answer(report, pfc_document)


_FIELDS = ("priority", "duration", "source", "snapshot", "cable_m", "argv", "no_load", "senders")
"""Options that are passed on as typed."""
