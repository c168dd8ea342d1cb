"""``wireproof help SUBCOMMAND``, and the manual pages: a page for each subcommand, from the same
declarations as its ``--help``.
"""

import inspect
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from wireproof.cli.completion import documents
from wireproof.cli.console import remark, rendered
from wireproof.cli.declare import ALL, PathName, Verb
from wireproof.cli.subcommands import EXIT_STATUSES, SUBCOMMANDS
from wireproof.model.errors import BadInput, writing
from wireproof.options.resolve import FILE_NAME, PREFIX, SETTINGS
from wireproof.report.names import clean
from wireproof.version import version

# --- Manual pages: text in roff with the ``man`` macros. No text is interpreted as a request.

_GLYPHS = str.maketrans(
    {
        "\\": r"\(rs",
        # a plain hyphen would become a typographic hyphen, which shells reject when pasted
        "-": r"\-",
        "'": r"\(aq",
        '"': r"\(dq",
        "`": r"\(ga",
        "^": r"\(ha",
        "~": r"\(ti",
        "…": "...",
    }
)


def literal(text: str) -> str:
    """Return a line that roff prints unchanged: no escapes, no request at its start, ASCII only."""
    line = clean(text, 4000).translate(_GLYPHS)
    line = "".join(char if char.isascii() else rf"\[u{ord(char):04X}]" for char in line)
    return rf"\&{line}" if line.startswith(".") else line


def _kept(line: str) -> str:
    """Return a line with its spaces, for a block that is not filled."""
    words = line.rstrip()
    inner = words.lstrip()
    parts = (literal(part) if part.strip() else part for part in re.split(r"( {2,})", inner))
    return rf"\&{' ' * (len(words) - len(inner))}{''.join(parts)}"


def title(name: str, number: int, source: str, manual: str) -> list[str]:
    """Return the first lines, without a date, so that the page depends only on the sources."""
    heading = f'.TH "{name.upper()}" "{number}" "" "{literal(source)}" "{literal(manual)}"'
    return [heading, ".nh", ".ad l"]


def section(text: str) -> str:
    return f'.SH "{literal(text.upper())}"'


def paragraphs(text: str) -> list[str]:
    r"""Return the paragraphs of a help text; a paragraph that begins with ``\b`` keeps its
    lines.
    """
    lines: list[str] = []
    for block in re.split(r"\n[ \t]*\n", text.strip("\n")):
        first, _, rest = block.partition("\n")
        if first.strip() == "\b":
            lines += verbatim(rest.split("\n"))
        elif block.strip():
            lines += [".PP", literal(block)]
    return lines


def verbatim(kept: Iterable[str]) -> list[str]:
    """Return lines that are not filled: commands, tables."""
    return [".PP", ".RS 4", ".nf", *map(_kept, kept), ".fi", ".RE"]


def entry(term: str, text: str) -> list[str]:
    """Return an entry of a definition list: literal words are bold, names of values are italic."""
    words = term.split()
    typed = not term.startswith("-")
    marked = [_marked(one, typed=typed or one[0] == "-" or one.islower()) for one in words]
    return [".TP", " ".join(marked), literal(text) or r"\&"]


def _marked(word: str, *, typed: bool) -> str:
    return rf"\f{'B' if typed else 'I'}{literal(word)}\fR"


def _below(context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Complete the subcommands below the words typed so far."""
    below = context.find_root()
    for word in context.params.get("words") or ():
        found = _found(below, word)
        if found is None:
            return []
        below = found
    group = below.command
    names = group.list_commands(below) if isinstance(group, click.Group) else []
    return [name for name in names if name.startswith(typed)]


def _found(above: click.Context, word: str) -> click.Context | None:
    group = above.command
    found = group.get_command(above, word) if isinstance(group, click.Group) else None
    return None if found is None else click.Context(found, info_name=word, parent=above)


@click.command(
    "help",
    params=[
        click.Argument(["words"], nargs=-1, metavar="[SUBCOMMAND]...", shell_complete=_below),
        click.Option(
            ["--man", "folder"],
            type=PathName(path_type=Path, file_okay=False),
            metavar="DIR",
            help="write the manual pages of all subcommands into DIR/man1.",
        ),
        click.Option(
            ["--schema"],
            is_flag=False,
            flag_value="",
            metavar="[NAME]",
            shell_complete=documents,
            help="the JSON Schema of a document that --json prints; without NAME: all names.",
        ),
    ],
)
@click.pass_context
def command(
    context: click.Context, /, words: tuple[str, ...], folder: Path | None, schema: str | None
) -> int:
    """Show the help of a SUBCOMMAND, write the manual pages, or show the JSON Schema of a document.

    \b
    wireproof help tune plan
    wireproof help --man ~/.local/share/man    (then: man wireproof-check)
    wireproof help --schema result
    """
    shown = context.find_root()
    if schema is not None:
        return _show_schema(schema)
    if folder is not None:
        return _write(shown, folder)
    for at, word in enumerate(words):
        if not isinstance(shown.command, click.Group):
            raise BadInput(f"{shown.command_path} has no subcommands; try {shown.command_path} -h.")
        name, found, _ = shown.command.resolve_command(shown, list(words[at:]))
        assert found is not None  # noqa: S101  resolve_command refuses unknown names
        shown = click.Context(found, info_name=name or word, parent=shown)
    shown.meta[ALL] = not words
    click.echo(shown.get_help())
    return 0


def _show_schema(name: str) -> int:
    from wireproof.report.json import json_text
    from wireproof.report.known import titles_document
    from wireproof.workflow.documents import KINDS, schema_called

    if name:
        click.echo(json_text(schema_called(name), indent=2))
    else:
        how = "wireproof help --schema NAME"
        titles = {f"{kind.schema} {kind.version}": kind.command for kind in KINDS}
        click.echo(rendered(titles_document("Documents", how, {"": titles}), "text"))
    return 0


def _write(root: click.Context, folder: Path) -> int:
    from wireproof.files.held import make_folder
    from wireproof.files.hostile import replace_file

    found = pages(root)
    place = folder / "man1"
    with writing(place):
        make_folder(place)
        for name, text in found.items():
            replace_file(place / name, text.encode(), mode=0o644)
    shown = folder.absolute()
    remark(
        f"{len(found)} manual pages are in {place}; `MANPATH={shown}: man wireproof` shows them."
    )
    return 0


# --- Manual pages.


def pages(root: click.Context) -> dict[str, str]:
    """Return the texts by file name, such as ``wireproof-tune-plan.1``."""
    every = list(contexts(root))
    return {f"{_name(ctx)}.1": "\n".join(_page(ctx, every)) + "\n" for ctx in every}


def contexts(context: click.Context) -> Iterator[click.Context]:
    """Yield ``context`` and a context for each subcommand below it."""
    yield context
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            found = context.command.get_command(context, name)
            if found is not None:
                yield from contexts(click.Context(found, info_name=name, parent=context))


def _name(context: click.Context) -> str:
    return context.command_path.replace(" ", "-")


def _page(context: click.Context, everyone: list[click.Context]) -> Iterator[str]:
    command = context.command
    text = inspect.cleandoc(command.help or "").partition("\f")[0]
    yield from title(_name(context), 1, f"wireproof {version()}", "User Commands")
    yield section("Name")
    yield rf"{literal(_name(context))} \- {literal(_about(context).rstrip('.'))}"
    yield section("Synopsis")
    yield from verbatim([" ".join([context.command_path, *command.collect_usage_pieces(context)])])
    yield section("Description")
    yield from paragraphs(text)
    yield from _subcommands(context)
    yield section("Options")
    yield from _options(context)
    if isinstance(command, Verb) and command.examples:
        yield section("Examples")
        yield from verbatim(command.examples)
    yield from _end(context, everyone)


def _about(context: click.Context) -> str:
    """Return the one-line help of a subcommand."""
    above = context.parent
    if above is not None and above.parent is None:
        return SUBCOMMANDS[context.info_name or ""]
    return context.command.get_short_help_str(limit=200)


def _subcommands(context: click.Context) -> Iterator[str]:
    if isinstance(context.command, click.Group):
        yield section("Subcommands")
        for below in list(contexts(context))[1:]:
            if below.parent is context:
                yield from entry(below.info_name or "", _about(below))


def _options(context: click.Context) -> Iterator[str]:
    command = context.command
    if isinstance(command, Verb) and command.sections:
        groups = command.titled(context)
    else:
        groups = [("", command.get_params(context))]
    for name, group in groups:
        if name:
            yield f'.SS "{literal(name)}"'
        for option in group:
            record = option.get_help_record(context)
            if record is not None and isinstance(option, click.Option):
                yield from entry(*record)


def _end(context: click.Context, everyone: list[click.Context]) -> Iterator[str]:
    yield section("Exit status")
    if context.parent is None:
        for status, meaning in EXIT_STATUSES.items():
            yield from entry(str(status), meaning)
        yield section("Environment")
        for name, declared in SETTINGS.items():
            yield from entry(PREFIX + name.upper(), declared.help)
        yield section("Files")
        where = (
            "the same settings in a file of the working directory; options take precedence, then"
            " the environment."
        )
        yield from entry(FILE_NAME, where)
    else:
        yield from paragraphs("As in wireproof(1), unless the description says otherwise.")
    yield section("See also")
    yield from paragraphs(", ".join(f"{_name(near)}(1)" for near in _near(context, everyone)))


def _near(context: click.Context, everyone: list[click.Context]) -> list[click.Context]:
    """Return the contexts above and below, and for a group's subcommand also the other subcommands
    of the group.
    """
    above = context.parent
    below = [other for other in everyone if other.parent is context]
    if above is None:
        return below
    beside = [
        other
        for other in everyone
        if above.parent and other.parent is above and other is not context
    ]
    return [above, *below, *beside]
