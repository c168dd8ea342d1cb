"""Pages of the options, one for each subcommand, made of the same declarations as ``--help``."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from wireproof.cli.declare import Verb
from wireproof.cli.help import contexts
from wireproof.cli.subcommands import EXIT_STATUSES, SUBCOMMANDS, root
from wireproof.options.resolve import FILE_NAME, PREFIX, SETTINGS

__all__ = ["command_index", "command_pages"]

_ROOT = root()


def command_pages() -> dict[str, str]:
    """The texts by the names of their files."""
    above = [each for each in contexts(_ROOT) if each.parent is _ROOT]
    return {f"{each.info_name}.md": "\n".join(_page(each)).rstrip() + "\n" for each in above}


def command_index() -> str:
    """What follows the prose of the index: the subcommands, exit statuses and settings."""
    return "\n".join(_index()) + "\n"


def _index() -> Iterator[str]:
    for name, about in sorted(SUBCOMMANDS.items()):
        yield f"* [{name}]({name}.md): {_plain(about)}"
    yield "\n## Exit statuses\n\n| status | means |\n|--:|---|"
    yield from (f"| {status} | {means} |" for status, means in EXIT_STATUSES.items())
    yield "\n## Settings\n\nAn option wins, then the variable, then the key in"
    yield f"`{FILE_NAME}` of the working directory.\n\n| variable | key | setting |\n|---|---|---|"
    for name, declared in SETTINGS.items():
        yield f"| `{PREFIX}{name.upper()}` | `{name}` | {_cell(declared.help)} |"


def _page(context: click.Context) -> Iterator[str]:
    """Of a subcommand, and of those below it."""
    yield f"# {context.command_path}\n\n"
    yield from _command(context, "##")
    for below in list(contexts(context))[1:]:
        yield f"## {below.command_path}\n"
        yield from _command(below, "###")


def _command(context: click.Context, mark: str) -> Iterator[str]:
    command = context.command
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"<!-- test: synopsis -->\n```text\n{usage}\n```\n"
    yield from _paragraphs(inspect.cleandoc(command.help or "").partition("\f")[0])
    groups = command.titled(context) if isinstance(command, Verb) and command.sections else None
    for title, group in groups or [("Options", command.get_params(context))]:
        yield f"{mark} {title}\n\n| option | meaning |\n|---|---|"
        yield from _options(context, group)
        yield ""
    if isinstance(command, Verb) and command.examples:
        lines = "\n".join(command.examples)
        yield f"{mark} Examples\n\n<!-- test: not run: names hosts of a cluster -->"
        yield f"```sh\n{lines}\n```\n"


def _paragraphs(text: str) -> Iterator[str]:
    """A paragraph that keeps its lines (``\\b``) is a block."""
    for paragraph in text.split("\n\n"):
        kept, mark, lines = paragraph.partition("\b\n")
        if mark:
            note = "<!-- test: synopsis -->\n" if lines.startswith("wireproof ") else ""
            yield f"{kept}{note}```text\n{lines}\n```\n"
        else:
            yield f"{_plain(paragraph)}\n"


def _options(context: click.Context, group: object) -> Iterator[str]:
    for one in group if isinstance(group, (list, tuple)) else ():
        record = one.get_help_record(context)
        if record is not None:
            yield f"| `{record[0].replace('|', chr(92) + '|')}` | {_cell(record[1])} |"


def _cell(text: str) -> str:
    return " ".join(_plain(text).replace("|", "\\|").split())


def _plain(text: str) -> str:
    """No letter of ``text`` is a mark of Markdown."""
    for letter in "<>*_[]":
        text = text.replace(letter, f"\\{letter}")
    return text
