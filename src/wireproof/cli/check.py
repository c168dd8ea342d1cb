"""``wireproof check``: measure, prove, judge, locate, report."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING, Any, cast

import click

from wireproof.cli.completion import dialects
from wireproof.cli.console import print_text
from wireproof.cli.context import current_context
from wireproof.cli.declare import file, flag, number, setting, text
from wireproof.cli.options import (
    JOB,
    JUDGED_BY,
    OUTPUT,
    TARGET,
    method_of,
    settings_of,
    storage_of,
    target_specification,
)
from wireproof.cli.outcome import INTERRUPTED
from wireproof.cli.sections import Sectioned, sections
from wireproof.model.errors import BadInput, CouldNotMeasure

if TYPE_CHECKING:
    from pathlib import Path

    from wireproof.model.gate import Gate
    from wireproof.report.gate import Dialect
    from wireproof.workflow.specification import CheckSpecification, Profile, Storage
    from wireproof.workflow.target.job import JobOptions

__all__ = ["command"]

EXAMPLES = (
    "wireproof check --hosts n1,n2 --link edr",
    "wireproof check --hosts 'n[1-64]' --nic ib0 --link edr --topology topology.conf",
    "wireproof check --slurm -N 16 -p compute --profile standard --out acceptance",
    "wireproof check --hosts 'n[1-64]' --history /shared/wireproof --least-proven 8",
    "wireproof check --hosts n1,n2 --link edr --profile acceptance --criteria agreed.toml --out D",
    "wireproof check",
)
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
"""Of ``PROLOG_S``, which holds for all launches together: what ending and judging may take."""


OPTIONS: tuple[click.Parameter, ...] = (
    setting(
        "profile",
        "quick|standard|acceptance",
        "how much is measured; default quick.",
    ),
    setting("repeat", "N", "how often each point is measured in a launch; default 1."),
    file(
        "--topology",
        "which switch each node connects to: topology.conf, ibnetdiscover, opareport, lldpctl or"
        " TOML.",
        metavar="FILE",
    ),
    number("--rounds", 1, 100_000, "rounds of pairs; default: all up to 64 hosts, 12 to 20 above."),
    flag("--all-pairs", "every pair, however many hosts."),
    file(
        "--criteria",
        "thresholds that were agreed on (TOML), in place of the defaults.",
        must_exist=True,
        metavar="FILE",
    ),
    text(
        "--sign",
        "KEY",
        "sign the dossier of --profile acceptance: file of an SSH key.",
    ),
    flag("--no-audit", "do not read the hosts' settings."),
    flag("--dry-run", "print every command and script, and start nothing."),
    flag("--prolog", "health check before a job: one line, at most 50 s, nothing changed."),
    number(
        "--least-proven",
        2,
        100_000,
        "check only the N hosts that were checked longest ago (by --history).",
    ),
    text(
        "--dialect",
        "nagios|nhc|slurm|...",
        "of --prolog: line and exit status as for `gate`.",
        shell_complete=dialects,
    ),
    text("--model model_world", "NAME=N,...", "world of the model transport.", default=None),
    text(
        "--model-fault",
        "rank=N,tx=SHARE",
        "a fault planted in that world.",
        multiple=True,
        default=(),
    ),
)


@click.command(
    "check",
    cls=Sectioned,
    sections=sections(
        OPTIONS, "What is checked", target=TARGET, link=JUDGED_BY, output=OUTPUT, job=JOB
    ),
    examples=EXAMPLES,
    first="profile topology criteria dry_run hosts mpi transport nic lab link out history budget"
    " json resume slurm nodes job_partition quiet help help_all",
)
def command(**options: Any) -> int:
    """Measure, prove, locate, judge and report.

    With --hosts, in an allocation, or with --slurm -N 16: do they reach what their link can do, in
    each direction, did the bytes use that link, and which node, port or link is slow? Without: what
    works on this machine alone; no wire can be proven then (exit status 3).
    """
    from wireproof.cli.delivery import deliver

    if options["prolog"]:
        return _run_prolog(options)
    if options["dialect"]:
        raise BadInput("--dialect is for --prolog: give both, or ask `wireproof gate RESULT`.")
    from wireproof.cli.console import Console
    from wireproof.workflow.check import check, plan_check

    settings = settings_of(options)
    specification = _specification(options, storage_of(settings, options, kept=True))
    environment = current_context().environment
    if options["dry_run"]:
        from wireproof.cli.dry_run import show

        planned = plan_check(specification, Console(), environment)
        return show(planned, specification.job, as_json=settings.json.value)
    _check_signing(options["sign"], specification)
    result = check(specification, Console(), environment)
    status = deliver(result, as_json=settings.json.value)
    if options["sign"] and not result.left_open:
        _sign(result.folder, options["sign"])
    return status


def _check_signing(key: str, specification: CheckSpecification) -> None:
    """What cannot be signed is said before hours of measurement."""
    if not key:
        return
    from wireproof.workflow.dossier.signature import check_signer

    if specification.profile != "acceptance":
        raise BadInput("--sign signs the dossier that --profile acceptance makes: give both.")
    check_signer(key)


def _sign(folder: Path | None, key: str) -> None:
    from wireproof.cli.console import remark
    from wireproof.workflow.dossier.signature import sign

    assert folder is not None  # noqa: S101  what is signed is kept
    remark(f"signature: {sign(folder, key)}")


def _specification(
    options: dict[str, Any], storage: Storage, *, until: float | None = None
) -> CheckSpecification:
    from wireproof.cli.resume import invocation_of
    from wireproof.settings.criteria import read_criteria
    from wireproof.settings.model_world import faults_of
    from wireproof.workflow.specification import CheckSpecification
    from wireproof.workflow.target.job import job_of

    settings = settings_of(options)
    return CheckSpecification(
        target=target_specification(settings, options),
        method=dataclasses.replace(
            method_of(settings, options), agreed=read_criteria(options["criteria"])
        ),
        storage=storage,
        profile=cast("Profile", settings.profile.value),
        topology=options["topology"],
        rounds=options["rounds"],
        all_pairs=options["all_pairs"],
        model_faults=faults_of(options["model_fault"]),
        job=job_of(cast("JobOptions", options), slurm=options["slurm"]),
        until=until,
        least_proven=options["least_proven"],
        audit=not options["no_audit"] and not options["prolog"],
        invocation=invocation_of(click.get_current_context()) if storage.kept else None,
    )


def _run_prolog(options: dict[str, Any]) -> int:
    """Check the allocation (or ``--hosts``) in one launch, or this machine alone; print one line
    within ``PROLOG_S``, for a scheduler's prolog or health check.

    Exit status as everywhere; whoever calls us decides what to do with a node: nothing is drained
    here.
    """
    from wireproof.cli.outcome import status_of
    from wireproof.report.gate import dialect
    from wireproof.report.text.prolog import one_line
    from wireproof.workflow.check import check
    from wireproof.workflow.gate import gate_of, undecided
    from wireproof.workflow.reporter import LoggingReporter
    from wireproof.workflow.specification import Storage

    for name in _NOT_OF_A_PROLOG:
        if options[name]:
            raise BadInput(
                f"--prolog measures what is there, now: leave --{name.replace('_', '-')} out."
            )
    name = options["dialect"] or ("json" if settings_of(options).json.value else "")
    chosen = dialect(name) if name else None
    began = time.monotonic()
    specification = _specification(
        {**options, "profile": "quick"},
        Storage(kept=False),
        until=began + PROLOG_S - PROLOG_ENDING_S,
    )
    # stderr goes to the scheduler's log: one line is enough there
    try:
        result = check(specification, LoggingReporter(), current_context().environment)
    except CouldNotMeasure as error:
        if chosen is None:
            raise
        return _said(chosen, undecided(str(error)))
    if result.ended("interrupted"):
        return INTERRUPTED
    if chosen is not None:
        return _said(chosen, gate_of(result))
    sections = [part.section for part in result.parts]
    line = one_line(sections, result.verdict)
    click.echo(f"wireproof {line} ({time.monotonic() - began:.0f} s)")
    return status_of(result.verdict)


def _said(chosen: Dialect, found: Gate) -> int:
    print_text(chosen.text(found))
    return chosen.status[found.verdict]
