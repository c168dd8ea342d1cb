"""Turn a benchmark's specification into the steps that are printed and run: a command and its host
for each.
"""

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wireproof.launch.command import (
    find_tool,
    mpi_for,
    nominal_mpi,
    pinned,
    prepare_program,
    shell_line,
)
from wireproof.launch.engines import MpiInstall
from wireproof.launch.known import MPIS
from wireproof.launch.mpi.environment import effective, psm3_variables
from wireproof.launch.recipe import DRIVER_STEPS, BenchmarkRecipe, hpcc_input
from wireproof.launch.registry import LaunchCommand
from wireproof.logs.readers import adapter
from wireproof.model.claim import is_several
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.series import Role
from wireproof.target import Target
from wireproof.watch.benchmark_document import BenchmarkStep
from wireproof.watch.specification import BenchmarkSpecification


def step_of(
    role: Role,
    host: str,
    argv: tuple[str, ...],
    environment: Mapping[str, str],
    unset: tuple[str, ...] = (),
) -> BenchmarkStep:
    """Return the command with its line for a shell."""
    variables, line = dict(environment), shell_line(argv, environment, unset)
    return BenchmarkStep(
        role=role, host=host, argv=argv, environment=variables, unset=unset, line=line
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class PreparedSteps:
    """The steps in the order in which they are started: a server before its client."""

    wanted: BenchmarkSpecification
    steps: tuple[BenchmarkStep, ...]
    program: Path | None
    install: MpiInstall | None = None
    command: LaunchCommand | None = None
    notes: tuple[str, ...] = ()
    root_steps: tuple[str, ...] = ()
    files: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def recipe(self) -> BenchmarkRecipe:
        return self.wanted.recipe

    @property
    def title(self) -> str:
        """Return a title such as ``IMB-P2P PingPong under Intel MPI over psm3``."""
        recipe, install = self.recipe, self.install
        name = recipe.program
        if recipe.benchmark != recipe.program:
            name += f" {recipe.benchmark}"
        if install is not None:
            name += f" under {install.version or MPIS[install.family].title}"
        return f"{name} over {self.wanted.fabric}" if self.wanted.fabric else name


def prepare_steps(
    wanted: BenchmarkSpecification, environment: Mapping[str, str], folder: str = ""
) -> PreparedSteps:
    """Return the steps of the recipe on its target.

    ``folder``: working folder of a program that reads and writes files.

    Raises ``BadInput`` if the tool cannot do what the options request, ``CouldNotMeasure`` if a
    program or an MPI is missing.
    """
    recipe, target = wanted.recipe, wanted.target
    _check(wanted)
    if recipe.shape == "pair":
        prepared = _pair(wanted, environment)
    else:
        prepared = _ranks(wanted, environment, folder)
    if target.lab is None or not wanted.dry:
        return prepared
    node = target.hosts[0] if recipe.shape == "ranks" else "NODE"
    inside = (
        f"these commands run inside the lab's nodes: wireproof lab exec {target.lab.name} "
        f"{node} -- COMMAND"
    )
    return dataclasses.replace(prepared, notes=(inside, *prepared.notes))


def _check(wanted: BenchmarkSpecification) -> None:
    recipe, hosts = wanted.recipe, wanted.target.hosts
    if hosts and len(hosts) != 2 and (recipe.shape == "pair" or recipe.two_ranks):
        raise BadInput(
            f"{recipe.program} runs between two hosts, not {len(hosts)}: give two with --hosts."
        )
    if recipe.shape == "pair" and is_several(wanted.nic):
        raise BadInput(
            f"{recipe.program} uses one NIC on each host, not {wanted.nic}: give one NIC, or a"
            " program that an MPI starts."
        )
    if wanted.pairs in (None, 1):
        return
    if recipe.two_ranks:
        raise BadInput(
            f"{recipe.program} takes exactly two ranks:"
            " --pairs is for osu_mbw_mr, IMB, HPCC and collectives."
        )
    if recipe.shape == "pair":
        raise BadInput(
            f"{recipe.program} is one pair of processes:"
            " --pairs is for programs that an MPI starts."
        )


def _missing(recipe: BenchmarkRecipe) -> CouldNotMeasure:
    return CouldNotMeasure(
        f"{recipe.program} was not found: {recipe.install}; --dry-run shows the command without it."
    )


def _root_steps(wanted: BenchmarkSpecification) -> tuple[str, ...]:
    """Return the steps for root; they include Omni-Path's driver steps if the link or the NIC is
    Omni-Path or unknown.
    """
    recipe, link = wanted.recipe, wanted.target.link
    if not recipe.rdma_cm:
        return recipe.root_steps
    if link is not None:
        omnipath = link.protocol == "omnipath"
    else:
        omnipath = not wanted.nic or wanted.nic.startswith("hfi1")
    return (*recipe.root_steps, *DRIVER_STEPS) if omnipath else recipe.root_steps


# --- a server and a client


def _pair(wanted: BenchmarkSpecification, environment: Mapping[str, str]) -> PreparedSteps:
    recipe, hosts = wanted.recipe, wanted.target.hosts
    program = find_tool(recipe.program, given=wanted.program, environment=environment)
    if program is None and not wanted.dry:
        raise _missing(recipe)
    # By its plain name, because the program may be in another folder on the other host.
    name = str(program) if wanted.program else recipe.program
    client, server = hosts if hosts else ("", "")
    ends: tuple[tuple[Role, str], ...] = (("server", server), ("client", client))
    return PreparedSteps(
        wanted=wanted,
        steps=tuple(
            step_of(role, host, _end_argv(wanted, name, role), _provider(wanted))
            for role, host in ends
        ),
        program=program,
        notes=tuple(_pair_notes(wanted)),
        root_steps=_root_steps(wanted),
    )


def _end_argv(wanted: BenchmarkSpecification, program: str, role: Role) -> tuple[str, ...]:
    recipe = wanted.recipe
    argv = adapter(recipe.tool).argv(wanted.tool_request(program, role))
    if recipe.tool == "iperf3" and "-J" in argv and wanted.read_by_people:
        # Its JSON has hundreds of lines; its table in Mb/s has enough digits.
        at = argv.index("-J")
        argv = (*argv[:at], "-f", "m", *argv[at + 1 :])
    if wanted.cpu is not None and not recipe.pins_itself:
        return ("taskset", "-c", str(wanted.cpu), *argv)
    return tuple(argv)


def _provider(wanted: BenchmarkSpecification) -> dict[str, str]:
    """Return PSM3's variables for a program that uses it through libfabric without an MPI."""
    if wanted.recipe.tool != "fi_pingpong" or wanted.fabric != "psm3":
        return {}
    variables = psm3_variables(wanted.nic)
    return {name: value for name, value in variables.items() if name != "FI_PROVIDER"}


def _pair_notes(wanted: BenchmarkSpecification) -> list[str]:
    target, notes = wanted.target, []
    if target.hosts and not wanted.address and not target.addresses:
        notes.append(
            f"the client talks to {target.hosts[1]}: if that name resolves to the management"
            " network, give the address on the fabric with --address"
        )
    if wanted.cpu is None and target.hosts and target.lab is None:
        notes.append(
            "no core was chosen: give --cpu N, a core of the NIC's socket that serves no interrupts"
        )
    return notes


# --- ranks that an MPI starts


def _ranks(
    wanted: BenchmarkSpecification, environment: Mapping[str, str], folder: str
) -> PreparedSteps:
    recipe, target = wanted.recipe, wanted.target
    program, install = _program_and_mpi(wanted, environment)
    if program is None and not wanted.dry:
        raise _missing(recipe)
    # On one machine many pairs would only wait for each other.
    pairs = wanted.pairs or (recipe.pairs if target.hosts else 1)
    command = _rank_command(wanted, program, install, pairs, folder)
    kept = effective(command, environment)
    unset = tuple(sorted(name for name in environment if name not in kept))
    processes = len(target.hosts) * pairs if target.hosts else max(2, 2 * pairs)
    return PreparedSteps(
        wanted=wanted,
        steps=(step_of("rank", "", command.argv, command.environment, unset),),
        program=program,
        install=install,
        command=command,
        notes=(*command.notes, *_rank_notes(wanted, install, pairs)),
        root_steps=_root_steps(wanted),
        files={recipe.input_file: hpcc_input(processes)} if recipe.input_file else {},
    )


def _program_and_mpi(
    wanted: BenchmarkSpecification, environment: Mapping[str, str]
) -> tuple[Path | None, MpiInstall]:
    """Return the program and the MPI that starts it; a dry run without them gets their plain
    names."""
    recipe = wanted.recipe
    program = find_tool(recipe.program, given=wanted.program, environment=environment)
    if program is not None:
        return program, mpi_for(recipe, program, wanted.mpi)
    if not (wanted.mpi or recipe.family):
        return None, nominal_mpi(wanted.mpi, recipe.family)
    try:
        beside = mpi_for(recipe, None, wanted.mpi)
    except CouldNotMeasure:
        if not wanted.dry:
            raise
        return None, nominal_mpi(wanted.mpi, recipe.family)
    found = find_tool(recipe.program, launcher=beside.launcher, environment=environment)
    return found, beside


def _rank_command(
    wanted: BenchmarkSpecification,
    program: Path | None,
    install: MpiInstall,
    pairs: int,
    folder: str,
) -> LaunchCommand:
    recipe, target = wanted.recipe, wanted.target
    name = str(program) if program else recipe.program
    words = list(adapter(recipe.tool).argv(wanted.tool_request(name, "rank")))
    variables: dict[str, str] = {}
    if pairs == 1 and target.hosts:
        words, variables = pinned(words, wanted.cpu, install.family, lab=target.lab is not None)
    return prepare_program(
        install,
        words,
        fabric=wanted.fabric,
        environment=variables,
        **_rank_hosts(target, pairs),
        agent=target.agent,
        root=os.geteuid() == 0,
        # A wire test must not fall back to shared memory; but several ranks of a ring on one host
        # need it.
        shared_memory=False if target.hosts and recipe.result_file == "" else None,
        folder=folder,
        windows=recipe.one_sided,
    )


def _rank_hosts(target: Target, pairs: int) -> dict[str, Any]:
    """Return ``pairs`` ranks per host, host by host, so that each rank of the first half has its
    peer on another host.
    """
    if not target.hosts:
        return {"ranks": max(2, 2 * pairs)}
    hosts = tuple(host for host in target.start_on for _ in range(pairs))
    nics = tuple(nic for nic in target.nics for _ in range(pairs))
    return {
        "hosts": hosts,
        "nics": nics,
        "machine_ranks": len(hosts) if target.lab is not None else 0,
    }


def _rank_notes(wanted: BenchmarkSpecification, install: MpiInstall, pairs: int) -> list[str]:
    target, mpi, notes = wanted.target, MPIS[install.family], []
    if wanted.recipe.one_sided and mpi.windows_over_tcp and wanted.fabric in ("", "tcp"):
        notes.append(mpi.windows_over_tcp)
    if not target.hosts:
        return [
            *notes,
            "--hosts was not given: the ranks share this machine, so no wire is measured",
        ]
    if not target.nics:
        notes.append("no --nic was given: the MPI chooses the interface, or stripes over several")
    if mpi.without_fabric and not wanted.fabric:
        notes.append(f"no --fabric was given: {mpi.without_fabric}")
    if target.lab is None and pairs == 1 and wanted.cpu is None:
        notes.append("no core was chosen: give --cpu N, a core of the NIC's socket")
    return notes
