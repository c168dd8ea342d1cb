"""One place that maps what happened to an exit status and one sentence."""

from __future__ import annotations

import os
import sys

import click

from wireproof.model.errors import WireproofError
from wireproof.model.finding import Verdict

__all__ = ["INTERRUPTED", "run_verb", "status_of"]

INTERRUPTED = 130
_STATUS: dict[Verdict, int] = {"pass": 0, "fail": 1, "inconclusive": 3}


def status_of(verdict: Verdict) -> int:
    """Exit status of a verdict: 0 pass, 1 fail, 3 inconclusive."""
    return _STATUS[verdict]


def run_verb(group: click.Group, argv: list[str]) -> int:
    """Run ``group`` on ``argv``; every expected error becomes one line on stderr and its status."""
    try:
        result = group.main(args=argv, prog_name="wireproof", standalone_mode=False, obj={"argv": list(argv)})
    except click.exceptions.Exit as stop:
        return int(stop.exit_code)
    except click.Abort:
        return INTERRUPTED
    except KeyboardInterrupt:
        return INTERRUPTED
    except click.ClickException as error:
        error.show(sys.stderr)
        return 2
    except WireproofError as error:
        click.echo(f"wireproof: {error}", err=True)
        return error.exit_status
    except BrokenPipeError:
        # The reader of our stdout went away (| head): not an error of ours, and nothing more can be told.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return result if isinstance(result, int) else 0
