"""``wireproof ladder``: finds the layer between the wire and the job at which time or rate is
lost.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from wireproof.cli.console import Console, current_context, print_document, remark
from wireproof.cli.declare import (
    FORM,
    Sectioned,
    choice,
    flag,
    number,
    sections,
    setting,
    text,
)
from wireproof.cli.delivery import answer
from wireproof.cli.options import LINK, OUTPUT, TARGET, settings_of, storage_of
from wireproof.model.errors import BadInput
from wireproof.model.ladder import APPLICATIONS, COLLECTIVES

if TYPE_CHECKING:
    from wireproof.settings.options import Options
    from wireproof.workflow.ladder import LadderSpecification


EXAMPLES = (
    "wireproof ladder --hosts n1,n2 --nic ib0 --link edr",
    "wireproof ladder --hosts n1,n2 --nic eth0 --provider tcp --layers tcp,ofi,mpi",
    "wireproof ladder --hosts n1,n2 --nic ib0 -- mpirun -hosts n1,n2 -ppn 1 osu_latency",
    "wireproof ladder --transport model --model-step mpi:latency_ns=11000",
)
UNITS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
OPTIONS: tuple[click.Parameter, ...] = (
    click.Argument(["argv"], metavar="[-- COMMAND...]", nargs=-1, type=click.UNPROCESSED),
    text(
        "--layers", "A,B,...", "verbs, tcp, ofi, mpi, collective; default: all that are available."
    ),
    choice("--pattern", APPLICATIONS, "pattern of the application, the topmost layer."),
    text(
        "--metric",
        "REGEX|json:PATH",
        "time of one message in the output of COMMAND, which is run for each {size}.",
    ),
    choice("--unit", tuple(UNITS), "unit of --metric.", default="us"),
    number("--rounds", 1, 1000, "how often each layer is measured; default: as often as needed."),
    setting("sizes", "LIST", "message sizes; default 8 B to 4 MiB, by the link's rate."),
    click.Option(
        ["--smallest"],
        type=click.FloatRange(1.0, 1000.0),
        default=25.0,
        show_default=True,
        metavar="PERCENT",
        help="a layer that loses less than this against the layer below loses nothing.",
    ),
    choice("--collective", COLLECTIVES, "collective of two ranks.", default="allreduce"),
    setting("model"),
    click.Option(
        ["--model-step", "model_steps"],
        multiple=True,
        metavar="LAYER:NAME=N",
        help="in the model: what this layer and those above have more (latency_ns,"
        " gap_ns_per_byte).",
    ),
)
DRY_RUN = flag("--dry-run", "print what would run, and start nothing.")
_KEPT = tuple(option for option in OUTPUT if option.name not in ("history", "resume"))


@click.command(
    "ladder",
    cls=Sectioned,
    sections=sections(
        OPTIONS, "What is compared", target=TARGET, link=LINK, output=(*_KEPT, FORM, DRY_RUN)
    ),
    examples=EXAMPLES,
    first="layers pattern metric unit rounds sizes smallest form",
)
def command(argv: tuple[str, ...], dry_run: bool, **options: Any) -> int:
    """Between two hosts, layer by layer: where are time and rate lost?

    Raw verbs or kernel TCP, libfabric, MPI point to point, an MPI collective, and COMMAND or a
    --pattern as the application are measured in rounds of random order, each with the proof of its
    path, and each fitted as t(s) = o + s/R. The layer at which o or R is lost is named, with its
    interval and its knobs.

    COMMAND prints a table of sizes that `wireproof judge` reads, or has {size} among its words: it
    is then run for each size, and --metric finds the time of one message.

    Exit status: 0 no layer loses more than --smallest, 1 a layer does, 3 undecided, 4 could not
    measure.
    """
    from wireproof.report.documents.ladder import ladder_document, plan_document
    from wireproof.workflow.ladder import plan_ladder, run_ladder

    settings = settings_of(options)
    wanted = _specification(argv, settings, options)
    if dry_run:
        plan = plan_ladder(wanted, Console(), current_context().environment)
        print_document(plan, partial(plan_document, plan))
        return 0
    ladder, folder = run_ladder(wanted, Console(), current_context().environment)
    status = answer(ladder, ladder_document)
    if folder is not None:
        remark(f"records: {folder}")
    return status


def _number(options: dict[str, Any]) -> Callable[[str], float | None] | None:
    """Return the reader of --metric, in ns."""
    if not options["metric"]:
        return None
    from wireproof.settings.knobs import metric_reader

    read, scale = metric_reader(options["metric"]), UNITS[options["unit"]]
    return lambda output: None if (value := read(output)) is None else value * scale


def _specification(
    argv: tuple[str, ...], settings: Options, options: dict[str, Any]
) -> LadderSpecification:
    from wireproof.workflow.ladder import LadderSpecification, methods_of
    from wireproof.workflow.ladder.launched import layers_of, model_step_of

    if argv and options["pattern"]:
        raise BadInput("--pattern and a command of your own exclude each other: give one.")
    if options["metric"] and not argv:
        raise BadInput("--metric is for a command: give one after --.")
    mpi, ofi = methods_of(settings)
    return LadderSpecification(
        target=settings,
        mpi=mpi,
        ofi=ofi,
        storage=storage_of(
            dataclasses.replace(settings, history=None), kept=settings.out is not None
        ),
        layers=layers_of(options["layers"]),
        rounds=options["rounds"],
        sizes=settings.sizes,
        smallest=options["smallest"] / 100.0,
        collective=options["collective"],
        model_steps=tuple(map(model_step_of, options["model_steps"])),
        pattern=options["pattern"] or "",
        command=argv,
        number=_number(options),
    )
