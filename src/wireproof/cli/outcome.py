"""One place that maps what happened to an exit status and one sentence."""

import contextlib
import io
import itertools
import signal
import threading
from collections.abc import Iterator
from types import FrameType

import click

from wireproof.cli.console import LONGEST_SENTENCE, CallContext, envelope_text, say
from wireproof.model.errors import BadInput, CouldNotMeasure, Failure, Problem, WireproofError
from wireproof.model.finding import Verdict
from wireproof.report.names import clean
from wireproof.workflow.bug import BUG, sentence

_SIGNALS = tuple(
    signal.Signals[name] for name in ("SIGTERM", "SIGHUP") if name in signal.Signals.__members__
)  # Windows has no SIGHUP


class _SignalNames:
    """A handler that keeps the names of the signals that came; the first is an interrupt, the rest
    changes nothing.
    """

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        self.names.append(signal.Signals(number).name)
        if len(self.names) > 1:
            return
        if callable(signal.getsignal(signal.SIGINT)):
            signal.raise_signal(signal.SIGINT)
        else:  # a script's background jobs are started with SIGINT ignored
            raise KeyboardInterrupt


@contextlib.contextmanager
def as_interrupt() -> Iterator[list[str]]:
    """In the block SIGTERM and SIGHUP end what is measured as Ctrl-C does; gives the names of those
    that came.

    At a job's time limit and for scancel Slurm sends SIGTERM to all processes of a batch job and
    leaves them KillWait (30 s) to come to an end: time to seal and to judge. Once one has come,
    further ones are passed over to the end. Blocks may be nested: the innermost hears.
    """
    heard = _SignalNames()
    if threading.current_thread() is not threading.main_thread():
        yield heard.names
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    # Who ignores a signal (nohup) or has a handler of its own keeps it.
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
    """Exit status of a verdict: 0 pass, 1 fail, 3 inconclusive."""
    return _STATUS[verdict]


def run(group: click.Group, argv: list[str]) -> int:
    """Run ``group`` on ``argv``; every error becomes one line on stderr and its status, never that
    of a FAIL.
    """
    with as_interrupt() as signals:
        context = CallContext(argv=tuple(argv), signals=signals)
        try:
            result = group.main(
                args=argv,
                prog_name="wireproof",
                standalone_mode=False,
                obj=context,
            )
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
        except MemoryError:
            text = "there is not enough memory for this."
            return _failed(text, CouldNotMeasure.exit_status, context)
        except Exception as error:  # a bug, whatever it is: with status 1 it would be a FAIL
            return _failed(sentence(error), BUG, context)
        return _ended(result if isinstance(result, int) else 0, context)


def unless_lost(status: int, why: str) -> int:
    """The status, unless standard output could not take the result: ``why`` it could not, or ""."""
    if not why or status not in _STATUS.values():
        return status
    say(f"the result could not be written to standard output: {why}.")
    return CouldNotMeasure.exit_status


def _ended(status: int, context: CallContext) -> int:
    """A subcommand that has ended by itself, with its document or, badly, without."""
    if status and context.answer.wanted:
        return _without_result(context.answer.said, status, context)
    return status


def _failed(text: str, status: int, context: CallContext) -> int:
    say(text)
    return _without_result(text, status, context)


def _without_result(text: str, status: int, context: CallContext) -> int:
    """The status; a program that asked for JSON and got no document reads why there is none."""
    if _wants_json(context) and not context.answer.given:
        problem = Problem(message=clean(text, LONGEST_SENTENCE))
        failure = Failure(exit_status=status, errors=(*context.answer.problems, problem))
        with contextlib.suppress(OSError):  # a reader that has gone has the status
            click.echo(envelope_text(failure))
    return status


def _wants_json(context: CallContext) -> bool:
    """By a setting or by its words, which may be wrong ones: ``--json``, ``--format json``."""
    argv = context.argv
    own = argv[: argv.index("--")] if "--" in argv else argv
    pairs = {f"{one}={two}" for one, two in itertools.pairwise(own)}
    forms = {f"{option}=json" for option in _FORMS}
    return context.answer.wanted or "--json" in own or bool(forms & (pairs | set(own)))


_FORMS = ("--format", "--dialect")
"""Options that say in which form a result is printed."""


def _show(error: click.ClickException) -> None:
    """click's own words about a wrong option repeat what was typed, or was stored in a folder."""
    told = io.StringIO()
    error.show(told)
    for line in told.getvalue().splitlines():
        click.echo(clean(line, LONGEST_SENTENCE), err=True)
