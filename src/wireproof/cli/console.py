"""What the command line says to people: sentences and progress on stderr, because stdout is data."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from wireproof.report.names import clean

if TYPE_CHECKING:
    from wireproof.model.plan import Plan
    from wireproof.report.text.progress import Progress

__all__ = ["LONGEST_SENTENCE", "Console", "say"]

LONGEST_SENTENCE = 4000


def say(text: str) -> None:
    """One sentence on stderr, harmless for a terminal."""
    click.echo(f"wireproof: {clean(text, LONGEST_SENTENCE)}", err=True)


class Console:
    """The reporter of the command line. ``signals``: the names of signals that came, as they
    come.
    """

    def __init__(self, signals: Sequence[str] = ()) -> None:
        self._signals = signals

    def say(self, text: str) -> None:
        say(text)

    def warn(self, text: str) -> None:
        say(text)

    def progress(self, plan: Plan, title: str) -> Progress:
        from wireproof.report.text.look import Look
        from wireproof.report.text.progress import Progress

        return Progress(plan, sys.stderr, Look.of(sys.stderr, os.environ), title=title)

    def interruption(self) -> str:
        return self._signals[0] if self._signals else ""
