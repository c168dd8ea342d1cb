"""What an installed MPI is, as values. Pure."""

import dataclasses
import re
from pathlib import Path
from typing import Literal

Family = Literal["mpich", "intel", "openmpi"]
Abi = Literal["mpiabi", "mpich", "openmpi", "nompi"]

ABI_OF_SONAME: dict[str, Abi] = {
    "libmpi.so.12": "mpich",
    "libmpich.so.12": "mpich",
    "libmpi.so.40": "openmpi",
    "libmpi_abi.so.1": "mpiabi",
}
"""The sonames that an engine variant exists for, the preferred first: a library's own interface is
what applications are linked to, and its standard ABI translates every handle at every call.
Debian's MPICH carries the MPICH ABI under a name of its own.
"""


@dataclasses.dataclass(frozen=True, kw_only=True)
class MpiInstall:
    """One MPI: its launcher, its library, and the engine variant that fits it.

    ``origin`` is ``embedded``, ``given``, ``PATH``, ``environment`` or ``folder``. ``problem`` is
    empty when it can be used, else one sentence. ``abi_version`` is that of the standard ABI (""
    when the library has none).
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
        """The library's name is not the one the engine asks for: a private link must lead to it."""
        return self.soname == "libmpich.so.12"

    @property
    def title(self) -> str:
        return f"{self.version or self.family} ({self.launcher})"


def version_of(library_version: str) -> str:
    """One short line: ``MPICH 5.0.2``, ``Intel(R) MPI Library 2021.18.1``, ``Open MPI v4.1.4``."""
    line = " ".join(library_version.split("\n", 1)[0].split(",", 1)[0].split())
    line = re.sub(r"^MPICH Version: ", "MPICH ", line)
    return line.removesuffix(" for Linux* OS")[:120]
