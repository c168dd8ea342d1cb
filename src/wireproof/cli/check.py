"""``wireproof check``, ``measure`` and ``resume``: measure, prove, judge, locate, report."""

from __future__ import annotations

import dataclasses
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from wireproof.cli.console import (
    INTERRUPTED,
    CallContext,
    Console,
    chosen_form,
    current_context,
    is_quiet,
    print_result,
    print_text,
    remark,
    status_of,
)
from wireproof.cli.declare import (
    JSON,
    OneOf,
    PathName,
    Verb,
    form_of,
    number,
    rows,
    sections,
    setting,
    text,
)
from wireproof.cli.options import (
    JOB,
    JUDGED_BY,
    OUTPUT,
    TARGET,
    deliver,
    method_of,
    settings_file,
    settings_of,
    show_planned,
    storage_of,
)
from wireproof.measure.resume import (
    STORABLE,
    GivenOption,
    Invocation,
    programs_again,
    recall,
    stored_variables,
    stored_words,
    without_settings,
)
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.pattern import GROUP_PATTERNS, PAIR_PATTERNS
from wireproof.options.resolve import PREFIX
from wireproof.options.table import ROWS

if TYPE_CHECKING:
    from wireproof.measure.session import Storage
    from wireproof.measure.specification import CheckSpecification, MeasureSpecification
    from wireproof.model.run import Gate
    from wireproof.options.table import Options
    from wireproof.report.gate import Dialect

_NOT_OF_A_PROLOG = (
    "slurm",
    "resume",
    "all_pairs",
    "dry_run",
    "least_proven",
    "out",
    "history",
    "sign",
)
PROLOG_S = 50.0
PROLOG_ENDING_S = 8.0
"""The part of ``PROLOG_S`` in s, the limit of all launches together, that is reserved for ending
and judging.
"""


@click.command(
    "check",
    cls=Verb,
    sections=sections(
        rows("check"), "Check", target=TARGET, link=JUDGED_BY, output=OUTPUT, job=JOB
    ),
    examples=(
        "wireproof check --hosts n1,n2 --link edr",
        "wireproof check --hosts 'n[1-64]' --nic ib0 --link edr --topology topology.conf",
        "wireproof check --slurm -N 16 -p compute --profile standard --out acceptance",
        "wireproof check --hosts 'n[1-64]' --history /shared/wireproof --least-proven 8",
        (
            "wireproof check --hosts n1,n2 --link edr --profile acceptance --criteria agreed.toml"
            " --out D"
        ),
        "wireproof check",
    ),
    first="",
)
def command(**options: Any) -> int:
    """Measure, prove, locate, judge and report.

    With --hosts, in an allocation, or with --slurm -N 16: do the hosts reach the rate and latency
    of their link in each direction, did the bytes use that link, and which node, port or link is
    slow? Otherwise only this machine is checked, and no wire can be proven (exit status 3).
    """

    if options["prolog"]:
        return _run_prolog(options)
    if options["dialect"]:
        raise BadInput("--dialect needs --prolog: give both, or use `wireproof gate RESULT`.")
    from wireproof.workflow.check import check, plan_check

    settings = settings_of(options)
    specification = _specification(settings, storage_of(settings, kept=True))
    environment = current_context().environment
    if options["dry_run"]:
        planned = plan_check(specification, Console(), environment)
        return show_planned(planned, specification.request)
    _check_signing(options["sign"], specification)
    result = check(specification, Console(), environment)
    status = deliver(result)
    if options["sign"] and not result.left_open:
        _sign(result.folder, options["sign"])
    return status


def _check_signing(key: str, specification: CheckSpecification) -> None:
    """Raise ``BadInput`` before hours of measurement if the result cannot be signed."""
    if not key:
        return
    from wireproof.store.signature import check_signer

    if specification.profile != "acceptance":
        raise BadInput("--sign signs the dossier of --profile acceptance: give both options.")
    check_signer(key)


def _sign(folder: Path | None, key: str) -> None:
    from wireproof.store.signature import sign

    assert folder is not None  # noqa: S101  a signed result is kept
    remark(f"signature: {sign(folder, key)}")


def _specification(settings: Options, storage: Storage) -> CheckSpecification:
    from wireproof.measure.specification import CheckSpecification

    return CheckSpecification.of(
        settings,
        storage,
        method=method_of(settings),
        invocation=invocation_of(click.get_current_context()) if storage.kept else None,
    )


def _run_prolog(options: dict[str, Any]) -> int:
    """Check the allocation (or ``--hosts``) in one launch, or this machine alone; print one line
    within ``PROLOG_S``, for a scheduler's prolog or health check.

    The exit status is as usual; the caller decides what to do with a node, and nothing is
    drained.
    """
    from wireproof.archive.gate import gate_of, undecided
    from wireproof.measure.session import Storage
    from wireproof.report.gate import dialect
    from wireproof.report.judged_run import one_line
    from wireproof.report.reporter import LoggingReporter
    from wireproof.workflow.check import check

    for name in _NOT_OF_A_PROLOG:
        if options[name]:
            option = f"--{name.replace('_', '-')}"
            raise BadInput(f"--prolog measures at once and stores nothing: leave out {option}.")
    name = options["dialect"] or ("json" if settings_of(options).json else "")
    chosen = dialect(name) if name else None
    began = time.monotonic()
    settings = settings_of({**options, "profile": "quick"})
    specification = dataclasses.replace(
        _specification(settings, Storage(kept=False)), until=began + PROLOG_S - PROLOG_ENDING_S
    )
    # stderr goes to the scheduler's log, which should get only one line
    try:
        result = check(specification, LoggingReporter(), current_context().environment)
    except CouldNotMeasure as error:
        if chosen is None:
            raise
        return _print_verdict(chosen, undecided(str(error)))
    if result.ended("interrupted"):
        return INTERRUPTED
    if chosen is not None:
        return _print_verdict(chosen, gate_of(result))
    line = one_line(result.sections, result.verdict)
    click.echo(f"wireproof {line} ({time.monotonic() - began:.0f} s)")
    return status_of(result.verdict)


def _print_verdict(chosen: Dialect, found: Gate) -> int:
    print_text(chosen.text(found))
    return chosen.status[found.verdict]


# --- ``wireproof measure``.


_FORMAT = form_of("text", "html", "markdown", "json", name="shape")  # `form` is a pattern's


@click.command(
    "measure",
    cls=Verb,
    sections=sections(
        (
            click.Argument(
                ["pattern"],
                metavar="PATTERN",
                type=OneOf((*PAIR_PATTERNS, *GROUP_PATTERNS, "saturation")),
            ),
            setting(
                "sizes", about="message sizes: 0,8,64KiB or 0:4MiB (doubling); default 0:4MiB."
            ),
            *(
                setting(name)
                for name in ROWS
                if ROWS[name].group == "measure" and name not in ("sizes", "gain", "ranks")
            ),
            setting("repeat"),
            setting("gain"),
            number(
                "--rounds", 1, 1000, "for --gain: number of measurements of each rail; default 5."
            ),
            setting("ranks"),
            setting("dry_run"),
            setting("model"),
        ),
        "Measurement",
        target=TARGET,
        link=JUDGED_BY,
        output=(*OUTPUT, _FORMAT),
    ),
    examples=(
        "wireproof measure pingpong --hosts n1,n2 --sizes 0:4MiB",
        "wireproof measure stream --hosts n1,n2 --sizes 1MiB --both-directions --json",
        "wireproof measure stream --hosts n1,n2 --formula osu",
        "wireproof measure ring --hosts 'n[1-8]' --ppn 4 --order random --formula hpcc",
    ),
    first="sizes window formula form ppn both_directions",
)
def measure(pattern: str, **options: Any) -> int:
    """Measure one PATTERN over a range of sizes, prove its path, and judge it.

    Pairs: pingpong (half round trip), stream (one way, acknowledged), exchange (both ways), put,
    get, accumulate, fetch_and_op, compare_and_swap (remote access), persistent, partitioned
    (MPI-4), threads.

    All ranks: message_rate, ring, incast, all_to_all, congestion, barrier, broadcast, allreduce,
    allgather, alltoall; saturation (message_rate over sizes and ranks per host: where is the link
    full?).
    """
    from wireproof.measure.job import measure, plan_measure
    from wireproof.measure.specification import MeasureSpecification

    settings = settings_of(options)
    environment = current_context().environment
    kept = bool(settings.out or settings.history or options["resume"])
    specification = MeasureSpecification.of(
        settings,
        storage_of(settings, kept=kept),
        pattern=pattern,
        method=method_of(settings),
    )
    if options["gain"] and settings.origin("history") == "option":
        raise BadInput("a history cannot keep the result of --gain: give --out for its records.")
    if options["gain"]:
        return _gain(specification, options["rounds"], dry_run=options["dry_run"])
    if options["rounds"]:
        raise BadInput("--rounds needs --gain; to measure each point again, use --repeat.")
    if options["dry_run"]:
        return show_planned(plan_measure(specification, Console(), environment))
    return deliver(measure(specification, Console(), environment))


def _gain(specification: MeasureSpecification, rounds: int | None, *, dry_run: bool) -> int:
    from wireproof.experiment.rails import measure_gain, plan_gain

    environment = current_context().environment
    if dry_run:
        plan = plan_gain(specification, Console(), environment, rounds=rounds)
        return print_result(plan, document="experiment.kept.plan_document")
    gain, folder = measure_gain(specification, Console(), environment, rounds=rounds)
    status = print_result(gain, document="experiment.rails_document.gain_document")
    if folder is not None:
        remark(f"records: {folder}")
    return status


# --- ``wireproof resume FOLDER``: measure the missing points of an interrupted check, and judge the
# complete result.


def invocation_of(context: click.Context) -> Invocation:
    """Return the command line of the subcommand of ``context``, with words that have the same
    meaning in any folder.
    """
    variables = {PREFIX + name.upper(): text for name, (text, _) in settings_file().items()}
    environment = current_context().environment
    variables |= {name: text for name, text in environment.items() if name.startswith(PREFIX)}
    return Invocation.of(context.info_name or "", _storable(context), variables)


def _chosen(context: click.Context) -> list[str]:
    """Return the names of the options and arguments on the command line."""
    names = (parameter.name or "" for parameter in context.command.params)
    source = context.get_parameter_source
    return [name for name in names if source(name) is ParameterSource.COMMANDLINE]


def _storable(context: click.Context) -> list[GivenOption]:
    """Return every option of the command line, except those that each call sets again."""
    flags = {parameter.name: parameter.opts[-1] for parameter in context.command.params}
    return [
        GivenOption(name=name, flag=flags[name], value=context.params[name])
        for name in _chosen(context)
        if name in STORABLE
    ]


def safe_words(asked: Invocation, group: click.Group) -> list[str]:
    """Parse the stored words as a command line, and rebuild it from allowed options."""
    verb = asked.argv[0]
    command = group.commands.get(verb) or group.get_command(click.Context(group), verb)
    assert command is not None  # noqa: S101  one of RESUMABLE
    context = command.make_context(verb, list(asked.argv[1:]), resilient_parsing=False)
    return stored_words(verb, _chosen(context), _storable(context))


@click.command(
    "resume",
    params=[
        click.Argument(["folder"], type=PathName(path_type=Path)),
        text("--mpi", "PATH|NAME", "the MPI, if the check was started with the path of an MPI."),
        text(
            "--launcher",
            "ssh|PATH",
            "program that reaches the hosts, if the check was started with a program.",
        ),
        text("--prefix", "'CMD ARG...'", "site command of every rank, if the check had one."),
        JSON,
    ],
)
@click.pass_context
def resume(context: click.Context, /, folder: Path, **programs: str) -> int:
    """Continue the check in FOLDER: lost hosts are tried again, and only the missing points are
    measured.

    The options, the seed and the settings of the first call apply, and are shown. Programs are
    never taken from FOLDER: give those of the first call again. The whole result is judged again.
    """
    folder = folder.absolute()
    asked = recall(folder)
    group = context.find_root().command
    assert isinstance(group, click.Group)  # noqa: S101  the program's own
    again = programs_again(asked, programs)
    words = [*safe_words(asked, group), *again]
    words += ["--resume", "--out", str(folder), "--seed", str(asked.seed)]
    words += ["--json"] if chosen_form() == "json" else []
    variables = stored_variables(asked, Console())
    shown = [f"{name}={value}" for name, value in sorted(variables.items())]
    remark(" ".join([*shown, "wireproof", *words]))
    resumed = CallContext(
        argv=tuple(words),
        environment={**without_settings(os.environ), **variables},
        signals=current_context().signals,
        resumed=True,
        answer=current_context().answer,
    )
    before = ["--quiet"] if is_quiet() else []
    with group.make_context("wireproof", [*before, *words], obj=resumed) as inner:
        return int(group.invoke(inner) or 0)
