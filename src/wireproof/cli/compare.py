"""``wireproof compare``: compares results with each other, or with the size of the job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from wireproof.cli.declare import FORM, JSON, choice, file, flag, text

if TYPE_CHECKING:
    from wireproof.workflow.scaling import Against


OPTIONS: tuple[click.Parameter, ...] = (
    click.Argument(["results"], type=click.Path(path_type=Path), metavar="A B...", nargs=-1),
    choice("--against", ["nodes", "ranks"], "show each number against this count instead of B/A."),
    text("--nodes", "N,N,..", "nodes of each result, in order: for logs that do not state them."),
    file("--plot", "with --against: write the curves as one SVG."),
    flag("--all everything", "also show what is not compared, and why; every message size."),
    JSON,
    FORM,
)


@click.command("compare", params=[*OPTIONS])
def command(
    results: tuple[Path, ...],
    against: Against | None,
    nodes: str,
    plot: Path | None,
    everything: bool,
) -> int:
    """Compare two results: two dates, two MPIs, two fabrics.

    A and B are --out folders of checks or measurements, or two logs that `judge` reads (OSU, IMB,
    perftest, ...), whose ratios are claims and decide nothing. Each number that both have under the
    same conditions and with a proven path is given as a ratio with its interval; other differences
    (hosts, MPI, MTU, driver, settings) are listed. Exit status: 0 no number of B is worse, 1 a
    number is worse by more than 3 %, 3 undecided or nothing to compare.

    With three results or more, with --nodes or with --against: each number against the count of
    nodes or ranks, as a table and a curve. Exit status: 0; 3 if no number exists at two counts.
    """
    from wireproof.cli.console import Console
    from wireproof.cli.delivery import answer
    from wireproof.report.documents.comparison import comparison_document, scaling_document
    from wireproof.report.figure.file import standalone
    from wireproof.report.figure.series import scaling_chart
    from wireproof.settings.sizes import parse_counts
    from wireproof.workflow.compare import CompareSpecification, compare
    from wireproof.workflow.plan import write_text
    from wireproof.workflow.scaling import ScalingSpecification, scaling

    if against or nodes or len(results) > 2:
        counts = parse_counts(nodes)
        wanted = ScalingSpecification(results=results, against=against, nodes=counts)
        curves = scaling(wanted, Console())
        if plot is not None:
            write_text(plot, standalone(scaling_chart(curves)))
        return answer(curves, scaling_document, everything=everything)
    if plot is not None or len(results) != 2:
        raise click.UsageError("give two results; --plot needs --against as well.")
    found = compare(CompareSpecification(a=results[0], b=results[1]), Console())
    return answer(found, comparison_document, everything=everything)
