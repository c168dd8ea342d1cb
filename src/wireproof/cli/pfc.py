"""``wireproof pfc``: is priority flow control lossless here, and who pauses whom?"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from wireproof.cli.console import print_json
from wireproof.cli.declare import file, flag, number, text
from wireproof.cli.outcome import status_of

__all__ = ["command"]

OPTIONS: tuple[click.Parameter, ...] = (
    text("--nic", "NAME", "the interface (or RDMA device); default: Ethernet ports with RDMA."),
    number("--priority", 0, 7, "the lossless priority; default: the one that PFC is on for."),
    text("--duration", "10s", "how long the load runs; of stored readings: time between them."),
    click.Option(
        ["--from", "source"],
        type=click.Path(path_type=Path),
        metavar="PATH",
        help="stored readings: a folder with before/ and after/, or a --snapshot.",
    ),
    file("--snapshot", "keep the readings in this file, to be judged again with --from."),
    click.Option(
        ["--cable", "cable_m"],
        type=click.FloatRange(0, 100_000),
        metavar="METRES",
        help="of the links to the switch, for the headroom that drops call for.",
    ),
    flag("--json as_json", "one JSON document on stdout."),
)


@click.command("pfc", params=list(OPTIONS))
def command(as_json: bool, **options: Any) -> int:
    """Say whether priority flow control is lossless, by the counters of the hosts before and after
    a load: no drops, Xoff and Xon moving, in this priority alone, link flow control off; and which
    host pauses its switch.

    Nothing is changed. Exit status: 0 all four shown under pressure, 1 something is wrong, 3 not
    proven.
    """
    from wireproof.report.text.look import Look
    from wireproof.report.text.pfc import pfc_lines
    from wireproof.workflow.pfc import pfc_report

    report = pfc_report(**options)
    if as_json:
        print_json(report)
    else:
        click.echo("\n".join(pfc_lines(report, Look.of(sys.stdout, os.environ))))
    return status_of(report.verdict)
