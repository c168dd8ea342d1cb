# pure
"""Compute the limits by which a measurement is judged: attainable goodput and shortest possible
time. A token bucket shapes a virtual link and lets short messages pass at the CPU's speed. After an
idle period, one bucket of tokens and one segment pass without delay, so the ceiling applies only
well above that size (measured: 8 kB show 236 MB/s on "1 Gb/s"; 64 kB show 2.4 GB/s on "10 Gb/s").
"""

import math
import re
from functools import lru_cache
from typing import NamedTuple

from wireproof.model import quantity
from wireproof.model.claim import Limits, LinkClaim
from wireproof.model.pattern import Form, Pattern, crossings
from wireproof.physics.framing import goodput, over_fabric
from wireproof.physics.table import Constant, PhysicsError, Table, default_table

# --- Goodput of a PCIe slot: generation x width x payload size.

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
# symbol), and packets have no line code or framing.
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
    """Return bytes/s in one direction and the arithmetic: raw x MPS / (MPS + 24) x share that DLLPs
    leave.
    """
    table = table or default_table()
    payload = parse_slot(slot)[2]
    goodput, line = _goodput(slot, payload or int(table["pcie.mps"].value), table)
    return goodput, line if payload else f"{line} (payload size unknown: largest assumed)"


def pcie_choices(slot: str, table: Table | None = None) -> list[tuple[float, str, str]]:
    """Return (bytes/s, arithmetic, option) for each usual payload size, smallest first; only one if
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


class Slot(NamedTuple):
    """A common slot for adapters of a link. ``rates``: bytes/s, by payload size."""

    name: str
    claim: str
    rates: tuple[float, ...]


# No adapter of these links has a wider slot: ConnectX to ConnectX-2 and the QDR adapters of QLogic
# are PCIe 2.0 x8 (data sheets); the first adapter for DDR, InfiniHost III, is PCIe 1.1 x8.
BEST_SLOTS = {"qdr": "gen2x8", "ddr": "gen1x8"}
"""The slot of every adapter of a link that is narrower than the link."""
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


def narrower_slot(link: LinkClaim) -> Slot | None:
    """Return a common slot of the link's adapters that is narrower than the link; None if the claim
    names a slot.
    """
    claim = _OLDER_SLOTS.get(link.kind, "")
    if not claim or link.pcie or link.rails != 1:
        return None
    generation, lanes, _ = parse_slot(claim)
    rates = tuple(rate for rate, _, _ in pcie_choices(claim))
    return Slot(f"PCIe gen{generation} x{lanes}", claim, rates)


# --- The limits of a link.

_CLEAR = 4  # sizes below this multiple of the unshaped size have no ceiling


def is_shaped(link: LinkClaim) -> bool:
    """Return True for the lab's links: the shaper counts neither preamble nor frame check."""
    return not link.preamble_counted


def unslowed_bytes(link: LinkClaim, table: Table | None = None) -> int:
    """Return the size below which the link never shapes messages: 16 KiB at 1 Gb/s, 64 KiB at 10
    Gb/s.

    0 on a real link.
    """
    table = table or default_table()
    if not is_shaped(link) or link.rate_bits_per_s is None:
        return 0
    slow = link.rate_bits_per_s < table["shaper.slow_rate"].value
    return int(table["shaper.slow_segment" if slow else "shaper.segment"].value)


def bandwidth_threshold_bytes(link: LinkClaim, table: Table | None = None) -> int:
    """Return the smallest message size with a ceiling: 64 KiB at 1 Gb/s, 256 KiB at 10 Gb/s, per
    rail.

    0 on a real link.
    """
    return _CLEAR * link.rails * unslowed_bytes(link, table)


def shaper_credit_bytes(
    link: LinkClaim, *, idle_between_messages: bool, table: Table | None = None
) -> int:
    """Return the bytes that pass without delay after an idle period, on all rails. A stream is idle
    only between batches, and its segment is subtracted later.
    """
    table = table or default_table()
    if not is_shaped(link) or link.rate_bits_per_s is None:
        return 0
    burst = max(
        table["shaper.least_burst"].value,
        table["shaper.burst_time"].value * link.rate_bits_per_s / 8,
    )
    free = int(burst) + (unslowed_bytes(link, table) if idle_between_messages else 0)
    return link.rails * free


# (below this many Gb/s, suffix of the key); the last covers all higher rates
_BY_RATE: dict[str, tuple[tuple[float, str], ...]] = {
    "tcp": ((10, ""), (25, "_10"), (float("inf"), "_25")),
    "rocev2": ((25, "_10"), (100, "_25"), (float("inf"), "")),
    "efa": ((200, ""), (float("inf"), "_200")),
    "slingshot": ((200, "_10"), (400, ""), (float("inf"), "_400")),
}


def floor_constant(link: LinkClaim, table: Table | None = None) -> Constant:
    """Return the latency floor of a link's protocol (half round trip of a small message).

    A link without a rate gets the lowest floor of its kind. A user's value for the protocol applies
    to all its generations.
    """
    table = table or default_table()
    if is_shaped(link) and link.protocol == "tcp":
        return table["floor.tcp_virtual"]
    if over_fabric(link):
        return table["floor.tcp_ipoib"]
    if link.protocol in ("infiniband", "omnipath"):
        return _vouched("floor", link, _of_generation("floor", link, table), table)
    return _vouched("floor", link, f"floor.{link.protocol}{_rate_suffix(link)}", table)


def typical_constant(link: LinkClaim, table: Table | None = None) -> Constant:
    """Return the usual upper limit of a link's half round trip of a small message."""
    table = table or default_table()
    if over_fabric(link):
        return table["typical.tcp_ipoib"]
    if link.protocol == "infiniband":
        return _vouched("typical", link, _of_generation("typical", link, table), table)
    return table[f"typical.{link.protocol}"]


def _vouched(what: str, link: LinkClaim, key: str, table: Table) -> Constant:
    """Return the constant ``key``, unless the user has set the protocol's constant but not this
    constant.
    """
    own, whole = table[key], table[f"{what}.{link.protocol}"]
    return whole if own.literature and not whole.literature else own


def _rate_suffix(link: LinkClaim) -> str:
    steps = _BY_RATE.get(link.protocol, ((float("inf"), ""),))
    rate = float("inf") if link.rate_bits_per_s is None else link.rate_bits_per_s / 1e9
    return next((suffix for limit, suffix in steps if rate < limit), steps[-1][1])


def _of_generation(what: str, link: LinkClaim, table: Table) -> str:
    """Return ``floor.hdr`` for hdr100 and hdr200, ``floor.fdr`` for fdr10, ``floor.edr`` for
    edr-1x."""
    key = f"{what}.{link.kind.partition('-')[0].rstrip('0123456789')}"
    if link.kind == "cn5000":
        key = f"{what}.cn5000"
    return key if key in table else f"{what}.{link.protocol}"


def limits(
    link: LinkClaim, pattern: Pattern, form: Form, message_bytes: int, table: Table | None = None
) -> Limits:
    """Return attainable goodput (bytes/s, one direction) and floor (ns) of one operation of
    ``pattern``.

    goodput = min(line rate less headers, PCIe). Links are full duplex: an exchange has this goodput
    in each direction. floor: for patterns that wait for each answer, the protocol's floor + s /
    goodput (half round trip for ``pingpong`` and for the latency of ``persistent``, ``partitioned``
    and ``threads``; one remote access for ``put``, ``get`` and ``accumulate``), and twice that for
    ``fetch_and_op`` and ``compare_and_swap``, which no network answers in less than a round trip;
    for streams s / goodput. A shaped link passes its credit of bytes without delay.
    """
    if table is None or table is default_table():
        return _default_limits(link, pattern, form, message_bytes)
    return _limits(link, pattern, form, message_bytes, table)


@lru_cache(maxsize=4096)
def _default_limits(link: LinkClaim, pattern: Pattern, form: Form, message_bytes: int) -> Limits:
    return _limits(link, pattern, form, message_bytes, default_table())


def _limits(
    link: LinkClaim, pattern: Pattern, form: Form, message_bytes: int, table: Table
) -> Limits:
    rate, line = goodput(link, table)
    derivation, sources = [line], [f"line rate: {link.source or link.kind}"]
    width = math.inf
    if link.pcie:
        slot, slot_line = pcie_goodput(link.pcie, table)
        derivation.append(slot_line)
        sources.append("PCI Express base specification")
        if rate is not None and slot < rate:
            width = slot
            derivation.append(f"PCIe is the bottleneck: attainable {quantity.rate(slot)}")
    if rate is not None:
        rate, together = of_all_rails(link, rate, width)
        derivation += together
        derivation.append(f"attainable goodput {quantity.rate(rate)} in each direction")
    floor, floor_line = _floor(link, crossings(pattern, form), rate, message_bytes, table)
    constant = floor_constant(link, table)
    sources.append(f"latency floor: {constant.source}")
    return Limits(
        attainable_bytes_per_s=rate,
        floor_ns=floor,
        derivation=[*derivation, floor_line],
        sources=sources,
    )


def of_all_rails(
    link: LinkClaim, fastest: float, width: float = math.inf
) -> tuple[float, list[str]]:
    """Return the rate of all rails together in bytes/s, and the arithmetic if there are several.
    ``fastest``: rate of the fastest rail's line. ``width``: maximum rate of its slot.
    """
    each = [min(fastest * share, width) for share in link.shares]
    if len(each) == 1:
        return each[0], []
    whole, even = sum(each), len(each) * min(each)
    lines = [f"{len(each)} rails together: {quantity.rate(whole)}"]
    if even < whole:
        lines.append(
            f"a stripe of equal shares ends with its slowest part: {len(each)} x "
            f"{quantity.rate(min(each))} = {quantity.rate(even)}"
        )
    return whole, lines


def _floor(
    link: LinkClaim, trips: int, rate: float | None, size: int, table: Table
) -> tuple[float, str]:
    """Return the floor and its arithmetic. ``trips``: consecutive link crossings until the
    operation is complete; 0 in a stream."""
    credit = shaper_credit_bytes(link, idle_between_messages=trips > 0, table=table)
    crossed = max(1, trips)
    transfer = 0.0 if rate is None else crossed * max(0, size - credit) / rate * 1e9
    start = trips * floor_constant(link, table).value
    times = f"{crossed} x " if crossed > 1 else ""
    less = f" - {credit} B of credit" if credit else ""
    moved = (
        "" if rate is None else f" + {times}({size} B{less}, at least 0) / {quantity.rate(rate)}"
    )
    return (
        start + transfer,
        f"shortest time {start / 1e3:g} us{moved} = {(start + transfer) / 1e3:.3f} us",
    )
