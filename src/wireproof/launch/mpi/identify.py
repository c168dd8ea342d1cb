"""Identify the MPI of a launcher: by ``--version`` of the launcher, the sonames of its libraries,
and the library's answer.
"""

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from wireproof.files.programs import by_path
from wireproof.launch.known import MPIS
from wireproof.launch.mpi.elf import read_soname
from wireproof.launch.mpi.install import ABI_OF_SONAME, Family, MpiInstall, version_of

ASK_SECONDS = 20.0
_MOST_FILES = 4096


@dataclasses.dataclass(frozen=True)
class LibraryAnswer:
    """What a library reports about itself without MPI_Init. ``abi_major`` above 0: it has the
    standard ABI.
    """

    version: str = ""
    abi_major: int = 0
    abi_minor: int = 0
    problem: str = ""


def probe_argv(library: Path) -> list[str]:
    """Return the command that queries ``library`` in a separate process."""
    return [sys.executable, "-I", str(Path(__file__).with_name("abi_probe.py")), str(library)]


def _bare_environment(folder: Path | None = None) -> dict[str, str]:
    environment = {
        name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ
    }
    if folder is not None:
        environment["LD_LIBRARY_PATH"] = str(folder)
    return environment


def ask_library(library: Path) -> LibraryAnswer:
    """Return version and ABI of an MPI library; ``problem`` says why there is no answer."""
    try:
        done = subprocess.run(
            **by_path(probe_argv(library), _bare_environment(library.parent)),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ASK_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return LibraryAnswer(problem=f"{library} did not answer ({type(error).__name__})")
    for line in done.stdout.splitlines():
        if line.startswith(b"WIREPROOF "):
            return LibraryAnswer(**json.loads(line.removeprefix(b"WIREPROOF ")))
    last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
    return LibraryAnswer(
        problem=f"{library} cannot be loaded: {last[0][:200] if last else 'no reason given'}"
    )


def _first_named(text: str, marks: Iterable[tuple[str, Family]]) -> Family | None:
    """Return the family whose mark occurs first; later text may come from anywhere, such as the
    builder's host name.
    """
    text = text.lower()
    found = [(text.find(mark.lower()), family) for mark, family in marks]
    return min(((place, family) for place, family in found if place >= 0), default=(0, None))[1]


def family_of_library(version: str) -> Family | None:
    """Return the family by the text of ``MPI_Get_library_version``."""
    return _first_named(version, ((one.library_says, one.name) for one in MPIS.all()))


def family_of_launcher(version: str) -> Family | None:
    """Return the family by the output of ``mpiexec --version``."""
    marks = ((mark, one.name) for one in MPIS.all() for mark in one.launcher_says)
    return _first_named(version, marks)


def _launcher_family(launcher: Path) -> Family | None:
    try:
        done = subprocess.run(
            **by_path([str(launcher), "--version"], _bare_environment()),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ASK_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return family_of_launcher(
        done.stdout.decode("utf-8", "replace") + done.stderr.decode("utf-8", "replace")
    )


def sonames(folders: Iterable[Path]) -> dict[str, Path]:
    """Return the sonames for which an engine variant exists, and their files. Linker scripts and
    other files are skipped.
    """
    found: dict[str, Path] = {}
    for folder in folders:
        for path in sorted(folder.glob("libmpi*.so*"))[:_MOST_FILES]:
            soname = read_soname(path)
            if soname not in ABI_OF_SONAME or not path.name.startswith(
                soname.split(".so")[0] + ".so"
            ):
                continue
            # The best path is the name that the loader looks for; a development link is second
            # best.
            if soname not in found or (path.name == soname and found[soname].name != soname):
                found[soname] = path
    return found


def identify(launcher: Path, origin: str, folders: tuple[Path, ...]) -> MpiInstall | None:
    """Return the MPI of ``launcher``, whose library is searched in ``folders``; None if it is not a
    known MPI launcher.
    """
    family = _launcher_family(launcher)
    if family is None:
        return None
    install = MpiInstall(family=family, origin=origin, launcher=launcher, library=None)
    libraries = sonames(folders)
    answers: list[str] = []
    for soname, abi in ABI_OF_SONAME.items():
        library = libraries.get(soname)
        if library is None:
            continue
        answer = ask_library(library)
        if answer.problem or family_of_library(answer.version) != family:
            answers.append(answer.problem or f"{library} is {version_of(answer.version)}")
            continue
        if abi == "mpiabi" and answer.abi_major <= 0:
            answers.append(f"{library} has no working standard ABI")
            continue
        return dataclasses.replace(
            install,
            library=library,
            soname=soname,
            abi=abi,
            abi_version=f"{answer.abi_major}.{answer.abi_minor}" if answer.abi_major > 0 else "",
            version=version_of(answer.version),
        )
    return dataclasses.replace(install, problem=_no_library(folders, answers))


def _no_library(folders: tuple[Path, ...], answers: list[str]) -> str:
    where = ", ".join(map(str, folders)) or "its prefix"
    if answers:
        return f"no library with a known ABI ({'; '.join(answers)})"
    return f"no {', '.join(ABI_OF_SONAME)} in {where}"
