"""``wireproof help SUBCOMMAND``, and the manual pages of all."""

from __future__ import annotations

from pathlib import Path

import click

from wireproof.cli.completion import documents
from wireproof.cli.console import remark
from wireproof.model.errors import BadInput

__all__ = ["command"]


def _subcommands(context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """The subcommands below the words that are there already."""
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


OPTIONS: tuple[click.Parameter, ...] = (
    click.Argument(["words"], nargs=-1, metavar="[SUBCOMMAND]...", shell_complete=_subcommands),
    click.Option(
        ["--man", "folder"],
        type=click.Path(path_type=Path, file_okay=False),
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
)


@click.command("help", params=[*OPTIONS])
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
        assert found is not None  # noqa: S101  resolve_command refuses what is not there
        shown = click.Context(found, info_name=name or word, parent=shown)
    click.echo(shown.get_help())
    return 0


def _show_schema(name: str) -> int:
    from wireproof.report.json.encode import json_text
    from wireproof.report.text.titles import title_lines
    from wireproof.workflow.documents import KINDS, schema_called

    if name:
        click.echo(json_text(schema_called(name), indent=2))
    else:
        titles = {f"{one.schema} {one.version}": one.command for one in KINDS}
        click.echo("\n".join(title_lines(titles)))
    return 0


def _write(root: click.Context, folder: Path) -> int:
    from wireproof.cli.manual import pages
    from wireproof.files.held import make_folder
    from wireproof.files.hostile import replace_file

    found = pages(root)
    place = folder / "man1"
    try:
        make_folder(place)
        for name, text in found.items():
            replace_file(place / name, text.encode(), mode=0o644)
    except OSError as error:
        raise BadInput(f"{place} cannot be written to: {error.strerror}.") from error
    shown = folder.absolute()
    remark(f"{len(found)} manual pages are in {place}; MANPATH={shown}: man wireproof shows them.")
    return 0
