"""What a subcommand hands over: text or JSON on stdout, where things are kept, the exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from wireproof.cli.console import print_json, remark, say
from wireproof.cli.outcome import INTERRUPTED, status_of
from wireproof.model.errors import CouldNotMeasure
from wireproof.report.judged_run import JudgedRun
from wireproof.report.text.look import Look
from wireproof.report.text.summary import whole
from wireproof.workflow.result import Result
from wireproof.workflow.resume import how_to_go_on

__all__ = ["deliver", "ended", "show"]


def deliver(result: Result, *, as_json: bool) -> int:
    """Print; returns the exit status: that of the worst part, 130 when interrupted."""
    show([part.section for part in result.parts], as_json=as_json)
    return ended(result)


def show(sections: Sequence[JudgedRun], *, as_json: bool) -> None:
    """The parts on stdout: as text, or as one JSON document."""
    if as_json:
        _print_json(sections)
    else:
        look = Look.of(sys.stdout, os.environ)
        for section in sections:
            click.echo(whole(section, look))


def ended(result: Result) -> int:
    """Say where the result is; its exit status."""
    if result.page is not None:
        remark(f"report: {result.page.absolute()}")
    if result.ended("interrupted"):
        say(_kept(result.folder))
        return INTERRUPTED
    status = status_of(result.verdict)
    if status != status_of("fail") and result.ended("disk-full"):
        say("the disk was full before all was measured: what is printed above is not complete.")
        return CouldNotMeasure.exit_status
    if status != status_of("fail") and result.left_open:
        return CouldNotMeasure.exit_status
    return status


def _kept(folder: Path | None) -> str:
    if folder is None:
        return "interrupted; what was measured is shown and kept nowhere: give --out to keep it."
    return f"interrupted; what was measured is kept in {folder}; {how_to_go_on(folder)}."


def _print_json(sections: Sequence[JudgedRun]) -> None:
    from wireproof.report.json.result import document_of
    from wireproof.workflow.documents.lists import Results

    documents = [document_of(one) for one in sections]
    print_json(documents[0] if len(documents) == 1 else Results(parts=documents))
