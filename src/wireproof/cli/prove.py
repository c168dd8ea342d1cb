"""``wireproof prove``, ``run`` and ``pfc``: run a command, a benchmark or a load between two
readings of the ports of its hosts.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from wireproof.cli.completion import labs, tools
from wireproof.cli.console import (
    INTERRUPTED,
    Console,
    chosen_form,
    current_context,
    listed,
    print_document,
    print_result,
    rendered,
    say,
    status_of,
)
from wireproof.cli.declare import (
    FORM,
    JSON,
    PathName,
    Verb,
    choice,
    file,
    flag,
    json_as,
    link_claim,
    metres,
    number,
    sections,
    text,
)
from wireproof.cli.options import (
    PSM_STATISTICS,
    SYSFS_ROOT,
    TARGET,
    lone_target,
    settings_of,
)
from wireproof.files.streams import descriptor
from wireproof.model.errors import BadInput

if TYPE_CHECKING:
    from wireproof.watch.prove import ProofOptions, ProofSpecification, ProvedCommand
    from wireproof.watch.specification import BenchmarkSpecification


# --- Is flow control lossless under load, and which host pauses the switch?


@click.command(
    "pfc",
    cls=Verb,
    sections=sections(
        (
            number(
                "--priority", 0, 7, "the lossless priority; default: the priority with PFC enabled."
            ),
            text("--duration", "10s", "duration; for stored readings, the time between them."),
            number(
                "--senders",
                2,
                4096,
                "number of hosts that send to one host at once; default: at most 16.",
            ),
            flag("--no-load", "send nothing: watch the existing traffic."),
            click.Option(
                ["--from", "source"],
                type=PathName(path_type=Path),
                metavar="PATH",
                help="stored readings: a folder with before/ and after/, or a --snapshot.",
            ),
            file("--snapshot", "store the readings in this file, to judge them again with --from."),
            click.Option(
                ["--cable", "cable_m"],
                type=metres,
                metavar="METRES",
                help="length of the links to the switch, for the headroom if packets were dropped.",
            ),
            JSON,
            FORM,
            click.Argument(["argv"], metavar="[-- COMMAND...]", nargs=-1, type=click.UNPROCESSED),
        ),
        "Load and readings",
        target=TARGET,
    ),
    examples=(
        "wireproof pfc --hosts 'n[1-8]' --nic hsn0 --priority 3 --duration 20s",
        "wireproof pfc --hosts 'n[1-8]' --nic hsn0 -- mpirun -f hosts ./application",
        "wireproof pfc --hosts 'n[1-64]' --no-load --duration 1min --json",
        "wireproof pfc --from case-4711 --priority 3 --duration 10s",
    ),
    document="pfc.document.pfc_document",
    first="priority duration senders no_load source snapshot cable_m as_json form",
    context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False},
)
def pfc(**options: Any) -> int:
    """Is priority flow control lossless, and which host pauses its switch?

    Reads the counters of the hosts before and after a load (wireproof's incast, COMMAND, or the
    existing traffic) and checks four conditions: no drops, Xoff and Xon increase, only in this
    priority, link-level flow control off. No setting is changed. Exit status: 0 all four are proven
    under load, 1 a condition fails, 3 not proven, 130 Ctrl-C during COMMAND.
    """
    from wireproof.pfc.job import pfc_report

    errors = descriptor(sys.stderr)
    report = pfc_report(
        lone_target(options),
        current_context().environment,
        Console(),
        (errors, errors),
        **{name: options[name] for name in _FIELDS},
    )
    interrupted = report.load.exit_status == INTERRUPTED and not options["source"]
    return print_result(report, status=INTERRUPTED if interrupted else None)


_FIELDS = ("priority", "duration", "source", "snapshot", "cable_m", "argv", "no_load", "senders")
"""Options that are passed on as typed."""


# --- Start a benchmark with the right options, and prove its path.


@click.command(
    "run",
    cls=Verb,
    document="watch.benchmark_document.benchmark_document",
    params=[
        click.Argument(["tool"], required=False, shell_complete=tools),
        click.Argument(["words"], nargs=-1, metavar="[BENCHMARK] [-- EXTRA...]"),
        text(
            "--hosts",
            "N1,N2|N[1-4]",
            "hosts, one rank each; a server runs on the second.",
            default=None,
        ),
        text("--lab", "NAME", "nodes of this virtual cluster.", default=None, shell_complete=labs),
        text("--launcher", "ssh|PATH", "agent that reaches other hosts.", default=None),
        text("--mpi", "PATH|NAME", "MPI: a path, or mpich, intel, openmpi, debian-mpich."),
        file("--program", "the program, or a folder that contains it."),
        choice(
            "--fabric",
            ("tcp", "psm2", "psm3", "verbs", "ucx", "opx"),
            "the fabric that the MPI is configured to use.",
        ),
        text(
            "--nic",
            "NAME",
            "the network interface or RDMA device that carries the messages.",
            default=None,
        ),
        text("--address", "ADDRESS", "address of the server on the fabric."),
        *link_claim("the link with which the result is compared."),
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
        flag("--dry-run", "print the commands without running them."),
        flag("--list listed", "list the recipes."),
        FORM,
        JSON,
    ],
)
def run(
    tool: str | None,
    words: tuple[str, ...],
    listed: bool,
    dry_run: bool,
    **options: Any,
) -> int:
    """Run TOOL (osu, imb, hpcc, iperf3, qperf, perftest, sockperf or a program such as osu_bw,
    IMB-RMA, ib_write_bw) according to its recipe, with the proof of its path, and judge it.

    The command is printed first, in a form that can be pasted. Exit status: 0 pass, 1 fail, 3
    inconclusive, 4 if the tool could not run.
    """
    if listed:
        return _list(tool or "")
    if tool is None:
        raise BadInput("give the TOOL to run; --list shows the recipes.")
    wanted = _run_specification(tool, words, options, dry=dry_run)
    for line in wanted.target.notes:
        say(line)
    return _dry_run(wanted) if dry_run else _run(wanted)


def _run_specification(
    tool: str, words: tuple[str, ...], options: dict[str, Any], *, dry: bool
) -> BenchmarkSpecification:
    """Return the specification; ``words`` include the program's options after ``--``."""
    from wireproof.watch.specification import specification

    # The settings do not accept a kind of link with an explicit rate (ethernet:25).
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
    from wireproof.watch.benchmark import prepared_document
    from wireproof.watch.steps import prepare_steps

    document = prepared_document(prepare_steps(wanted, os.environ))
    return print_result(document, document="watch.benchmark_document.shell_document")


def _run(wanted: BenchmarkSpecification) -> int:
    from wireproof.watch.benchmark import prepared_document, ready, run_prepared
    from wireproof.watch.benchmark_document import shell_document
    from wireproof.watch.command import allow_files

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
    document = result.document()
    return print_result(document, result.proved.exit_status, document)


def _list(tool: str) -> int:
    """Print every recipe, or those of one tool, one line each."""
    from wireproof.watch.specification import recipe_documents

    recipes = recipe_documents(tool)
    return print_result(
        listed("Recipes", recipes=recipes),
        recipes,
        document="watch.benchmark_document.recipes_document",
    )


@click.command(
    "prove",
    params=[
        text(
            "--hosts",
            "N1,N2|N[1-4]",
            "hosts to watch; default: the hosts of the command, else of the job, else this host.",
            default=None,
        ),
        text(
            "--lab",
            "NAME",
            "the virtual cluster; the command runs inside its first node.",
            default=None,
        ),
        text("--nic", "NAME", "the NIC that the traffic is claimed to use.", default=None),
        *link_claim("claimed link: 10gbe, edr, ethernet:25, ...; peaks are compared with it."),
        text(
            "--launcher",
            "ssh|PATH",
            "agent that reaches other hosts: ssh, or a program that is called like ssh.",
            default=None,
        ),
        text(
            "--prefix",
            "'CMD ARG...'",
            "command that starts the reader of the ports; in a pod, a command that enters the"
            " node.",
        ),
        SYSFS_ROOT,
        text("--interval", "TIME", "time between readings.", default="100ms", show_default=True),
        click.Option(
            ["--results"],
            type=PathName(dir_okay=False, path_type=Path),
            multiple=True,
            metavar="FILE",
            help="file to which COMMAND writes its numbers (hpccoutf.txt is known); may be"
            " repeated.",
        ),
        click.Option(
            ["--server"],
            nargs=2,
            multiple=True,
            metavar="HOST 'WORDS'",
            help="a server for COMMAND: started on HOST before COMMAND, stopped after it.",
        ),
        PSM_STATISTICS,
        flag(
            "--strict", "exit with 1 or 3 if the command ended with 0 but its path is not proven."
        ),
        FORM,
        json_as("one JSON object on stdout; the command's output goes to stderr."),
        click.Argument(
            ["argv"], metavar="-- COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED
        ),
    ],
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
def command(argv: tuple[str, ...], strict: bool, **options: Any) -> int:
    """Run COMMAND between two readings of the ports of its hosts: did the bytes use the wire?

    Its output is passed on unchanged and its exit status is kept; the readings of the ports go to
    stderr. In a lab a plain 'mpirun -hosts n1,n2' reaches the nodes.
    """
    from wireproof.watch.command import allow_files
    from wireproof.watch.prove import prove_command, specification

    known = {name: options.pop(name) for name in ("hosts", "nic", "launcher")}
    settings = settings_of({**known, "link": ""})
    wanted = specification(argv, settings, cast("ProofOptions", options), os.environ)
    console = Console()
    for line in wanted.target.notes:
        console.say(line)
    allow_files(wanted.target)
    sys.stdout.flush()
    errors, as_text = descriptor(sys.stderr), chosen_form() == "text"
    sinks = (descriptor(sys.stdout) if as_text else errors, errors)
    proved = prove_command(wanted, environment=os.environ, sinks=sinks, reporter=console)
    _print(proved, wanted)
    if strict:
        # The command's status if it failed, otherwise the status of the proof.
        return proved.exit_status or status_of(proved.verdict)
    return proved.exit_status


def _print(proved: ProvedCommand, wanted: ProofSpecification) -> None:
    """Print text to stderr, because stdout belongs to the command."""
    from wireproof.watch.document import watched_document

    document = partial(
        watched_document,
        proved.exit_status,
        proved.traffic,
        proved.judgement,
        proved.statistics,
        proved.notes,
    )
    if chosen_form() != "text":
        print_document(proved.document(wanted), document)
        return
    if proved.exit_status == INTERRUPTED:
        say("interrupted: the path of a command that did not finish is not proven. Run it again.")
        return
    for line in rendered(document(), "text", sys.stderr).splitlines():
        click.echo(f"wireproof: {line}".rstrip(), err=True)
