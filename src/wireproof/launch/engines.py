"""Find wireproof's programs, and the engine variant that matches an MPI."""

import contextlib
import dataclasses
import hashlib
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from wireproof.files.held import own_folder, real_path
from wireproof.files.programs import by_path
from wireproof.model.errors import CouldNotMeasure

# --- An installed MPI as values. Pure.

Family = Literal["mpich", "intel", "openmpi"]
Abi = Literal["mpiabi", "mpich", "openmpi", "nompi"]

ABI_OF_SONAME: dict[str, Abi] = {
    "libmpi.so.12": "mpich",
    "libmpich.so.12": "mpich",
    "libmpi.so.40": "openmpi",
    "libmpi_abi.so.1": "mpiabi",
}
"""The sonames for which an engine variant exists, the preferred first: applications are linked to a
library's native interface, and its standard ABI translates every handle at every call. Debian's
MPICH has the MPICH ABI under another name.
"""


@dataclasses.dataclass(frozen=True, kw_only=True)
class MpiInstall:
    """An MPI: its launcher, its library, and the engine variant that matches it.

    ``origin`` is ``embedded``, ``given``, ``PATH``, ``environment`` or ``folder``. ``problem`` is
    empty if the MPI can be used, else a sentence. ``abi_version``: the version of the standard ABI
    ("" if the library does not support it).
    """

    family: Family
    origin: str
    launcher: Path
    library: Path | None
    soname: str = ""
    abi: Abi | None = None
    abi_version: str = ""
    version: str = ""
    problem: str = ""

    @property
    def library_folder(self) -> Path | None:
        return self.library.parent if self.library else None

    @property
    def needs_link(self) -> bool:
        """True if the library's name differs from the name that the engine needs, so that a private
        link to it is required.
        """
        return self.soname == "libmpich.so.12"

    @property
    def title(self) -> str:
        return f"{self.version or self.family} ({self.launcher})"


def version_of(library_version: str) -> str:
    """Return a short line: ``MPICH 5.0.2``, ``Intel(R) MPI Library 2021.18.1``, ``Open MPI
    v4.1.4``.
    """
    line = " ".join(library_version.split("\n", 1)[0].split(",", 1)[0].split())
    line = re.sub(r"^MPICH Version: ", "MPICH ", line)
    return line.removesuffix(" for Linux* OS")[:120]


# --- ``wireproof-node guard``: run a command whose complete process tree ends with this process.


def guard_argv(node: Path, control_fd: int, argv: Sequence[str]) -> list[str]:
    """Return the command that runs ``argv`` under the guard."""
    return [str(node), "guard", "--control-fd", str(control_fd), "--", *argv]


def start_guarded(
    node: Path,
    control: int,
    argv: Sequence[str],
    environment: Mapping[str, str],
    stdin: int,
    stdout: int = subprocess.PIPE,
) -> subprocess.Popen[bytes]:
    """Start ``argv`` under the guard, which ends it when the other end of ``control`` is closed.
    Raise ``OSError``.

    The guard runs in a separate session: only this process receives the terminal's Ctrl-C, and it
    then ends the tree in order.
    """
    return subprocess.Popen(
        **by_path(guard_argv(node, control, argv), environment),
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        start_new_session=True,
        pass_fds=(control,),
        bufsize=0,
    )


ABIS: tuple[Abi, ...] = ("mpiabi", "mpich", "openmpi", "nompi")
FOLDER_VARIABLE = "WIREPROOF_ENGINE_DIR"
_DEPTH = ("", "bin")


@dataclasses.dataclass(frozen=True, kw_only=True)
class EngineChoice:
    """An engine program and the folders in which its MPI library is found, in order of precedence.

    ``expect``: text that the version of the loaded library must contain.
    """

    abi: Abi
    path: Path
    library_folders: tuple[Path, ...] = ()
    expect: str = ""


def _folders(environment: Mapping[str, str]) -> list[Path]:
    """Return the folders of the installed package, then of a checkout's build tree; the variable
    overrides both.
    """
    if given := environment.get(FOLDER_VARIABLE):
        return [Path(given)]
    package = Path(__file__).resolve().parent.parent
    return [package / "bin", package.parent.parent / "build"]


def find_program(name: str, environment: Mapping[str, str] | None = None) -> Path:
    """Return the absolute path of one of our programs (``wireproof-engine.mpich``,
    ``wireproof-node``).

    Raise ``CouldNotMeasure`` with the searched folders.
    """
    folders = _folders(os.environ if environment is None else environment)
    for folder in folders:
        for below in _DEPTH:
            path = (folder / below / name).absolute()
            if path.is_file() and os.access(path, os.X_OK):
                return path
    searched = ", ".join(map(str, folders))
    raise CouldNotMeasure(
        f"{name} is not in {searched}: reinstall wireproof, or run `make engine` in a checkout."
    )


def find_engine(abi: Abi, environment: Mapping[str, str] | None = None) -> Path:
    """Return the engine program of a variant; see ``find_program``."""
    return find_program(f"wireproof-engine.{abi}", environment)


def _caches(environment: Mapping[str, str]) -> Iterator[Path]:
    """Return the candidates for our private folder, best first. A prolog runs as root without
    HOME, and sudo may keep the HOME of another user.
    """
    if (root := environment.get("XDG_CACHE_HOME", "")).startswith("/"):
        yield Path(root) / "wireproof"
        return
    import pwd  # not on Windows, where stored files are linted and judged

    homes = [environment.get("HOME", "")]
    with contextlib.suppress(KeyError):
        homes.append(pwd.getpwuid(os.geteuid()).pw_dir)
    for home in dict.fromkeys(homes):
        if home.startswith("/") and Path(home).is_dir():
            yield Path(home) / ".cache" / "wireproof"
    yield Path(tempfile.gettempdir()) / f"wireproof-{os.geteuid()}"


def _own_cache(environment: Mapping[str, str]) -> Path:
    """Return a folder to which no other user can write, because a library is loaded from it. Raise
    ``CouldNotMeasure`` if there is none.
    """
    reasons = []
    for folder in _caches(environment):
        try:
            return own_folder(folder / "abi", below=folder)
        except OSError as error:
            reasons.append(error.strerror or str(error))
    raise CouldNotMeasure(
        f"cannot create a private folder for the link to an MPI library ({'; '.join(reasons)}):"
        " set XDG_CACHE_HOME to a folder that belongs to you alone."
    )


def private_link(library: Path, environment: Mapping[str, str] | None = None) -> Path:
    """Return a private folder with ``libmpi.so.12`` linked to Debian's ``libmpich.so.12``.

    It is in the user's cache, because on a cluster the other hosts also see the home folder.
    """
    target = real_path(library)
    digest = hashlib.sha256(os.fsencode(target)).hexdigest()[:16]
    folder = _own_cache(os.environ if environment is None else environment) / digest
    link = folder / "libmpi.so.12"
    try:
        own_folder(folder)
        if not (link.is_symlink() and link.readlink() == target):
            fresh = folder / f".new-{os.getpid()}"
            with contextlib.suppress(FileNotFoundError):
                fresh.unlink()
            fresh.symlink_to(target)
            fresh.replace(link)
    except OSError as error:
        raise CouldNotMeasure(
            f"the link to {library.name} cannot be created in {folder} ({error.strerror}): set"
            " XDG_CACHE_HOME to a writable folder."
        ) from error
    return folder


def choose_engine(
    install: MpiInstall, environment: Mapping[str, str] | None = None
) -> EngineChoice:
    """Return the variant for ``install``, with the folders for ``LD_LIBRARY_PATH``.

    Raise ``CouldNotMeasure`` if there is no engine for the ABI of the MPI.
    """
    if install.problem or install.abi is None or install.library is None:
        raise CouldNotMeasure(
            f"{install.title} cannot be used: {install.problem or 'its library was not found'}."
        )
    folders = [install.library.parent]
    if install.needs_link:
        folders.insert(0, private_link(install.library, environment))
    return EngineChoice(
        abi=install.abi,
        path=find_engine(install.abi, environment),
        library_folders=tuple(folders),
    )
