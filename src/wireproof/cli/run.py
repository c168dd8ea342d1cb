"""``wireproof run TOOL``: the right command for an installed benchmark, printed, run with its
proof, judged.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wireproof.launch.known import MPIS
from wireproof.model.errors import BadInput

if TYPE_CHECKING:
    from wireproof.launch.programs.recipe import Recipe
    from wireproof.model.claim import LinkClaim
    from wireproof.workflow.benchmark_steps import Asked, Prepared
    from wireproof.workflow.target.target import Target

__all__ = ["command", "path_of", "recipe_document", "recipe_lines", "title_of"]

FABRICS = ("tcp", "psm2", "psm3", "verbs", "ucx", "opx")
_PATHS = {"ucx": "ucx", "mlx": "ucx"}


def path_of(fabric: str, recipe: Recipe) -> str:
    """What ``--path`` of ``judge`` would say: the fabric that the MPI was told to use, or what the
    tool itself uses.
    """
    if fabric:
        return _PATHS.get(fabric, fabric)
    return "rdma" if recipe.rdma else ""


def _claimed(options: dict[str, Any], path: str) -> LinkClaim | None:
    if not options["link"]:
        return None
    from wireproof.physics import claim_from_text

    return claim_from_text(options["link"], path=path, mtu=options["mtu"], pcie=options["pcie"])


def _place(options: dict[str, Any], recipe: Recipe) -> Target:
    """Hosts, a lab's nodes, or this machine, with the link that is claimed."""
    from wireproof.cli.options import settings_of
    from wireproof.workflow.prove.hosts import hosts_of_allocation
    from wireproof.workflow.target.resolve import TargetSpecification, resolve_target

    link = _claimed(options, path_of(options["fabric"] or "", recipe))
    hosts: str | None = options["hosts"]
    said: tuple[str, ...] = ()
    if (
        not hosts
        and options["lab"] is None
        and len(allocated := hosts_of_allocation(os.environ)) > 1
    ):
        hosts, said = (
            ",".join(allocated),
            (f"the {len(allocated)} nodes of the Slurm job take part; --hosts says otherwise",),
        )
    # The link is typed here: a kind with a rate of its own (ethernet:25) is not a name that the
    # settings know.
    known = {"hosts": hosts, "nic": options["nic"], "launcher": options["launcher"], "link": ""}
    asked = TargetSpecification.from_settings(settings_of(known), lab=options["lab"])
    place = resolve_target(asked, os.environ)
    place = dataclasses.replace(place, link=link or place.link, said=(*said, *place.said))
    return place if options["hosts"] else _narrowed(place, recipe)


def _narrowed(place: Target, recipe: Recipe) -> Target:
    """The first two of more hosts that nobody chose, for a program between two."""
    if len(place.hosts) <= 2 or not (recipe.shape == "pair" or recipe.two_ranks):
        return place
    return dataclasses.replace(
        place,
        hosts=place.hosts[:2],
        start_on=place.start_on[:2],
        nics=place.nics[:2],
        addresses=place.addresses[:2],
        said=(
            *place.said,
            f"{recipe.program} is between two hosts: {place.hosts[0]} and {place.hosts[1]}",
        ),
    )


def _checked(address: str) -> str:
    """An address or a host name: it becomes a word of a program's options, so it must not be
    one.
    """
    if not address:
        return ""
    from ipaddress import ip_address

    try:
        return str(ip_address(address))
    except ValueError:
        from wireproof.settings.hosts import parse_hosts

        names = parse_hosts(address)
        if len(names) != 1:
            raise BadInput(
                f"--address {address[:60]!r} names {len(names)} hosts: give one address."
            ) from None
        return names[0]


def _sizes(text: str | None) -> tuple[int, ...] | None:
    """The recipe's sizes when nothing is said, the program's own list for ``own``."""
    if text is None or text.strip().lower() == "own":
        return None if text is None else ()
    from wireproof.settings.sizes import parse_sizes

    return parse_sizes(text)


def _asked(options: dict[str, Any], extra: tuple[str, ...]) -> Asked:
    from wireproof.workflow.benchmark_steps import Asked

    return Asked(
        sizes=_sizes(options["sizes"]),
        iterations=options["iterations"],
        seconds=options["seconds"],
        pairs=options["pairs"],
        cpu=options["cpu"],
        port=options["port"],
        address=_checked(options["address"]),
        mpi=options["mpi"],
        fabric=options["fabric"] or "",
        program=options["program"],
        extra=extra,
        dry=options["dry_run"],
        read_by_people=not options["as_json"],
    )


def recipe_lines(prepared: Prepared, title: str) -> list[str]:
    """The recipe as text that a shell would take: everything that is no command is a comment."""
    lines = [f"# {title}: {prepared.recipe.why}"]
    lines += [f"# {note}" for note in prepared.notes]
    if prepared.root_steps:
        lines.append("# first, as root, on every host (for Omni-Path; wireproof never runs these):")
        lines += [f"#   {step}" for step in prepared.root_steps]
    if prepared.files:
        lines.append(f"# in a folder of its own that holds {', '.join(prepared.files)}")
    for step in prepared.steps:
        where = {"server": "start first", "client": "then"}.get(step.role, "")
        if where:
            lines.append(f"# {where}{f', on {step.host}' if step.host else ''}:")
        lines.append(step.line)
    return lines


def title_of(recipe: Recipe, prepared: Prepared, options: dict[str, Any]) -> str:
    name = (
        recipe.program
        if recipe.benchmark == recipe.program
        else f"{recipe.program} {recipe.benchmark}"
    )
    under = (
        f" under {prepared.install.version or MPIS[prepared.install.family].title}"
        if prepared.install
        else ""
    )
    over = f" over {options['fabric']}" if options["fabric"] else ""
    return name + under + over


def recipe_document(prepared: Prepared, title: str) -> dict[str, Any]:
    return {
        "title": title,
        "tool": prepared.recipe.tool,
        "benchmark": prepared.recipe.benchmark,
        "why": prepared.recipe.why,
        "program": None if prepared.program is None else str(prepared.program),
        "mpi": prepared.install.title if prepared.install else "",
        "steps": [
            {
                "role": step.role,
                "host": step.host,
                "argv": list(step.argv),
                "environment": step.environment,
                "unset": list(step.unset),
                "line": step.line,
            }
            for step in prepared.steps
        ],
        "files": prepared.files,
        "root_steps": list(prepared.root_steps),
        "notes": list(prepared.notes),
    }


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


def _words(words: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """(benchmark, the program's own options): what follows ``--`` comes here too."""
    if words and not words[0].startswith("-"):
        return words[0], words[1:]
    return "", words


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
def command(tool: str | None, words: tuple[str, ...], **options: Any) -> int:
    """Run TOOL (osu, imb, hpcc, iperf3, qperf, perftest, sockperf or a program such as osu_bw,
    IMB-RMA, ib_write_bw) as its recipe says, with the proof of its path, and judge it.

    The command is printed first, in a form that can be pasted. Exit status: 0 pass, 1 fail, 3
    inconclusive, 4 when the tool could not run.
    """
    if options["listed"] or tool is None:
        if tool is None and not options["listed"]:
            raise BadInput("say which TOOL to run; --list shows the recipes.")
        return _list(tool or "", options["as_json"])
    from wireproof.launch.programs.recipe import find_recipe

    benchmark, extra = _words(words)
    recipe = find_recipe(tool, benchmark)
    place, asked = _place(options, recipe), _asked(options, extra)
    for line in place.said:
        click.echo(f"wireproof: {line}", err=True)
    if options["dry_run"]:
        return _dry_run(recipe, asked, place, options)
    from wireproof.workflow.benchmark import run_prepared

    return run_prepared(recipe, asked, place, options)


def _dry_run(recipe: Recipe, asked: Asked, place: Target, options: dict[str, Any]) -> int:
    from wireproof.workflow.benchmark_steps import prepare_run

    prepared = prepare_run(recipe, asked, place, folder="")
    title = title_of(recipe, prepared, options)
    if options["as_json"]:
        from wireproof.report.json.encode import json_text

        document = recipe_document(prepared, title)
        click.echo(json_text(document, indent=2))
    else:
        click.echo("\n".join(recipe_lines(prepared, title)))
    return 0
