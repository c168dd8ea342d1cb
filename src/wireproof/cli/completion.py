"""``wireproof completion SHELL``: print the script that completes subcommands, options and
values.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Iterable
from pkgutil import resolve_name
from typing import TYPE_CHECKING, get_args

import click
from click.shell_completion import CompletionItem, get_completion_class

from wireproof.model.errors import BadInput

if TYPE_CHECKING:
    Item = CompletionItem[str]
    Completer = Callable[[click.Context, click.Parameter, str], list[Item]]


SHELLS = ("bash", "zsh", "fish")
_MOST_RESULTS = 100
_PLACES = {"FILE": "file", "PATH": "file", "DIR": "dir", "FOLDER": "dir"}
"""The kind of path to complete, by the name of the value."""


@click.command("completion", params=[click.Argument(["shell"], type=click.Choice(SHELLS))])
@click.pass_context
def command(context: click.Context, /, shell: str) -> int:
    """Print the script that completes subcommands, options and values: links, profiles, formulas,
    codes, settings, tools, labs and their nodes.

    \b
    bash   wireproof completion bash > ~/.local/share/bash-completion/completions/wireproof
    zsh    wireproof completion zsh  > ~/.zfunc/_wireproof     (with ~/.zfunc in fpath)
    fish   wireproof completion fish > ~/.config/fish/completions/wireproof.fish
    """

    found = get_completion_class(shell)
    if found is None:
        raise BadInput(f"there is no completion for {shell}; the shells are {', '.join(SHELLS)}.")
    group = context.find_root().command
    click.echo(found(group, {}, "wireproof", "_WIREPROOF_COMPLETE").source())
    return 0


def _among(names: Callable[[click.Context], Iterable[str]], *, several: bool = False) -> Completer:
    """Return a completer for the ``names`` that start with the typed text; if ``several``, for the
    last of several names, separated by commas: ``n1,n`` becomes ``n1,n2``.

    It calls ``names`` only on use, because the call imports modules.
    """

    def complete(context: click.Context, _parameter: click.Parameter, typed: str) -> list[Item]:
        before, comma, last = typed.rpartition(",") if several else ("", "", typed)
        left = [name for name in names(context) if name not in before.split(",")]
        return [CompletionItem(before + comma + name) for name in left if name.startswith(last)]

    return complete


def _named(place: str) -> Completer:
    """Return a completer for the names at ``place`` (``MODULE:NAME``), or those that the function
    there returns.
    """

    def names(_context: click.Context) -> Iterable[str]:
        found: Iterable[str] | Callable[[], Iterable[str]] = resolve_name(f"wireproof.{place}")
        return found() if callable(found) else found

    return _among(names)


def spelt(_context: click.Context, parameter: click.Parameter, typed: str) -> list[Item]:
    """Complete the values in the metavar, such as ``ssh|PATH``, and files if it names a path."""
    words = str(parameter.metavar or "").split("|")
    names = [word for word in words if len(words) > 1 and re.fullmatch("[a-z0-9-]+", word)]
    if "NAME" in words:
        names += _names(parameter.name or "")
    items = [CompletionItem(name) for name in names if name.startswith(typed)]
    places = {_PLACES.get(word.partition(".")[0], "") for word in words} - {""}
    return items + [CompletionItem(typed, type=place) for place in sorted(places)]


def _names(setting: str) -> Iterable[str]:
    """Return the names that a setting accepts in addition to paths."""
    from wireproof.options.resolve import SETTINGS

    declared = SETTINGS.get(setting)
    return filter(None, declared.names or ()) if declared else ()


def settings_or_file(context: click.Context, parameter: click.Parameter, typed: str) -> list[Item]:
    """Complete a setting, or the file of a plan."""
    return [*settings(context, parameter, typed), CompletionItem(typed, type="file")]


def _settings(_context: click.Context) -> Iterable[str]:
    from wireproof.audit.job import catalogue

    return sorted(catalogue().entries)


def _labs(_context: click.Context) -> Iterable[str]:
    from wireproof.lab.state import find_labs

    return [lab.name for lab in find_labs()]


def _nodes(context: click.Context) -> Iterable[str]:
    from wireproof.lab.state import find_labs

    of = context.params.get("name")
    return [node.name for lab in find_labs() if lab.name == of for node in lab.nodes]


def _hosts(_context: click.Context) -> Iterable[str]:
    """Return the nodes of the labs that are up; other hosts are known only to the site."""
    from wireproof.lab.state import find_labs

    return [node.name for lab in find_labs() for node in lab.nodes]


def _nics(_context: click.Context) -> Iterable[str]:
    """Return the NICs of this machine: hosts of a cluster usually have the same NIC names."""
    return [name for _, name in socket.if_nameindex() if name != "lo"]


def _tools(_context: click.Context) -> Iterable[str]:
    from wireproof.launch.recipe import recipes_of

    recipes = recipes_of("")
    return sorted({recipe.tool for recipe in recipes} | {recipe.program for recipe in recipes})


def _kinds(_context: click.Context) -> Iterable[str]:
    from wireproof.lint.rule import Kind

    return get_args(Kind)


def _documents(_context: click.Context) -> Iterable[str]:
    from wireproof.workflow.documents import KINDS

    return [kind.schema for kind in KINDS]


def _results(context: click.Context) -> Iterable[str]:
    """Return the results of the history that is given earlier on the command line, newest first."""
    from wireproof.store.history import RESULTS

    root = context.params.get("root")
    try:
        names = sorted(os.listdir(root / RESULTS), reverse=True) if root else []
    except OSError:
        names = []
    return ["last", *names[:_MOST_RESULTS]]


links, codes = _named("physics.table:link_names"), _named("workflow.explain:names")
dialects, modes = _named("report.gate:DIALECTS"), _named("plan.footprint.modes:MODES")
settings, kinds = _among(_settings), _among(_kinds)
labs, nodes, tools = _among(_labs), _among(_nodes), _among(_tools)
documents, results = _among(_documents), _among(_results)
hosts, nics = _among(_hosts, several=True), _among(_nics, several=True)
