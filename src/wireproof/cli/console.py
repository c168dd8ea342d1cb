"""What one run of the program knows beside its options (its words, variables and signals), and what
it says to people: sentences and progress on stderr; stdout is data.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from wireproof.model.errors import Problem
from wireproof.report.names import clean

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import TextIO

    from wireproof.model.plan import Plan
    from wireproof.model.record import Frame
    from wireproof.report.document import Document
    from wireproof.report.text.look import Look
    from wireproof.report.text.progress import Progress


LONGEST_SENTENCE = 4000
_QUIET, _FORM = "wireproof.quiet", "wireproof.form"


@dataclasses.dataclass(kw_only=True)
class ProgramAnswer:
    """What a program reads in place of a person. ``wanted``: it asked for JSON by a setting;
    ``given``: the document was printed; ``problems``: warnings so far; ``said``: the last sentence.
    """

    wanted: bool = False
    given: bool = False
    problems: list[Problem] = dataclasses.field(default_factory=list)
    said: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class CallContext:
    """``argv`` without the program; ``environment``: where settings and an allocation come from;
    ``signals``: the names of those that came, as they come. ``resumed``: a stored run goes on,
    which has settings of its own. ``answer`` is filled as the subcommand runs.
    """

    argv: Sequence[str] = ()
    environment: Mapping[str, str] = dataclasses.field(default_factory=lambda: os.environ)
    signals: Sequence[str] = ()
    resumed: bool = False
    answer: ProgramAnswer = dataclasses.field(default_factory=ProgramAnswer)


def current_context() -> CallContext:
    """The context of the subcommand that runs."""
    context = click.get_current_context(silent=True)
    found = context.find_root().obj if context is not None else None
    return found if isinstance(found, CallContext) else CallContext()


def hush(context: click.Context) -> None:
    """``--quiet`` was given, to the program or to a subcommand."""
    context.meta[_QUIET] = True


def is_quiet() -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and _QUIET in context.meta


def want_json(context: click.Context) -> None:
    """``--json`` or a setting asked for it; whoever does gets a document, whatever happens."""
    context.meta.setdefault(_FORM, "json")
    if isinstance(known := context.find_root().obj, CallContext):
        known.answer.wanted = True


def want_form(context: click.Context, form: str) -> None:
    """``--format`` asked for it, which is stronger."""
    context.meta[_FORM] = form


def chosen_form() -> str:
    """The form of the result: text, unless something else was asked for."""
    context = click.get_current_context(silent=True)
    return str(context.meta.get(_FORM, "text")) if context is not None else "text"


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


def print_document(value: object, build: Callable[[], Document]) -> None:
    """A result on stdout in the form that was asked for: ``value`` itself as JSON, else the
    document that ``build`` makes of it.
    """
    print_either(value, lambda: rendered(build(), chosen_form()))


def print_either(value: object, text: Callable[[], str], *, indent: int = 2) -> None:
    """``value`` (or what it gives if it is a function) as JSON if that was asked for, else its
    text.
    """
    if chosen_form() == "json":
        print_json(value() if callable(value) else value, indent=indent)
    else:
        print_text(text())


def listed(name: str, **members: object) -> Callable[[], object]:
    """The document of ``workflow.documents.lists`` with this name: made, and its types loaded, only
    if it is printed.
    """

    def document() -> object:
        from wireproof.workflow.documents import lists

        return getattr(lists, name)(**members)

    return document


def rendered(document: Document, form: str, stream: TextIO | None = None) -> str:
    """The document in a form other than JSON, without a line break at its end. Each renderer is
    loaded only if it is needed. ``stream``: where text goes, which decides how it looks.
    """
    if form == "html":
        from wireproof.report.html.document import document_page

        return document_page(document).rstrip("\n")
    if form == "markdown":
        from wireproof.report.markdown import document_markdown

        return document_markdown(document).rstrip("\n")
    from wireproof.report.text.document import document_text

    return document_text(document, look_of(stream)).rstrip("\n")


def look_of(stream: TextIO | None = None) -> Look:
    """How text is written on a stream, else on stdout: its width, and whether with colours."""
    from wireproof.report.text.look import Look

    return Look.of(stream or sys.stdout, os.environ)


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
