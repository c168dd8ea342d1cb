"""A headroom that is configured, or was: by which inputs would it be enough? Pure.

The formula has a free length of cable: for each speed and MTU at which the number is enough at all
there is a cable that gives it exactly. That is what is shown; it does not say that the number was
made so.
"""

from __future__ import annotations

from wireproof.model.planning.bounds import Bounds
from wireproof.model.planning.pfc import Configured, Fit
from wireproof.plan.pfc.headroom import SPEEDS, Speed, delays_of, longest_cable, total_bytes

__all__ = ["configured"]

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
            " standard's worst case this headroom is lossless with no cable and no MTU"
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
