"""What the command line says to people: sentences and progress on stderr; stdout is data."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from wireproof.cli.context import current_context, is_quiet
from wireproof.model.errors import Problem
from wireproof.report.names import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from wireproof.model.plan import Plan
    from wireproof.model.record import Frame
    from wireproof.report.document import Document
    from wireproof.report.text.progress import Progress

__all__ = [
    "LONGEST_SENTENCE",
    "Console",
    "envelope_text",
    "print_document",
    "print_json",
    "print_text",
    "remark",
    "say",
]

LONGEST_SENTENCE = 4000


_progress: list[Progress] = []
"""What is shown now; a sentence takes its place for as long as it needs."""


def say(text: str) -> None:
    """One sentence on stderr, harmless for a terminal."""
    sentence = clean(text, LONGEST_SENTENCE)
    current_context().answer.said = sentence
    for shown in _progress:
        shown.make_room()
    click.echo(f"wireproof: {sentence}", err=True)


def remark(text: str) -> None:
    """One sentence that ``--quiet`` leaves out."""
    if not is_quiet():
        say(text)


def print_text(text: str) -> None:
    """A document that is text already, in whatever form was asked for."""
    current_context().answer.given = True
    click.echo(text)


def print_json(value: object, *, indent: int = 2) -> None:
    """One JSON document on stdout, in the envelope of all; ``value`` is of a type in
    ``workflow.documents.KINDS``. What was warned of is among its ``errors``.
    """
    print_text(envelope_text(value, current_context().answer.problems, indent=indent))


def print_document(
    value: object, build: Callable[[], Document], form: str | None, *, as_json: bool = False
) -> None:
    """A result on stdout in the form of ``--format``: ``value`` itself as JSON, else the document
    that ``build`` makes of it. Without a form: JSON if ``as_json``, else text.
    """
    chosen = form or ("json" if as_json else "text")
    if chosen == "json":
        print_json(value)
    else:
        print_text(_rendered(build(), chosen).rstrip("\n"))


def _rendered(document: Document, form: str) -> str:
    """Each renderer is loaded only if it is needed."""
    if form == "html":
        from wireproof.report.html.document import document_page

        return document_page(document)
    if form == "markdown":
        from wireproof.report.markdown import document_markdown

        return document_markdown(document)
    from wireproof.report.text.document import document_text
    from wireproof.report.text.look import Look

    return document_text(document, Look.of(sys.stdout, os.environ))


def envelope_text(value: object, problems: Sequence[Problem] = (), *, indent: int = 2) -> str:
    """The document as text."""
    from wireproof.report.json.encode import json_text
    from wireproof.workflow.documents import in_envelope

    return json_text(in_envelope(value, problems), indent=indent)


class Console:
    """The reporter of the command line; a quiet one only warns."""

    def __init__(self) -> None:
        self._quiet = is_quiet()  # now: a thread has no context of click's
        self._problems = current_context().answer.problems

    def say(self, text: str) -> None:
        if not self._quiet:
            say(text)

    def warn(self, text: str) -> None:
        """Programs find it among the ``errors`` of the document."""
        self._problems.append(Problem(message=clean(text, LONGEST_SENTENCE)))
        say(text)

    def progress(self, plan: Plan, title: str) -> AbstractContextManager[Callable[[Frame], None]]:
        if self._quiet:
            from wireproof.workflow.reporter import Quiet

            return Quiet(self).progress(plan, title)
        from wireproof.report.text.look import Look
        from wireproof.report.text.progress import Progress

        shown = Progress(plan, sys.stderr, Look.of(sys.stderr, os.environ), title=title)
        _progress[:] = [shown]
        return shown

    def interruption(self) -> str:
        signals = current_context().signals
        return signals[0] if signals else ""
