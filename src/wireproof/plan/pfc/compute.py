"""Buffers of all ports of a switch for lossless priorities. Pure.

The standard gives the headroom alone. XOFF and XON are ours: XOFF leaves exactly the headroom free,
XON lies one largest frame below it (as the Linux driver of mlx5 does) so that one frame more or
less does not toggle the link. The least buffer that can do both holds two largest frames below
XOFF.
"""

from __future__ import annotations

from wireproof.model.planning.bounds import Bounds
from wireproof.model.planning.pfc import Pfc
from wireproof.plan.numbers import real, whole
from wireproof.plan.pfc.configured import configured
from wireproof.plan.pfc.headroom import delays_of, frame_bits, in_cells, speed_of, total_bytes

__all__ = ["pfc"]

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


def pfc(
    speed_gbps: float,
    mtu: int,
    cable_m: float,
    ports: int,
    *,
    priorities: int = 1,
    other_mtu: int | None = None,
    cell: int = 0,
    budget: int | None = None,
    headroom: int | None = None,
    response_quanta: int | None = None,
) -> Pfc:
    """``mtu``: of the no-drop class; ``other_mtu``: the largest of any class (default: the same).
    ``cell``: bytes of a cell of the buffer, 0: none. ``budget``: buffer of the chip; ``headroom``:
    what is configured. Raises ``BadInput``.
    """
    real("--speed", speed_gbps, 0.1, 3200, "Gb/s")
    whole("--mtu", mtu, 68, 65535)
    other = mtu if other_mtu is None else whole("--other-mtu", other_mtu, 68, 65535)
    real("--cable", cable_m, 0, _LONGEST_M, "m")
    whole("--ports", ports, 1, _MOST_PORTS)
    whole("--priorities", priorities, 1, 8)
    whole("--cell", cell, 0, 65536)
    for name, value, most in (
        ("--buffer", budget, _MOST_BYTES),
        ("--headroom", headroom, _MOST_BYTES),
        ("--response-quanta", response_quanta, 65535),
    ):
        if value is not None:
            whole(name, value, 0, most)
    speed = speed_of(float(speed_gbps), response_quanta)
    delays = delays_of(speed, mtu, other, float(cable_m))
    need = total_bytes(delays)
    cells = in_cells(need, cell)
    frame = int(in_cells(Bounds(frame_bits(mtu) // 8, frame_bits(mtu) // 8), cell).low)
    each = int(cells.high) + 2 * frame
    total = each * ports * priorities
    return Pfc(
        speed_gbps=speed.gbps,
        mtu_bytes=mtu,
        other_mtu_bytes=other,
        cable_m=float(cable_m),
        ports=ports,
        priorities=priorities,
        cell_bytes=cell,
        delays=delays,
        headroom_bytes=need,
        headroom_in_cells_bytes=cells,
        xon_bytes=frame,
        xoff_bytes=2 * frame,
        refill_bytes=int(need.high) - frame_bits(mtu) // 8,
        buffer_bytes=each,
        total_headroom_bytes=int(cells.high) * ports * priorities,
        total_buffer_bytes=total,
        budget_bytes=budget,
        fits_budget=None if budget is None else total <= budget,
        configured=None if headroom is None else configured(headroom, speed, mtu, need),
        sentences=_sentences(speed.interface_bits is None, budget, total),
        sources=[*SOURCES, f"{speed.gbps:g} Gb/s: {speed.source}"],
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
