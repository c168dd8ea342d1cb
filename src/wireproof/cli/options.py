"""Options that several verbs share. Their texts are typed by ``settings``; nothing below the CLI sees strings."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

import click

from wireproof.settings.resolve import DECLARED, FILE_NAME, Settings, read_file, resolve

__all__ = ["link_options", "output_options", "place_options", "settings_of"]

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[F], F]


def _declared(*names: str, **metavars: str) -> Callable[[F], F]:
    """Click options for declared settings, each with the help of the one table that declares it."""

    def decorate(function: F) -> F:
        def add(inner: F, name: str) -> F:
            option = click.option(
                "--" + name.replace("_", "-"),
                name,
                default=None,
                metavar=metavars.get(name, "TEXT"),
                help=DECLARED[name].help + ".",
            )
            return option(inner)

        return reduce(add, reversed(names), function)

    return decorate


def place_options(function: F) -> F:
    """Where the ranks run and what carries the messages."""
    lab = click.option("--lab", metavar="NAME", default=None, help="the virtual cluster that --hosts names nodes of.")
    names = ("hosts", "mpi", "transport", "fabric", "nic", "nic_selection", "launcher")
    return _declared(
        *names,
        hosts="N1,N2|N[1-4]",
        mpi="PATH|NAME",
        transport="mpi|tcp|null|model",
        fabric="tcp|verbs|psm3|...",
        nic="NAME",
        nic_selection="claimed|none",
        launcher="ssh|PATH",
    )(lab(function))


def link_options(function: F) -> F:
    """What is claimed about the link, and the table of physics that it is judged by."""
    parts = (
        click.option("--mtu", type=click.IntRange(68, 65535), metavar="BYTES", help="MTU, when it cannot be read."),
        click.option("--pcie", metavar="GENxLANES", default="", help="slot of the NIC, such as gen3x16."),
        click.option(
            "--physics",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="TOML file that overrides constants of the limits.",
        ),
    )
    chained: F = reduce(lambda inner, option: option(inner), reversed(parts), function)
    return _declared("link", link="10gbe|edr|opa100|...")(chained)


def output_options(function: F) -> F:
    """Where the result goes."""
    parts = (
        click.option("--json", "json", is_flag=True, default=None, help="one JSON document on stdout."),
        click.option("--resume", is_flag=True, help="continue the run in --out: only missing points are measured."),
    )
    chained: F = reduce(lambda inner, option: option(inner), reversed(parts), function)
    return _declared("out", "budget", "deadline", "seed", out="DIR", budget="1s", deadline="10min", seed="N")(chained)


def settings_of(options: dict[str, Any]) -> Settings:
    """Typed settings from options, ``WIREPROOF_*`` and ``wireproof.toml`` in the working directory."""
    texts: dict[str, str | None] = {}
    for name in DECLARED:
        value = options.get(name)
        texts[name] = ("yes" if value else "no") if isinstance(value, bool) else value
    file = Path(FILE_NAME)
    return resolve(texts, os.environ, read_file(file) if file.is_file() else None)
