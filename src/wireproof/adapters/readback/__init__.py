"""Which settings of UCX, libfabric and Intel MPI were really in force, from what these libraries
print. PSM3's are read by ``wireproof.adapters.psm3.readback``. What is not said is not guessed.
"""

from __future__ import annotations

from wireproof.adapters.readback.intelmpi import intelmpi_defaults, intelmpi_readback
from wireproof.adapters.readback.libfabric import libfabric_readback
from wireproof.adapters.readback.ucx import ucx_readback

__all__ = ["intelmpi_defaults", "intelmpi_readback", "libfabric_readback", "ucx_readback"]
