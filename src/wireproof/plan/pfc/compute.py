"""Buffers of all ports of a switch for lossless priorities. Pure.

The standard gives the headroom alone. XOFF and XON are ours: XOFF leaves exactly the headroom free,
XON lies one largest frame below it (as the Linux driver of mlx5 does) so that one frame more or
less does not toggle the link. The least buffer that can do both holds two largest frames below
XOFF.
"""

from __future__ import annotations

import dataclasses
from typing import TypedDict, Unpack

import msgspec

from wireproof.model.planning.bounds import Bounds, exactly
from wireproof.model.planning.pfc import Configured, Delay, Fit, Pfc
from wireproof.plan.numbers import real, whole
from wireproof.plan.pfc.headroom import (
    SPEEDS,
    Speed,
    delays_of,
    frame_bits,
    in_cells,
    longest_cable,
    speed_of,
    total_bytes,
)

__all__ = ["PfcOptions", "pfc"]

_MTUS = (1500, 4096, 9000, 9216)
_CELLS = (80, 96, 128, 160, 176, 192, 208, 224, 240, 254, 256, 288)
"""Cells of buffers of switch chips in use."""


def configured(headroom: int, speed: Speed, mtu: int, need: Bounds) -> Configured:
    """``need``: headroom by the formula, for the cable that was given."""
    enough = None if need.low <= headroom < need.high else headroom >= need.high
    response = 512 * speed.quanta // 8
    sentences = [_verdict(headroom, need, enough)]
    if headroom < response:
        sentences.append(
            f"the response time alone may take {response:,} B at {speed.gbps:g} Gb/s: by the"
            " standard's worst case frames are lost with this headroom, however short the cable and"
            " small the MTU"
        )
    cells = [cell for cell in _CELLS if headroom and headroom % cell == 0]
    if cells:
        listed = ", ".join(f"{headroom // cell} x {cell} B" for cell in cells)
        sentences.append(f"it is a whole number of buffer cells: {listed}")
    if headroom == _fcoe_bits():
        sentences.append(
            f"{headroom:,} is also the number of bit times (not bytes) of a frame of 2300 B with"
            " preamble and gap, in published worked examples for FCoE: 8 x 2300 + 160"
        )
    sentences.append(
        "the length of the cable is free, so the formula gives this number for one cable of each"
        " speed and MTU below that has a length; that does not show how it was chosen"
    )
    mtus = sorted({*_MTUS, mtu})
    speeds = {**SPEEDS, speed.gbps: speed}
    fits = [_fit(headroom, speeds[gbps], size) for gbps in sorted(speeds) for size in mtus]
    return Configured(headroom_bytes=headroom, enough=enough, sentences=sentences, fits=fits)


def _fcoe_bits() -> int:
    return 8 * 2300 + 96 + 64


def _verdict(headroom: int, need: Bounds, enough: bool | None) -> str:
    amount = f"{need.low:,.0f}" + ("" if need.known else f" to {need.high:,.0f}")
    if enough:
        return f"{headroom:,} B are enough: {amount} B are needed"
    if enough is None:
        return f"{headroom:,} B are enough for fast interfaces only: {amount} B are needed"
    return f"{headroom:,} B are too few: {amount} B are needed, so frames are lost under pressure"


def _fit(headroom: int, speed: Speed, mtu: int) -> Fit:
    least = total_bytes(delays_of(speed, mtu, mtu, 0.0))
    return Fit(
        speed_gbps=speed.gbps,
        mtu_bytes=mtu,
        least_bytes=int(least.low),
        longest_m=longest_cable(headroom, speed, mtu, worst=False),
        worst_m=longest_cable(headroom, speed, mtu, worst=True)
        if speed.interface_bits is not None
        else None,
    )


_LONGEST_M = 100_000.0
_MOST_PORTS = 4096
_MOST_BYTES = 10**12
SOURCES = (
    "IEEE 802.1Q, annex on PFC buffers (802.1Qbb): the sum",
    "XOFF and XON: ours, the standard has none (XON one frame below XOFF, as the mlx5 driver)",
)
VALIDITY = (
    "one link between two full-duplex ports that obey the standard; hosts do not enter, ports do",
    "every hop of a lossless path needs it: leaves and spines",
    "the smaller numbers count interfaces as instant, the larger ones as slow as they may be",
)


class PfcOptions(TypedDict, total=False):
    """``other_mtu``: the largest of any class (default: the same as ``mtu``). ``cell``: bytes of a
    cell of the buffer, 0: none. ``budget``: buffer of the chip; ``headroom``: what is configured.
    ``response_quanta``: the neighbour's, instead of the standard's.
    """

    priorities: int
    other_mtu: int | None
    cell: int
    budget: int | None
    headroom: int | None
    response_quanta: int | None


@dataclasses.dataclass(frozen=True)
class _Ports:
    """What is asked, checked."""

    speed: Speed
    mtu: int
    other: int
    cable_m: float
    ports: int
    priorities: int
    cell: int


def pfc(
    speed_gbps: float, mtu: int, cable_m: float, ports: int, **options: Unpack[PfcOptions]
) -> Pfc:
    """``mtu``: of the no-drop class. Raises ``BadInput``."""
    budget = _bytes("--buffer", options.get("budget"))
    headroom = _bytes("--headroom", options.get("headroom"))
    own = _ports(speed_gbps, mtu, cable_m, ports, options)
    delays = delays_of(own.speed, own.mtu, own.other, own.cable_m)
    need = total_bytes(delays)
    found = _of_ports(own, delays, need)
    total = found.total_buffer_bytes
    return msgspec.structs.replace(
        found,
        budget_bytes=budget,
        fits_budget=None if budget is None else total <= budget,
        configured=None if headroom is None else configured(headroom, own.speed, mtu, need),
        sentences=_sentences(own.speed.interface_bits is None, budget, total),
    )


def _bytes(name: str, value: int | None) -> int | None:
    return None if value is None else whole(name, value, 0, _MOST_BYTES)


def _ports(speed_gbps: float, mtu: int, cable_m: float, ports: int, options: PfcOptions) -> _Ports:
    real("--speed", speed_gbps, 0.1, 3200, "Gb/s")
    whole("--mtu", mtu, 68, 65535)
    other, quanta = options.get("other_mtu"), options.get("response_quanta")
    if quanta is not None:
        whole("--response-quanta", quanta, 0, 65535)
    return _Ports(
        speed=speed_of(float(speed_gbps), quanta),
        mtu=mtu,
        other=mtu if other is None else whole("--other-mtu", other, 68, 65535),
        cable_m=real("--cable", cable_m, 0, _LONGEST_M, "m"),
        ports=whole("--ports", ports, 1, _MOST_PORTS),
        priorities=whole("--priorities", options.get("priorities", 1), 1, 8),
        cell=whole("--cell", options.get("cell", 0), 0, 65536),
    )


def _of_ports(own: _Ports, delays: list[Delay], need: Bounds) -> Pfc:
    cells = in_cells(need, own.cell)
    wire = frame_bits(own.mtu) // 8
    frame = int(in_cells(exactly(wire), own.cell).low)
    each = int(cells.high) + 2 * frame
    count = own.ports * own.priorities
    return Pfc(
        speed_gbps=own.speed.gbps,
        mtu_bytes=own.mtu,
        other_mtu_bytes=own.other,
        cable_m=own.cable_m,
        ports=own.ports,
        priorities=own.priorities,
        cell_bytes=own.cell,
        delays=delays,
        headroom_bytes=need,
        headroom_in_cells_bytes=cells,
        xon_bytes=frame,
        xoff_bytes=2 * frame,
        refill_bytes=int(need.high) - wire,
        buffer_bytes=each,
        total_headroom_bytes=int(cells.high) * count,
        total_buffer_bytes=each * count,
        sources=[*SOURCES, f"{own.speed.gbps:g} Gb/s: {own.speed.source}"],
        validity=list(VALIDITY),
    )


def _sentences(no_interface: bool, budget: int | None, total: int) -> list[str]:
    found = []
    if no_interface:
        found.append("the interfaces' delay has no source at this speed and is counted as 0")
    if budget is not None and total <= budget:
        found.append(f"the buffer of {budget:,} B has {budget - total:,} B left for the rest")
    if budget is not None and total > budget:
        found.append(
            f"the buffer of {budget:,} B is {total - budget:,} B too small: fewer lossless"
            " priorities or ports, a shorter cable or a smaller MTU"
        )
    return found
