"""One place that maps what happened to an exit status and one sentence."""

from __future__ import annotations

import contextlib
import io
import sys

import click

from wireproof.cli.console import LONGEST_SENTENCE, say
from wireproof.cli.context import Context
from wireproof.cli.signals import as_interrupt
from wireproof.cli.streams import own_streams
from wireproof.model.errors import BadInput, CouldNotMeasure, WireproofError
from wireproof.model.finding import Verdict
from wireproof.report.names import clean
from wireproof.workflow.bug import BUG, sentence

__all__ = ["INTERRUPTED", "run_verb", "status_of"]

INTERRUPTED = 130
_STATUS: dict[Verdict, int] = {"pass": 0, "fail": 1, "inconclusive": 3}


def status_of(verdict: Verdict) -> int:
    """Exit status of a verdict: 0 pass, 1 fail, 3 inconclusive."""
    return _STATUS[verdict]


def run_verb(group: click.Group, argv: list[str]) -> int:
    """Run ``group`` on ``argv``; every error becomes one line on stderr and its status, never that
    of a FAIL.
    """
    with own_streams() as streams:
        status = _run(group, argv)
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        if streams.result_lost and status in _STATUS.values():
            say(f"the result could not be written to standard output: {streams.result_lost}.")
            return CouldNotMeasure.exit_status
        return status


def _run(group: click.Group, argv: list[str]) -> int:
    with as_interrupt() as signals:
        try:
            result = group.main(
                args=argv,
                prog_name="wireproof",
                standalone_mode=False,
                obj=Context(argv=tuple(argv), signals=signals),
            )
        except click.exceptions.Exit as stop:
            return int(stop.exit_code)
        except (click.Abort, KeyboardInterrupt):
            say(f"interrupted by {signals[0] if signals else 'Ctrl-C'}.")
            return INTERRUPTED
        except click.ClickException as error:
            _show(error)
            return BadInput.exit_status
        except WireproofError as error:
            say(str(error))
            return error.exit_status
        except MemoryError:
            say("there is not enough memory for this.")
            return CouldNotMeasure.exit_status
        except Exception as error:  # a bug, whatever it is: with status 1 it would be a FAIL
            say(sentence(error))
            return BUG
        return result if isinstance(result, int) else 0


def _show(error: click.ClickException) -> None:
    """click's own words about a wrong option repeat what was typed, or was stored in a folder."""
    told = io.StringIO()
    error.show(told)
    for line in told.getvalue().splitlines():
        click.echo(clean(line, LONGEST_SENTENCE), err=True)
