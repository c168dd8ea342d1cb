"""``check --prolog``: one line within 60 s, for a scheduler's prolog or health check. Never changes
its state.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click

from wireproof.cli.options import settings_of
from wireproof.cli.outcome import INTERRUPTED, status_of
from wireproof.model.errors import BadInput
from wireproof.workflow.target.target import Target, TargetOptions, resolve_target

__all__ = ["run_prolog"]

BOUND_S = 60.0
KEPT_FOR_THE_END_S = 8.0
"""Of the bound, which holds for all launches together: what ending and judging may take."""


def _bounded(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a check that ends in time and keeps nothing."""
    for name in ("slurm", "resume", "all_pairs", "dry_run"):
        if options[name]:
            raise BadInput(
                f"--prolog measures what is there, now: leave --{name.replace('_', '-')} out."
            )
    until = time.monotonic() + BOUND_S - KEPT_FOR_THE_END_S
    return {**options, "profile": "quick", "until": until, "json": None}


def _headline(target: Target, sections: list[Any]) -> tuple[str, int]:
    from wireproof.model.severity import worst
    from wireproof.report.section import headline

    verdict = worst([section.judgement.verdict for section in sections])
    telling = next((one for one in sections if one.judgement.verdict == verdict), sections[0])
    who = f"{target.size} nodes" if target.hosts else os.uname().nodename
    return f"{verdict}: {who}: {headline(telling)}", status_of(verdict)


def run_prolog(options: dict[str, Any]) -> int:
    """Check the allocation (or ``--hosts``) in one launch, or this machine alone; print one line.

    Exit status as everywhere; whoever calls us decides what to do with a node: nothing is drained
    here.
    """
    from wireproof.cli import check

    began = time.monotonic()
    options = _bounded(options)
    settings = settings_of(options)
    target = resolve_target(settings, TargetOptions.of(options))
    with tempfile.TemporaryDirectory(prefix="wireproof-prolog-") as scratch, _silence():
        parts = check.measured(settings, options, target, Path(scratch))
    if any(outcome.ending.ended == "interrupted" for _, several in parts for outcome in several):
        return INTERRUPTED
    line, status = _headline(target, [section for section, _ in parts])
    click.echo(f"wireproof {line} ({time.monotonic() - began:.0f} s)")
    return status


@contextlib.contextmanager
def _silence() -> Any:
    """A prolog's stderr goes to the scheduler's log: one line is enough there."""
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stderr(nowhere):
        yield
    sys.stderr.flush()
