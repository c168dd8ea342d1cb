"""``wireproof report``, ``compare``, ``locate`` and ``dossier``: work with stored results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from wireproof.cli.console import Console, chosen_form, print_path, print_result, say
from wireproof.cli.declare import (
    FORM,
    JSON,
    PathName,
    Verb,
    choice,
    file,
    flag,
    json_as,
    number,
    text,
)

if TYPE_CHECKING:
    from wireproof.archive.compare import Against
    from wireproof.locate.document import LocateDocument
    from wireproof.measure.export import Form
    from wireproof.model.dossier import Verification


# --- Acceptance dossiers that anyone can verify.

FOLDER = click.Argument(["folder"], type=PathName(path_type=Path), metavar="DOSSIER")


@click.group("dossier")
def dossier() -> None:
    """Acceptance dossiers: verify, sign.

    DOSSIER is the --out folder of `check --profile acceptance`, from any machine. It can be packed
    with any tool (tar, zip); give the unpacked folder.
    """


@dossier.command(
    "verify",
    cls=Verb,
    document="archive.verify.verification_document",
    params=[
        FOLDER,
        file(
            "--signers",
            "require a signature by one of the signers in this file: OpenSSH's allowed_signers.",
            must_exist=True,
            metavar="FILE",
        ),
        FORM,
        JSON,
    ],
)
def verify(folder: Path, signers: Path | None) -> Verification:
    """Verify that a dossier is unchanged since it was sealed, check its signatures, and judge its
    records by the rules of this version.

    Works offline, without the hosts, an MPI or root; nothing is written. Exit status: 0 intact and
    pass, 1 intact and fail, 3 intact and inconclusive; 2, without a verdict, if it was changed or
    truncated, was made by a newer wireproof, or lacks a signature that --signers requires.
    """
    from wireproof.archive.verify import verify as run_verify

    return run_verify(folder, signers)


@dossier.command(
    "sign",
    params=[
        FOLDER,
        text("--key", "KEY", "file of an SSH key.", required=True),
    ],
)
def sign(folder: Path, key: str) -> int:
    """Sign an intact dossier; each party may sign. The signature is stored next to SHA256SUMS.

    ssh-keygen signs: wireproof never reads the private key. A public key is used through ssh-agent.
    """
    from wireproof.store.signature import refuse_altered
    from wireproof.store.signature import sign as run_sign

    print_path(run_sign(folder, key, refuse_altered(folder)))
    return 0


# --- Find the slow node, port, link or switch from earlier measurements.


@click.command(
    "locate",
    cls=Verb,
    document="locate.document.locate_document",
    params=[
        click.Argument(["source"], type=PathName(path_type=Path), required=False),
        file("--topology", "file that lists the switch of each node.", metavar="FILE"),
        file(
            "--world",
            "a synthetic cluster instead (TOML): which faults would be found with this size and"
            " noise?",
            metavar="FILE",
        ),
        number("--rounds", 1, 100_000, "number of rounds of pairs in the synthetic cluster."),
        FORM,
        JSON,
    ],
)
def locate(
    source: Path | None,
    topology: Path | None,
    world: Path | None,
    rounds: int | None,
) -> LocateDocument:
    """Find the node, port, link or switch that is slow, from the measurements in SOURCE.

    SOURCE is the folder of a check, or a table of pairs (Parquet or CSV: origin, target and
    goodput_bytes_per_s, mb_per_s, gbit_per_s, hrt_ns or usec), of any size. Nothing is measured and
    no path is proven: the numbers in a table are claims. Exit status 1: a node or pair is slow; 0:
    none is slow, and a slow node would have been found; 3: undecided.
    """
    from wireproof.workflow.locate import locate

    return locate(source, world=world, topology=topology, rounds=rounds)


# --- Compare results with each other, or with the size of the job.


@click.command(
    "compare",
    cls=Verb,
    document="archive.compare_document.comparison_document",
    params=[
        click.Argument(["results"], type=PathName(path_type=Path), metavar="A B...", nargs=-1),
        choice("--against", ["nodes", "ranks"], "show each number as a function of this count."),
        text(
            "--nodes", "N,N,..", "nodes of each result, in order: for logs that do not state them."
        ),
        file("--plot", "with --against: write the curves as one SVG."),
        flag(
            "--all everything", "also show numbers that are not compared, with reasons; all sizes."
        ),
        JSON,
        FORM,
    ],
)
def compare(
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

    With three or more results, with --nodes or with --against, show each number against the count
    of nodes or ranks, as a table and a curve. Exit status: 0; 3 if no number exists at two counts.
    """
    from wireproof.archive.compare import compare, scaling
    from wireproof.options.sizes import parse_counts
    from wireproof.plan.job import write_text
    from wireproof.report.figure.file import standalone
    from wireproof.report.figure.series import scaling_chart

    if against or nodes or len(results) > 2:
        curves = scaling(results, Console(), against=against, nodes=parse_counts(nodes))
        if plot is not None:
            write_text(plot, standalone(scaling_chart(curves)))
        return print_result(
            curves, document="archive.compare_document.scaling_document", everything=everything
        )
    if plot is not None or len(results) != 2:
        wanted = "--plot needs --against" if plot is not None else "give the folders of two results"
        raise click.UsageError(f"{wanted}.")
    return print_result(compare(*results, Console()), everything=everything)


@click.command(
    "report",
    params=[
        click.Argument(
            ["folders"], type=PathName(path_type=Path), nargs=-1, required=True, metavar="FOLDER..."
        ),
        file(
            "--out page",
            "one page for all folders instead of report.html in each; for figures, a folder.",
        ),
        choice(
            "--format form",
            ("html", "markdown", "svg", "pdf", "png"),
            (
                "output format: the page, Markdown, figures as SVG or PNG, or PDF (PNG and PDF"
                " need Chromium)."
            ),
            default="html",
        ),
        file(
            "--topology", "file that lists the switch of each node; replaces the stored topology."
        ),
        flag("--no-page", "do not write a page."),
        json_as("one JSON document on stdout; writes no page."),
    ],
)
def command(
    folders: tuple[Path, ...],
    page: Path | None,
    topology: Path | None,
    no_page: bool,
    form: Form,
) -> int:
    """Judge a stored result again by the rules of this version, render it, and show the changes.

    FOLDER is the --out folder of a check or a measurement, from any machine. Nothing is measured
    and the records are not changed. Exit status: that of the worst verdict.
    """
    from wireproof.cli.options import deliver, ended, show
    from wireproof.measure.report import report
    from wireproof.report.results import change_lines

    as_json = chosen_form() == "json"
    if form != "html" and (no_page or as_json):
        raise click.UsageError(f"--format {form} writes files: leave out --no-page and --json.")
    found = report(
        folders,
        Console(),
        page=page,
        form=form,
        pages=page is not None or not (no_page or as_json),
        topology=topology,
    )
    if as_json:
        show([section for rejudged in found for section in rejudged.sections])
    statuses = []
    for old in found:
        statuses.append(ended(old) if as_json else deliver(old))
        for line in change_lines(old.by, old.before, old.verdict, old.gone, old.new):
            say(f"{old.folder}: {line}")
    return max(statuses, key=lambda status: (status == 1, status))
