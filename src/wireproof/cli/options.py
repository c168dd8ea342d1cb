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

from wireproof.cli.completion import hosts, labs, links, nics
from wireproof.cli.console import Console
from wireproof.cli.context import current_context
from wireproof.cli.declare import choice, file, flag, number, setting, text
from wireproof.settings.resolve import DECLARED, FILE_NAME, Settings, misspelt, read_file, resolve

if TYPE_CHECKING:
    from wireproof.workflow.specification import Method, Storage
    from wireproof.workflow.target.resolve import TargetSpecification

__all__ = [
    "JOB",
    "JUDGED_BY",
    "LINK",
    "MACHINES",
    "OUTPUT",
    "PSM_STATISTICS",
    "SYSFS_ROOT",
    "TARGET",
    "folder_name",
    "link_claim",
    "method_of",
    "settings_file",
    "settings_of",
    "storage_of",
    "target_specification",
]


def folder_name(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    """An absolute path of the hosts, or "". Raises ``BadParameter``."""
    if value and (not value.startswith("/") or not value.isprintable() or "/../" in f"{value}/"):
        raise click.BadParameter("give an absolute path, as it is on the hosts.")
    return value


SYSFS_ROOT = text(
    "--sysfs-root",
    "DIR",
    "read ports and counters below DIR (a host's / in a container, a recorded tree);"
    " {host}: its name.",
    callback=folder_name,
)
PSM_STATISTICS = flag(
    "--psm-statistics",
    "PSM3's own counters as a second witness: written into a private folder here, which all hosts"
    " must see, and removed.",
)
TARGET: tuple[click.Parameter, ...] = (
    setting("hosts", "N1,N2|N[1-4]", shell_complete=hosts),
    setting("mpi", "PATH|NAME"),
    setting("transport", "mpi|tcp|ofi|null|model"),
    setting("provider", "tcp|shm|psm3|..."),
    setting("libfabric", "PATH"),
    setting("messages", "tagged|msg"),
    setting("completion", "transmit|delivery"),
    setting("exchange", "meeting|mpi"),
    setting("fabric", "tcp|verbs|psm3|..."),
    setting("nic", "NAME", shell_complete=nics),
    setting("nic_selection", "claimed|none"),
    setting("launcher", "ssh|PATH"),
    text(
        "--lab",
        "NAME",
        "the virtual cluster that --hosts names nodes of.",
        default=None,
        shell_complete=labs,
    ),
    flag("--virtual", "the hosts are namespaces or containers of one machine, on purpose."),
    choice(
        "--scheduler",
        ["auto", "none"],
        "use the Slurm, PBS, LSF or Flux allocation that we run in, or none.",
        default="auto",
    ),
    choice(
        "--starter",
        ["auto", "scheduler", "mpi"],
        "in an allocation: what starts the ranks, the scheduler's launcher or the MPI's.",
        default="auto",
    ),
    text(
        "--prefix",
        "'CMD ARG...'",
        "site command that every rank is started through: modules, a container.",
    ),
    SYSFS_ROOT,
)
"""Where the ranks run and what carries the messages."""

JOB: tuple[click.Parameter, ...] = (
    flag("--slurm", "get nodes from Slurm for the time of the check."),
    number("-N --nodes", 1, 100_000, "nodes of that job."),
    text("-p --partition job_partition", "NAME", "partition (queue) of the job."),
    text("-t --time job_time", "H:MM:SS", "time limit of the job; default 10 minutes."),
    text("-A --account job_account", "NAME", "account that the job is charged to."),
    text("--qos job_qos", "NAME", "quality of service."),
    text("-w --nodelist job_nodelist", "NODES", "nodes that the job must have."),
    text("-x --exclude job_exclude", "NODES", "nodes that the job must not have."),
    text("--reservation job_reservation", "NAME", "reservation to run in."),
    text("-C --constraint job_constraint", "FEATURES", "features that the nodes must have."),
    text("--wait job_wait", "TIME", "longest wait in the queue."),
)
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

LINK: tuple[click.Parameter, ...] = (
    setting("link", "10gbe|edr|opa100|...", shell_complete=links),
    number("--mtu", 68, 65535, "MTU, when it cannot be read.", metavar="BYTES"),
    text("--pcie", "GENxLANES", "slot of the NIC, such as gen3x16."),
    file("--physics", "TOML file that overrides constants of the limits.", must_exist=True),
)
"""What is claimed about the link, and the table of physics that it is judged by."""

JUDGED_BY: tuple[click.Parameter, ...] = (*LINK, setting("atlas", "DIR"))
"""The same, and what others have published beside it."""

OUTPUT: tuple[click.Parameter, ...] = (
    setting("out", "DIR"),
    setting("history", "DIR"),
    setting("budget", "1s"),
    setting("deadline", "10min"),
    setting("seed", "N"),
    flag("--json", "one JSON document on stdout.", default=None),
    flag("--resume", "continue the run in --out: only missing points are measured."),
)
"""Where the result goes, and how long it takes."""


def link_claim(about: str) -> tuple[click.Parameter, ...]:
    """A link of any kind and rate, where results are held against it; ``about``: what it is."""
    return (
        text("--link", "[Nx]KIND[:GBPS]", about, default=None, shell_complete=links),
        number("--mtu", 68, 65535, "MTU of the link.", metavar="BYTES"),
        text("--pcie", "GENxLANES", "slot of the NIC, such as gen3x16."),
    )


def settings_of(options: Mapping[str, Any]) -> Settings:
    """Typed settings from options, ``WIREPROOF_*`` and ``wireproof.toml`` in the working
    directory.
    """
    _warn_of(tuple(misspelt(current_context().environment)))
    texts: dict[str, str | None] = {}
    for name in DECLARED:
        value = options.get(name)
        texts[name] = ("yes" if value else "no") if isinstance(value, bool) else value
    found = resolve(texts, current_context().environment, settings_file())
    if "json" in options:
        current_context().answer.wanted |= found.json.value
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


def target_specification(
    settings: Settings, options: Mapping[str, Any], *, alone: bool = False
) -> TargetSpecification:
    """The target that ``TARGET`` and the settings name. ``alone``: one host is enough."""
    from wireproof.workflow.target.resolve import TargetSpecification, prefix_of

    return TargetSpecification.from_settings(
        settings,
        mtu=options["mtu"],
        pcie=options["pcie"],
        lab=options["lab"],
        use_allocation=options["scheduler"] == "auto",
        starter=options["starter"],
        prefix=prefix_of(options["prefix"]),
        virtual=options["virtual"],
        sysfs_root=options["sysfs_root"],
        alone=alone,
    )


def method_of(settings: Settings, options: Mapping[str, Any]) -> Method:
    """The means of measuring that the settings, ``--physics`` and ``--model`` choose."""
    from wireproof.settings.model_world import model_of
    from wireproof.settings.physics_table import read_table
    from wireproof.workflow.atlas import site_folder
    from wireproof.workflow.specification import Method

    site = site_folder(settings.atlas.value, current_context().environment)
    world = options["model_world"] if settings.transport.value == "model" else None
    method = Method.from_settings(
        settings, table=read_table(options["physics"]), model=model_of(world) if world else None
    )
    return dataclasses.replace(method, site=site)


def storage_of(settings: Settings, options: Mapping[str, Any], *, kept: bool) -> Storage:
    """Where the records go, by ``--out`` and ``--resume``."""
    from wireproof.cli.typed import typed_words
    from wireproof.workflow.history.keep import storage_folder
    from wireproof.workflow.specification import Storage

    history = settings.history.value if kept else None
    return Storage(
        folder=storage_folder(settings.out.value, history),
        history=history,
        kept=kept,
        resume=options["resume"],
        may_change_mode=settings.out.origin != "file",
        command=typed_words(),
    )
