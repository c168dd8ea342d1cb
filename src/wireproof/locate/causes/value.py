"""What a wrong value costs where that can be calculated of the value itself. Pure."""

from __future__ import annotations

import msgspec

from wireproof.locate.causes.differing import Wrong
from wireproof.model.setting import Effect

__all__ = ["effect_here", "headers_cost"]

_HEADERS, _FRAME = 52.0, 38.0
"""IPv4, TCP and time stamps; Ethernet with preamble, frame check and gap."""
_LARGEST = 65535
_USUAL = (1500.0, 9000.0)
_MOST = 0.95


def effect_here(one: Wrong) -> Effect:
    """The catalogue's effect. That of an MTU is of 1500 bytes against 9000: other values are scaled
    by what the headers of such packets cost.
    """
    effect = one.setting.effect
    if one.setting.id != "mtu" or effect.on != "bandwidth":
        return effect
    cost, usual = headers_cost(_bytes(one.result.seen), _bytes(one.usual)), headers_cost(*_USUAL)
    if cost is None or usual is None or cost <= 0:
        return effect
    low, high = (round(min(_MOST, share * cost / usual), 3) for share in (effect.low, effect.high))
    return msgspec.structs.replace(effect, low=low, high=high)


def headers_cost(own: float | None, usual: float | None) -> float | None:
    """The share of goodput that packets of ``own`` bytes cost against ``usual``: payload / wire =
    (MTU - 52) / (MTU + 38) of TCP over Ethernet. None where no such packet holds any payload.
    """
    if own is None or usual is None or own <= _HEADERS or usual <= _HEADERS:
        return None
    mine, theirs = ((mtu - _HEADERS) / (mtu + _FRAME) for mtu in (own, usual))
    return 1.0 - mine / theirs


def _bytes(text: str) -> float | None:
    return float(text) if text.isdecimal() and len(text) < 9 and int(text) <= _LARGEST else None
