"""``wireproof study`` and ``ladder``: find the settings of a library that help here, and the layer
in which time and rate are lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from wireproof.cli.completion import spelt
from wireproof.cli.console import INTERRUPTED, Console, current_context, print_result, remark, say
from wireproof.cli.declare import (
    FORM,
    Verb,
    choice,
    flag,
    number,
    sections,
    setting,
    text,
)
from wireproof.cli.options import LINK, OUTPUT, TARGET, experiment_storage, method_of, settings_of
from wireproof.experiment.ladder import APPLICATIONS, COLLECTIVES

if TYPE_CHECKING:
    from pathlib import Path


# --- The same two hosts layer by layer.

PLAN = "experiment.kept.plan_document"
DRY_RUN = flag("--dry-run", "print the commands without starting them.")
RESUME = flag("--resume", "continue the interrupted experiment in --out.")


@click.command(
    "ladder",
    cls=Verb,
    sections=sections(
        (
            click.Argument(["argv"], metavar="[-- COMMAND...]", nargs=-1, type=click.UNPROCESSED),
            text(
                "--layers",
                "A,B,...",
                "verbs, tcp, ofi, mpi, collective; default: all that are available.",
            ),
            choice("--pattern", APPLICATIONS, "pattern of the application, the topmost layer."),
            text(
                "--metric",
                "REGEX|json:PATH",
                (
                    "regular expression for the time of one message in the output of COMMAND, which"
                    " is run for each {size}."
                ),
            ),
            choice("--unit", ("ns", "us", "ms", "s"), "unit of --metric.", default="us"),
            number(
                "--rounds",
                1,
                1000,
                "number of measurements of each layer; default: as many as needed.",
            ),
            setting("sizes", "LIST", "message sizes; default 8 B to 4 MiB, by the link's rate."),
            click.Option(
                ["--smallest"],
                type=click.FloatRange(1.0, 1000.0),
                default=25.0,
                show_default=True,
                metavar="PERCENT",
                help="a loss smaller than this compared with the layer below is ignored.",
            ),
            choice(
                "--collective", COLLECTIVES, "pattern of the collective layer.", default="allreduce"
            ),
            setting("model"),
            click.Option(
                ["--model-step", "model_steps"],
                multiple=True,
                metavar="LAYER:NAME=N",
                help=(
                    "in the model: additional cost of this layer and those above (latency_ns, "
                    "gap_ns_per_byte)."
                ),
            ),
        ),
        "Layers",
        target=TARGET,
        link=LINK,
        output=(
            *(option for option in OUTPUT if option.name not in ("history", "resume")),
            RESUME,
            FORM,
            DRY_RUN,
        ),
    ),
    examples=(
        "wireproof ladder --hosts n1,n2 --nic ib0 --link edr",
        "wireproof ladder --hosts n1,n2 --nic eth0 --provider tcp --layers tcp,ofi,mpi",
        "wireproof ladder --hosts n1,n2 --nic ib0 -- mpirun -hosts n1,n2 -ppn 1 osu_latency",
        "wireproof ladder --transport model --model-step mpi:latency_ns=11000",
    ),
    document="experiment.ladder.document.ladder_document",
    first="layers pattern metric rounds sizes smallest form",
)
def ladder(argv: tuple[str, ...], dry_run: bool, **options: Any) -> int:
    """Between two hosts, layer by layer: where are time and rate lost?

    Raw verbs or kernel TCP, libfabric, MPI point to point, an MPI collective, and COMMAND or a
    --pattern as the application are measured in rounds of random order, each with the proof of its
    path, and each fitted as t(s) = o + s/R. The layer at which o or R is lost is reported, with its
    interval and its knobs.

    COMMAND prints a table of sizes that `wireproof judge` reads, or contains {size}: it is then run
    for each size, and --metric finds the time of one message.

    Exit status: 0 no layer loses more than --smallest, 1 a layer does, 3 undecided, 4 could not
    measure.
    """
    from wireproof.experiment.ladder.job import plan_ladder, run_ladder
    from wireproof.workflow.experiments import ladder_of

    settings = settings_of(options)
    wanted = ladder_of(argv, settings, options, experiment_storage(settings))
    if dry_run:
        plan = plan_ladder(wanted, Console(), current_context().environment)
        return print_result(plan, document=PLAN)
    ladder, folder = run_ladder(wanted, Console(), current_context().environment)
    status = print_result(ladder)
    if folder is not None:
        remark(f"records: {folder}")
    return status


@click.command(
    "study",
    cls=Verb,
    sections=sections(
        (
            click.Argument(
                ["library"], metavar="psm3|ucx|ofi|impi|FILE.toml", shell_complete=spelt
            ),
            text("--knobs", "NAME,...", "only these knobs; default: all knobs in the catalogue."),
            text(
                "--values",
                "NAME=A,B,...",
                "values of a knob instead of the catalogue's; use | to separate values with"
                " commas.",
                multiple=True,
                default=(),
            ),
            text(
                "--over",
                "latency,stream,...",
                "patterns to measure; default: latency and the patterns that the knobs can affect.",
            ),
            number("--ppn", 1, 4096, "ranks on each host.", default=1),
            text(
                "--budget study_budget",
                "TIME",
                "time limit of the study; default 5min.",
                default="5min",
            ),
            text(
                "--each", "TIME", "time of one point of a launch; default 150ms.", default="150ms"
            ),
            click.Option(
                ["--smallest"],
                type=click.FloatRange(1.0, 100.0),
                default=3.0,
                show_default=True,
                metavar="PERCENT",
                help="effects smaller than this are ignored.",
            ),
            setting("seed", "N", "seed of the order of the launches; default: drawn."),
            setting(
                "out",
                "DIR",
                "store the study in DIR: study.json, and the data that --resume needs.",
            ),
            RESUME,
            DRY_RUN,
            flag("--json", "one JSON document on stdout.", default=None),
            FORM,
        ),
        "Knobs",
        target=TARGET,
        link=LINK,
    ),
    examples=(
        "wireproof study psm3 --hosts n1,n2 --nic hsn0 --mpi intel",
        "wireproof study psm3 --hosts n1,n2 --nic hsn0,hsn1 --knobs PSM3_MULTIRAIL,PSM3_MTU",
        "wireproof study ucx --hosts n1,n2 --nic hsn0 --values UCX_MAX_EAGER_RAILS=1,2",
    ),
    document="experiment.study.document.study_document",
    first="knobs values over study_budget ppn smallest form",
)
def command(library: str, dry_run: bool, **options: Any) -> int:
    """Which settings of a library take effect here, and which of them help?

    Every value is read back from the library's reports, and measured against the base in random
    blocks over several patterns. A value is recommended only if it took effect, the runs used the
    wire, and its gain is significant and above --smallest.

    Ctrl-C ends the study and keeps the measurements so far; --resume --out DIR continues it.

    Exit status: 0 the study has a conclusion, 3 it has none, 4 nothing could be measured.
    """
    from wireproof.experiment.study.job import plan_study, run_study
    from wireproof.workflow.experiments import study_of

    settings = settings_of({**options, "budget": options["each"]})
    wanted = study_of(library, settings, options, method_of(settings), experiment_storage(settings))
    if dry_run:
        plan = plan_study(wanted, Console(), current_context().environment)
        return print_result(plan, document=PLAN)
    study = run_study(wanted, Console(), current_context().environment)
    interrupted = study.stopped == "interrupted"
    if interrupted:
        say("interrupted; the measurements so far are shown" + _kept(settings.out))
    return print_result(study, status=INTERRUPTED if interrupted else None)


def _kept(folder: Path | None) -> str:
    if folder is None:
        return " but not stored: give --out to store it."
    return f" and stored in {folder}: the same command with --resume continues it."
