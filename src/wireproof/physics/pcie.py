"""Goodput of a PCIe slot: generation x width x payload size."""

from __future__ import annotations

import re

from wireproof.physics.errors import PhysicsError
from wireproof.physics.table import Table, default_table

__all__ = ["parse_slot", "pcie_choices", "pcie_goodput"]

# GT/s per lane, and the line code: 8b/10b to generation 2, then 128b/130b (PCI Express base
# specification).
_LANES = {
    1: (2.5, 8 / 10),
    2: (5.0, 8 / 10),
    3: (8.0, 128 / 130),
    4: (16.0, 128 / 130),
    5: (32.0, 128 / 130),
}
# Generation 6 sends units (FLITs) of 256 B, of which 236 are packets, 6 flow control and
# acknowledgements, 8 CRC and 6 error correction; its 64 GT/s are bits (PAM4: two in a symbol), and
# no packet has a code or framing of its own.
_FLIT_GENERATION, _FLIT_TRANSFERS, _FLIT_SHARE = 6, 64.0, 236 / 256
_USUAL_PAYLOADS = (128, 256, 512)
_SLOT = re.compile(
    r"(?:pcie)?(?:gen)?([1-6])(?:\.0)?x(1|2|4|8|12|16|32)(?:mps(128|256|512|1024|2048|4096))?"
)


def parse_slot(text: str) -> tuple[int, int, int | None]:
    """``gen3 x8 mps256`` -> generation, lanes, payload size (None when not said). Raises
    PhysicsError.
    """
    match = _SLOT.fullmatch(re.sub(r"[\s/,=_-]", "", text.lower()))
    if match is None:
        raise PhysicsError(
            f"PCIe slot {text[:60]!r} is not understood; write generation 1 to 6 and the lanes, "
            "for example 'gen3 x8' or 'gen4 x16 mps256'"
        )
    generation, lanes, payload = match.groups()
    if generation == "6" and lanes in ("12", "32"):
        raise PhysicsError(f"PCIe slot {text[:60]!r}: generation 6 has 1, 2, 4, 8 or 16 lanes")
    return int(generation), int(lanes), int(payload) if payload else None


def pcie_goodput(slot: str, table: Table | None = None) -> tuple[float, str]:
    """Bytes/s in one direction and the line of arithmetic: raw x MPS / (MPS + 24) x share left by
    DLLPs.
    """
    table = table or default_table()
    payload = parse_slot(slot)[2]
    goodput, line = _goodput(slot, payload or int(table["pcie.mps"].value), table)
    return goodput, line if payload else f"{line} (payload size unknown: largest assumed)"


def pcie_choices(slot: str, table: Table | None = None) -> list[tuple[float, str, str]]:
    """(bytes/s, line of arithmetic, option) for each usual payload size, smallest first; one when
    it is known.
    """
    table = table or default_table()
    payload, assumed = parse_slot(slot)[2], table["pcie.mps"]
    if payload or assumed is not default_table()["pcie.mps"]:  # known, or set by the user
        return [(*pcie_goodput(slot, table), "")]
    return [(*_goodput(slot, size, table), f"MPS {size}") for size in _USUAL_PAYLOADS]


def _goodput(slot: str, size: int, table: Table) -> tuple[float, str]:
    generation, lanes, _ = parse_slot(slot)
    if generation == _FLIT_GENERATION:
        raw, overhead, share = (
            _FLIT_TRANSFERS * 1e9 * lanes / 8,
            table["pcie.flit_overhead"].value,
            _FLIT_SHARE,
        )
    else:
        transfers, code = _LANES[generation]
        raw = transfers * 1e9 * lanes * code / 8
        overhead, share = table["pcie.tlp_overhead"].value, table["pcie.dllp_share"].value
    goodput = raw * size / (size + overhead) * share
    line = (
        f"PCIe gen{generation} x{lanes}: {raw / 1e9:.2f} GB/s x {size}/({size}+{overhead:g}) x "
        f"{share:.4g} = {goodput / 1e9:.2f} GB/s"
    )
    return goodput, line
