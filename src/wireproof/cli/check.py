"""``wireproof check``: measure, prove, judge, locate, report."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING, Any

import click

from wireproof.cli.console import current_context, print_text
from wireproof.cli.declare import Sectioned, rows, sections
from wireproof.cli.options import (
    JOB,
    JUDGED_BY,
    OUTPUT,
    TARGET,
    method_of,
    settings_of,
    storage_of,
)
from wireproof.cli.outcome import INTERRUPTED
from wireproof.model.errors import BadInput, CouldNotMeasure

if TYPE_CHECKING:
    from pathlib import Path

    from wireproof.model.run import Gate
    from wireproof.report.gate import Dialect
    from wireproof.settings.options import Options
    from wireproof.workflow.session.session import Storage
    from wireproof.workflow.specification import CheckSpecification


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
"""Seconds of ``PROLOG_S``, the limit of all launches together, for ending and judging."""


@click.command(
    "check",
    cls=Sectioned,
    sections=sections(
        rows("check"), "What is checked", target=TARGET, link=JUDGED_BY, output=OUTPUT, job=JOB
    ),
    examples=EXAMPLES,
    first="",
)
def command(**options: Any) -> int:
    """Measure, prove, locate, judge and report.

    With --hosts, in an allocation, or with --slurm -N 16: do the hosts reach what their link can
    do, in each direction, did the bytes use that link, and which node, port or link is slow?
    Without: what works on this machine alone; no wire can be proven then (exit status 3).
    """
    from wireproof.cli.options import deliver, show_planned

    if options["prolog"]:
        return _run_prolog(options)
    if options["dialect"]:
        raise BadInput("--dialect is for --prolog: give both, or ask `wireproof gate RESULT`.")
    from wireproof.cli.console import Console
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
    """Report before hours of measurement that the result cannot be signed."""
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


def _specification(settings: Options, storage: Storage) -> CheckSpecification:
    from wireproof.cli.resume import invocation_of
    from wireproof.workflow.specification import CheckSpecification

    return CheckSpecification.of(
        settings,
        storage,
        method=method_of(settings),
        invocation=invocation_of(click.get_current_context()) if storage.kept else None,
    )


def _run_prolog(options: dict[str, Any]) -> int:
    """Check the allocation (or ``--hosts``) in one launch, or this machine alone; print one line
    within ``PROLOG_S``, for a scheduler's prolog or health check.

    The exit status is the usual one; the caller decides what to do with a node, and nothing is
    drained.
    """
    from wireproof.cli.outcome import status_of
    from wireproof.report.gate import dialect
    from wireproof.report.judged_run import one_line
    from wireproof.workflow.check import check
    from wireproof.workflow.gate import gate_of, undecided
    from wireproof.workflow.reporter import LoggingReporter
    from wireproof.workflow.session.session import Storage

    for name in _NOT_OF_A_PROLOG:
        if options[name]:
            option = f"--{name.replace('_', '-')}"
            raise BadInput(f"--prolog measures at once and keeps nothing: leave out {option}.")
    name = options["dialect"] or ("json" if settings_of(options).json else "")
    chosen = dialect(name) if name else None
    began = time.monotonic()
    settings = settings_of({**options, "profile": "quick"})
    specification = dataclasses.replace(
        _specification(settings, Storage(kept=False)), until=began + PROLOG_S - PROLOG_ENDING_S
    )
    # stderr goes to the scheduler's log, where one line is enough
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
    sections = [part.section for part in result.parts]
    line = one_line(sections, result.verdict)
    click.echo(f"wireproof {line} ({time.monotonic() - began:.0f} s)")
    return status_of(result.verdict)


def _print_verdict(chosen: Dialect, found: Gate) -> int:
    print_text(chosen.text(found))
    return chosen.status[found.verdict]
