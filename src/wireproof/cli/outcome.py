"""Maps every outcome to an exit status and one sentence."""

import contextlib
import io
import itertools
import signal
import threading
from collections.abc import Iterator
from types import FrameType

import click

from wireproof.cli.console import LONGEST_SENTENCE, CallContext, envelope_text, say
from wireproof.files.held import UntrustedFolder
from wireproof.model.errors import BadInput, CouldNotMeasure, Failure, Problem, WireproofError
from wireproof.model.finding import Verdict
from wireproof.report.names import clean
from wireproof.workflow.reporter import BUG, sentence

_SIGNALS = tuple(
    signal.Signals[name] for name in ("SIGTERM", "SIGHUP") if name in signal.Signals.__members__
)  # Windows has no SIGHUP


class _SignalNames:
    """A handler that records the names of the received signals.

    The first one interrupts; the others have no effect.
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
    """Make SIGTERM and SIGHUP end the measurement in the block like Ctrl-C; yield the names of
    those received.

    At a job's time limit and for scancel, Slurm sends SIGTERM to all processes of a batch job and
    gives them KillWait (30 s) to end: enough to seal and to judge. After the first signal, further
    ones are ignored to the end. Blocks may be nested: the innermost handles the signal.
    """
    heard = _SignalNames()
    if threading.current_thread() is not threading.main_thread():
        yield heard.names
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    # A process that ignores a signal (nohup) or has its own handler keeps that.
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
    """Run ``group`` on ``argv``.

    Every error becomes one line on stderr and its own status, never that of a FAIL.
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
        except UntrustedFolder as error:
            return _failed(f"{error.strerror}.", BadInput.exit_status, context)
        except MemoryError:
            text = "there is not enough memory for this."
            return _failed(text, CouldNotMeasure.exit_status, context)
        except Exception as error:  # a bug; with Python's status 1 it would be a FAIL
            return _failed(sentence(error), BUG, context)
        return _ended(result if isinstance(result, int) else 0, context)


def unless_lost(status: int, why: str) -> int:
    """Return the status, unless standard output could not take the result; ``why``: the reason, or
    "".
    """
    if not why or status not in _STATUS.values():
        return status
    say(f"the result could not be written to standard output: {why}.")
    return CouldNotMeasure.exit_status


def _ended(status: int, context: CallContext) -> int:
    """Return the status of a subcommand that ended without an exception, with or without its
    document.
    """
    if status and context.answer.wanted:
        return _without_result(context.answer.said, status, context)
    return status


def _failed(text: str, status: int, context: CallContext) -> int:
    say(text)
    return _without_result(text, status, context)


def _without_result(text: str, status: int, context: CallContext) -> int:
    """Return the status; a program that asked for JSON gets a document with the reason."""
    if _wants_json(context) and not context.answer.given:
        problem = Problem(message=clean(text, LONGEST_SENTENCE))
        failure = Failure(exit_status=status, errors=(*context.answer.problems, problem))
        with contextlib.suppress(OSError):  # a reader that has gone still gets the status
            click.echo(envelope_text(failure))
    return status


def _wants_json(context: CallContext) -> bool:
    """Return whether a setting or the words, which may be wrong, ask for JSON: ``--json``,
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
    """Print click's message about a wrong option. It repeats what was typed or stored, so clean
    it.
    """
    message = io.StringIO()
    error.show(message)
    for line in message.getvalue().splitlines():
        click.echo(clean(line, LONGEST_SENTENCE), err=True)
