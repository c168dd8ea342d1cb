"""``wireproof lab``, ``demo`` and ``doctor``: a virtual cluster, and tests of this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wireproof.cli.completion import labs, nodes
from wireproof.cli.console import (
    INTERRUPTED,
    Console,
    chosen_form,
    current_context,
    listed,
    print_result,
    rendered,
    say,
)
from wireproof.cli.declare import FORM, JSON, PathName, Verb, flag, json_as
from wireproof.model.errors import BadInput

if TYPE_CHECKING:
    from wireproof.model.topology import LabStatus


# --- The capabilities of this machine.


@click.command(
    "doctor",
    cls=Verb,
    document="report.known.diagnosis_document",
    params=[
        FORM,
        JSON,
        flag("--no-run", "do not start any MPI."),
        flag(
            "--providers",
            "show the libfabric installations of this machine, their providers, and each MPI's"
            " choice.",
        ),
    ],
)
def doctor(no_run: bool, providers: bool) -> int:
    """Test this machine: MPIs and their ABI, counters, clock, namespaces, kernel features, tools.

    Each installed MPI is started briefly with two ranks. Exit status 0 if at least one transport
    works; with --providers, if a provider can be measured.
    """
    from wireproof.workflow import doctor

    if providers:
        offers = doctor.providers(current_context().environment)
        status = 0 if offers.works else 4
        return print_result(offers, document="report.known.provider_document", status=status)
    found = doctor.diagnose(Console(), start=not no_run)
    return print_result(found, status=0 if no_run or found.works else 4)


# --- Demonstration: a lab with a bad link and a fallback to shared memory.


@click.command(
    "demo",
    params=[
        click.Option(
            ["--out"],
            type=PathName(path_type=Path),
            metavar="DIR",
            help="folder for records and report.",
        ),
        click.Option(["--seed"], type=int, help="seed of the order of the points."),
        json_as("JSON on stdout."),
    ],
)
def demo(out: Path | None, seed: int | None) -> int:
    """Build a virtual cluster with a bad link and a fallback to shared memory, measure it, and show
    that both are found. All tables are in the folder of --out.

    Exit status 0: both were found. Takes less than a minute; needs root or unprivileged user
    namespaces.
    """
    from wireproof.cli.options import ended, say_kept, show, typed_words
    from wireproof.measure.document import demo_document
    from wireproof.measure.session import Storage
    from wireproof.workflow.demo import demo

    result, faults = demo(Storage(folder=out, command=typed_words()), seed, Console())
    for_programs = chosen_form() == "json"
    say_kept(result, "a demo cannot be continued: run it again")
    if for_programs:
        show(result.sections)
    if ended(result) == INTERRUPTED:
        return INTERRUPTED
    stream = sys.stderr if for_programs else sys.stdout
    document = demo_document(faults, result.sections, result.folder)
    click.echo(rendered(document, "text", stream), file=stream)
    return 0 if all(faults.values()) else 1


WIRE_HELP = "rate limiter of the links; store-and-forward: no frame passes faster than line rate."


@click.group("lab")
def command() -> None:
    """Virtual cluster on this machine: nodes in namespaces, shaped links, planted faults."""


@command.command("up")
@click.argument("topology", type=PathName(exists=True, dir_okay=False, path_type=Path))
@click.option("--name", help="name of the lab (default: the file's name without its suffix).")
@click.option("--wire", type=click.Choice(["token-bucket", "store-and-forward"]), help=WIRE_HELP)
@click.option(
    "--latency", metavar="TIME", help="delay added to each frame between nodes, such as 150us."
)
@click.option("--loss", metavar="SHARE", help="share of lost frames between nodes, such as 0.2%.")
def up(topology: Path, name: str | None, **wire: str | None) -> int:
    """Build the lab that the TOML file TOPOLOGY describes; it runs until 'lab down'."""
    import msgspec

    from wireproof.lab.cluster import up as build
    from wireproof.lab.topology_file import load_topology

    chosen = {key: value for key, value in wire.items() if value is not None}
    plan = msgspec.structs.replace(load_topology(topology), **chosen)
    lab = build(plan, name or topology.stem.lower().replace("_", "-"))
    for note in lab.notes:
        say(note)
    return _show([lab.status()])


@command.command(
    "status", params=[click.Argument(["name"], required=False, shell_complete=labs), FORM, JSON]
)
def status(name: str | None) -> int:
    """Show the labs of this user, or the lab called NAME."""
    from wireproof.lab.state import labs_called

    return _show(labs_called(name))


def _show(found: list[LabStatus]) -> int:
    return print_result(listed("Labs", labs=found), found, document="lab.document.labs_document")


@command.command(
    "exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@click.argument("name", shell_complete=labs)
@click.argument("node", shell_complete=nodes)
@click.argument("argv", nargs=-1, required=True, type=click.UNPROCESSED)
def exec_(name: str, node: str, argv: tuple[str, ...]) -> int:
    """Run a command in NODE of the lab NAME, and return its exit status."""
    from wireproof.lab.cluster import open_lab

    command = argv[1:] if argv[0] == "--" else argv
    if not command:
        raise BadInput("give a command after --, such as hostname.")
    lab = open_lab(name)
    words = lab.exec_argv(node, command)
    sys.stdout.flush()
    environment = {**os.environ, **lab.agent_environment()}
    os.execve(words[0], words, environment)  # noqa: S606 - an argv list


@command.command("fault")
@click.argument("name", shell_complete=labs)
@click.argument("node", shell_complete=nodes)
@click.argument("kind", type=click.Choice(["rate", "loss", "delay", "down"]))
@click.argument("value", default="")
@click.option("--network", help="network of the NIC, if the lab has several.")
@click.option("--direction", type=click.Choice(["tx", "rx"]), help="as seen from the node.")
@click.option("--clear", is_flag=True, help="remove this fault instead of planting it.")
def fault(name: str, clear: bool, **about: Any) -> int:
    """Plant a fault in a running lab: a rate such as 300mbit, a loss, a delay, or a NIC that is
    down.
    """
    from wireproof.lab.cluster import open_lab
    from wireproof.lab.links import fault_in

    lab = open_lab(name)
    (lab.clear_fault if clear else lab.set_fault)(fault_in(name, lab.topology, **about))
    return _show([lab.status()])


@command.command("slurm")
@click.argument("name", shell_complete=labs)
@click.option("--down", "end", is_flag=True, help="stop Slurm; the lab continues to run.")
def slurm(name: str, end: bool) -> int:
    """Start a real Slurm in the lab NAME: one slurmd per node (needs Debian's slurm-wlm and munge,
    and root).
    """
    from wireproof.lab.cluster import open_lab
    from wireproof.lab.slurm import open_slurm, slurm_up

    lab = open_lab(name)
    there = open_slurm(lab)
    if end:
        if there is None:
            raise BadInput(f"lab {name} has no Slurm, so there is nothing to end.")
        there.down()
        click.echo(f"{name}: its Slurm is stopped")
        return 0
    if there is not None:
        raise BadInput(f"lab {name} already has a Slurm: end it with --down first.")
    started = slurm_up(lab)
    click.echo(f"{name}: Slurm with {len(lab.nodes)} nodes, controller on {started.head}")
    click.echo(f"  wireproof check --lab {name} --slurm -N {len(lab.nodes)}")
    click.echo(f"  SLURM_CONF={started.conf} wireproof lab exec {name} {started.head} sinfo")
    return 0


@command.command("down")
@click.argument("name", required=False, shell_complete=labs)
@click.option("--all", "every", is_flag=True, help="every lab of this user.")
def down(name: str | None, every: bool) -> int:
    """Take the lab NAME down, or remove its remains after a crash."""
    from wireproof.lab.cluster import down as remove
    from wireproof.lab.state import find_labs

    if bool(name) == every:
        raise BadInput("give the NAME of the lab to take down, or --all.")
    for lab in [status.name for status in find_labs()] if every else [str(name)]:
        result = remove(lab)
        click.echo(f"{lab}: down{' (it had crashed)' if result.crashed else ''}")
    return 0
