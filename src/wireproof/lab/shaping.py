"""Shaping of one link end, as lines for ``tc -batch``. Pure.

HTB with a bucket of 64 us of line rate is honest in a ping-pong; tbf is not, because its bucket
refills while the answer travels back (measured: 239 MB/s for 64 kB messages on "1 Gbit/s"). HTB
counts whole frames without preamble and FCS.

A timer that comes late loses what exceeds the bucket. Measured on two busy cores at 1 Gbit/s
(ceiling 119.5 MB/s), stream and 1 MiB ping-pong: bucket 2 kB on both ends 107 and 110 MB/s; 8 kB on
both 117 and 119; 8 kB, 32 kB at the switch 118 and 119. The switch's end sees paced traffic unless
several senders meet there, so its bucket is four times as deep and loses nothing more.
"""

import dataclasses
from collections.abc import Iterable

from wireproof.model.topology import Fault, Network, parse_delay_us, parse_loss_percent, parse_rate

SLOW_RATE = 2_000_000_000
"""Below this rate a 64 KiB segment is a ping-pong's whole message: smaller segments."""
_SLOW_GSO = 16384
_SMALLEST_BURST = 2000
_SWITCH_DEPTH = 4
_UNLIMITED = 100_000_000_000
_ROOT, _CLASS, _NETEM = "1:", "1:1", "10:"


@dataclasses.dataclass(frozen=True)
class Shape:
    """What happens to packets that leave one device. ``rate``: bits/s, None not shaped. ``burst``:
    bucket, bytes.
    """

    rate: int | None = None
    loss_percent: float | None = None
    delay_us: float | None = None
    burst: int = 0

    @property
    def uses_netem(self) -> bool:
        return self.loss_percent is not None or self.delay_us is not None


def burst_bytes(rate: int) -> int:
    """64 us of line rate, at least one frame: 8000 B at 1 Gb/s."""
    return max(rate * 64 // 8_000_000, _SMALLEST_BURST)


def gso_bytes(network: Network) -> int | None:
    """Largest segment that a device of this network may hand down; None: the kernel's default."""
    rate = network.rate_bits_per_s
    return _SLOW_GSO if rate is not None and rate < SLOW_RATE else None


def shape_of(network: Network, faults: Iterable[Fault], node: str, direction: str) -> Shape:
    """What the faults make of one direction of a node's link: ``tx`` leaves the node, ``rx`` the
    switch.

    The lower rate of link and fault counts.
    """
    rate = network.rate_bits_per_s
    depth = _SWITCH_DEPTH if direction == "rx" else 1
    shape = Shape(rate=rate, burst=depth * burst_bytes(rate)) if rate else Shape()
    for fault in faults:
        if (fault.node, fault.network, fault.direction) != (node, network.name, direction):
            continue
        if fault.kind == "rate":
            limit = min(parse_rate(fault.value), rate or parse_rate(fault.value))
            shape = dataclasses.replace(shape, rate=limit, burst=burst_bytes(limit))
        elif fault.kind == "loss":
            shape = dataclasses.replace(shape, loss_percent=parse_loss_percent(fault.value))
        elif fault.kind == "delay":
            shape = dataclasses.replace(shape, delay_us=parse_delay_us(fault.value))
    return shape


def _class(verb: str, device: str, shape: Shape) -> str:
    # netem needs a class to hang below; an unshaped link gets one that is faster than the machine.
    rate = shape.rate or _UNLIMITED
    burst = shape.burst or burst_bytes(rate)
    return (
        f"class {verb} dev {device} parent {_ROOT} classid {_CLASS} htb rate {rate}bit ceil"
        f" {rate}bit burst {burst} cburst {burst} quantum 60000"
    )


def _netem(verb: str, device: str, shape: Shape) -> str:
    # The queue must hold what is on its way: 10000 packets are 60 ms of 1 Gb/s in the smallest
    # segments.
    words = [f"qdisc {verb} dev {device} parent {_CLASS} handle {_NETEM} netem limit 10000"]
    if shape.delay_us is not None:
        words.append(f"delay {shape.delay_us:g}us")
    if shape.loss_percent is not None:
        words.append(f"loss {shape.loss_percent:g}%")
    return " ".join(words)


def _from_nothing(device: str, shape: Shape) -> list[str]:
    if shape == Shape():
        return []
    lines = [
        f"qdisc add dev {device} root handle {_ROOT} htb default 1 r2q 1000",
        _class("add", device, shape),
    ]
    return [*lines, _netem("add", device, shape)] if shape.uses_netem else lines


def transition(device: str, old: Shape, new: Shape) -> list[str]:
    """Lines that lead from one shape to another without dropping what is queued, where that is
    possible.
    """
    if old == new:
        return []
    if Shape() in (old, new) or (old.rate is None) != (new.rate is None):
        removal = [] if old == Shape() else [f"qdisc del dev {device} root"]
        return removal + _from_nothing(device, new)
    lines = []
    if (new.rate, new.burst) != (old.rate, old.burst):
        lines.append(_class("change", device, new))
    if old.uses_netem and not new.uses_netem:
        lines.append(f"qdisc del dev {device} parent {_CLASS} handle {_NETEM}")
    elif new.uses_netem and (old.loss_percent, old.delay_us) != (new.loss_percent, new.delay_us):
        lines.append(_netem("change" if old.uses_netem else "add", device, new))
    return lines
