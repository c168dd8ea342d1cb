"""``wireproof plan``: what cannot be tried on the machines at hand, computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from wireproof.cli.console import print_json
from wireproof.cli.declare import file, flag, text

__all__ = ["command"]

JSON = flag("--json as_json", "one JSON document on stdout.")


def _integer(flags: str, about: str, **more: Any) -> click.Option:
    """A whole number whose range the plan checks: its sentence says which."""
    return click.Option(flags.split(), type=int, metavar="N", help=about, **more)


def _real(flags: str, metavar: str, about: str, **more: Any) -> click.Option:
    return click.Option(flags.split(), type=float, metavar=metavar, help=about, **more)


@click.group("plan")
def command() -> None:
    """QPs and memory, PFC headroom, latency at scale, time to prove: computed, with sources."""


FOOTPRINT: list[click.Parameter] = [
    _integer("-N --nodes", "nodes of the job.", required=True),
    _integer("-P --ppn", "ranks of each node.", required=True),
    text(
        "--mode", "NAME", "psm3-rdma0|1|2|3, rxm, rxm-srx, ucx-rc, ucx-dc, ucx-ud.", required=True
    ),
    _integer("--rails", "adapters (or addresses) that one rank uses.", default=1),
    _integer("--mtu", "a packet's payload, or the MTU of the Ethernet interface.", default=4096),
    _integer("--peers", "remote ranks that each rank talks to."),
    _integer("--node-pairs", "pairs of nodes that talk to each other."),
    click.Option(
        ["--set", "settings"],
        multiple=True,
        metavar="NAME=N",
        help="a variable of the library that is not its default.",
    ),
    _integer("--max-qps", "QPs that the adapter has."),
    file("--device", "output of ibv_devinfo -v: the adapter's max_qp.", must_exist=True),
    file(
        "--observed",
        "output of 'rdma resource show qp' on one node of a real run.",
        must_exist=True,
    ),
    _integer("--seen-qps", "QPs of a whole job that were seen."),
    _integer("--seen-memory", "bytes of memory of a whole job that were seen."),
    JSON,
]


@command.command("footprint", params=FOOTPRINT)
def footprint(
    nodes: int, ppn: int, mode: str, settings: Sequence[str], as_json: bool, **options: Any
) -> int:
    """QPs and memory of a job in one mode of PSM3, rxm or UCX: for a rank, a node, the job.

    Where it depends on who talks to whom, the bounds are no communication between nodes and all
    with all, unless --peers or --node-pairs say more.
    """
    from wireproof.workflow.plan import plan_footprint, settings_of

    found = plan_footprint(nodes, ppn, mode, settings=settings_of(settings), **options)
    if as_json:
        print_json(found)
    else:
        from wireproof.report.text.planning import footprint_lines

        click.echo("\n".join(footprint_lines(found)))
    return 0


PFC: list[click.Parameter] = [
    _real("--speed speed_gbps", "GBPS", "of the ports: 10, 25, 40, 100, 200, 400.", required=True),
    _integer("--mtu", "of the lossless class.", required=True),
    _real("--cable cable_m", "METRES", "length of the longest cable.", required=True),
    _integer("--ports", "ports that are lossless.", required=True),
    _integer("--priorities", "lossless priorities of each port.", default=1),
    _integer("--other-mtu", "largest MTU of any class (default: --mtu)."),
    _integer("--cell", "bytes of a cell of the switch's buffer.", default=0),
    _integer("--buffer budget", "bytes of buffer that the switch has for it."),
    _integer("--headroom", "bytes that are configured: enough for what?"),
    _integer("--response-quanta", "the neighbour's response time, instead of the standard's."),
    JSON,
]


@command.command("pfc", params=PFC)
def pfc(speed_gbps: float, mtu: int, cable_m: float, ports: int, **options: Any) -> int:
    """Headroom, XOFF, XON and buffer that priority flow control needs to lose nothing (802.1Q)."""
    from wireproof.workflow.plan import plan_pfc

    as_json = options.pop("as_json")
    found = plan_pfc(speed_gbps, mtu, cable_m, ports, **options)
    if as_json:
        print_json(found)
    else:
        from wireproof.report.text.planning import pfc_lines

        click.echo("\n".join(pfc_lines(found)))
    return 0
