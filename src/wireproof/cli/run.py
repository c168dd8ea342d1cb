"""``wireproof run TOOL``: the right command for an installed benchmark, printed, run with its
proof, judged.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from wireproof.cli.console import Console
from wireproof.cli.open_files import allow_files, descriptor
from wireproof.cli.options import settings_of
from wireproof.cli.outcome import INTERRUPTED, status_of
from wireproof.model.errors import BadInput

if TYPE_CHECKING:
    from wireproof.workflow.benchmark.run import BenchmarkResult
    from wireproof.workflow.benchmark.specification import (
        BenchmarkOptions,
        BenchmarkSpecification,
    )
    from wireproof.workflow.benchmark.steps import Prepared

__all__ = ["command"]

FABRICS = ("tcp", "psm2", "psm3", "verbs", "ucx", "opx")


@click.command("run")
@click.argument("tool", required=False)
@click.argument("words", nargs=-1, metavar="[BENCHMARK] [-- EXTRA...]")
@click.option(
    "--hosts", metavar="N1,N2|N[1-4]", help="hosts, one rank each; a server runs on the second."
)
@click.option("--lab", metavar="NAME", help="nodes of this virtual cluster.")
@click.option("--launcher", metavar="ssh|PATH", help="how other hosts are reached.")
@click.option(
    "--mpi",
    metavar="PATH|NAME",
    default="",
    help="MPI: a path, or mpich, intel, openmpi, debian-mpich.",
)
@click.option(
    "--program", type=click.Path(path_type=Path), help="the program, or a folder above it."
)
@click.option("--fabric", type=click.Choice(FABRICS), help="what the MPI is told to use.")
@click.option(
    "--nic", metavar="NAME", help="the network interface or RDMA device that carries the messages."
)
@click.option("--address", metavar="ADDRESS", default="", help="of the server on the fabric.")
@click.option("--link", metavar="[Nx]KIND[:GBPS]", help="the link that the result is held against.")
@click.option("--mtu", type=click.IntRange(68, 65535), metavar="BYTES", help="MTU of the link.")
@click.option("--pcie", metavar="GENxLANES", default="", help="slot of the NIC, such as gen3x16.")
@click.option(
    "--sizes",
    metavar="LIST",
    help="message sizes: 8,64KiB, 0:4MiB (doubling), or own (the program's list).",
)
@click.option("--iterations", type=click.IntRange(1, 10**9), metavar="N", help="of each size.")
@click.option("--seconds", type=click.FloatRange(0.1, 86400), metavar="S", help="of a timed test.")
@click.option("--pairs", type=click.IntRange(1, 1024), metavar="N", help="ranks per host.")
@click.option(
    "--cpu", type=click.IntRange(0, 8191), metavar="N", help="core of the one process of each host."
)
@click.option("--port", type=click.IntRange(1, 65535), metavar="N", help="of the server.")
@click.option("--dry-run", is_flag=True, help="print the commands and run nothing.")
@click.option("--list", "listed", is_flag=True, help="list the recipes.")
@click.option("--json", "as_json", is_flag=True, help="one JSON document on stdout.")
def command(
    tool: str | None,
    words: tuple[str, ...],
    listed: bool,
    dry_run: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Run TOOL (osu, imb, hpcc, iperf3, qperf, perftest, sockperf or a program such as osu_bw,
    IMB-RMA, ib_write_bw) as its recipe says, with the proof of its path, and judge it.

    The command is printed first, in a form that can be pasted. Exit status: 0 pass, 1 fail, 3
    inconclusive, 4 when the tool could not run.
    """
    if listed:
        return _list(tool or "", as_json)
    if tool is None:
        raise BadInput("say which TOOL to run; --list shows the recipes.")
    import dataclasses

    from wireproof.workflow.benchmark.specification import specification

    known = {name: options.pop(name) for name in ("hosts", "nic", "launcher")}
    # The link is typed by the specification: a kind with a rate of its own (ethernet:25) is not a
    # name that the settings know.
    settings = settings_of({**known, "link": ""})
    typed = cast("BenchmarkOptions", options)
    wanted = specification(tool, words, settings, typed, os.environ)
    wanted = dataclasses.replace(wanted, dry=dry_run, read_by_people=not as_json)
    for line in wanted.target.said:
        click.echo(f"wireproof: {line}", err=True)
    return _dry_run(wanted, as_json) if dry_run else _run(wanted, as_json)


def _dry_run(wanted: BenchmarkSpecification, as_json: bool) -> int:
    from wireproof.workflow.benchmark.run import prepared_document
    from wireproof.workflow.benchmark.steps import prepare_steps

    prepared = prepare_steps(wanted, os.environ)
    if as_json:
        from wireproof.report.json.encode import json_text

        click.echo(json_text(prepared_document(prepared), indent=2))
    else:
        click.echo(_shell_text(prepared))
    return 0


def _shell_text(prepared: Prepared) -> str:
    from wireproof.report.text.benchmark import shell_lines
    from wireproof.workflow.benchmark.run import prepared_document

    return "\n".join(shell_lines(prepared_document(prepared)))


def _run(wanted: BenchmarkSpecification, as_json: bool) -> int:
    from wireproof.workflow.benchmark.run import ready, run_prepared

    console = Console()
    with ready(wanted, os.environ, console) as (prepared, folder):
        click.echo(_shell_text(prepared), err=True)
        allow_files(wanted.target)
        sys.stdout.flush()
        errors = descriptor(sys.stderr)
        result = run_prepared(
            prepared,
            folder,
            environment=os.environ,
            sinks=(errors if as_json else descriptor(sys.stdout), errors),
            reporter=console,
        )
    if result.interrupted:
        return _print_interrupted(result, console)
    if as_json:
        from wireproof.report.json.encode import json_text

        click.echo(json_text(result.document(), indent=2))
    else:
        _print_text(result)
    return status_of(result.verdict)


def _print_interrupted(result: BenchmarkResult, console: Console) -> int:
    for line in _path_lines(result):
        console.say(line)
    console.say(
        f"{result.prepared.recipe.program} was interrupted;"
        " what it had printed is above, and nothing is kept."
    )
    return INTERRUPTED


def _print_text(result: BenchmarkResult) -> None:
    from wireproof.report.text.judgement import long_text
    from wireproof.report.text.look import Look

    look = Look.of(sys.stdout, os.environ)
    click.echo("")
    for one in result.series:
        click.echo(long_text(one, look), nl=False)
    click.echo("\n".join(_path_lines(result)))
    click.echo(result.verdict.upper())


def _path_lines(result: BenchmarkResult) -> list[str]:
    from wireproof.report.text.watched import lines

    proved = result.proved
    return lines(proved.exit_status, proved.traffic, proved.judgement)


def _list(tool: str, as_json: bool) -> int:
    """Every recipe (of one tool), one line each."""
    from wireproof.launch.programs.recipe import find_recipe, recipes_of

    if tool:
        find_recipe(tool)
    recipes = recipes_of(tool)
    if as_json:
        from wireproof.report.json.encode import json_text

        rows = [
            {"tool": one.tool, "program": one.program, "benchmark": one.benchmark, "why": one.why}
            for one in recipes
        ]
        click.echo(json_text(rows, indent=2))
        return 0
    for one in recipes:
        what = one.program if one.program == one.benchmark else f"{one.program} {one.benchmark}"
        click.echo(f"{what:24} {one.why}")
    return 0
