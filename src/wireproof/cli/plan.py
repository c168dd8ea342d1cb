"""``wireproof plan``: compute quantities that cannot be measured on the available machines."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from wireproof.cli.completion import modes
from wireproof.cli.declare import FORM, JSON, PathName, Verb, choice, file, metres, text
from wireproof.model.errors import BadInput
from wireproof.options.sizes import matched, parse_bytes, parse_size
from wireproof.plan import Footprint, Pfc, Scale, Validation

FORMS = (JSON, FORM)


_COUNT = re.compile(r"-?(?:[1-9][0-9]{0,2}(?:,[0-9]{3})+|[0-9]{1,40})", re.ASCII)


def _whole(value: str | int) -> int:
    """Parse ``9696`` or, as documents write it, ``9,696``; a default is already a number."""
    text = str(value)
    matched(_COUNT, text, f"{text[:40]!r} is not a whole number such as 9696 or 9,696.")
    return int(text.replace(",", ""))


def _integer(flags: str, about: str, **more: Any) -> click.Option:
    """Declare a whole number whose range the plan checks; the error message contains the range."""
    return click.Option(flags.split(), type=_whole, metavar="N", help=about, **more)


def _bytes(flags: str, about: str, **more: Any) -> click.Option:
    """Declare a size: ``18560``, ``18560B`` or ``495GB``."""
    return click.Option(flags.split(), type=parse_bytes, metavar="BYTES", help=about, **more)


def _real(flags: str, metavar: str, about: str, **more: Any) -> click.Option:
    return click.Option(flags.split(), type=float, metavar=metavar, help=about, **more)


_SPEED = re.compile(r"(\d{1,4}(?:\.\d{1,3})?)\s*(?:[gG]|G(?:b/s|bps|bit/s|bE)|gbe)?", re.ASCII)


def _gbps(text: str) -> float:
    """Parse ``100``, ``100G``, ``100Gb/s`` or ``100GbE``; bytes are refused."""
    why = f"the speed {text[:40]!r} is invalid: give Gb/s, such as 100 or 100Gb/s."
    return float(matched(_SPEED, text, why)[1])


@click.group("plan")
def command() -> None:
    """Compute QPs and memory, PFC headroom, latency at scale, and time to prove, with sources."""


@command.command(
    "footprint",
    cls=Verb,
    document="plan.document.footprint_document",
    params=[
        _integer("-N --nodes", "nodes of the job.", required=True),
        _integer("-P --ppn", "ranks of each node.", required=True),
        text(
            "--mode",
            "NAME",
            "psm3-rdma0|1|2|3 (or PSM3_RDMA=1), rxm, rxm-srx, ucx-rc, ucx-dc, ucx-ud.",
            required=True,
            shell_complete=modes,
        ),
        _integer("--rails", "number of adapters (or addresses) that each rank uses.", default=1),
        _integer(
            "--mtu", "a packet's payload, or the MTU of the Ethernet interface.", default=4096
        ),
        _integer("--peers", "number of remote ranks with which each rank communicates."),
        _integer("--node-pairs", "number of pairs of nodes that communicate."),
        click.Option(
            ["--set", "settings"],
            multiple=True,
            metavar="NAME=N",
            help="a variable of the library whose value differs from the default.",
        ),
        _integer("--max-qps", "number of QPs that the adapter supports."),
        file("--device", "output of ibv_devinfo -v: the adapter's max_qp.", must_exist=True),
        file(
            "--observed",
            "output of 'rdma resource show qp' on one node of a real run.",
            must_exist=True,
        ),
        _integer("--seen-qps", "observed number of QPs of a whole job."),
        _bytes("--seen-memory", "observed memory of a whole job: 495GB."),
        *FORMS,
    ],
)
def footprint(
    nodes: int,
    ppn: int,
    mode: str,
    settings: Sequence[str],
    **options: Any,
) -> Footprint:
    """Compute QPs and memory of a job in one mode of PSM3, rxm or UCX: for a rank, a node, the job.

    If they depend on which ranks communicate, the bounds are no communication between nodes and all
    to all, unless --peers or --node-pairs are given.
    """
    from wireproof.plan.job import plan_footprint, settings_of

    return plan_footprint(nodes, ppn, mode, settings=settings_of(settings), **options)


@command.command(
    "pfc",
    cls=Verb,
    document="plan.document.pfc_document",
    params=[
        click.Option(
            ["--speed", "speed_gbps"],
            type=_gbps,
            metavar="GBPS",
            help="speed of the ports in Gb/s: 10, 25, 40, 100, 200, 400.",
            required=True,
        ),
        _integer("--mtu", "MTU of the lossless class.", required=True),
        click.Option(
            ["--cable", "cable_m"],
            type=metres,
            metavar="METRES",
            help="length of the longest cable.",
            required=True,
        ),
        _integer("--ports", "number of lossless ports.", required=True),
        _integer("--priorities", "number of lossless priorities of each port.", default=1),
        _integer("--other-mtu", "largest MTU of any class (default: --mtu)."),
        _bytes("--cell", "size of a cell of the switch's buffer.", default="0"),
        _bytes("--buffer budget", "buffer that the switch provides for this purpose."),
        _bytes("--headroom", "configured headroom, to check whether it is enough."),
        _integer("--response-quanta", "the neighbour's response time, instead of the standard's."),
        *FORMS,
    ],
)
def pfc(speed_gbps: float, mtu: int, cable_m: float, ports: int, **options: Any) -> Pfc:
    """Compute headroom, XOFF, XON and buffer for priority flow control without loss (802.1Q).

    Exit status: 0; 1 if --headroom or --buffer is too small, 3 if it may be.
    """
    from wireproof.plan.job import plan_pfc

    return plan_pfc(speed_gbps, mtu, cable_m, ports, **options)


MACHINE: list[click.Parameter] = [
    click.Option(
        ["--from", "run"],
        type=PathName(exists=True, file_okay=False, path_type=Path),
        help=(
            "folder of `measure pingpong` (and stream) or of a check, for the parameters of a pair."
        ),
    ),
    text("--start", "TIME", "half a round trip of an empty message: 1.5us.", default=None),
    text("--rate", "RATE", "rate of a large message: 12.3GB/s.", default=None),
]


@command.command(
    "scale",
    cls=Verb,
    document="plan.document.scale_document",
    params=[
        text("-N --nodes", "N1,N2...", "numbers of nodes.", default="2,4,8,16,32,64,112"),
        _integer("-P --ppn", "ranks of each node.", default=28),
        click.Option(
            ["--pattern", "patterns"],
            multiple=True,
            default=("ring",),
            metavar="NAME",
            help="ring, barrier, allreduce, alltoall, sweep (the rounds of a check); may be"
            " repeated.",
        ),
        text("--order", "natural|random|both", "order of the ranks in a ring.", default="both"),
        text("--size", "SIZE", "size of a message.", default="8"),
        *MACHINE,
        text("--overhead", "TIME", "overhead of a processor per message.", default=None),
        text("--gap", "TIME", "minimum time between two messages of an adapter.", default=None),
        text(
            "--hop", "TIME", "additional time for each further switch with its cable.", default=None
        ),
        text("--local-start", "TIME", "half a round trip between ranks of one node.", default=None),
        text("--local-rate", "RATE", "rate between ranks of one node.", default=None),
        text(
            "--local-overhead",
            "TIME",
            "a processor's time per message between ranks of one node.",
            default=None,
        ),
        _real("--noise", "SIGMA", "sigma of the logarithm of a message's latency."),
        text("--topology", "KIND", "one-switch, fat-tree, dragonfly.", default="fat-tree"),
        _integer("--leaf", "nodes per leaf or router.", default=32, show_default=True),
        _integer("--group", "leaves per pod, routers per group.", default=32, show_default=True),
        _integer("--uplinks", "links per leaf, or between two groups; 0: unlimited.", default=0),
        text(
            "--routing",
            "KIND",
            "choice of uplinks: by destination, or at random.",
            default="destination",
        ),
        _integer("--seed", "seed of random rings and samples.", default=1),
        file("--csv", "write the table here."),
        file("--svg", "write the chart here."),
        *FORMS,
    ],
)
def scale(
    nodes: str, ppn: int, size: str, csv: Path | None, svg: Path | None, **more: Any
) -> Scale:
    """Simulate the latency of rings, barrier, allreduce, alltoall, and the time of a sweep, at up
    to 1,000,000 ranks, from the parameters of one pair.
    """
    from wireproof.plan.document import scale_csv
    from wireproof.plan.job import machine_options, plan_scale, scales_of, write_text

    found = plan_scale(scales_of(nodes), ppn, size=parse_size(size), **machine_options(more))
    if csv is not None:
        write_text(csv, scale_csv(found))
    if svg is not None:
        from wireproof.plan.document import scale_chart
        from wireproof.report.figure.file import standalone

        chart = scale_chart(found)
        if chart is None:
            raise BadInput("--svg: every predicted time is 0, so there is nothing to draw.")
        write_text(svg, standalone(chart))
    return found


@command.command(
    "validate",
    cls=Verb,
    document="plan.document.validation_document",
    params=[
        _integer("-N --nodes", "nodes to prove.", required=True),
        _real("--slowdown", "SHARE", "slowdown to be found: 0.05 is 5 % of goodput.", default=0.05),
        _real("--noise", "SHARE", "sigma of one pair's measurement.", default=0.02),
        _real("--false-alarms", "SHARE", "probability of a false alarm in a sweep.", default=0.05),
        _real("--power", "SHARE", "probability that the slowdown is found.", default=0.95),
        choice(
            "--metric", ["goodput", "hrt"], "metric in which the node is slow.", default="goodput"
        ),
        _integer("--rounds", "number of rounds of the check (default: its usual number)."),
        *MACHINE,
        *FORMS,
    ],
)
def validate(nodes: int, **more: Any) -> Validation:
    """Compute the rounds of pairs and the time that prove that no node is slower than the
    others.
    """
    from wireproof.plan.job import machine_options, plan_validate

    return plan_validate(nodes, **machine_options(more))
