"""The context of a run of the program (its arguments, variables and signals), and its messages to
people: sentences and progress on stderr; stdout is for data. Each outcome has an exit status.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from wireproof.files.held import UntrustedFolder
from wireproof.model.errors import BadInput, CouldNotMeasure, Failure, Problem, WireproofError
from wireproof.model.finding import Verdict
from wireproof.report.names import clean, one_harmless_line
from wireproof.report.reporter import BUG, Quiet, is_bug, sentence

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import TextIO

    from wireproof.model.plan import Plan
    from wireproof.model.record import Frame
    from wireproof.report.document import Document
    from wireproof.report.ink import Look
    from wireproof.report.progress import Progress

LONGEST_SENTENCE = 4000
_QUIET, _FORM = "wireproof.quiet", "wireproof.form"


@dataclasses.dataclass(kw_only=True)
class ProgramAnswer:
    """State of the output for programs.

    ``wanted``: a setting requests JSON; ``given``: the document was printed; ``problems``: warnings
    so far; ``said``: the last sentence.
    """

    wanted: bool = False
    given: bool = False
    problems: list[Problem] = dataclasses.field(default_factory=list)
    said: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class CallContext:
    """``argv`` without the program; ``environment``: the source of settings and of an allocation;
    ``signals``: names of the received signals, filled as they arrive. ``resumed``: a stored run
    with its own settings is resumed. ``answer`` is filled as the subcommand runs.
    """

    argv: Sequence[str] = ()
    environment: Mapping[str, str] = dataclasses.field(default_factory=lambda: os.environ)
    signals: Sequence[str] = ()
    resumed: bool = False
    answer: ProgramAnswer = dataclasses.field(default_factory=ProgramAnswer)


def current_context() -> CallContext:
    """Return the context of the running subcommand."""
    context = click.get_current_context(silent=True)
    context_object = context.find_root().obj if context is not None else None
    return context_object if isinstance(context_object, CallContext) else CallContext()


def hush(context: click.Context) -> None:
    """Record that ``--quiet`` was given, to the program or to a subcommand."""
    context.meta[_QUIET] = True


def is_quiet() -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and _QUIET in context.meta


def want_json(context: click.Context) -> None:
    """Record that ``--json`` or a setting requests JSON: the caller then always gets a document."""
    context.meta.setdefault(_FORM, "json")
    if isinstance(known := context.find_root().obj, CallContext):
        known.answer.wanted = True


def want_form(context: click.Context, form: str) -> None:
    """Record that ``--format`` requests a form, which takes precedence."""
    context.meta[_FORM] = form


def chosen_form() -> str:
    """Return the form of the result: text, unless another was requested."""
    context = click.get_current_context(silent=True)
    return str(context.meta.get(_FORM, "text")) if context is not None else "text"


_progress: list[Progress] = []
"""The progress that is currently shown; a sentence replaces it for a moment."""


def say(text: str) -> None:
    """Print one sentence on stderr, safe for a terminal."""
    sentence = clean(text, LONGEST_SENTENCE)
    current_context().answer.said = sentence
    for shown in _progress:
        shown.make_room()
    _print_wrapped(f"wireproof: {sentence}")


def _print_wrapped(text: str) -> None:
    """Print on stderr; on a terminal, break lines between words."""
    if sys.stderr.isatty():
        from wireproof.report.ink import Look, Paragraph, paint

        text = paint([Paragraph.of(text)], Look.of(sys.stderr, os.environ)).rstrip("\n")
    click.echo(text, err=True)


def remark(text: str) -> None:
    """Print one sentence unless ``--quiet`` is given."""
    if not is_quiet():
        say(text)


def print_path(path: object) -> None:
    """Print the path of a written file for a script, without control characters."""
    click.echo(one_harmless_line(str(path)))


def print_text(text: str) -> None:
    """Print a document that is already text, in any form."""
    current_context().answer.given = True
    click.echo(text)


def print_document(value: object, build: Callable[[], Document]) -> None:
    """Print a result on stdout in the requested form: ``value`` as JSON, else the document from
    ``build``.
    """
    print_either(value, lambda: rendered(build(), chosen_form()))


def print_result(
    result: Any, *shown: object, document: str = "", status: int | None = None, **more: object
) -> int:
    """Print the result of the running verb in the requested form; return its exit status.

    ``document``: a builder that replaces the verb's; it is called with ``shown`` (default: the
    result) and ``more``. ``status``: default: the status of the verdict, 0 without a verdict.
    """
    build = document or getattr(click.get_current_context().command, "document", "")
    module, _, name = f"wireproof.{build}".rpartition(".")
    print_document(
        result, lambda: getattr(import_module(module), name)(*(shown or (result,)), **more)
    )
    verdict = getattr(result, "verdict", None)
    return status if status is not None else status_of(verdict or "pass")


def print_either(value: object, text: Callable[[], str], *, indent: int = 2) -> None:
    """Print ``value`` (or its return value if it is a function) as JSON if requested, else the
    text. JSON is in the common envelope, with warnings among its ``errors``; the type of ``value``
    is in ``workflow.documents.KINDS``.
    """
    if chosen_form() == "json":
        found = value() if callable(value) else value
        print_text(envelope_text(found, current_context().answer.problems, indent=indent))
    else:
        print_text(text())


def listed(name: str, **members: object) -> Callable[[], object]:
    """Return a function that builds the document of ``workflow.documents`` with this name;
    its types are loaded only if it is printed.
    """

    def document() -> object:
        from wireproof.workflow import documents

        return getattr(documents, name)(**members)

    return document


def rendered(document: Document, form: str, stream: TextIO | None = None) -> str:
    """Render the document in a form other than JSON, without a final line break.

    Each renderer is loaded only on use. ``stream``: the stream for text, which determines width and
    colours.
    """
    if form == "html":
        from wireproof.report.html.document import document_page

        return document_page(document).rstrip("\n")
    if form == "markdown":
        from wireproof.report.markdown import document_markdown

        return document_markdown(document).rstrip("\n")
    from wireproof.report.text import document_text

    return document_text(document, look_of(stream)).rstrip("\n")


def look_of(stream: TextIO | None = None) -> Look:
    """Return the text format for a stream (default: stdout): its width, and whether to
    use colours.
    """
    from wireproof.report.ink import Look

    return Look.of(stream or sys.stdout, os.environ)


def envelope_text(value: object, problems: Sequence[Problem] = (), *, indent: int = 2) -> str:
    """Return the document as JSON text."""
    from wireproof.report.json import json_text
    from wireproof.workflow.documents import in_envelope

    return json_text(in_envelope(value, problems), indent=indent)


class Console:
    """The reporter of the command line; with ``--quiet`` it prints only warnings."""

    def __init__(self) -> None:
        self._quiet = is_quiet()  # read here, because a thread has no click context
        self._problems = current_context().answer.problems

    def say(self, text: str) -> None:
        if not self._quiet:
            say(text)

    def warn(self, text: str) -> None:
        """Print a warning; programs find it among the ``errors`` of the document."""
        self._problems.append(Problem(message=clean(text, LONGEST_SENTENCE)))
        say(text)

    def progress(self, plan: Plan, title: str) -> AbstractContextManager[Callable[[Frame], None]]:
        if self._quiet:
            return Quiet(self).progress(plan, title)
        from wireproof.report.progress import Progress

        shown = Progress(plan, sys.stderr, look_of(sys.stderr), title=title)
        _progress[:] = [shown]
        return shown

    def interruption(self) -> str:
        signals = current_context().signals
        return signals[0] if signals else ""


# --- Map every outcome to an exit status and one sentence.


_SIGNALS = tuple(
    signal.Signals[name] for name in ("SIGTERM", "SIGHUP") if name in signal.Signals.__members__
)  # Windows has no SIGHUP


class _SignalNames:
    """A handler that records the names of the received signals.

    The first signal interrupts; the others have no effect.
    """

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        self.names.append(signal.Signals(number).name)
        if len(self.names) > 1:
            return
        if callable(signal.getsignal(signal.SIGINT)):
            signal.raise_signal(signal.SIGINT)
        else:  # a script starts its background jobs with SIGINT ignored
            raise KeyboardInterrupt


@contextlib.contextmanager
def as_interrupt() -> Iterator[list[str]]:
    """Make SIGTERM and SIGHUP end the measurement in the block like Ctrl-C; yield the names of the
    received signals.

    At a job's time limit and for scancel, Slurm sends SIGTERM to all processes of a batch job and
    gives them KillWait (30 s) to end: enough to seal and to judge. After the first signal, further
    signals are ignored until the end. Blocks may be nested: the innermost handles the signal.
    """
    heard = _SignalNames()
    if threading.current_thread() is not threading.main_thread():
        yield heard.names
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    # A process that ignores a signal (nohup) or has its own handler keeps that setting.
    ours = [
        number
        for number in _SIGNALS
        if before[number] == signal.SIG_DFL or isinstance(before[number], _SignalNames)
    ]
    for number in ours:
        signal.signal(number, heard)
    try:
        yield heard.names
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_IGN if heard.names else before[number])


INTERRUPTED = 130
_STATUS: dict[Verdict, int] = {"pass": 0, "fail": 1, "inconclusive": 3}


def status_of(verdict: Verdict) -> int:
    """Return the exit status of a verdict: 0 pass, 1 fail, 3 inconclusive."""
    return _STATUS[verdict]


def run(group: click.Group, argv: list[str]) -> int:
    """Run ``group`` on ``argv``.

    Every error becomes one line on stderr and has its own exit status, never that of a FAIL.
    """
    with as_interrupt() as signals:
        context = CallContext(argv=tuple(argv), signals=signals)
        try:
            result = group.main(argv, "wireproof", standalone_mode=False, obj=context)
        except click.exceptions.Exit as stop:
            return int(stop.exit_code)
        except (click.Abort, KeyboardInterrupt):
            text = f"interrupted by {signals[0] if signals else 'Ctrl-C'}."
            return _failed(text, INTERRUPTED, context)
        except click.ClickException as error:
            _show(error)
            return _without_result(error.format_message(), BadInput.exit_status, context)
        except WireproofError as error:
            return _failed(str(error), error.exit_status, context)
        except UntrustedFolder as error:
            return _failed(f"{error.strerror}.", BadInput.exit_status, context)
        except Exception as error:  # Python's status 1 would mean FAIL
            status = BUG if is_bug(error) else CouldNotMeasure.exit_status
            return _failed(sentence(error), status, context)
        return _ended(result if isinstance(result, int) else 0, context)


def unless_lost(status: int, why: str) -> int:
    """Return the status, unless the result could not be written to standard output; ``why``: the
    reason, or "".
    """
    if not why or status not in _STATUS.values():
        return status
    say(f"the result could not be written to standard output: {why}.")
    return CouldNotMeasure.exit_status


def _ended(status: int, context: CallContext) -> int:
    """Return the status of a subcommand that ended without an exception, whether or not its
    document was printed.
    """
    if status and context.answer.wanted:
        return _without_result(context.answer.said, status, context)
    return status


def _failed(text: str, status: int, context: CallContext) -> int:
    say(text)
    return _without_result(text, status, context)


def _without_result(text: str, status: int, context: CallContext) -> int:
    """Return the status; a program that requested JSON gets a document with the reason."""
    if _wants_json(context) and not context.answer.given:
        problem = Problem(message=clean(text, LONGEST_SENTENCE))
        failure = Failure(exit_status=status, errors=(*context.answer.problems, problem))
        with contextlib.suppress(OSError):  # the status must be right even without a reader
            click.echo(envelope_text(failure))
    return status


def _wants_json(context: CallContext) -> bool:
    """Return whether a setting or the arguments, which may be invalid, request JSON: ``--json``,
    ``--format json``.
    """
    argv = context.argv
    words = argv[: argv.index("--")] if "--" in argv else argv
    pairs = {f"{option}={value}" for option, value in itertools.pairwise(words)}
    forms = {f"{option}=json" for option in _FORMS}
    return context.answer.wanted or "--json" in words or bool(forms & (pairs | set(words)))


_FORMS = ("--format", "--dialect")
"""Options that choose the form of a result."""


def _show(error: click.ClickException) -> None:
    """Print click's message about a wrong option in one line, with the command for its help. The
    message repeats typed or stored text, so clean it.
    """
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)  # the help page of a group
        return
    if isinstance(error, click.NoSuchOption) and (near := (error.possibilities or ())[:1]):
        error = click.NoSuchOption(error.option_name, possibilities=near, ctx=error.ctx)
    text = " ".join(error.format_message().split())
    text = text if text[1:2].isupper() else f"{text[:1].lower()}{text[1:]}"
    context = error.ctx if isinstance(error, click.UsageError) else None
    page = f" See `{context.command_path} --help`." if context is not None else ""
    if context is not None and isinstance(error, click.MissingParameter):
        page = f" {' '.join(context.get_usage().split())}{page}"
    text += page if text.endswith((".", "?)", "?")) else f".{page}"
    _print_wrapped(clean(f"wireproof: {text}", LONGEST_SENTENCE))
