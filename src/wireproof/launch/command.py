"""Convert a launch request to a command: the entry point for the rest of the program. The request
starts the engine, or any other program.
"""

import dataclasses
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from wireproof.launch.engines import EngineChoice, Family, MpiInstall, choose_engine, find_engine
from wireproof.launch.known import MPIS, SCHEDULERS
from wireproof.launch.mpi.discovery import (
    FAMILIES,
    choose_mpi,
    find_mpis,
    parameters_in_files,
)
from wireproof.launch.mpi.environment import clearings, effective, inherited
from wireproof.launch.mpi.hydra import sockets
from wireproof.launch.mpi.identify import read_needed
from wireproof.launch.mpi.rails import one_nic_only
from wireproof.launch.registry import Fabric, LaunchCommand, LaunchRequest, Netmod
from wireproof.model.claim import is_several
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.plan import TransportKind
from wireproof.model.run import Provenance
from wireproof.model.secrets import masked
from wireproof.version import version

if TYPE_CHECKING:
    from wireproof.launch.recipe import BenchmarkRecipe

_CONTAINERS = (
    "apptainer",
    "singularity",
    "podman",
    "docker",
    "enroot",
    "ch-run",
    "shifter",
    "sarus",
)


def engine_for(transport: TransportKind, install: MpiInstall | None) -> EngineChoice:
    """Return the engine program that ``transport`` needs. Raise ``CouldNotMeasure`` if it does not
    exist.
    """
    if transport == "mpi":
        if install is None:
            raise BadInput("the transport mpi needs an MPI.")
        engine = choose_engine(install)
        return dataclasses.replace(engine, expect=MPIS[install.family].library_says)
    return EngineChoice(abi="nompi", path=find_engine("nompi"))


def check_prefix(prefix: tuple[str, ...]) -> None:
    """Raise ``BadInput`` for a prefix that cannot be used.

    Launchers parse options up to the program's name, and for Hydra and Open MPI a ``:`` starts
    another program.
    """
    for word in prefix:
        if not word or word == ":" or not word.isprintable():
            raise BadInput(
                f"--prefix: {word[:40]!r} is not allowed in the command through which the ranks"
                " are started."
            )
    if prefix and prefix[0].startswith("-"):
        raise BadInput(f"--prefix begins with the option {prefix[0][:40]}: put a program first.")


def _noted(command: LaunchCommand, request: LaunchRequest) -> LaunchCommand:
    if not request.prefix:
        return command
    note = f"ranks are started through {' '.join(request.prefix)}"[:300]
    if PurePath(request.prefix[0]).name in _CONTAINERS:
        inside = request.program[0] if request.program else request.engine.path
        note += f"; {inside} and the MPI's library must exist inside the container at the same path"
    return dataclasses.replace(command, notes=(*command.notes, note))


def build_command(transport: TransportKind, request: LaunchRequest) -> LaunchCommand:
    """Return the command of ``request``. Pure; raise ``BadInput`` for a request that no launcher
    can fulfil.
    """
    check_prefix(request.prefix)
    return _noted(_built(transport, request), request)


def _built(transport: TransportKind, request: LaunchRequest) -> LaunchCommand:
    if transport in ("null", "model"):
        # a single process simulates all ranks: no launcher
        return request.started(
            "none", request.rank_argv, dict(request.extra), clear=clearings(None)
        )
    _check_ranks(request)
    scheduler = SCHEDULERS.get(request.scheduler) if request.hosts else None
    if transport in ("tcp", "ofi"):
        _check_rails(transport, request)
        # Inside a job ssh may be missing; elsewhere any Hydra starts the processes.
        return (scheduler.build if scheduler and scheduler.sockets else sockets)(request)
    if request.install is None:
        raise BadInput("the transport mpi needs an MPI.")
    return (scheduler or MPIS[request.install.family]).build(request)


def _check_ranks(request: LaunchRequest) -> None:
    if request.nics and len(request.nics) != request.size:
        raise BadInput(
            f"{len(request.nics)} NICs were given for {request.size} ranks: give one for each"
            " rank, or one for all."
        )
    if request.size < 2:
        raise BadInput(
            "a measurement between ranks needs at least two: give two hosts, or two ranks."
        )


def _check_rails(transport: TransportKind, request: LaunchRequest) -> None:
    """Raise ``BadInput`` if several NICs are requested without an MPI, unless the
    provider is PSM3.
    """
    several = next((nic for nic in request.nics if is_several(nic)), "")
    if several and request.fabric != "psm3":
        what = "the transport tcp" if transport == "tcp" else "libfabric without an MPI"
        raise one_nic_only(what, several)


def request_for(
    transport: TransportKind, install: MpiInstall | None, **wishes: Any
) -> LaunchRequest:
    """Choose the engine, and add the number of this machine's cores and whether the user is root.

    ``wishes``: further fields of ``LaunchRequest``.
    """
    request = LaunchRequest(
        engine=engine_for(transport, install),
        install=install,
        root=os.geteuid() == 0,
        cores=len(os.sched_getaffinity(0)),
    )
    return dataclasses.replace(request, **wishes)


def prepare(transport: TransportKind, install: MpiInstall | None, **wishes: Any) -> LaunchCommand:
    """Return the command of ``request_for``."""
    return build_command(transport, request_for(transport, install, **wishes))


def provenance(command: LaunchCommand, install: MpiInstall | None) -> Provenance:
    """Return the provenance of the run's start: argv, the variables that wireproof sets, and the
    user's variables and parameter files that stay in force. Raise ``BadInput`` if other users
    control such a file.
    """
    notes = list(command.notes)
    kept = inherited(command, os.environ)
    if kept:
        notes.append(
            "inherited: "
            + ", ".join(masked(f"{name}={value}") for name, value in sorted(kept.items()))
        )
    set_here = effective(command, os.environ)
    for path, values in parameters_in_files(install, set_here) if install else ():
        left = (f"{name}={value}" for name, value in values.items() if name not in set_here)
        if text := ", ".join(map(masked, left)):
            notes.append(f"{path.absolute()} sets {text}")
    return Provenance(
        wireproof=version(),
        mpi=f"{install.version} ({install.library})" if install else "",
        engine=str(command.engine),
        argv=list(command.argv),
        environment=dict(command.environment),
        launcher=command.launcher,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        notes=notes,
    )


# --- Any program under an MPI: its path, the MPI with which it was built, and its command.


_PREFIXES = ("", "mpitests-")  # Red Hat's package mpitests-* installs OSU and IMB under such names
_MOST_FOLDERS = 3000
_SYSTEM = ("/lib", "/usr/lib", "/lib64", "/usr/lib64")


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _below(root: Path, names: tuple[str, ...]) -> Path | None:
    """Return the first program with one of these names in or below a folder; the search is bounded
    and starts with the nearest folders.
    """
    waiting, seen = [root], 0
    while waiting and seen < _MOST_FOLDERS:
        folder = waiting.pop(0)
        seen += 1
        for name in names:
            if _is_program(folder / name):
                return folder / name
        try:
            waiting += sorted(
                entry for entry in folder.iterdir() if entry.is_dir() and not entry.is_symlink()
            )
        except OSError:
            continue
    return None


def _folders(launcher: Path | None, environment: Mapping[str, str]) -> Iterator[Path]:
    if launcher is not None and launcher.is_absolute():
        yield launcher.parent
    if (root := environment.get("I_MPI_ROOT", "")).startswith("/"):
        yield Path(root) / "bin"
    for entry in environment.get("PATH", os.defpath).split(os.pathsep):
        if entry.startswith("/"):
            yield Path(entry)


def find_tool(
    name: str,
    *,
    given: Path | None = None,
    launcher: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Path | None:
    """Return the program ``name``: at ``given`` (the program, or a folder above it), next to the
    MPI's launcher, in $OSU_HOME, $I_MPI_ROOT/bin or PATH; None if it is not found. Raise BadInput
    if there is no program at ``given``.
    """
    environment = os.environ if environment is None else environment
    names = tuple(prefix + name for prefix in _PREFIXES)
    if given is not None:
        found = given if _is_program(given) else _below(given, names) if given.is_dir() else None
        if found is None:
            raise BadInput(
                f"--program {str(given)!r}: there is no program {name}; give its path or a folder"
                " above it."
            )
        return found.absolute()
    home = environment.get("OSU_HOME", "")
    if name.startswith("osu_") and home.startswith("/") and (found := _below(Path(home), names)):
        return found
    for folder in _folders(launcher, environment):
        for one in names:
            if _is_program(folder / one):
                return folder / one
    return None


def wanted_families(program: Path) -> tuple[str, tuple[Family, ...]]:
    """Return (soname, MPI families) with which a program was linked; ("", ()) if the file does not
    show it.
    """
    for soname in read_needed(program):
        if families := tuple(one.name for one in MPIS.values() if soname in one.sonames):
            return soname, families
    return "", ()


def nominal_mpi(choice: str, family: Family | None) -> MpiInstall:
    """Return an MPI by name only, for a command that is printed and not run."""
    named = {"debian-mpich": "mpich"}.get(choice, choice)
    mpi = MPIS.get(named) or MPIS[family or "openmpi"]
    return MpiInstall(family=mpi.name, origin="nominal", launcher=Path(mpi.launcher), library=None)


def mpi_for(recipe: "BenchmarkRecipe", program: Path | None, choice: str = "") -> MpiInstall:
    """Return the MPI that starts ``program``: the chosen MPI, the MPI next to the program, or the
    MPI with which it was linked.

    Raise BadInput if the program was linked with a different MPI: every rank would run alone.
    """
    soname, families = wanted_families(program) if program else ("", ())
    if choice:
        install = choose_mpi(choice)
        if families and install.family not in families:
            raise BadInput(
                f"{program} is linked with {soname} ({' or '.join(families)}), but --mpi is"
                f" {install.title}: each rank would run as a separate job; give the MPI with"
                " which it was built."
            )
        return install
    if (
        program is not None
        and _is_program(program.parent / "mpiexec.hydra")
        and recipe.family == "intel"
    ):
        return choose_mpi(str(program.parent))
    if families:
        return _linked(program, soname, families)
    return choose_mpi(recipe.family if recipe.family in FAMILIES else "")


def _linked(program: Path | None, soname: str, families: Sequence[str]) -> MpiInstall:
    usable = [one for one in find_mpis() if not one.problem and one.family in families]
    exact = [one for one in usable if one.soname == soname] or usable
    if not exact:
        raise CouldNotMeasure(
            f"{program} needs {soname} ({' or '.join(families)}), and no such MPI was found:"
            " load its module, or give its prefix with --mpi PATH."
        )
    return exact[0]


def pinned(
    argv: Sequence[str], cpu: int | None, family: Family, *, lab: bool = False
) -> tuple[list[str], dict[str, str]]:
    """Return (argv, environment) that keep the only rank of a host on core ``cpu``.

    Intel MPI pins by itself and would override another mask; the others respect ``taskset``. Each
    node of a lab sees all cores of the machine, so Intel's pinning is off there.
    """
    if cpu is None:
        return list(argv), {}
    pins = {} if lab else MPIS[family].pins
    if pins:
        return list(argv), {name: value.format(cpu=cpu) for name, value in pins.items()}
    return ["taskset", "-c", str(cpu), *argv], {}


def _carried(fabric: str, family: Family) -> tuple[Fabric, Netmod]:
    """Return the meaning of ``--fabric`` for this MPI; ``ucx`` is a provider for Intel MPI and a
    messaging layer for the others.
    """
    if fabric == "ucx":
        return ("", "ucx") if family == "mpich" else ("mlx", "")
    return fabric, ""  # type: ignore[return-value]


def _library_folders(install: MpiInstall) -> tuple[Path, ...]:
    folder = install.library_folder
    if folder is None or str(folder).startswith(_SYSTEM):
        return ()
    return (folder,)


def prepare_program(
    install: MpiInstall,
    argv: Sequence[str],
    *,
    fabric: str = "",
    environment: Mapping[str, str] | None = None,
    **wishes: Any,
) -> LaunchCommand:
    """Return the command that starts ``argv`` on the hosts of ``wishes`` (fields of
    ``LaunchRequest``) under ``install``.

    Pure except for the count of cores. Every rank gets ``environment``.
    """
    mpi = MPIS[install.family]
    extra = {**mpi.detailed, **mpi.placed} if wishes.get("hosts") else {}
    extra |= environment or {}
    engine = EngineChoice(
        abi=install.abi or "nompi", path=Path(argv[0]), library_folders=_library_folders(install)
    )
    carried, netmod = _carried(fabric, install.family)
    request = LaunchRequest(
        engine=engine,
        install=install,
        program=tuple(argv),
        fabric=carried,
        netmod=netmod,
        extra=tuple(sorted(extra.items())),
        # Another host may have a different number of cores; there the MPI counts them.
        cores=len(os.sched_getaffinity(0))
        if wishes.get("machine_ranks") or not wishes.get("hosts")
        else 0,
    )
    return build_command("mpi", dataclasses.replace(request, **wishes))


def shell_line(
    argv: Sequence[str], environment: Mapping[str, str] | None = None, unset: Sequence[str] = ()
) -> str:
    """Return a line that can be pasted into a shell; variables that the launcher passes on are not
    repeated.
    """
    said = set(argv)
    before = [
        f"{name}={shlex.quote(value)}"
        for name, value in sorted((environment or {}).items())
        if name not in said and f"{name}={value}" not in said
    ]
    if unset:
        before = ["env", *(word for name in unset for word in ("-u", shlex.quote(name))), *before]
    return " ".join([*before, shlex.join(argv)])
