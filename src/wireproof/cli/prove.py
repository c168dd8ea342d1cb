"""``wireproof prove -- COMMAND``: runs any program between two readings of the ports of every host
that it uses.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from wireproof.cli.console import Console, chosen_form, print_document, rendered
from wireproof.cli.declare import FORM, flag, json_as, link_claim, text
from wireproof.cli.options import PSM_STATISTICS, SYSFS_ROOT, settings_of
from wireproof.cli.outcome import status_of
from wireproof.files.streams import descriptor

if TYPE_CHECKING:
    from wireproof.workflow.prove import ProofOptions, ProofSpecification, ProvedCommand


OPTIONS: list[click.Parameter] = [
    text(
        "--hosts",
        "N1,N2|N[1-4]",
        "hosts to watch; default: the command's, the job's, this one.",
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
        "how other hosts are reached: ssh, or a program called like it.",
        default=None,
    ),
    text(
        "--prefix",
        "'CMD ARG...'",
        "command that starts the reader of the ports: in a pod, a command that enters the node.",
    ),
    SYSFS_ROOT,
    text("--interval", "TIME", "how often ports are read.", default="100ms", show_default=True),
    click.Option(
        ["--results"],
        type=click.Path(dir_okay=False, path_type=Path),
        multiple=True,
        metavar="FILE",
        help="file that COMMAND writes its numbers to (hpccoutf.txt is known); may be given again.",
    ),
    click.Option(
        ["--server"],
        nargs=2,
        multiple=True,
        metavar="HOST 'WORDS'",
        help="a server that COMMAND talks to: started on HOST before it, stopped after it.",
    ),
    PSM_STATISTICS,
    flag("--strict", "exit 1 or 3 if the command ended with 0 but its path is not proven."),
    FORM,
    json_as("one JSON object on stdout; the command's output goes to stderr."),
    click.Argument(
        ["argv"], metavar="-- COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED
    ),
]


@click.command(
    "prove",
    params=OPTIONS,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
def command(argv: tuple[str, ...], strict: bool, **options: Any) -> int:
    """Run COMMAND between two readings of the ports of its hosts: did the bytes use the wire?

    Its output is passed on unchanged and its exit status is kept; the readings of the ports go to
    stderr. In a lab a plain 'mpirun -hosts n1,n2' reaches the nodes.
    """
    from wireproof.workflow.prove import prove_command, specification
    from wireproof.workflow.prove.watch import allow_files

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
        # The command's status if it failed, else that of the proof.
        return proved.exit_status or status_of(proved.verdict)
    return proved.exit_status


def _print(proved: ProvedCommand, wanted: ProofSpecification) -> None:
    """Print text to stderr, because stdout belongs to the command."""
    from wireproof.report.documents.proof import watched_document

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
    for line in rendered(document(), "text", sys.stderr).splitlines():
        click.echo(f"wireproof: {line}".rstrip(), err=True)
