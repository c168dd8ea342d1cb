"""Headroom: what still arrives after a port has decided to stop its neighbour. Pure.

IEEE 802.1Q (annex on PFC buffers, from 802.1Qbb): the decision waits for a frame that is being sent
(the largest of any class), then the PFC frame travels, the neighbour takes its time to respond, and
it may have just begun the largest frame of the no-drop class:

    H = F(other) + 672 + 2 cable + 2 interface + response + F(no-drop)      [bit times]

F(MTU) = 8 (MTU + 18 header and FCS + 4 VLAN + 20 preamble and gap); 672 = a frame of 64 B with
preamble and gap; cable = 5 ns/m; response and interface delay by speed: IEEE 802.3, 31B.3.7 and
the delay constraints of each PHY, in pause quanta of 512 bit times. H / 8 in bytes.

Valid for one link between two full-duplex ports that obey the standard. How many hosts there are
does not enter: only how many ports and priorities need it at once.
"""

from __future__ import annotations

from typing import NamedTuple

from wireproof.model.errors import BadInput
from wireproof.model.planning.bounds import Bounds, exactly
from wireproof.model.planning.pfc import Delay

__all__ = [
    "SPEEDS",
    "Speed",
    "delays_of",
    "frame_bits",
    "in_cells",
    "longest_cable",
    "speed_of",
    "total_bytes",
]

_PFC_FRAME_BITS = 8 * (64 + 20)
_QUANTUM_BITS = 512
_NS_PER_M = 5.0
_SMALLEST_FRAME = 64
_QUOTED = "IEEE 802.3, 31B.3.7, as derivations of 802.1Qbb quote it"
_STANDARD = "IEEE 802.1Q, annex on PFC buffers"


class Speed(NamedTuple):
    """``quanta``: longest response time, ``interface_bits``: longest delay of one interface (PHY
    and MAC), None: no source for it.
    """

    gbps: float
    quanta: int
    interface_bits: int | None
    source: str


SPEEDS: dict[float, Speed] = {
    one.gbps: one
    for one in (
        Speed(10, 60, 8192, f"{_QUOTED}: 60 quanta (10GBASE-T: 74)"),
        Speed(25, 80, 6144, f"{_QUOTED}: 80 quanta"),
        Speed(40, 118, 24576, f"{_QUOTED}: 118 quanta"),
        Speed(100, 394, 122_880, f"{_QUOTED}: 394 quanta"),
        Speed(200, 905, None, "taken as for 400 Gb/s: 905 quanta, not checked in the standard"),
        Speed(400, 905, None, f"{_QUOTED}: 905 quanta"),
    )
}
"""Worst cases by speed, from published derivations that agree and not from the standard itself; 50
and 800 Gb/s have no source.
"""


def speed_of(gbps: float, quanta: int | None = None) -> Speed:
    """The speed's worst cases; ``quanta`` in place of the table's. Raises BadInput for a speed that
    is not in the table without them.
    """
    known = SPEEDS.get(gbps)
    if quanta is not None:
        interface = known.interface_bits if known else None
        return Speed(gbps, quanta, interface, "--response-quanta")
    if known is None:
        names = ", ".join(f"{one:g}" for one in SPEEDS)
        raise BadInput(
            f"no response time is known for {gbps:g} Gb/s: give one of {names}, or"
            " --response-quanta from the switch's data sheet."
        )
    return known


def frame_bits(mtu: int) -> int:
    """Bit times of the largest frame of an ``mtu`` with VLAN tag, preamble and gap."""
    return 8 * (mtu + 18 + 4 + 20)


def delays_of(speed: Speed, mtu: int, other_mtu: int, cable_m: float) -> list[Delay]:
    """The terms of the sum. Interface delays are 0 at best: real ports are far below the limit."""
    cable = 2 * _NS_PER_M * cable_m * speed.gbps
    interface = 2 * (speed.interface_bits or 0)
    known = f"2 x {speed.interface_bits:,}" if speed.interface_bits else "no source at this speed"
    length = f"2 x 5 ns/m x {cable_m:g} m x {speed.gbps:g} bit/ns"
    physical = "IEEE 802.3, delay constraints of the PHY"
    response = exactly(_QUANTUM_BITS * speed.quanta)
    return [
        _frame("a frame that is being sent", other_mtu),
        _delay("the PFC frame", exactly(_PFC_FRAME_BITS), "8 x (64 + 20)", _STANDARD),
        _delay("the cable, both ways", exactly(cable), length, "light in glass; copper is faster"),
        _delay("interfaces of both ends", Bounds(0, interface), known, physical),
        _delay("the neighbour's response", response, f"512 x {speed.quanta}", speed.source),
        _frame("a frame that has just begun", mtu),
    ]


def _frame(name: str, mtu: int) -> Delay:
    return _delay(name, exactly(frame_bits(mtu)), f"8 x ({mtu} + 18 + 4 + 20)", _STANDARD)


def _delay(name: str, bits: Bounds, formula: str, source: str) -> Delay:
    return Delay(name=name, bits=bits, formula=formula, source=source)


def total_bytes(delays: list[Delay]) -> Bounds:
    """Bytes that arrive in the sum of ``delays``, rounded up."""
    bits = sum((delay.bits for delay in delays), Bounds(0, 0))
    return Bounds(-(-bits.low // 8), -(-bits.high // 8))


def in_cells(need: Bounds, cell: int) -> Bounds:
    """Bytes of buffer in cells of ``cell`` B: full frames at best (rounded up to a cell), at worst
    frames that just begin another cell. ``cell`` 0: no cells.

    A frame of p bytes fills ceil(p / c) cells; the worst p >= 64 is c + 1, or 64 where c < 64.
    """
    if not cell:
        return need
    low = -(-int(need.low) // cell) * cell
    worst = max(_SMALLEST_FRAME, cell + 1)
    factor = -(-worst // cell) * cell / worst
    return Bounds(low, -(-int(need.high * factor) // cell) * cell)


def longest_cable(headroom: int, speed: Speed, mtu: int, *, worst: bool) -> float | None:
    """Metres that ``headroom`` bytes cover, with the ``worst`` interface delays or none; None where
    it does not even cover a cable of no length.
    """
    fixed = sum((one.bits for one in delays_of(speed, mtu, mtu, 0.0)), Bounds(0, 0))
    rest = 8 * headroom - (fixed.high if worst else fixed.low)
    return rest / (2 * _NS_PER_M * speed.gbps) if rest >= 0 else None
