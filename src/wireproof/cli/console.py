"""What the command line says to people: sentences and progress on stderr; stdout is data."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from wireproof.cli.context import current_context
from wireproof.report.names import clean

if TYPE_CHECKING:
    from wireproof.model.plan import Plan
    from wireproof.report.text.progress import Progress

__all__ = ["LONGEST_SENTENCE", "Console", "print_json", "say"]

LONGEST_SENTENCE = 4000


def say(text: str) -> None:
    """One sentence on stderr, harmless for a terminal."""
    click.echo(f"wireproof: {clean(text, LONGEST_SENTENCE)}", err=True)


def print_json(value: object, *, indent: int = 2) -> None:
    """One JSON document on stdout."""
    from wireproof.report.json.encode import json_text

    click.echo(json_text(value, indent=indent))


class Console:
    """The reporter of the command line."""

    def say(self, text: str) -> None:
        say(text)

    def warn(self, text: str) -> None:
        say(text)

    def progress(self, plan: Plan, title: str) -> Progress:
        from wireproof.report.text.look import Look
        from wireproof.report.text.progress import Progress

        return Progress(plan, sys.stderr, Look.of(sys.stderr, os.environ), title=title)

    def interruption(self) -> str:
        signals = current_context().signals
        return signals[0] if signals else ""
