"""One PCI device: its registers that decide over traffic between adapters, GPUs and memory."""

from __future__ import annotations

import msgspec

__all__ = ["PciDevice"]


class PciDevice(msgspec.Struct, frozen=True, kw_only=True):
    """``address``: ``0000:c1:00.0``; ``device_class``: six hexadecimal digits; ``numa``: its node
    where the firmware says it. ``secondary``: the bus below a bridge. ``type``: of the PCI Express
    device or port (0 endpoint, 4 root port, 5 and 6 a switch's upstream and downstream port).
    Payloads and read request in bytes, ``speed`` as generation, ``acs``: control bits of access
    control services. None: no such register, or, where ``closed``, the kernel shows it to root
    alone.
    """

    address: str
    device_class: str = msgspec.field(name="class", default="")
    driver: str = ""
    numa: int | None = None
    secondary: int | None = None
    type: int | None = None
    payload: int | None = None
    payload_most: int | None = None
    read_request: int | None = None
    relaxed: bool | None = None
    width: int | None = None
    width_most: int | None = None
    speed: int | None = None
    speed_most: int | None = None
    acs: int | None = None
    closed: bool = False

    @property
    def domain(self) -> str:
        return self.address.partition(":")[0]

    @property
    def bus(self) -> int:
        """-1 when the address is none."""
        parts = self.address.split(":")
        try:
            return int(parts[1], 16) if len(parts) == 3 else -1
        except ValueError:
            return -1
