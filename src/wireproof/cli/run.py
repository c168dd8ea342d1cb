"""``wireproof run TOOL``: the right command for an installed benchmark, printed, run with its
proof, judged.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from wireproof.cli.console import Console
from wireproof.cli.declare import choice, file, flag, number, text
from wireproof.cli.options import link_claim, settings_of
from wireproof.cli.outcome import INTERRUPTED, status_of
from wireproof.files.streams import descriptor
from wireproof.model.errors import BadInput

if TYPE_CHECKING:
    from wireproof.workflow.benchmark.run import BenchmarkResult
    from wireproof.workflow.benchmark.specification import BenchmarkSpecification
    from wireproof.workflow.benchmark.steps import Prepared

__all__ = ["command"]

FABRICS = ("tcp", "psm2", "psm3", "verbs", "ucx", "opx")
OPTIONS: list[click.Parameter] = [
    click.Argument(["tool"], required=False),
    click.Argument(["words"], nargs=-1, metavar="[BENCHMARK] [-- EXTRA...]"),
    text(
        "--hosts",
        "N1,N2|N[1-4]",
        "hosts, one rank each; a server runs on the second.",
        default=None,
    ),
    text("--lab", "NAME", "nodes of this virtual cluster.", default=None),
    text("--launcher", "ssh|PATH", "how other hosts are reached.", default=None),
    text("--mpi", "PATH|NAME", "MPI: a path, or mpich, intel, openmpi, debian-mpich."),
    file("--program", "the program, or a folder above it."),
    choice("--fabric", FABRICS, "what the MPI is told to use."),
    text(
        "--nic",
        "NAME",
        "the network interface or RDMA device that carries the messages.",
        default=None,
    ),
    text("--address", "ADDRESS", "of the server on the fabric."),
    *link_claim("the link that the result is held against."),
    text(
        "--sizes",
        "LIST",
        "message sizes: 8,64KiB, 0:4MiB (doubling), or own (the program's list).",
        default=None,
    ),
    number("--iterations", 1, 10**9, "of each size."),
    click.Option(
        ["--seconds"],
        type=click.FloatRange(0.1, 86400),
        metavar="S",
        help="of a timed test.",
    ),
    number("--pairs", 1, 1024, "ranks per host."),
    number("--cpu", 0, 8191, "core of the one process of each host."),
    number("--port", 1, 65535, "of the server."),
    flag("--dry-run", "print the commands and run nothing."),
    flag("--list listed", "list the recipes."),
    flag("--json as_json", "one JSON document on stdout."),
]


@click.command("run", params=OPTIONS)
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
    wanted = _specification(tool, words, options, read_by_people=not as_json, dry=dry_run)
    for line in wanted.target.said:
        click.echo(f"wireproof: {line}", err=True)
    return _dry_run(wanted, as_json) if dry_run else _run(wanted, as_json)


def _specification(
    tool: str, words: tuple[str, ...], options: dict[str, Any], *, read_by_people: bool, dry: bool
) -> BenchmarkSpecification:
    """The options, typed. What follows ``--`` is in ``words`` too: the program's own options."""
    from wireproof.launch.programs.recipe import find_recipe
    from wireproof.physics import claim_from_text
    from wireproof.workflow.benchmark.specification import (
        BenchmarkSpecification,
        address_of,
        path_of,
        sizes_of,
        target_of_recipe,
    )

    named = bool(words) and not words[0].startswith("-")
    recipe = find_recipe(tool, words[0] if named else "")
    fabric = options.pop("fabric") or ""
    claim = {name: options.pop(name) for name in ("mtu", "pcie")}
    text = options.pop("link")
    link = claim_from_text(text, path=path_of(fabric, recipe), **claim) if text else None
    # A kind with a rate of its own (ethernet:25) is not a name that the settings know.
    known = {name: options.pop(name) for name in ("hosts", "nic", "launcher")}
    settings = settings_of({**known, "link": ""})
    lab = options.pop("lab")
    return BenchmarkSpecification(
        recipe=recipe,
        target=target_of_recipe(recipe, settings, os.environ, lab=lab, link=link),
        sizes=sizes_of(options.pop("sizes")),
        address=address_of(options.pop("address")),
        fabric=fabric,
        extra=words[1:] if named else words,
        dry=dry,
        read_by_people=read_by_people,
        **options,
    )


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
    from wireproof.workflow.prove.watch import allow_files

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
