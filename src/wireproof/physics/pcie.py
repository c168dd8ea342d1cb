"""Goodput of a PCIe slot: generation x width x payload size."""

import re
from typing import NamedTuple

from wireproof.model.claim import LinkClaim
from wireproof.physics.table import PhysicsError, Table, default_table

# GT/s per lane, and the line code: 8b/10b to generation 2, then 128b/130b (PCI Express base
# specification).
_LANES = {
    1: (2.5, 8 / 10),
    2: (5.0, 8 / 10),
    3: (8.0, 128 / 130),
    4: (16.0, 128 / 130),
    5: (32.0, 128 / 130),
}
# Generation 6 sends units (FLITs) of 256 B: 236 for packets, 6 for flow control and
# acknowledgements, 8 for CRC and 6 for error correction. Its 64 GT/s are bits (PAM4: two per
# symbol), and packets have no code or framing of their own.
_FLIT_GENERATION, _FLIT_TRANSFERS, _FLIT_SHARE = 6, 64.0, 236 / 256
_USUAL_PAYLOADS = (128, 256, 512)
_SLOT = re.compile(
    r"(?:pcie)?(?:gen)?([1-6])(?:\.0)?x(1|2|4|8|12|16|32)(?:mps(128|256|512|1024|2048|4096))?"
)


def parse_slot(text: str) -> tuple[int, int, int | None]:
    """Parse ``gen3 x8 mps256`` into generation, lanes and payload size (None if not given).

    Raises PhysicsError.
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
    """Return bytes/s in one direction and the arithmetic: raw x MPS / (MPS + 24) x share left by
    DLLPs.
    """
    table = table or default_table()
    payload = parse_slot(slot)[2]
    goodput, line = _goodput(slot, payload or int(table["pcie.mps"].value), table)
    return goodput, line if payload else f"{line} (payload size unknown: largest assumed)"


def pcie_choices(slot: str, table: Table | None = None) -> list[tuple[float, str, str]]:
    """Return (bytes/s, arithmetic, option) for each usual payload size, smallest first; one if it
    is known.
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


class Slot(NamedTuple):
    """A slot in which adapters of a link are common. ``rates``: bytes/s, by payload size."""

    name: str
    claim: str
    rates: tuple[float, ...]


# No adapter of these links has a wider slot: ConnectX to ConnectX-2 and the QDR adapters of QLogic
# are PCIe 2.0 x8 (data sheets); the first adapter for DDR, InfiniHost III, is PCIe 1.1 x8.
_BEST_SLOTS = {"qdr": "gen2x8", "ddr": "gen1x8"}
# Adapters of these links are common in hosts one PCIe generation older: ConnectX-6 in PCIe 3.0,
# ConnectX-7 in PCIe 4.0 and ConnectX-8 in PCIe 5.0 hosts.
_OLDER_SLOTS = {
    "hdr200": "gen3x16",
    "hdr": "gen3x16",
    "roce200": "gen3x16",
    "ndr400": "gen4x16",
    "ndr": "gen4x16",
    "roce400": "gen4x16",
    "xdr800": "gen5x16",
    "xdr": "gen5x16",
}


def _slot(claim: str) -> Slot:
    generation, lanes, _ = parse_slot(claim)
    rates = tuple(rate for rate, _, _ in pcie_choices(claim))
    return Slot(f"PCIe gen{generation} x{lanes}", claim, rates)


def usual_slot(kind: str) -> str:
    """Return the slot of every adapter of a link if it is narrower than the link, else ""."""
    return _BEST_SLOTS.get(kind, "")


def narrower_slot(link: LinkClaim) -> Slot | None:
    """Return a common slot of the link's adapters that is narrower than the link; None if the claim
    names one.
    """
    claim = _OLDER_SLOTS.get(link.kind, "")
    return _slot(claim) if claim and not link.pcie and link.rails == 1 else None
