"""``wireproof prove -- COMMAND``: any program between two readings of the ports of every host that
it touches.
"""

from __future__ import annotations

import dataclasses
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wireproof.cli.options import settings_of, sysfs_root_option
from wireproof.files.hostile import read_bounded

if TYPE_CHECKING:
    from wireproof.model.claim import LinkClaim
    from wireproof.settings.resolve import Settings
    from wireproof.workflow.prove import Companion, Proved
    from wireproof.workflow.target.target import Target

__all__ = ["command", "proving_place"]

LONGEST_INTERVAL_S = 60.0


def _link(options: dict[str, Any]) -> LinkClaim | None:
    if not options["link"]:
        return None
    from wireproof.physics.claims import claim_from_text

    return claim_from_text(options["link"], mtu=options["mtu"], pcie=options["pcie"])


def _read_text(path: str) -> str:
    return read_bounded(path, 1 << 20).decode("utf-8", "replace")


def _hosts(settings: Settings, argv: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Hosts to watch, and how we know of them (nothing to say when the user named them)."""
    from wireproof.workflow.command_hosts import hosts_of_allocation, hosts_of_command

    if settings.hosts.value:
        return settings.hosts.value, ""
    if named := hosts_of_command(argv, _read_text):
        return (
            named,
            f"watching {', '.join(named[:8])}, as the command names them; --hosts says otherwise",
        )
    if allocated := hosts_of_allocation(os.environ):
        return (
            allocated,
            f"watching the {len(allocated)} nodes of the Slurm job; --hosts says otherwise",
        )
    return (), ""


def _entered(argv: tuple[str, ...], lab: str | None) -> tuple[tuple[str, ...], str | None, str]:
    """``wireproof lab exec LAB NODE WORDS`` means these words in that node: (words, lab, node or
    nothing).
    """
    from wireproof.model.errors import BadInput
    from wireproof.workflow.command_hosts import entered_node

    entered = entered_node(argv)
    if entered is None:
        return argv, lab, ""
    if lab not in (None, entered[0]):
        raise BadInput(
            f"--lab {lab} is claimed, and the command enters the lab {entered[0][:60]}: name one."
        )
    return entered[2], entered[0], entered[1]


def proving_place(
    settings: Settings, argv: tuple[str, ...], lab: str | None, link: LinkClaim | None
) -> Target:
    """Where to watch: a lab's nodes, hosts by ssh, or this machine. One host alone is a place
    too.
    """
    from wireproof.workflow.target.lab_or_hosts import lab_of
    from wireproof.workflow.target.resolve import agent_of
    from wireproof.workflow.target.target import Target, lab_target

    hosts, how = ((), "") if lab and not settings.hosts.value else _hosts(settings, argv)
    found = lab_of(hosts, lab, settings.launcher.value) if hosts or lab else None
    said = (how,) if how else ()
    if found is not None:
        place = lab_target(found, hosts or found.nodes, nic=settings.nic.value, link=link)
        return dataclasses.replace(place, said=(*said, *place.said))
    count = max(len(hosts), 1)
    nics = (settings.nic.value,) * count if settings.nic.value else ()
    return Target(
        hosts=hosts,
        start_on=hosts,
        nics=nics,
        link=link,
        agent=agent_of(settings.launcher.value),
        wire=bool(hosts),
        ranks=count,
        said=said,
    )


def _tell(proved: Proved, argv: tuple[str, ...], place: Target, as_json: bool) -> None:
    from wireproof.report.text.watched import document, lines

    status, traffic, judgement = proved.exit_status, proved.traffic, proved.judgement
    if as_json:
        sys.stdout.flush()
        sys.stdout.buffer.write(
            document(argv, status, traffic, judgement, proved.series, [*place.said, *proved.notes])
        )
        sys.stdout.buffer.flush()
        return
    for line in [*proved.notes, *lines(status, traffic, judgement)]:
        click.echo(f"wireproof: {line}", err=True)


def _servers(given: tuple[tuple[str, str], ...], place: Target) -> list[Companion]:
    from wireproof.model.errors import BadInput
    from wireproof.settings.hosts import parse_hosts
    from wireproof.workflow.prove import Companion

    found = []
    for host, text in given:
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise BadInput(f"--server {host[:60]}: {text[:60]!r} has an open quote.") from error
        if not words:
            raise BadInput(f"--server {host[:60]}: no command was given for it.")
        if place.lab is not None and host not in place.lab.nodes:
            raise BadInput(
                f"--server {host[:60]!r}: the lab has the nodes {', '.join(place.lab.nodes)}."
            )
        found.append(Companion(parse_hosts(host)[0], tuple(words)))
    return found


def _strict_status(proved: Proved) -> int:
    """The command's status when it failed, else that of the proof: 0 on-wire, 1 another path, 3
    unproven.
    """
    from wireproof.cli.outcome import status_of

    return proved.exit_status or status_of(proved.judgement.verdict)


@click.command(
    "prove", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@click.option(
    "--hosts",
    metavar="N1,N2|N[1-4]",
    help="hosts to watch; default: the command's, the job's, this one.",
)
@click.option(
    "--lab", metavar="NAME", help="the virtual cluster; the command runs inside its first node."
)
@click.option("--nic", metavar="NAME", help="the NIC that the traffic is claimed to use.")
@click.option(
    "--link",
    metavar="[Nx]KIND[:GBPS]",
    help="claimed link: 10gbe, edr, ethernet:25, ...; peaks are held to it.",
)
@click.option(
    "--mtu", type=click.IntRange(68, 65535), metavar="BYTES", help="MTU of the claimed link."
)
@click.option("--pcie", metavar="GENxLANES", default="", help="slot of the NIC, such as gen3x16.")
@click.option(
    "--launcher",
    metavar="ssh|PATH",
    help="how other hosts are reached: ssh, or a program called like it.",
)
@click.option(
    "--prefix",
    metavar="'CMD ARG...'",
    default="",
    help="command that the reader of the ports is started through: from a pod, one that enters the node.",
)
@sysfs_root_option
@click.option(
    "--interval",
    metavar="TIME",
    default="100ms",
    show_default=True,
    help="how often ports are read.",
)
@click.option(
    "--results",
    type=click.Path(dir_okay=False, path_type=Path),
    multiple=True,
    metavar="FILE",
    help="file that COMMAND writes its numbers to (hpccoutf.txt is known); may be given again.",
)
@click.option(
    "--server",
    nargs=2,
    multiple=True,
    metavar="HOST 'WORDS'",
    help="a server that COMMAND talks to: started on HOST before it, ended after it.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="exit 1 or 3 when the path is not proven, if the command ended with 0.",
)
@click.option(
    "--json",
    "json",
    is_flag=True,
    help="one JSON object on stdout; the command's output goes to stderr.",
)
@click.argument("argv", metavar="-- COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
def command(argv: tuple[str, ...], **options: Any) -> int:
    """Run COMMAND between two readings of the ports of its hosts: did the bytes use the wire?

    Its output is passed on untouched and its exit status is kept; what the ports saw is told on
    stderr. In a lab a plain 'mpirun -hosts n1,n2' reaches the nodes.
    """
    from wireproof.cli.console import say
    from wireproof.model.errors import BadInput
    from wireproof.settings.durations import parse_duration
    from wireproof.workflow.prove import run_proved
    from wireproof.workflow.result_files import usual_results
    from wireproof.workflow.target.resolve import reader_prefix

    interval = parse_duration(options["interval"])
    if not 0.001 <= interval <= LONGEST_INTERVAL_S:
        raise BadInput(f"--interval {options['interval'][:40]!r} is out of range: give 1ms to 60s.")
    known = {name: options[name] for name in ("hosts", "nic", "launcher")}
    settings = settings_of({**known, "link": ""})
    argv, lab, node = _entered(argv, options["lab"])
    place = proving_place(settings, argv, lab, _link(options))
    place = dataclasses.replace(
        place, sysfs_root=options["sysfs_root"], prefix=reader_prefix(options["prefix"])
    )
    if node:
        place = dataclasses.replace(place, start_on=(node, *place.start_on))
    for line in place.said:
        say(line)
    results = options["results"] or usual_results(argv, Path.cwd())
    proved = run_proved(
        argv,
        place,
        companions=_servers(options["server"], place),
        interval_s=interval,
        output_to_stderr=options["json"],
        results=results,
    )
    _tell(proved, argv, place, options["json"])
    return _strict_status(proved) if options["strict"] else proved.exit_status
