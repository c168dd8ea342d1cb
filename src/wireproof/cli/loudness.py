"""``-q`` and ``-v``, before the subcommand or behind it: how much is said on standard error."""

from __future__ import annotations

import contextlib
import functools
import os
import shlex
import sys
import sysconfig
from collections.abc import Sequence

import click

from wireproof.cli.console import say
from wireproof.cli.context import hush

__all__ = ["add_loudness"]


def add_loudness(command: click.Command) -> click.Command:
    """``command`` and what is below it with both options; a letter that it has given to another
    option stays that option's.
    """
    if isinstance(command, click.Group):
        for below in command.commands.values():
            add_loudness(below)
    taken = {flag for one in command.params for flag in one.opts}
    if "--quiet" not in taken:
        own = (("-q", "--quiet", _QUIET, _hush), ("-v", "--verbose", _VERBOSE, _watch))
        command.params = [
            *command.params,
            *(
                click.Option(
                    [flag for flag in (letter, word) if flag not in taken],
                    is_flag=True,
                    expose_value=False,
                    is_eager=True,
                    callback=heard,
                    help=about,
                )
                for letter, word, about, heard in own
            ),
        ]
    return command


_QUIET = "only the result, warnings and errors: no progress, no remarks."
_VERBOSE = "say which commands are started and which files are opened here."


def _hush(context: click.Context, _option: click.Parameter, given: bool) -> None:
    if given and not context.resilient_parsing:
        hush(context)


def _watch(context: click.Context, _option: click.Parameter, given: bool) -> None:
    if given and not context.resilient_parsing:
        _listen()


@functools.cache
def _listen() -> None:
    """From here on: by Python's own audit events, so that nothing is left out and no other module
    has to know of it.
    """
    from wireproof.model.secrets import masked

    opened: set[str] = set()

    def hear(event: str, values: Sequence[object]) -> None:
        with contextlib.suppress(OSError, ValueError, TypeError):  # raising would end the action
            if event == "subprocess.Popen":
                say(f"starts {masked(_command(values[1]))}")
            elif event == "open" and (text := _opening(*values)) not in opened:
                opened.add(text)
                if text:
                    say(text)

    sys.addaudithook(hear)


def _command(words: object) -> str:
    if isinstance(words, str | bytes | os.PathLike):
        return os.fsdecode(words)
    assert isinstance(words, Sequence)  # noqa: S101  as subprocess takes it
    return shlex.join(os.fsdecode(word) for word in words)


def _opening(path: object, mode: object, flags: object) -> str:
    """``reads /proc/stat``; "" for what Python itself opens, folders, and no name."""
    opened = flags if isinstance(flags, int) else 0
    if not isinstance(path, str | bytes | os.PathLike) or opened & os.O_DIRECTORY:
        return ""
    name = os.fsdecode(path)
    if name == os.devnull or name.startswith(_program()):
        return ""
    writes = bool(opened & (os.O_WRONLY | os.O_RDWR))
    writes = writes or (isinstance(mode, str) and bool(set(mode) & set("wax+")))
    return f"{'writes' if writes else 'reads'} {name}"


@functools.cache
def _program() -> tuple[str, ...]:
    """The folders of Python and of this package."""
    places = sysconfig.get_paths()
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return (*(places[name] for name in ("stdlib", "purelib", "platlib")), package)
