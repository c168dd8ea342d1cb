"""Options that several verbs share. Their texts are typed by ``settings``; nothing below the CLI
sees strings.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

import click

from wireproof.settings.resolve import DECLARED, FILE_NAME, Settings, read_file, resolve

__all__ = [
    "job_options",
    "link_options",
    "output_options",
    "place_options",
    "settings_file",
    "settings_of",
    "sysfs_root_option",
]

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


def sysfs_root_option(function: F) -> F:
    """Where a machine's own files are, when not at ``/``: of ``check``, ``measure`` and
    ``prove``.
    """
    option = click.option(
        "--sysfs-root",
        metavar="DIR",
        default="",
        callback=_folder_name,
        help="read ports and counters below DIR (a host's / in a container, a recorded tree); {host}: its name.",
    )
    decorated: F = option(function)
    return decorated


def _folder_name(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    if value and (not value.startswith("/") or not value.isprintable() or "/../" in f"{value}/"):
        raise click.BadParameter("give an absolute path, as it is on the hosts.")
    return value


def place_options(function: F) -> F:
    """Where the ranks run and what carries the messages."""
    parts = (
        click.option(
            "--lab",
            metavar="NAME",
            default=None,
            help="the virtual cluster that --hosts names nodes of.",
        ),
        click.option(
            "--virtual",
            is_flag=True,
            help="the hosts are namespaces or containers of one machine, on purpose.",
        ),
        click.option(
            "--scheduler",
            type=click.Choice(["auto", "none"]),
            default="auto",
            show_default=True,
            help="use the Slurm, PBS, LSF or Flux allocation that we run in, or none.",
        ),
        click.option(
            "--starter",
            type=click.Choice(["auto", "scheduler", "mpi"]),
            default="auto",
            show_default=True,
            help="in an allocation: what starts the ranks, the scheduler's launcher or the MPI's.",
        ),
        click.option(
            "--prefix",
            metavar="'CMD ARG...'",
            default="",
            help="site command that every rank is started through: modules, a container.",
        ),
    )
    chained: F = reduce(
        lambda inner, option: option(inner), reversed(parts), sysfs_root_option(function)
    )
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
    )(chained)


_JOB = {
    "partition": ("-p", "NAME", "partition (queue) of the job."),
    "time": ("-t", "H:MM:SS", "time limit of the job; default 10 minutes."),
    "account": ("-A", "NAME", "account that the job is charged to."),
    "qos": ("-q", "NAME", "quality of service."),
    "nodelist": ("-w", "NODES", "nodes that the job must have."),
    "exclude": ("-x", "NODES", "nodes that the job must not have."),
    "reservation": ("", "NAME", "reservation to run in."),
    "constraint": ("-C", "FEATURES", "features that the nodes must have."),
}


def job_options(function: F) -> F:
    """A job of our own: how many nodes and where. The words are the scheduler's."""
    parts: list[Decorator[F]] = [
        click.option(
            "--slurm", is_flag=True, help="get nodes from Slurm for the time of the check."
        ),
        click.option(
            "-N", "--nodes", type=click.IntRange(1, 100_000), metavar="N", help="nodes of that job."
        ),
    ]
    for name, (short, metavar, text) in _JOB.items():
        names = [*([short] if short else []), f"--{name}", f"job_{name}"]
        parts.append(click.option(*names, metavar=metavar, default="", help=text))
    parts.append(
        click.option(
            "--wait", "job_wait", metavar="TIME", default="", help="longest wait in the queue."
        )
    )
    chained: F = reduce(lambda inner, option: option(inner), reversed(parts), function)
    return chained


def link_options(function: F) -> F:
    """What is claimed about the link, and the table of physics that it is judged by."""
    parts = (
        click.option(
            "--mtu",
            type=click.IntRange(68, 65535),
            metavar="BYTES",
            help="MTU, when it cannot be read.",
        ),
        click.option(
            "--pcie", metavar="GENxLANES", default="", help="slot of the NIC, such as gen3x16."
        ),
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
        click.option(
            "--json", "json", is_flag=True, default=None, help="one JSON document on stdout."
        ),
        click.option(
            "--resume",
            is_flag=True,
            help="continue the run in --out: only missing points are measured.",
        ),
    )
    chained: F = reduce(lambda inner, option: option(inner), reversed(parts), function)
    return _declared(
        "out", "budget", "deadline", "seed", out="DIR", budget="1s", deadline="10min", seed="N"
    )(chained)


def settings_of(options: dict[str, Any]) -> Settings:
    """Typed settings from options, ``WIREPROOF_*`` and ``wireproof.toml`` in the working
    directory.
    """
    texts: dict[str, str | None] = {}
    for name in DECLARED:
        value = options.get(name)
        texts[name] = ("yes" if value else "no") if isinstance(value, bool) else value
    return resolve(texts, os.environ, settings_file())


def settings_file() -> dict[str, tuple[str, str]]:
    """The settings of ``wireproof.toml`` in the working directory; none when a run is resumed,
    which has its own.
    """
    context = click.get_current_context(silent=True)
    resumed = context is not None and (context.find_root().obj or {}).get("resumed", False)
    file = Path(FILE_NAME)
    return {} if resumed or not os.path.lexists(file) else read_file(file)
