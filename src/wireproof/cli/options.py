"""Options that several subcommands share, and the typed values that they become: nothing below the
command line sees their texts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from wireproof.cli.context import current_context
from wireproof.model.errors import BadInput
from wireproof.settings.resolve import DECLARED, FILE_NAME, Settings, read_file, resolve

if TYPE_CHECKING:
    from wireproof.launch.schedulers.slurm_job import JobRequest
    from wireproof.workflow.specification import Method
    from wireproof.workflow.target.resolve import TargetSpecification

__all__ = [
    "job_options",
    "job_request",
    "link_options",
    "method_of",
    "output_options",
    "place_options",
    "settings_file",
    "settings_of",
    "sysfs_root_option",
    "target_specification",
]

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[F], F]
DEFAULT_LIMIT_S = 600.0
LONGEST_WAIT_S = 3600.0


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
        help="read ports and counters below DIR (a host's / in a container, a recorded tree);"
        " {host}: its name.",
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


def settings_of(options: Mapping[str, Any]) -> Settings:
    """Typed settings from options, ``WIREPROOF_*`` and ``wireproof.toml`` in the working
    directory.
    """
    texts: dict[str, str | None] = {}
    for name in DECLARED:
        value = options.get(name)
        texts[name] = ("yes" if value else "no") if isinstance(value, bool) else value
    return resolve(texts, current_context().environment, settings_file())


def settings_file() -> dict[str, tuple[str, str]]:
    """The settings of ``wireproof.toml`` in the working directory; none when a run is resumed,
    which has its own.
    """
    file = Path(FILE_NAME)
    return {} if current_context().resumed or not os.path.lexists(file) else read_file(file)


def target_specification(settings: Settings, options: Mapping[str, Any]) -> TargetSpecification:
    """The target that ``place_options`` and the settings name."""
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
    )


def method_of(settings: Settings, options: Mapping[str, Any]) -> Method:
    """The means of measuring that the settings, ``--physics`` and ``--model`` choose."""
    from wireproof.settings.model_world import model_of
    from wireproof.settings.physics_table import read_table
    from wireproof.workflow.specification import Method

    world = options["model_world"] if settings.transport.value == "model" else None
    return Method.from_settings(
        settings, table=read_table(options["physics"]), model=model_of(world) if world else None
    )


def job_request(options: Mapping[str, Any]) -> JobRequest:
    """What ``job_options`` ask for. Raises ``BadInput`` when not even a number of nodes was
    given.
    """
    from wireproof.launch.schedulers.slurm_job import JobRequest
    from wireproof.settings.durations import parse_duration, time_limit_s
    from wireproof.settings.hosts import parse_hosts

    nodes, named = options["nodes"], options["job_nodelist"]
    if nodes is None and not named:
        raise BadInput("--slurm needs -N (how many nodes), or --nodelist (which).")
    hosts = parse_hosts(named) if named else ()
    if (nodes or len(hosts)) == 1:
        raise BadInput("one node has nobody to talk to: ask for two or more with -N.")
    limit, wait, exclude = options["job_time"], options["job_wait"], options["job_exclude"]
    return JobRequest(
        nodes=nodes or len(hosts),
        partition=options["job_partition"],
        limit_s=time_limit_s(limit) if limit else DEFAULT_LIMIT_S,
        account=options["job_account"],
        qos=options["job_qos"],
        hosts=hosts,
        exclude=parse_hosts(exclude) if exclude else (),
        reservation=options["job_reservation"],
        constraint=options["job_constraint"],
        wait_s=parse_duration(wait) if wait else LONGEST_WAIT_S,
    )
