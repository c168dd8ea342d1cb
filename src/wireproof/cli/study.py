"""``wireproof study``: which settings of a library take effect here, and which of them help?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from wireproof.cli.completion import spelt
from wireproof.cli.console import Console, current_context, say
from wireproof.cli.declare import FORM, Sectioned, flag, number, sections, setting, text
from wireproof.cli.delivery import answer
from wireproof.cli.options import LINK, TARGET, method_of, settings_of
from wireproof.cli.outcome import INTERRUPTED

if TYPE_CHECKING:
    from pathlib import Path

    from wireproof.settings.options import Options
    from wireproof.workflow.study import StudySpecification


EXAMPLES = (
    "wireproof study psm3 --hosts n1,n2 --nic hsn0 --mpi intel",
    "wireproof study psm3 --hosts n1,n2 --nic hsn0,hsn1 --knobs PSM3_MULTIRAIL,PSM3_MTU",
    "wireproof study ucx --hosts n1,n2 --nic hsn0 --values UCX_MAX_EAGER_RAILS=1,2",
)
OPTIONS: tuple[click.Parameter, ...] = (
    click.Argument(["library"], metavar="psm3|ucx|ofi|impi|FILE.toml", shell_complete=spelt),
    text("--knobs", "NAME,...", "only these knobs; default: all of the catalogue."),
    text(
        "--values",
        "NAME=A,B,...",
        "values of a knob instead of the catalogue's; separate values that have commas by |.",
        multiple=True,
        default=(),
    ),
    text(
        "--over",
        "latency,stream,...",
        "patterns to measure; default: latency and what the knobs can move.",
    ),
    number("--ppn", 1, 4096, "ranks on each host.", default=1),
    text(
        "--budget study_budget", "TIME", "time for the whole study; default 5min.", default="5min"
    ),
    text("--each", "TIME", "time of one point of a launch; default 150ms.", default="150ms"),
    click.Option(
        ["--smallest"],
        type=click.FloatRange(1.0, 100.0),
        default=3.0,
        show_default=True,
        metavar="PERCENT",
        help="effects smaller than this count as none.",
    ),
    setting("seed", "N", "seed of the order of the launches; default: drawn."),
    setting("out", "DIR", "keep the study in DIR: study.json, and what --resume needs."),
    flag("--resume", "continue the study in --out."),
    flag("--json", "one JSON document on stdout.", default=None),
    FORM,
)


@click.command(
    "study",
    cls=Sectioned,
    sections=sections(OPTIONS, "What is studied", target=TARGET, link=LINK),
    examples=EXAMPLES,
    first="knobs values over study_budget ppn smallest form",
)
def command(library: str, **options: Any) -> int:
    """Which settings of a library take effect here, and which of them help?

    Every value is read back from what the library reports, and measured against the base in random
    blocks over several patterns. A value is recommended only if it took effect, the runs used the
    wire, and its gain is beyond chance and --smallest.

    Ctrl-C ends the study with what was measured; --resume --out DIR continues it.

    Exit status: 0 the study has a conclusion, 3 it decides nothing, 4 nothing could be measured.
    """
    from wireproof.report.documents.study import study_document
    from wireproof.workflow.study import run_study

    settings = settings_of({**options, "budget": options["each"]})
    wanted = _specification(library, settings, options)
    study = run_study(wanted, Console(), current_context().environment)
    status = answer(study, study_document)
    if study.stopped != "interrupted":
        return status
    say("interrupted; what was measured is shown" + _kept(settings.out))
    return INTERRUPTED


def _kept(folder: Path | None) -> str:
    if folder is None:
        return " but not kept: give --out to keep it."
    return f" and kept in {folder}: the same command with --resume continues it."


def _specification(library: str, settings: Options, options: dict[str, Any]) -> StudySpecification:
    from wireproof.settings.knobs import names_of, values_of
    from wireproof.settings.sizes import parse_duration
    from wireproof.workflow.session.session import Storage
    from wireproof.workflow.study import StudySpecification, library_called

    method = method_of(settings)
    return StudySpecification(
        library=library_called(library),
        target=settings,
        method=method,
        knobs=names_of(options["knobs"], "--knobs"),
        values=values_of(options["values"]),
        over=names_of(options["over"], "--over"),
        ppn=options["ppn"],
        budget_s=parse_duration(options["study_budget"]),
        smallest=options["smallest"] / 100.0,
        seed=method.chosen_seed(),
        storage=Storage(
            folder=settings.out,
            kept=bool(settings.out) or options["resume"],
            resume=options["resume"],
            may_change_mode=settings.origin("out") != "file",
        ),
    )
