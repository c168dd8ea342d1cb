"""From a recipe and a place to the steps that are printed and run: which command on which host."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

from wireproof.adapters import adapter
from wireproof.launch.known import MPIS
from wireproof.launch.mpi.environment import effective, psm3_variables
from wireproof.launch.mpi.install import MpiInstall
from wireproof.launch.programs.program import (
    find_tool,
    mpi_for,
    nominal_mpi,
    pinned,
    prepare_program,
    shell_line,
)
from wireproof.launch.programs.recipe import DRIVER_STEPS, Recipe
from wireproof.launch.programs.recipe_hpcc import hpcc_input
from wireproof.launch.request import LaunchCommand
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.tool import Role, ToolRequest
from wireproof.workflow.target.target import Target

__all__ = ["Asked", "Prepared", "Step", "prepare_run"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Asked:
    """What the user said beyond tool and place; None leaves it to the recipe; empty ``sizes`` to
    the program.
    """

    sizes: tuple[int, ...] | None = None
    iterations: int | None = None
    seconds: float | None = None
    pairs: int | None = None
    cpu: int | None = None
    port: int | None = None
    address: str = ""
    mpi: str = ""
    fabric: str = ""
    program: Path | None = None
    extra: tuple[str, ...] = ()
    dry: bool = False
    read_by_people: bool = True


@dataclasses.dataclass(frozen=True, kw_only=True)
class Step:
    """One command. ``host``: where it is started ("" = here); ``unset``: inherited variables that
    must not reach it.
    """

    role: Role
    host: str
    argv: tuple[str, ...]
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    unset: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """As it can be pasted into a shell."""
        return shell_line(self.argv, self.environment, self.unset)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Prepared:
    """The steps in the order in which they are started: a server before its client."""

    recipe: Recipe
    steps: tuple[Step, ...]
    program: Path | None
    install: MpiInstall | None = None
    command: LaunchCommand | None = None
    notes: tuple[str, ...] = ()
    root_steps: tuple[str, ...] = ()
    files: dict[str, str] = dataclasses.field(default_factory=dict)


def _tool_request(
    recipe: Recipe, asked: Asked, program: str, role: Role, place: Target
) -> ToolRequest:
    server = role == "server"
    nic = place.nics[0] if place.nics else ""
    return ToolRequest(
        program=program,
        benchmark=asked.fabric or recipe.benchmark
        if recipe.tool == "fi_pingpong"
        else recipe.benchmark,
        role=role,
        server=_address(asked, place) if role == "client" else "",
        port=asked.port,
        sizes=recipe.sizes if asked.sizes is None else asked.sizes,
        iterations=asked.iterations or recipe.iterations,
        seconds=asked.seconds or recipe.seconds,
        omit_seconds=recipe.omit_seconds,
        socket_buffer_bytes=recipe.socket_buffer_bytes,
        cpu=asked.cpu if recipe.pins_itself else None,
        device=nic if recipe.rdma else "",
        rdma_cm=recipe.rdma_cm,
        extra=recipe.server_extra if server else (*recipe.client_extra, *asked.extra),
    )


def _address(asked: Asked, place: Target) -> str:
    """Where the client finds the server: on the claimed network where that is known."""
    if asked.address:
        return asked.address
    if len(place.addresses) > 1:
        return place.addresses[1]
    return place.hosts[1] if place.hosts else "127.0.0.1"


def _missing(recipe: Recipe) -> CouldNotMeasure:
    return CouldNotMeasure(
        f"{recipe.program} was not found: {recipe.install}; --dry-run shows the command without it."
    )


def _root_steps(recipe: Recipe, place: Target) -> tuple[str, ...]:
    """Omni-Path's drivers, where the link or the adapter is Omni-Path's, or where nobody says what
    it is.
    """
    if not recipe.rdma_cm:
        return recipe.root_steps
    device = place.nics[0] if place.nics else ""
    omnipath = (
        place.link.protocol == "omnipath" if place.link else not device or device.startswith("hfi1")
    )
    return (*recipe.root_steps, *DRIVER_STEPS) if omnipath else recipe.root_steps


def _provider(recipe: Recipe, asked: Asked, place: Target) -> dict[str, str]:
    """PSM3's own variables for a program that libfabric, and no MPI, starts on it."""
    if recipe.tool != "fi_pingpong" or asked.fabric != "psm3":
        return {}
    nic = place.nics[0] if place.nics else ""
    return {name: value for name, value in psm3_variables(nic).items() if name != "FI_PROVIDER"}


def _for_people(recipe: Recipe, asked: Asked, argv: tuple[str, ...]) -> tuple[str, ...]:
    """iperf3's JSON runs to hundreds of lines; its table in Mb/s has digits enough."""
    if recipe.tool != "iperf3" or "-J" not in argv or not asked.read_by_people:
        return argv
    at = argv.index("-J")
    return (*argv[:at], "-f", "m", *argv[at + 1 :])


def _pair(recipe: Recipe, asked: Asked, place: Target) -> Prepared:
    if asked.pairs not in (None, 1):
        raise BadInput(
            f"{recipe.program} is one pair of processes: --pairs is for programs that an MPI starts."
        )
    program = find_tool(recipe.program, given=asked.program)
    if program is None and not asked.dry:
        raise _missing(recipe)
    # By its plain name on the other host: its PATH need not be ours.
    name = str(program) if asked.program else recipe.program
    build = adapter(recipe.tool).argv
    client, server = (place.hosts[0], place.hosts[1]) if place.hosts else ("", "")
    around = (
        ("taskset", "-c", str(asked.cpu))
        if asked.cpu is not None and not recipe.pins_itself
        else ()
    )
    ends: tuple[tuple[Role, str], ...] = (("server", server), ("client", client))
    steps = tuple(
        Step(
            role=role,
            host=host,
            argv=(
                *around,
                *_for_people(recipe, asked, build(_tool_request(recipe, asked, name, role, place))),
            ),
            environment=_provider(recipe, asked, place),
        )
        for role, host in ends
    )
    notes = []
    if place.hosts and not asked.address and not place.addresses:
        notes.append(
            f"the client talks to {place.hosts[1]}: if that name leads to the management network, give the address on"
            " the fabric with --address"
        )
    if asked.cpu is None and place.hosts and place.lab is None:
        notes.append(
            "no core was chosen: give --cpu N, a core of the NIC's socket that serves no interrupts"
        )
    return Prepared(
        recipe=recipe,
        steps=steps,
        program=program,
        notes=tuple(notes),
        root_steps=_root_steps(recipe, place),
    )


def _found(recipe: Recipe, asked: Asked) -> tuple[Path | None, MpiInstall]:
    """The program and the MPI that starts it; when they are only read about, their plain names."""
    program = find_tool(recipe.program, given=asked.program)
    if program is None and (asked.mpi or recipe.family):
        try:
            beside = mpi_for(recipe, None, asked.mpi)
        except CouldNotMeasure:
            if not asked.dry:
                raise
            return None, nominal_mpi(asked.mpi, recipe.family)
        return find_tool(recipe.program, launcher=beside.launcher), beside
    if program is None:
        return None, nominal_mpi(asked.mpi, recipe.family)
    return program, mpi_for(recipe, program, asked.mpi)


def _rank_hosts(place: Target, pairs: int) -> dict[str, object]:
    """``pairs`` ranks per host, host by host, so that rank i of the first half has its peer on
    another host.
    """
    if not place.hosts:
        return {"ranks": max(2, 2 * pairs)}
    hosts = tuple(host for host in place.start_on for _ in range(pairs))
    nics = tuple(nic for nic in place.nics for _ in range(pairs))
    return {
        "hosts": hosts,
        "nics": nics,
        "machine_ranks": len(hosts) if place.lab is not None else 0,
    }


def _ranks(recipe: Recipe, asked: Asked, place: Target, folder: str) -> Prepared:
    program, install = _found(recipe, asked)
    if program is None and not asked.dry:
        raise _missing(recipe)
    # On one machine many pairs would only wait for each other.
    pairs = asked.pairs or (recipe.pairs if place.hosts else 1)
    name = str(program) if program else recipe.program
    words = list(adapter(recipe.tool).argv(_tool_request(recipe, asked, name, "rank", place)))
    extra: dict[str, str] = {}
    if pairs == 1 and place.hosts:
        words, extra = pinned(words, asked.cpu, install.family, lab=place.lab is not None)
    wishes = _rank_hosts(place, pairs)
    command = prepare_program(
        install,
        words,
        fabric=asked.fabric,
        environment=extra,
        agent=place.agent,
        root=os.geteuid() == 0,
        # A wire test must not have shared memory to fall into; several ranks of a ring on one host
        # need it.
        shared_memory=False if place.hosts and recipe.result_file == "" else None,
        folder=folder,
        windows=recipe.one_sided,
        **wishes,
    )
    unset = tuple(sorted(name for name in os.environ if name not in effective(command, os.environ)))
    step = Step(
        role="rank", host="", argv=command.argv, environment=command.environment, unset=unset
    )
    processes = len(place.hosts) * pairs if place.hosts else max(2, 2 * pairs)
    return Prepared(
        recipe=recipe,
        steps=(step,),
        program=program,
        install=install,
        command=command,
        notes=(*command.notes, *_notes(recipe, asked, place, install, pairs)),
        root_steps=_root_steps(recipe, place),
        files={recipe.input_file: hpcc_input(processes)} if recipe.input_file else {},
    )


def _notes(
    recipe: Recipe, asked: Asked, place: Target, install: MpiInstall, pairs: int
) -> list[str]:
    notes = []
    mpi = MPIS[install.family]
    if recipe.one_sided and mpi.windows_over_tcp and asked.fabric in ("", "tcp"):
        notes.append(mpi.windows_over_tcp)
    if place.hosts and not place.nics:
        notes.append("no --nic was given: the MPI chooses the interface, or stripes over several")
    if place.hosts and mpi.without_fabric and not asked.fabric:
        notes.append(f"no --fabric was given: {mpi.without_fabric}")
    if place.hosts and place.lab is None and pairs == 1 and asked.cpu is None:
        notes.append("no core was chosen: give --cpu N, a core of the NIC's socket")
    if not place.hosts:
        notes.append("no --hosts: the ranks share this machine, so nothing is measured of a wire")
    return notes


def prepare_run(recipe: Recipe, asked: Asked, place: Target, folder: str = "") -> Prepared:
    """The steps of ``recipe`` in ``place``. ``folder``: where a program that reads and writes files
    works.

    Raises BadInput for what the tool cannot do and CouldNotMeasure when a program or an MPI is
    missing.
    """
    prepared = _steps(recipe, asked, place, folder)
    if place.lab is None or not asked.dry:
        return prepared
    node = place.hosts[0] if recipe.shape == "ranks" else "NODE"
    inside = (
        f"these run inside the lab's nodes: wireproof lab exec {place.lab.name} {node} -- COMMAND"
    )
    return dataclasses.replace(prepared, notes=(inside, *prepared.notes))


def _steps(recipe: Recipe, asked: Asked, place: Target, folder: str) -> Prepared:
    if place.hosts and len(place.hosts) != 2 and (recipe.shape == "pair" or recipe.two_ranks):
        raise BadInput(
            f"{recipe.program} runs between two hosts, not {len(place.hosts)}: give two with --hosts."
        )
    if recipe.two_ranks and asked.pairs not in (None, 1):
        raise BadInput(
            f"{recipe.program} takes two ranks: --pairs is for osu_mbw_mr, IMB, HPCC and collectives."
        )
    if recipe.shape == "pair":
        return _pair(recipe, asked, place)
    return _ranks(recipe, asked, place, folder)
