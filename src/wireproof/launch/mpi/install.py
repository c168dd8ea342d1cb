"""An installed MPI as values. Pure."""

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
"""The sonames for which an engine variant exists, the preferred first: applications are linked to a
library's native interface, and its standard ABI translates every handle at every call. Debian's
MPICH has the MPICH ABI under another name.
"""


@dataclasses.dataclass(frozen=True, kw_only=True)
class MpiInstall:
    """An MPI: its launcher, its library, and the engine variant that fits it.

    ``origin`` is ``embedded``, ``given``, ``PATH``, ``environment`` or ``folder``. ``problem`` is
    empty if the MPI can be used, else a sentence. ``abi_version`` is that of the standard ABI (""
    if the library has none).
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
        """Whether the library's name differs from the one that the engine needs: a private link
        must lead to it.
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
