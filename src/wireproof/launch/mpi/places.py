"""Where an MPI is looked for: the folders of its launcher, best first."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["folders", "looked_at"]


@dataclass(frozen=True)
class Places:
    """Variables that a module or a vendor's script sets to the prefix, the folders below a prefix
    that hold the launcher, and folders where distributions and vendors put an MPI that no module
    has brought onto PATH (``~``: the user's home).
    """

    variables: tuple[str, ...]
    usual: tuple[str, ...]
    below: tuple[str, ...] = ("bin",)


PLACES: dict[str, Places] = {
    "intel": Places(
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
    "openmpi": Places(
        ("OPAL_PREFIX", "EBROOTOPENMPI"),
        ("/usr/lib64/openmpi/bin", "/usr/lib64/mpi/gcc/*/bin", "/opt/openmpi*/bin"),
    ),
    "mpich": Places(
        ("MPICH_HOME",),
        ("/usr/lib64/mpich/bin", "/opt/cray/pe/mpich/*/ofi/gnu/*/bin", "/opt/mpich*/bin"),
    ),
    "": Places(("MPI_HOME", "MPI_ROOT"), ("/usr/local/bin",)),
}
"""By family; "" for any."""
_MOST_OF_A_PATTERN = 4


def _of(family: str) -> list[Places]:
    """The places of one family and of any; of all families without one."""
    wanted = "mpich" if family == "debian-mpich" else family
    return [places for name, places in PLACES.items() if not wanted or name in (wanted, "")]


def folders(environment: Mapping[str, str], family: str = "") -> Iterator[tuple[str, Path]]:
    """(origin, folder with launchers), best first."""
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
                yield "folder", folder


def _absolute(pattern: str, environment: Mapping[str, str]) -> str:
    home = environment.get("HOME", "")
    return pattern.replace("~", home if home.startswith("/") else "/root", 1)


def looked_at(environment: Mapping[str, str], family: str = "") -> str:
    """What ``folders`` looks at, in words: ``PATH, I_MPI_ROOT (not set), /opt/intel/...``."""
    named = ["PATH"]
    for places in _of(family):
        for variable in places.variables:
            value = environment.get(variable, "")
            named.append(f"{variable} ({value[:80] if value else 'not set'})")
    return ", ".join((*named, *(pattern for one in _of(family) for pattern in one.usual)))
