"""Options that several subcommands share, and the typed values that they become: nothing below the
command line sees their texts.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wireproof.cli.completion import links
from wireproof.cli.console import Console
from wireproof.cli.context import current_context
from wireproof.cli.declare import choice, flag, number, rows, setting, text
from wireproof.settings.options import ROWS, Options
from wireproof.settings.resolve import FILE_NAME, SETTINGS, misspelt, read_file, resolve

if TYPE_CHECKING:
    from wireproof.workflow.specification import Method, Storage

__all__ = [
    "JOB",
    "JUDGED_BY",
    "LINK",
    "MACHINES",
    "OUTPUT",
    "PSM_STATISTICS",
    "SYSFS_ROOT",
    "TARGET",
    "link_claim",
    "method_of",
    "settings_file",
    "settings_of",
    "storage_of",
]


SYSFS_ROOT = setting("sysfs_root")
PSM_STATISTICS = flag(
    "--psm-statistics",
    "PSM3's own counters as a second witness: written into a private folder here, which all hosts"
    " must see, and removed.",
)
TARGET = rows("target")
"""Where the ranks run and what carries the messages."""

JOB = rows("job")
"""A job of our own: how many nodes and where. The words are the scheduler's."""

MACHINES: tuple[click.Parameter, ...] = (
    choice(
        "--profile",
        ["throughput", "latency", "repeatability", "power"],
        "what the machines are for; where authorities disagree, it decides.",
        default="throughput",
    ),
    click.Option(
        ["--from", "source"],
        type=click.Path(path_type=Path),
        metavar="PATH",
        help="a snapshot, a folder with a host's /proc, /sys and /etc, or a sosreport.",
    ),
)
"""By what settings are judged, and of which machines they are where not of the target's."""

LINK = rows("link")
"""What is claimed about the link, and the table of physics that it is judged by."""

JUDGED_BY = (*LINK, *rows("published"))
"""The same, and what others have published beside it."""

OUTPUT = rows("output")
"""Where the result goes, and how long it takes."""


def link_claim(about: str) -> tuple[click.Parameter, ...]:
    """A link of any kind and rate, where results are held against it; ``about``: what it is."""
    return (
        text("--link", "[Nx]KIND[:GBPS]", about, default=None, shell_complete=links),
        number("--mtu", 68, 65535, "MTU of the link.", metavar="BYTES"),
        text("--pcie", "GENxLANES", "slot of the NIC, such as gen3x16."),
    )


def settings_of(options: Mapping[str, Any]) -> Options:
    """Typed options from the command line, ``WIREPROOF_*`` and ``wireproof.toml`` in the working
    directory.
    """
    _warn_of(tuple(misspelt(current_context().environment)))
    texts = {
        name: ("yes" if value else "no") if name in SETTINGS and isinstance(value, bool) else value
        for name, value in options.items()
        if name in ROWS
    }
    found = resolve(texts, current_context().environment, settings_file())
    if "json" in options:
        current_context().answer.wanted |= found.json
    return found


@functools.cache
def _warn_of(sentences: tuple[str, ...]) -> None:
    """Once, however often the settings are read."""
    for sentence in sentences:
        Console().warn(sentence)


def settings_file() -> dict[str, tuple[str, str]]:
    """The settings of ``wireproof.toml`` in the working directory; none when a run is resumed,
    which has its own.
    """
    file = Path(FILE_NAME)
    return {} if current_context().resumed or not os.path.lexists(file) else read_file(file)


def method_of(options: Options) -> Method:
    """The means of measuring that the options choose, with the site's published numbers."""
    from wireproof.workflow.atlas import site_folder
    from wireproof.workflow.specification import Method

    site = site_folder(options.atlas, current_context().environment)
    return dataclasses.replace(Method.from_options(options), site=site)


def storage_of(settings: Options, *, kept: bool) -> Storage:
    """Where the records go, by ``--out`` and ``--resume``."""
    from wireproof.cli.typed import typed_words
    from wireproof.workflow.history.keep import storage_folder
    from wireproof.workflow.specification import Storage

    history = settings.history if kept else None
    return Storage(
        folder=storage_folder(settings.out, history),
        history=history,
        kept=kept,
        resume=settings.resume,
        may_change_mode=settings.origin("out") != "file",
        command=typed_words(),
    )
