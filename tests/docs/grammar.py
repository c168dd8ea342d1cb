"""Does a ``wireproof ...`` line of a page mean something to the command line of this version?"""

import contextlib
import io
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import click
from tests.docs.markdown import ROOT

from wireproof.cli.subcommands import root, subcommands
from wireproof.model.errors import BadInput
from wireproof.options.resolve import SETTINGS
from wireproof.physics.claims import claim_from_text
from wireproof.physics.table import link_names
from wireproof.physics.units import parse_quantity
from wireproof.workflow.explain import explain

_OURS = ("examples/", "tests/", "docs/", "tools/", "src/", "packaging/")
_PROMPT = "$ "


def typed(console: str) -> list[tuple[str, str]]:
    """(command, what is shown below it) of each ``$ `` line; a command goes on below a backslash.

    Raises ValueError for a block whose first line is no command.
    """
    found: list[tuple[str, str]] = []
    lines = iter(console.splitlines())
    for line in lines:
        if line.startswith(_PROMPT):
            command = line.removeprefix(_PROMPT)
            while command.endswith("\\"):
                command = command[:-1] + next(lines).strip()
            found.append((command, ""))
        elif not found:
            raise ValueError(f"the block begins with {line!r}, which is no command")
        else:
            command, shown = found[-1]
            found[-1] = (command, f"{shown}{line}\n")
    return found


def commands(script: str) -> Iterator[list[str]]:
    """The words of each simple command, without variables before it and redirections behind it."""
    for line in script.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words: list[str] = []
        for word in [*lexer, ";"]:
            if set(word) <= set("|&;()"):
                yield from [_plain(words)] if words else []
                words = []
            else:
                words.append(word)


def _plain(words: list[str]) -> list[str]:
    while words and re.match(r"\w+=", words[0]):
        words = words[1:]
    cut = next((at for at, word in enumerate(words) if word[0:1] in "<>" and word), len(words))
    return words[:cut]


def parsed(words: Sequence[str]) -> click.Context | None:
    """What the click tree makes of ``words`` behind ``wireproof``: nothing is run.

    Files need not exist, but those of the checkout must. Raises click.ClickException, BadInput.
    """
    for word in words:
        if word.startswith(_OURS) and not list(ROOT.glob(word)):
            raise BadInput(f"{word} is not in the checkout")
    reached = _reached(words)
    if reached is None:
        return None
    for parameter in reached.command.params:
        value = reached.params.get(parameter.name or "")
        if value and isinstance(value, str) and not isinstance(parameter.type, click.Choice):
            _read(parameter.name or "", value)
    _named(reached.info_name or "", reached.params)
    return reached


def _reached(words: Sequence[str]) -> click.Context | None:
    """The context of the subcommand; None for ``--help`` and its like."""
    reached: list[click.Context] = []

    def note(_command: click.Command, context: click.Context) -> int:
        reached.append(context)
        return 0

    with (
        mock.patch.object(click.Command, "invoke", note),
        mock.patch.object(click.Path, "convert", lambda _self, value, *_: Path(value)),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        subcommands.main(list(words), prog_name="wireproof", standalone_mode=False)
    return reached[-1] if reached else None


def _read(name: str, value: str) -> None:
    """By the reader of the setting, where ``name`` is one, or of links."""
    if name in SETTINGS and "@" not in value:
        SETTINGS[name].parse(value)
    if name == "link":
        for part in value.split(","):
            claim_from_text(part.rpartition("=")[2])


def _named(subcommand: str, given: Mapping[str, Any]) -> None:
    """Codes, settings, units and links are ones that we know. Raises BadInput."""
    asked = " ".join(given["words"]) if subcommand == "explain" else ""
    if asked in link_names():
        claim_from_text(asked)
    elif asked[:1].isdigit():
        parse_quantity(asked)
    elif asked:
        explain(asked)
    if subcommand == "audit":
        for name in given["only"]:
            explain(name)


def options_named(synopsis: str) -> set[str]:
    """The long options in the form of a command."""
    return set(re.findall(r"--[a-z][a-z-]*", synopsis))


def found(words: Sequence[str]) -> click.Context:
    """The subcommand that ``words`` begin with, ``tune plan``. Raises click.UsageError."""
    context = root()
    for word in words:
        if not isinstance(context.command, click.Group):
            break
        name, command, _ = context.command.resolve_command(context, [word])
        assert command is not None
        context = click.Context(command, info_name=name, parent=context)
    return context


def options_of(command: click.Command) -> set[str]:
    """Every name of its options."""
    return {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
