"""What one run of the program knows beside its options: its words, variables and signals."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence

import click

from wireproof.model.errors import Problem

__all__ = ["CallContext", "ProgramAnswer", "current_context", "hush", "is_quiet"]

_QUIET = "wireproof.quiet"


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
