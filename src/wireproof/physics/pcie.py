"""Goodput of a PCIe slot: generation x width x payload size."""

from __future__ import annotations

import re

from wireproof.physics.errors import PhysicsError
from wireproof.physics.table import Table, default_table

__all__ = ["parse_slot", "pcie_goodput"]

# GT/s per lane, and the line code: 8b/10b to generation 2, then 128b/130b (PCI Express base specification).
_LANES = {1: (2.5, 8 / 10), 2: (5.0, 8 / 10), 3: (8.0, 128 / 130), 4: (16.0, 128 / 130), 5: (32.0, 128 / 130)}
_SLOT = re.compile(r"(?:pcie)?(?:gen)?([1-5])(?:\.0)?x(1|2|4|8|16|32)(?:mps(128|256|512|1024|2048|4096))?")


def parse_slot(text: str) -> tuple[int, int, int | None]:
    """``gen3 x8 mps256`` -> generation, lanes, payload size (None when not said). Raises PhysicsError."""
    match = _SLOT.fullmatch(re.sub(r"[\s/,=_-]", "", text.lower()))
    if match is None:
        raise PhysicsError(f"PCIe slot {text!r} is not understood; write for example 'gen3 x8' or 'gen4 x16 mps256'")
    generation, lanes, payload = match.groups()
    return int(generation), int(lanes), int(payload) if payload else None


def pcie_goodput(slot: str, table: Table | None = None) -> tuple[float, str]:
    """Bytes/s in one direction and the line of arithmetic: raw x MPS / (MPS + 24) x share left by DLLPs."""
    table = table or default_table()
    generation, lanes, payload = parse_slot(slot)
    transfers, code = _LANES[generation]
    raw = transfers * 1e9 * lanes * code / 8
    size = payload or int(table["pcie.mps"].value)
    overhead, share = table["pcie.tlp_overhead"].value, table["pcie.dllp_share"].value
    goodput = raw * size / (size + overhead) * share
    assumed = "" if payload else " (payload size unknown: largest assumed)"
    line = (
        f"PCIe gen{generation} x{lanes}: {raw / 1e9:.2f} GB/s x {size}/({size}+{overhead:g}) x {share:g}"
        f" = {goodput / 1e9:.2f} GB/s{assumed}"
    )
    return goodput, line
