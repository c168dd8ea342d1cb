"""Finds the MPIs of this machine: the wheel in our own environment first, then what the site
has.
"""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path

from wireproof.launch.known import MPIS
from wireproof.launch.mpi.identify import identify
from wireproof.launch.mpi.install import MpiInstall
from wireproof.model.errors import BadInput, CouldNotMeasure

__all__ = ["choose_mpi", "find_mpis"]

LAUNCHERS = ("mpiexec.hydra", "mpiexec.mpich", "mpirun.openmpi", "mpiexec", "mpirun")
ROOT_VARIABLES = (
    "I_MPI_ROOT",
    "MPI_HOME",
    "MPI_ROOT",
    "MPICH_HOME",
    "OPAL_PREFIX",
    "EBROOTOPENMPI",
    "EBROOTIMPI",
)
FOLDERS = (
    "/opt/intel/oneapi/mpi/latest/bin",
    "/opt/intel/oneapi/mpi/2*/bin",
    "/usr/lib64/mpich/bin",
    "/usr/lib64/openmpi/bin",
    "/usr/lib64/mpi/gcc/*/bin",
    "/opt/cray/pe/mpich/*/ofi/gnu/*/bin",
    "/opt/openmpi*/bin",
    "/opt/mpich*/bin",
    "/usr/local/bin",
)
"""Where distributions and vendors put an MPI that no module has brought onto PATH."""
FAMILIES = (*(one.name for one in MPIS.all()), "debian-mpich")
_MOST_FOLDERS = 64


def _given_folders(path: Path) -> list[Path]:
    """Folders with launchers for what the user pointed at: a prefix, its bin, a launcher, or a
    library.
    """
    if path.is_dir():
        return [path / "bin", path]
    return [path.parent, *(parent / "bin" for parent in list(path.resolve().parents)[:4])]


def _folders(environment: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """(origin, folder with launchers), best first."""
    yield "embedded", Path(sys.prefix) / "bin"
    for entry in environment.get("PATH", os.defpath).split(os.pathsep):
        if entry.startswith("/"):
            yield "PATH", Path(entry)
    for variable in ROOT_VARIABLES:
        if environment.get(variable, "").startswith("/"):
            yield "environment", Path(environment[variable]) / "bin"
    for pattern in FOLDERS:
        for folder in sorted(Path("/").glob(pattern[1:]), reverse=True)[:4]:
            yield "folder", folder


def _library_folders(launcher: Path) -> list[Path]:
    """Where the libraries of a launcher's prefix may be (``lib/release``: Intel before 2021.11)."""
    prefix = launcher.parent.parent
    multiarch = sysconfig.get_config_var("MULTIARCH") or f"{os.uname().machine}-linux-gnu"
    names = ("lib", "lib64", "lib/release", f"lib/{multiarch}")
    return [prefix / name for name in names if (prefix / name).is_dir()]


def _installs(folders: Iterator[tuple[str, Path]]) -> Iterator[MpiInstall]:
    seen_folders: set[Path] = set()
    seen: set[tuple[str, str]] = set()
    for origin, folder in folders:
        real = folder.resolve()
        if real in seen_folders or len(seen_folders) >= _MOST_FOLDERS or not folder.is_dir():
            continue
        seen_folders.add(real)
        for name in LAUNCHERS:
            launcher = folder / name
            if not (launcher.is_file() and os.access(launcher, os.X_OK)):
                continue
            install = _identify_cached(launcher, origin, tuple(_library_folders(real / name)))
            if install is None or (install.family, str(install.library or real)) in seen:
                continue
            seen.add((install.family, str(install.library or real)))
            yield install


@functools.cache
def _identify_cached(launcher: Path, origin: str, folders: tuple[Path, ...]) -> MpiInstall | None:
    """Asking a library costs about 0.1 s: once per process."""
    return identify(launcher, origin, folders)


def find_mpis(environment: Mapping[str, str] | None = None) -> list[MpiInstall]:
    """Every MPI found, the embedded one first; those that cannot be used carry their
    ``problem``.
    """
    return list(_installs(_folders(os.environ if environment is None else environment)))


def _matches(install: MpiInstall, choice: str) -> bool:
    if choice == "debian-mpich":
        return install.family == "mpich" and (install.needs_link or install.library is None)
    return install.family == choice


def choose_mpi(choice: str = "", environment: Mapping[str, str] | None = None) -> MpiInstall:
    """The MPI to use: the first that works, or the first of the family or path named by ``choice``.

    Raises ``BadInput`` for a path that does not exist and ``CouldNotMeasure`` that names what was
    found where.
    """
    environment = os.environ if environment is None else environment
    if choice and choice not in FAMILIES:
        if "/" not in choice:
            raise BadInput(
                f"there is no MPI called {choice[:40]!r}: give {', '.join(FAMILIES)}, or a path."
            )
        path = Path(choice)
        if not path.exists():
            raise BadInput(
                f"the MPI path {choice} does not exist: give an MPI's prefix, launcher or library."
            )
        candidates = _installs(("given", folder) for folder in _given_folders(path.absolute()))
    else:
        candidates = _installs(_folders(environment))
    seen: list[MpiInstall] = []
    for install in candidates:
        seen.append(install)
        if not install.problem and (
            not choice or choice not in FAMILIES or _matches(install, choice)
        ):
            return install
    raise CouldNotMeasure(_nothing_fits(choice, seen))


def _nothing_fits(choice: str, seen: list[MpiInstall]) -> str:
    wanted = f"no usable MPI for --mpi {choice}" if choice else "no usable MPI"
    if not seen:
        return (
            f"{wanted}: no launcher was found; install one (pip install 'mpich>=5.0.1.post1', or"
            " load the site's MPI module), or give its prefix with --mpi PATH."
        )
    found = "; ".join(
        f"{it.title}: {it.problem or 'usable, but another was asked for'}" for it in seen
    )
    return f"{wanted}; found {found}. Give one of these with --mpi PATH, or load the right module."
