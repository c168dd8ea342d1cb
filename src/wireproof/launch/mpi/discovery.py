"""Find the MPIs of this machine, first the wheel in our environment, then those of the site, and
the files that set their parameters.
"""

import functools
import os
import re
import stat
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from wireproof.files.held import CAN_HOLD, is_anothers, real_path, trusted_owners
from wireproof.files.hostile import open_regular
from wireproof.launch.engines import ABI_OF_SONAME, MpiInstall
from wireproof.launch.known import MPIS
from wireproof.launch.mpi.identify import ask_library, family_of_library, identify, read_soname
from wireproof.model.errors import BadInput, CouldNotMeasure


@dataclass(frozen=True)
class InstallPlaces:
    """Variables that a module or a vendor's script sets to the prefix, the folders below a prefix
    that contain the launcher, and folders in which distributions and vendors install an MPI without
    adding it to PATH (``~``: the user's home).
    """

    variables: tuple[str, ...]
    usual: tuple[str, ...]
    below: tuple[str, ...] = ("bin",)


PLACES: dict[str, InstallPlaces] = {
    "intel": InstallPlaces(
        ("I_MPI_ROOT", "EBROOTIMPI"),
        (
            "/opt/intel/oneapi/mpi/latest/bin",
            "/opt/intel/oneapi/mpi/2*/bin",
            "~/intel/oneapi/mpi/latest/bin",
            "/opt/intel/compilers_and_libraries/linux/mpi/intel64/bin",
            "/opt/intel/impi/*/intel64/bin",
        ),
        ("bin", "intel64/bin"),
    ),
    "openmpi": InstallPlaces(
        ("OPAL_PREFIX", "EBROOTOPENMPI"),
        ("/usr/lib64/openmpi/bin", "/usr/lib64/mpi/gcc/*/bin", "/opt/openmpi*/bin"),
    ),
    "mpich": InstallPlaces(
        ("MPICH_HOME",),
        ("/usr/lib64/mpich/bin", "/opt/cray/pe/mpich/*/ofi/gnu/*/bin", "/opt/mpich*/bin"),
    ),
    "": InstallPlaces(("MPI_HOME", "MPI_ROOT"), ("/usr/local/bin",)),
}
"""By family; "" for all families."""
_MOST_OF_A_PATTERN = 4


def _of(family: str) -> list[InstallPlaces]:
    """Return the places of a family and the common places; without a family, the places of all
    families.
    """
    wanted = "mpich" if family == "debian-mpich" else family
    return [places for name, places in PLACES.items() if not wanted or name in (wanted, "")]


def folders(environment: Mapping[str, str], family: str = "") -> Iterator[tuple[str, Path]]:
    """Return (origin, folder with launchers), best first."""
    yield "embedded", Path(sys.prefix) / "bin"
    for entry in environment.get("PATH", os.defpath).split(os.pathsep):
        if entry.startswith("/"):
            yield "PATH", Path(entry)
    for places in _of(family):
        for variable in places.variables:
            if environment.get(variable, "").startswith("/"):
                for below in places.below:
                    yield "environment", Path(environment[variable]) / below
    for places in _of(family):
        for pattern in places.usual:
            found = Path("/").glob(_absolute(pattern, environment)[1:])
            for folder in sorted(found, reverse=True)[:_MOST_OF_A_PATTERN]:
                if not (pattern.startswith("~") and is_anothers(folder)):
                    yield "folder", folder


def _absolute(pattern: str, environment: Mapping[str, str]) -> str:
    home = environment.get("HOME", "")
    return pattern.replace("~", home if home.startswith("/") else "/root", 1)


def looked_at(environment: Mapping[str, str], family: str = "") -> str:
    """Describe the places that ``folders`` searches: ``PATH, I_MPI_ROOT (not set),
    /opt/intel/...``.
    """
    named = ["PATH"]
    for places in _of(family):
        for variable in places.variables:
            value = environment.get(variable, "")
            named.append(f"{variable} ({value[:80] if value else 'not set'})")
    return ", ".join((*named, *(pattern for one in _of(family) for pattern in one.usual)))


_A_LAUNCHER = re.compile(r"(mpirun|mpiexec|orterun|prterun)(\.[\w.-]+)?\Z")
LAUNCHERS = ("mpiexec.hydra", "mpiexec.mpich", "mpirun.openmpi", "mpiexec", "mpirun")
FAMILIES = (*(one.name for one in MPIS.values()), "debian-mpich")
_MOST_FOLDERS = 64


def _given_folders(path: Path) -> list[Path]:
    """Return the folders with launchers for the user's path: a prefix, its bin, a launcher, or a
    library.
    """
    if path.is_dir():
        return [path / "bin", path]
    return [path.parent, *(parent / "bin" for parent in list(real_path(path).parents)[:4])]


def _library_folders(launcher: Path) -> list[Path]:
    """Return the folders in which the libraries of a launcher's prefix may be (``lib/release``:
    Intel before 2021.11).
    """
    prefix = launcher.parent.parent
    multiarch = sysconfig.get_config_var("MULTIARCH") or f"{os.uname().machine}-linux-gnu"
    names = ("lib", "lib64", "lib/release", f"lib/{multiarch}")
    return [prefix / name for name in names if (prefix / name).is_dir()]


def _installs(folders: Iterator[tuple[str, Path]]) -> Iterator[MpiInstall]:
    seen_folders: set[Path] = set()
    seen: set[tuple[str, str]] = set()
    for origin, folder in folders:
        real = real_path(folder)
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
    """Identify an MPI once per process, because asking a library takes about 0.1 s."""
    return identify(launcher, origin, folders)


def find_mpis(environment: Mapping[str, str] | None = None) -> list[MpiInstall]:
    """Return every MPI found, the embedded MPI first; unusable MPIs have a ``problem``."""
    return list(_installs(folders(os.environ if environment is None else environment)))


def _matches(install: MpiInstall, choice: str) -> bool:
    if choice == "debian-mpich":
        return install.family == "mpich" and (install.needs_link or install.library is None)
    return install.family == choice


def choose_mpi(choice: str = "", environment: Mapping[str, str] | None = None) -> MpiInstall:
    """Return the MPI to use: the first usable MPI, or the first usable MPI of the family or path in
    ``choice``.

    Raise ``BadInput`` for a path that does not exist, and ``CouldNotMeasure`` with the MPIs that
    were found and the searched folders.
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
        candidates = _given(path.absolute())
    else:
        candidates = _installs(folders(environment, choice))
    seen: list[MpiInstall] = []
    for install in candidates:
        seen.append(install)
        if not install.problem and (
            not choice or choice not in FAMILIES or _matches(install, choice)
        ):
            return install
    raise CouldNotMeasure(_nothing_fits(choice, seen, environment))


def _given(path: Path) -> Iterator[MpiInstall]:
    """Return the MPI at the user's path. A launcher or a library is used as given, because Debian
    installs those of several MPIs in the same folder. A launcher that is a script (Intel's mpirun)
    may start the program of another MPI, so the files next to it decide.
    """
    beside = _installs(("given", folder) for folder in _given_folders(path))
    if path.is_dir():
        yield from beside
    elif _A_LAUNCHER.match(path.name):
        yield from beside if _is_script(path) else _of_launcher(path)
    elif read_soname(path) in ABI_OF_SONAME:
        family = family_of_library(ask_library(path).version)
        yield from (install for install in beside if install.family == family)


def _is_script(path: Path) -> bool:
    try:
        with open_regular(real_path(path)) as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def _of_launcher(launcher: Path) -> Iterator[MpiInstall]:
    """Return the MPI of a launcher, with the libraries next to it or next to the target of its
    link.
    """
    prefixes = dict.fromkeys((real_path(launcher.parent), real_path(launcher).parent))
    folders_of = [each for prefix in prefixes for each in _library_folders(prefix / launcher.name)]
    install = _identify_cached(launcher, "given", tuple(folders_of))
    if install is not None:
        yield install


def _nothing_fits(choice: str, seen: list[MpiInstall], environment: Mapping[str, str]) -> str:
    wanted = f"no usable MPI for --mpi {choice}" if choice else "no usable MPI"
    if choice and choice not in FAMILIES:
        found = "; ".join(f"{it.title}: {it.problem}" for it in seen) or "no launcher was found"
        return f"{wanted}: {found}; give an MPI's prefix, launcher or library."
    looked = f"looked at {looked_at(environment, choice)}"
    if not seen:
        return (
            f"{wanted}: no launcher was found; {looked}. Install one (pip install"
            " 'mpich>=5.0.1.post1'), load the site's MPI module, or give its prefix with"
            " --mpi PATH."
        )
    found = "; ".join(f"{it.title}{f': {it.problem}' if it.problem else ''}" for it in seen)
    return (
        f"{wanted}; found {found}. Load the right module, or give its prefix, launcher or library"
        f" with --mpi PATH ({looked})."
    )


# --- The files that set parameters in addition to the environment. Files of the user and of the
# current folder affect the measurement, but are not visible in the environment.

_OPENMPI = "openmpi-mca-params.conf"
_OF_USER = ".openmpi/mca-params.conf"
_UCX = "ucx.conf"
_LARGEST = 1 << 16


def openmpi_parameters(install: MpiInstall, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters in Open MPI's files as ``OMPI_MCA_`` variables; the user's file takes
    precedence.
    """
    prefix = install.launcher.parent.parent
    places = [Path("/etc/openmpi") / _OPENMPI, prefix / "etc" / _OPENMPI]
    found: dict[str, str] = {}
    for place in (*places, *(home / _OF_USER for home in _home(environment))):
        found |= _read(place, "OMPI_MCA_")[0]
    return found


def parameters_in_files(
    install: MpiInstall, environment: Mapping[str, str]
) -> Iterator[tuple[Path, dict[str, str]]]:
    """Yield each file of the user or of the current folder that sets parameters for the ranks of
    ``install``, with the parameters as variables: later files take precedence, and variables of the
    environment over all files.

    UCX reads ``ucx.conf`` in the home folder, in ``UCX_CONFIG_DIR`` and in the current folder
    (`ucs_config_parse_config_files` of openucx/ucx). Raise ``BadInput`` for a file that belongs to
    another user or is writable by everybody: it may name libraries to load.
    """
    homes, folder = _home(environment), environment.get("UCX_CONFIG_DIR", "")
    mca = MPIS[install.family].parameter_files
    places = [(home / _OF_USER, "OMPI_MCA_") for home in homes if mca]
    places += [(home / _UCX, "") for home in homes]
    places += [(Path(folder) / _UCX, "")] if folder else []
    for path, prefix in (*places, (Path(_UCX), "")):
        values, others = _read(path, prefix)
        named = {name: text for name, text in values.items() if prefix or name.startswith("UCX_")}
        if named and others:
            raise BadInput(
                f"{path} sets {', '.join(sorted(named)[:3])} for the ranks, but it {others}:"
                " remove it, or start in a folder that belongs to you and with your HOME."
            )
        if named:
            yield path, named


def _home(environment: Mapping[str, str]) -> list[Path]:
    home = environment.get("HOME", "")
    return [Path(home)] if home.startswith("/") else []


def _read(path: Path, prefix: str) -> tuple[dict[str, str], str]:
    """Return the values of a file, and the reason why another user controls them ("" if none
    does).
    """
    try:
        with open_regular(real_path(path)) as file:
            data, status = file.read(_LARGEST + 1), os.fstat(file.fileno())
        owners = {path.lstat().st_uid, status.st_uid} - trusted_owners()
    except OSError:
        return {}, ""
    if len(data) > _LARGEST:  # the rest may name libraries
        raise BadInput(
            f"{path} is larger than {_LARGEST >> 10} KiB, too large for a parameter file."
        )
    text = data.decode("utf-8", "replace")
    lines = (line.partition("#")[0].partition("=") for line in text.splitlines())
    values = {f"{prefix}{name.strip()}": value.strip() for name, equals, value in lines if equals}
    if not CAN_HOLD:
        return values, ""
    if owners:
        return values, f"belongs to the user with ID {owners.pop()}"
    return values, "is writable by everybody" if status.st_mode & stat.S_IWOTH else ""
