"""``wireproof compare A B``: two results held against each other."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from wireproof.cli.declare import flag

__all__ = ["command"]

OPTIONS: tuple[click.Parameter, ...] = (
    click.Argument(["a"], type=click.Path(path_type=Path), metavar="A"),
    click.Argument(["b"], type=click.Path(path_type=Path), metavar="B"),
    flag("--all everything", "also what is not compared, and why."),
    flag("--json as_json", "one JSON document on stdout."),
)


@click.command("compare", params=[*OPTIONS])
def command(a: Path, b: Path, everything: bool, as_json: bool) -> int:
    """Hold two results against each other: two dates, two MPIs, two fabrics.

    A and B are --out folders of checks or measurements, or two logs that `judge` reads (OSU, IMB,
    perftest, ...), whose ratios are claims and decide nothing. Each number that both have under the
    same conditions and with its path proven is given as a ratio with its interval; what else
    differs (hosts, MPI, MTU, driver, settings) is listed. Exit status: 0 no number of B is worse, 1
    one is worse by more than 3 %, 3 undecided or nothing to compare.
    """
    from wireproof.cli.console import Console, print_json
    from wireproof.cli.outcome import status_of
    from wireproof.report.text.comparison import comparison_lines
    from wireproof.report.text.look import Look
    from wireproof.workflow.compare import CompareSpecification, compare

    found = compare(CompareSpecification(a=a, b=b), Console())
    if as_json:
        print_json(found, indent=1)
    else:
        look = Look.of(sys.stdout, os.environ)
        click.echo("\n".join(comparison_lines(found, look, everything=everything)))
    return status_of(found.verdict)
