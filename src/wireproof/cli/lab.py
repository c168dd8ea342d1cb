"""``wireproof lab``: a virtual cluster on this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from wireproof.lab.status import LabStatus
    from wireproof.model.topology import Fault

__all__ = ["command"]


@click.group("lab")
def command() -> None:
    """Virtual cluster on this machine: nodes in namespaces, shaped links, planted faults."""


def _wire_lines(status: LabStatus) -> list[str]:
    """How the links keep their rates, and whether they did."""
    from wireproof.lab.wire import fallen_behind

    topology, wire = status.topology, status.wire
    if topology is None or not topology.serialises:
        return []
    added = [f"latency {topology.latency}"] if topology.latency else []
    added += [f"loss {topology.loss}"] if topology.loss else []
    lines = [f"  wire: {', '.join(['store-and-forward', *added])}"]
    if wire is None:
        return [*lines, "  wire: DEAD, no node reaches another"]
    late = f"{wire.late + wire.starved} of them more than {wire.late_ns / 1e6:g} ms late"
    lines[0] += f"; {wire.frames} frames, {late}"
    lines[0] += "" if wire.first else "; it has no right to run before ordinary processes"
    behind = fallen_behind(None, wire)
    return [*lines, f"  NOTE: {behind}"] if behind else lines


def _describe(status: LabStatus) -> str:
    lines = [f"{status.name}: {status.state}", *(f"  NOTE: {note}" for note in status.notes)]
    for network in status.topology.networks if status.topology else ():
        rate = network.rate or "not shaped"
        lines.append(f"  network {network.name}: {network.device}, {rate}, MTU {network.mtu}")
    lines += _wire_lines(status)
    for node in status.nodes:
        where = ", ".join(f"{name} {address}" for name, address in node.addresses.items())
        lines.append(f"  {node.name}: {'up' if node.alive else 'DEAD'}, {where}")
    for fault in status.faults:
        what = f"{fault.direction} {fault.kind} {fault.value}".rstrip()
        lines.append(f"  planted: {fault.node} {fault.network} {what}")
    return "\n".join(lines)


@command.command("up")
@click.argument("topology", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--name", help="name of the lab (default: the file's name without its ending).")
@click.option(
    "--wire",
    type=click.Choice(["token-bucket", "store-and-forward"]),
    help="how the links keep their rates; store-and-forward: no burst passes faster than the line.",
)
@click.option(
    "--latency",
    metavar="TIME",
    help="added to each frame on its way from node to node, such as 150us.",
)
@click.option(
    "--loss", metavar="SHARE", help="of the frames on their way from node to node, such as 0.2%."
)
def up(topology: Path, name: str | None, **wire: str | None) -> int:
    """Build the lab that the TOML file TOPOLOGY describes; it stays until 'lab down'."""
    import msgspec

    from wireproof.lab.cluster import up as build
    from wireproof.lab.topology_file import load_topology

    chosen = {key: value for key, value in wire.items() if value is not None}
    plan = msgspec.structs.replace(load_topology(topology), **chosen)
    lab = build(plan, name or topology.stem.lower().replace("_", "-"))
    for note in lab.notes:
        click.echo(f"wireproof: {note}", err=True)
    click.echo(_describe(lab.status()))
    return 0


@command.command("status")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="one JSON document on stdout.")
def status(name: str | None, as_json: bool) -> int:
    """Show the labs of this user, or the one called NAME."""
    from wireproof.lab.status import find_labs
    from wireproof.model.errors import BadInput

    labs = find_labs()
    found = [one for one in labs if name in (None, one.name)]
    if name and not found:
        raise BadInput(
            f"there is no lab {name!r}: {', '.join(one.name for one in labs) or 'none is up'}."
        )
    if as_json:
        from wireproof.report.json.encode import json_text

        click.echo(json_text(found))
    else:
        click.echo("\n".join(map(_describe, found)) or "no lab is up.")
    return 0


@command.command(
    "exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@click.argument("name")
@click.argument("node")
@click.argument("argv", nargs=-1, required=True, type=click.UNPROCESSED)
def exec_(name: str, node: str, argv: tuple[str, ...]) -> int:
    """Run a command in NODE of the lab NAME; its exit status is kept."""
    from wireproof.lab.cluster import open_lab

    lab = open_lab(name)
    words = lab.exec_argv(node, argv)
    sys.stdout.flush()
    environment = {**os.environ, **lab.agent_environment()}
    os.execve(words[0], words, environment)  # noqa: S606 - an argv list


def _fault(
    network: str | None, node: str, kind: str, direction: str, value: str, lab_name: str
) -> Fault:
    from wireproof.lab.cluster import open_lab
    from wireproof.model.errors import BadInput
    from wireproof.model.topology import Fault

    networks = [one.name for one in open_lab(lab_name).topology.networks]
    if network is None and len(networks) > 1:
        raise BadInput(
            f"lab {lab_name} has the networks {', '.join(networks)}: say which with --network."
        )
    return Fault(
        node=node,
        network=network or networks[0],
        kind=kind,  # type: ignore[arg-type]
        direction=direction,  # type: ignore[arg-type]
        value=value,
    )


@command.command("fault")
@click.argument("name")
@click.argument("node")
@click.argument("kind", type=click.Choice(["rate", "loss", "delay", "down"]))
@click.argument("value", default="")
@click.option("--network", help="network of the NIC, when the lab has several.")
@click.option("--direction", type=click.Choice(["tx", "rx"]), help="as the node sees it.")
@click.option("--clear", is_flag=True, help="lift this fault instead of planting it.")
def fault(
    name: str,
    node: str,
    kind: str,
    value: str,
    network: str | None,
    direction: str | None,
    clear: bool,
) -> int:
    """Plant a fault in a running lab: a rate such as 300mbit, a loss, a delay, a NIC that is
    down.
    """
    from wireproof.lab.cluster import open_lab

    planted = _fault(network, node, kind, "" if kind == "down" else direction or "tx", value, name)
    lab = open_lab(name)
    if clear:
        lab.clear_fault(planted)
    else:
        lab.set_fault(planted)
    click.echo(_describe(lab.status()))
    return 0


@command.command("slurm")
@click.argument("name")
@click.option("--down", "end", is_flag=True, help="end it; the lab stays.")
def slurm(name: str, end: bool) -> int:
    """Start a real Slurm in the lab NAME: one slurmd per node (needs Debian's slurm-wlm and munge,
    and root).
    """
    from wireproof.lab.cluster import open_lab
    from wireproof.lab.slurm import open_slurm, slurm_up
    from wireproof.model.errors import BadInput

    lab = open_lab(name)
    there = open_slurm(lab)
    if end:
        if there is None:
            raise BadInput(f"lab {name} has no Slurm: there is nothing to end.")
        there.down()
        click.echo(f"{name}: its Slurm is down")
        return 0
    if there is not None:
        raise BadInput(f"lab {name} has a Slurm: end it with --down first.")
    started = slurm_up(lab)
    click.echo(f"{name}: Slurm with {len(lab.nodes)} nodes, controller on {started.head}")
    click.echo(f"  wireproof check --lab {name} --slurm -N {len(lab.nodes)}")
    click.echo(f"  SLURM_CONF={started.conf} wireproof lab exec {name} {started.head} sinfo")
    return 0


@command.command("down")
@click.argument("name", required=False)
@click.option("--all", "every", is_flag=True, help="every lab of this user.")
def down(name: str | None, every: bool) -> int:
    """Take the lab NAME down, or what a crash has left of it."""
    from wireproof.lab.cluster import down as remove
    from wireproof.lab.status import find_labs
    from wireproof.model.errors import BadInput

    if bool(name) == every:
        raise BadInput("say which lab to take down: its NAME, or --all.")
    for one in [status.name for status in find_labs()] if every else [str(name)]:
        result = remove(one)
        click.echo(f"{one}: down{' (it had crashed)' if result.crashed else ''}")
    return 0
