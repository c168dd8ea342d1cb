"""``wireproof run TOOL``: prints the right command for an installed benchmark, runs it with its
proof, and judges it.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from wireproof.cli.completion import labs, tools
from wireproof.cli.console import Console, chosen_form, listed, print_document, rendered
from wireproof.cli.declare import FORM, JSON, choice, file, flag, link_claim, number, text
from wireproof.cli.options import PSM_STATISTICS, settings_of
from wireproof.cli.outcome import INTERRUPTED, status_of
from wireproof.files.streams import descriptor
from wireproof.model.errors import BadInput

if TYPE_CHECKING:
    from wireproof.workflow.benchmark.specification import BenchmarkSpecification


FABRICS = ("tcp", "psm2", "psm3", "verbs", "ucx", "opx")
OPTIONS: list[click.Parameter] = [
    click.Argument(["tool"], required=False, shell_complete=tools),
    click.Argument(["words"], nargs=-1, metavar="[BENCHMARK] [-- EXTRA...]"),
    text(
        "--hosts",
        "N1,N2|N[1-4]",
        "hosts, one rank each; a server runs on the second.",
        default=None,
    ),
    text("--lab", "NAME", "nodes of this virtual cluster.", default=None, shell_complete=labs),
    text("--launcher", "ssh|PATH", "how other hosts are reached.", default=None),
    text("--mpi", "PATH|NAME", "MPI: a path, or mpich, intel, openmpi, debian-mpich."),
    file("--program", "the program, or a folder above it."),
    choice("--fabric", FABRICS, "what the MPI is set to use."),
    text(
        "--nic",
        "NAME",
        "the network interface or RDMA device that carries the messages.",
        default=None,
    ),
    text("--address", "ADDRESS", "address of the server on the fabric."),
    *link_claim("the link that the result is compared with."),
    text(
        "--sizes",
        "LIST",
        "message sizes: 8,64KiB, 0:4MiB (doubling), or own (the program's list).",
        default=None,
    ),
    number("--iterations", 1, 10**9, "iterations of each size."),
    click.Option(
        ["--seconds"],
        type=click.FloatRange(0.1, 86400),
        metavar="S",
        help="duration of a timed test.",
    ),
    number("--pairs", 1, 1024, "ranks per host."),
    number("--cpu", 0, 8191, "core of the process on each host."),
    number("--port", 1, 65535, "port of the server."),
    PSM_STATISTICS,
    flag("--dry-run", "print the commands, and run nothing."),
    flag("--list listed", "list the recipes."),
    FORM,
    JSON,
]


@click.command("run", params=OPTIONS)
def command(
    tool: str | None,
    words: tuple[str, ...],
    listed: bool,
    dry_run: bool,
    **options: Any,
) -> int:
    """Run TOOL (osu, imb, hpcc, iperf3, qperf, perftest, sockperf or a program such as osu_bw,
    IMB-RMA, ib_write_bw) as its recipe says, with the proof of its path, and judge it.

    The command is printed first, in a form that can be pasted. Exit status: 0 pass, 1 fail, 3
    inconclusive, 4 if the tool could not run.
    """
    if listed:
        return _list(tool or "")
    if tool is None:
        raise BadInput("say which TOOL to run; --list shows the recipes.")
    wanted = _specification(tool, words, options, dry=dry_run)
    for line in wanted.target.notes:
        click.echo(f"wireproof: {line}", err=True)
    return _dry_run(wanted) if dry_run else _run(wanted)


def _specification(
    tool: str, words: tuple[str, ...], options: dict[str, Any], *, dry: bool
) -> BenchmarkSpecification:
    """Return the specification; ``words`` include the program's options after ``--``."""
    from wireproof.workflow.benchmark.specification import specification

    # The settings do not accept a kind with an explicit rate (ethernet:25).
    known = {name: options.pop(name) for name in ("hosts", "nic", "launcher")}
    return specification(
        tool,
        words,
        settings_of({**known, "link": ""}),
        options,
        os.environ,
        read_by_people=chosen_form() == "text",
        dry=dry,
    )


def _dry_run(wanted: BenchmarkSpecification) -> int:
    from wireproof.report.documents.benchmark import shell_document
    from wireproof.workflow.benchmark.run import prepared_document
    from wireproof.workflow.benchmark.steps import prepare_steps

    document = prepared_document(prepare_steps(wanted, os.environ))
    print_document(document, partial(shell_document, document))
    return 0


def _run(wanted: BenchmarkSpecification) -> int:
    from wireproof.report.documents.benchmark import benchmark_document, shell_document
    from wireproof.workflow.benchmark.run import prepared_document, ready, run_prepared
    from wireproof.workflow.prove.watch import allow_files

    console = Console()
    with ready(wanted, os.environ, console) as (prepared, folder):
        click.echo(rendered(shell_document(prepared_document(prepared)), "text"), err=True)
        allow_files(wanted.target)
        sys.stdout.flush()
        errors = descriptor(sys.stderr)
        result = run_prepared(
            prepared,
            folder,
            environment=os.environ,
            sinks=(descriptor(sys.stdout) if chosen_form() == "text" else errors, errors),
            reporter=console,
        )
    if result.interrupted:
        for line in result.interruption_lines():
            console.say(line)
        return INTERRUPTED
    document, status = result.document(), result.proved.exit_status
    print_document(document, partial(benchmark_document, status, document))
    return status_of(result.verdict)


def _list(tool: str) -> int:
    """Print every recipe, or those of one tool, one line each."""
    from wireproof.report.documents.benchmark import recipes_document
    from wireproof.workflow.benchmark.specification import recipe_documents

    recipes = recipe_documents(tool)
    print_document(listed("Recipes", recipes=recipes), partial(recipes_document, recipes))
    return 0
