# pure
"""Compute the buffers that priority flow control needs to be lossless. Pure; formulas have their
sources."""

import dataclasses
from typing import NamedTuple

import msgspec

from wireproof.model.errors import BadInput, real, whole
from wireproof.plan import Bounds, CableFit, Configured, Delay, Pfc, exactly

# --- Buffers of all ports of a switch for lossless priorities. Pure.
# The standard defines only the headroom. XOFF and XON are wireproof's choice: XOFF leaves exactly
# the headroom free, and XON is one largest frame below it (as in the Linux driver of mlx5), so that
# a single frame does not toggle the link. The smallest buffer that allows both has room for two
# largest frames below XOFF.

# --- Headroom: the bytes that still arrive after a port has decided to stop its neighbour. Pure.
#
# IEEE 802.1Q (annex on PFC buffers, from 802.1Qbb): the decision waits for the frame being sent
# (the largest of any class), then the PFC frame crosses the cable, and the neighbour responds; it
# may just have begun the largest frame of the no-drop class:
#
# H = F(other) + 672 + 2 cable + 2 interface + response + F(no-drop) [bit times]
#
# F(MTU) = 8 (MTU + 18 header and FCS + 4 VLAN + 20 preamble and gap); 672 = a frame of 64 B with
# preamble and gap; cable = 5 ns/m; response and interface delay by speed: IEEE 802.3, 31B.3.7 and
# the delay constraints of each PHY, in pause quanta of 512 bit times. H / 8 in bytes.
#
# Valid for one link between two full-duplex ports that obey the standard. The number of hosts does
# not matter, only the number of ports and priorities that need headroom at once.

_PFC_FRAME_BITS = 8 * (64 + 20)
_QUANTUM_BITS = 512
_NS_PER_M = 5.0
_SMALLEST_FRAME = 64
_QUOTED = "IEEE 802.3, 31B.3.7, as derivations of 802.1Qbb quote it"
_STANDARD = "IEEE 802.1Q, annex on PFC buffers"


class Speed(NamedTuple):
    """``quanta``: longest response time.

    ``interface_bits``: longest delay of one interface (PHY and MAC); None: no source.
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
        Speed(200, 905, None, "taken from 400 Gb/s: 905 quanta, not checked in the standard"),
        Speed(400, 905, None, f"{_QUOTED}: 905 quanta"),
    )
}
"""Worst cases by speed, from consistent published derivations, not from the standard itself. 50 and
800 Gb/s have no source.
"""


def speed_of(gbps: float, quanta: int | None = None) -> Speed:
    """Return the speed's worst cases; ``quanta`` replaces the table's.

    Raises BadInput for a speed that is not in the table if ``quanta`` is not given.
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
    """Return the bit times of the largest frame for ``mtu``, with VLAN tag, preamble and gap."""
    return 8 * (mtu + 18 + 4 + 20)


def delays_of(speed: Speed, mtu: int, other_mtu: int, cable_m: float) -> list[Delay]:
    """Return the terms of the sum.

    The best-case interface delay is 0, because real ports are far below the limit.
    """
    cable = 2 * _NS_PER_M * cable_m * speed.gbps
    interface = 2 * (speed.interface_bits or 0)
    known = f"2 x {speed.interface_bits:,}" if speed.interface_bits else "no source at this speed"
    length = f"2 x 5 ns/m x {cable_m:g} m x {speed.gbps:g} bit/ns"
    physical = "IEEE 802.3, delay constraints of the PHY"
    response = exactly(_QUANTUM_BITS * speed.quanta)
    return [
        _frame("a frame that is being sent", other_mtu),
        _delay("the PFC frame", exactly(_PFC_FRAME_BITS), "8 x (64 + 20)", _STANDARD),
        _delay(
            "the cable, both ways", exactly(cable), length, "propagation in glass; copper is faster"
        ),
        _delay("interfaces of both ends", Bounds(0, interface), known, physical),
        _delay("the neighbour's response", response, f"512 x {speed.quanta}", speed.source),
        _frame("a frame that has just begun", mtu),
    ]


def _frame(name: str, mtu: int) -> Delay:
    return _delay(name, exactly(frame_bits(mtu)), f"8 x ({mtu} + 18 + 4 + 20)", _STANDARD)


def _delay(name: str, bits: Bounds, formula: str, source: str) -> Delay:
    return Delay(name=name, bits=bits, formula=formula, source=source)


def total_bytes(delays: list[Delay]) -> Bounds:
    """Return the bytes that arrive during the sum of ``delays``, rounded up."""
    bits = sum((delay.bits for delay in delays), Bounds(0, 0))
    return Bounds(-(-bits.low // 8), -(-bits.high // 8))


def in_cells(need: Bounds, cell: int) -> Bounds:
    """Return the bytes of buffer in cells of ``cell`` B. ``cell`` 0: no cells.

    The best case is full frames (rounded up to a cell), the worst case frames that just begin
    another cell. A frame of p bytes fills ceil(p / c) cells; the worst p >= 64 is c + 1, or 64 if c
    < 64.
    """
    if not cell:
        return need
    low = -(-int(need.low) // cell) * cell
    worst = max(_SMALLEST_FRAME, cell + 1)
    factor = -(-worst // cell) * cell / worst
    return Bounds(low, -(-int(need.high * factor) // cell) * cell)


def longest_cable(headroom: int, speed: Speed, mtu: int, *, worst: bool) -> float | None:
    """Return the cable length in metres that ``headroom`` bytes cover, with the ``worst`` interface
    delays or none.

    None if they do not even cover a cable of length 0.
    """
    fixed = sum((one.bits for one in delays_of(speed, mtu, mtu, 0.0)), Bounds(0, 0))
    rest = 8 * headroom - (fixed.high if worst else fixed.low)
    return rest / (2 * _NS_PER_M * speed.gbps) if rest >= 0 else None


_MTUS = (1500, 4096, 9000, 9216)
_CELLS = (80, 96, 128, 160, 176, 192, 208, 224, 240, 254, 256, 288)
"""Buffer cell sizes of common switch chips, bytes."""
_FCOE_BITS = 8 * 2300 + 96 + 64


def configured(headroom: int, speed: Speed, mtu: int, need: Bounds) -> Configured:
    """Judge a configured headroom. ``need``: headroom by the formula, for the given cable."""
    enough = None if need.low <= headroom < need.high else headroom >= need.high
    response = 512 * speed.quanta // 8
    sentences = [_verdict(headroom, need, enough)]
    if headroom < response:
        sentences.append(
            f"the response time alone may require {response:,} B at {speed.gbps:g} Gb/s: in the"
            " standard's worst case, frames are lost with this headroom, however short the cable "
            "and small the MTU"
        )
    cells = [cell for cell in _CELLS if headroom and headroom % cell == 0]
    if cells:
        listed = ", ".join(f"{headroom // cell} x {cell} B" for cell in cells)
        sentences.append(f"it is a whole number of buffer cells: {listed}")
    if headroom == _FCOE_BITS:
        sentences.append(
            f"{headroom:,} is also the number of bit times (not bytes) of a frame of 2300 B with"
            " preamble and gap, in published worked examples for FCoE: 8 x 2300 + 160"
        )
    sentences.append(
        "the cable length is not fixed: for each speed and MTU below with a length, the "
        "formula gives this number for that length; that does not show how the number was "
        "chosen"
    )
    mtus = sorted({*_MTUS, mtu})
    speeds = {**SPEEDS, speed.gbps: speed}
    fits = [_fit(headroom, speeds[gbps], size) for gbps in sorted(speeds) for size in mtus]
    return Configured(headroom_bytes=headroom, enough=enough, sentences=sentences, fits=fits)


def _verdict(headroom: int, need: Bounds, enough: bool | None) -> str:
    amount = f"{need.low:,.0f}" + ("" if need.known else f" to {need.high:,.0f}")
    if enough:
        return f"{headroom:,} B are enough: {amount} B are needed"
    if enough is None:
        return f"{headroom:,} B are enough only for fast interfaces: {amount} B are needed"
    return f"{headroom:,} B are too few: {amount} B are needed, so frames are lost under pressure"


def _fit(headroom: int, speed: Speed, mtu: int) -> CableFit:
    least = total_bytes(delays_of(speed, mtu, mtu, 0.0))
    return CableFit(
        speed_gbps=speed.gbps,
        mtu_bytes=mtu,
        least_bytes=int(least.low),
        longest_m=longest_cable(headroom, speed, mtu, worst=False),
        worst_m=longest_cable(headroom, speed, mtu, worst=True)
        if speed.interface_bits is not None
        else None,
    )


_MOST_BYTES = 10**12
SOURCES = (
    "IEEE 802.1Q, annex on PFC buffers (802.1Qbb): the sum",
    (
        "XOFF and XON are wireproof's choice, because the standard defines none (XON a frame "
        "below XOFF, as in mlx5)"
    ),
)
VALIDITY = (
    (
        "one link between two full-duplex ports that obey the standard; the number of ports "
        "matters, the number of hosts does not"
    ),
    "every hop of a lossless path needs this headroom: leaves and spines",
    (
        "the smaller numbers assume interfaces without delay, the larger ones the largest delay "
        "that the standard allows"
    ),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class LosslessPorts:
    """Ports of a switch. ``mtu``: MTU of the no-drop class; ``other_mtu``: the largest of any class
    (default: ``mtu``). ``cell``: bytes of a buffer cell; 0: none. ``budget``: buffer of the chip.
    ``headroom``: the configured headroom. ``response_quanta``: response time of the neighbour,
    instead of the standard's.
    """

    speed_gbps: float
    mtu: int
    cable_m: float
    ports: int
    priorities: int = 1
    other_mtu: int | None = None
    cell: int = 0
    budget: int | None = None
    headroom: int | None = None
    response_quanta: int | None = None


def pfc(asked: LosslessPorts) -> Pfc:
    """Return the buffers for the ports. Raises ``BadInput``."""
    _check(asked)
    speed = speed_of(float(asked.speed_gbps), asked.response_quanta)
    delays = delays_of(speed, asked.mtu, asked.other_mtu or asked.mtu, float(asked.cable_m))
    need = total_bytes(delays)
    found = _of_ports(asked, speed, delays, need)
    budget, headroom, total = asked.budget, asked.headroom, found.total_buffer_bytes
    return msgspec.structs.replace(
        found,
        budget_bytes=budget,
        fits_budget=None if budget is None else total <= budget,
        configured=None if headroom is None else configured(headroom, speed, asked.mtu, need),
        sentences=_sentences(speed.interface_bits is None, budget, total),
    )


def _check(asked: LosslessPorts) -> None:
    real("--speed", asked.speed_gbps, 0.1, 3200, "Gb/s")
    real("--cable", asked.cable_m, 0, 100_000.0, "m")
    for name, value, low, high in (
        ("--buffer", asked.budget, 0, _MOST_BYTES),
        ("--headroom", asked.headroom, 0, _MOST_BYTES),
        ("--mtu", asked.mtu, 68, 65535),
        ("--response-quanta", asked.response_quanta, 0, 65535),
        ("--other-mtu", asked.other_mtu, 68, 65535),
        ("--ports", asked.ports, 1, 4096),
        ("--priorities", asked.priorities, 1, 8),
        ("--cell", asked.cell, 0, 65536),
    ):
        if value is not None:
            whole(name, value, low, high)


def _of_ports(asked: LosslessPorts, speed: Speed, delays: list[Delay], need: Bounds) -> Pfc:
    cells = in_cells(need, asked.cell)
    wire = frame_bits(asked.mtu) // 8
    frame = int(in_cells(exactly(wire), asked.cell).low)
    each = int(cells.high) + 2 * frame
    count = asked.ports * asked.priorities
    return Pfc(
        speed_gbps=speed.gbps,
        mtu_bytes=asked.mtu,
        other_mtu_bytes=asked.other_mtu or asked.mtu,
        cable_m=float(asked.cable_m),
        ports=asked.ports,
        priorities=asked.priorities,
        cell_bytes=asked.cell,
        delays=delays,
        headroom_bytes=need,
        headroom_in_cells_bytes=cells,
        xon_bytes=frame,
        xoff_bytes=2 * frame,
        refill_bytes=int(need.high) - wire,
        buffer_bytes=each,
        total_headroom_bytes=int(cells.high) * count,
        total_buffer_bytes=each * count,
        sources=[*SOURCES, f"{speed.gbps:g} Gb/s: {speed.source}"],
        validity=list(VALIDITY),
    )


def _sentences(no_interface: bool, budget: int | None, total: int) -> list[str]:
    found = []
    if no_interface:
        found.append("the interfaces' delay has no source at this speed and counts as 0")
    if budget is not None and total <= budget:
        found.append(f"the buffer of {budget:,} B has {budget - total:,} B left for the rest")
    if budget is not None and total > budget:
        found.append(
            f"the buffer of {budget:,} B is {total - budget:,} B too small: fewer lossless"
            " priorities or ports, a shorter cable or a smaller MTU"
        )
    return found
