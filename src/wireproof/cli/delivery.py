"""Delivers the result of a subcommand: text or JSON on stdout, where it is kept, and the exit
status.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from wireproof.cli.console import (
    chosen_form,
    current_context,
    print_document,
    remark,
    say,
)
from wireproof.cli.outcome import INTERRUPTED, status_of
from wireproof.model.errors import CouldNotMeasure

if TYPE_CHECKING:
    from wireproof.launch.schedulers.slurm_job import JobRequest
    from wireproof.model.finding import Verdict
    from wireproof.report.document import Document
    from wireproof.report.judged_run import JudgedRun
    from wireproof.workflow.result import Result
    from wireproof.workflow.session.launch import Planned


class _WithVerdict(Protocol):
    @property
    def verdict(self) -> Verdict: ...


Found = TypeVar("Found", bound=_WithVerdict)


def answer(found: Found, document: Callable[..., Document], **more: Any) -> int:
    """Print a result in the requested form; return its exit status.

    ``document`` builds the document from it and ``more``.
    """
    print_document(found, partial(document, found, **more))
    return status_of(found.verdict)


def deliver(result: Result) -> int:
    """Print the result; return the exit status: that of the worst part, 130 if interrupted."""
    show([part.section for part in result.parts])
    return ended(result)


def show(sections: Sequence[JudgedRun]) -> None:
    """Print the parts on stdout as one document, briefly as text."""
    from wireproof.report.documents.run import run_document

    brief = chosen_form() == "text"
    document = partial(run_document, sections, sections[0].title, brief=brief)
    print_document(partial(_for_programs, sections), document)


def _for_programs(sections: Sequence[JudgedRun]) -> object:
    from wireproof.report.json.result import document_of
    from wireproof.workflow.documents.lists import Results

    documents = [document_of(section) for section in sections]
    return documents[0] if len(documents) == 1 else Results(parts=documents)


def ended(result: Result) -> int:
    """Tell where the result is; return its exit status."""
    if result.page is not None:
        remark(f"report: {result.page.absolute()}")
    if result.ended("interrupted"):
        say(_kept(result.folder))
        return INTERRUPTED
    status = status_of(result.verdict)
    if status != status_of("fail") and result.ended("disk-full"):
        say("the disk was full before everything was measured: the result above is incomplete.")
        return CouldNotMeasure.exit_status
    if status != status_of("fail") and result.left_open:
        return CouldNotMeasure.exit_status
    return status


def _kept(folder: Path | None) -> str:
    from wireproof.workflow.resume import how_to_go_on

    if folder is None:
        return "interrupted; what was measured is shown but not kept: give --out to keep it."
    return f"interrupted; what was measured is kept in {folder}; {how_to_go_on(folder)}."


# --- ``--dry-run``: every command and script that would run, in order; nothing is started.


def show_planned(planned: Planned, job: JobRequest | None = None) -> int:
    """Print the plan and start nothing; as JSON one document: argv, environment, hosts, points."""
    from wireproof.launch.program import shell_line
    from wireproof.report.documents.benchmark import dry_run_document
    from wireproof.workflow.session.launch import document_of, own_job

    document, command = document_of(planned), planned.command
    argv = ["wireproof", *_inside(current_context().argv or ["check"])]

    def build() -> Document:
        return dry_run_document(
            document,
            shell_line(command.argv, command.environment),
            ranks=planned.target.size,
            notes=command.notes,
            job=None if job is None else own_job(job, argv),
        )

    print_document(document, build)
    return 0


def _inside(argv: Sequence[str]) -> list[str]:
    """Return the same command for use inside the job, without the options that request a job."""
    from wireproof.cli.options import JOB

    of_the_job = {name for option in JOB if option.name != "slurm" for name in option.opts}
    words: list[str] = []
    skip = False
    for word in argv:
        name = word.partition("=")[0]
        if skip:
            skip = False
        elif name in of_the_job:
            skip = "=" not in word
        elif name not in ("--slurm", "--dry-run"):
            words.append(word)
    return words
