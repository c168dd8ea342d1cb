"""What an interface's settings mean together, whatever file they come from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import AddressValueError, IPv4Address, IPv4Network, NetmaskValueError, ip_address
from typing import Literal

from wireproof.lint.files.fragments import WrittenLine, at
from wireproof.lint.rule import Broken

__all__ = [
    "ETHERNET_MOST",
    "Interface",
    "Value",
    "is_address",
    "mask_length",
    "merged",
    "mtu",
    "network_of",
    "prefix_of",
    "same_place",
]


def is_address(text: str) -> bool:
    """Whether ``text`` is an IPv4 or IPv6 address; a zone (``%eth0``) may follow."""
    try:
        ip_address(text.split("%", 1)[0][:64])
    except ValueError:
        return False
    return True


def mask_length(mask: str) -> int | None:
    """The prefix length of a dotted mask; None when it is no mask (``255.0.255.0``)."""
    try:
        bits = int(IPv4Address(mask))
    except AddressValueError:
        return None
    ones = bits.bit_count()
    return ones if bits == (0xFFFFFFFF << (32 - ones)) & 0xFFFFFFFF else None


def network_of(address: str, length: int) -> IPv4Network | None:
    """The network of an address; None for IPv6 and for what is no address."""
    try:
        return IPv4Network((address, length), strict=False)
    except (AddressValueError, NetmaskValueError, ValueError):
        return None


def same_place(one: str, other: str, bits: int = 24) -> bool:
    """Whether two IPv4 addresses share their first ``bits``."""
    network = network_of(one, bits)
    return network is not None and network == network_of(other, bits)


# bytes; mlx5, the largest of the common drivers; 9216 is what switches carry at least
ETHERNET_MOST = 9978
CONNECTED_MOST = 65520
DATAGRAM_MOST = 10236  # Omni-Path with a 10 KiB fabric MTU, less the 4 bytes of the IPoIB header
VIRTUAL = re.compile(r"(?:lo|veth|br|docker|virbr|tun|tap|dummy|bond|team|vx)")
ETHERNET = re.compile(r"(?:eth|eno|ens|enp|em|p\d+p)\w*$")
INFINIBAND = re.compile(r"(?:ib|opib|ibp|ibs)\w*(?:\.[0-9a-fA-F]+)?$")


@dataclass(frozen=True, slots=True)
class Value:
    """One setting: its text at ``offset`` of ``line``."""

    line: WrittenLine
    offset: int
    text: str

    def replaced(self, text: str) -> str:
        """The line's text with another value."""
        return self.line.text[: self.offset] + text + self.line.text[self.offset + len(self.text) :]


@dataclass
class Interface:
    """One interface: ``name`` "" when unknown, ``mode`` None when the file does not say."""

    name: str = ""
    kind: str = ""
    mode: Literal["connected", "datagram"] | None = None
    mtu: Value | None = None
    addresses: list[tuple[Value, int]] = field(default_factory=list)  # with the prefix length

    @property
    def infiniband(self) -> bool:
        """Whether it is an IPoIB interface."""
        return self.kind == "infiniband" or (not self.kind and bool(INFINIBAND.match(self.name)))

    @property
    def ethernet(self) -> bool:
        """Whether it is surely a physical Ethernet interface."""
        if VIRTUAL.match(self.name):
            return False
        return self.kind == "ethernet" or (not self.kind and bool(ETHERNET.match(self.name)))


def mtu(interface: Interface) -> Iterator[Broken]:
    """The MTU against the link's kind and IPoIB mode."""
    value = interface.mtu
    if value is None or not re.fullmatch(r"[0-9]{1,9}", value.text):
        return
    size = int(value.text)
    if interface.mode or interface.infiniband:
        yield from ipoib_mtu(interface, value, size)
    elif interface.ethernet and size > ETHERNET_MOST:
        fix = value.replaced("9000")
        yield at("interface-mtu-ethernet", value.line, value.offset, f"MTU {size}", fix)


def ipoib_mtu(interface: Interface, value: Value, size: int) -> Iterator[Broken]:
    """The MTU of an interface on InfiniBand."""
    connected = interface.mode == "connected"
    most = CONNECTED_MOST if connected else DATAGRAM_MOST
    mode = f"{interface.mode} mode" if interface.mode else "datagram mode (the default)"
    fix = value.replaced(str(CONNECTED_MOST)) if connected else None
    if size > most:
        seen = f"MTU {size} with {mode}"
        yield at("interface-mtu-mode", value.line, value.offset, seen, fix)
    elif connected and size in (2044, 4092):
        seen = f"MTU {size} is a datagram's, the mode is connected"
        yield at("interface-mtu-mode", value.line, value.offset, seen, fix)


def merged(interfaces: list[Interface]) -> Iterator[Broken]:
    """Interfaces that one mask shorter than /24 puts into one network though their third numbers
    differ.
    """
    seen: list[tuple[str, Value, int]] = []
    for interface in interfaces:
        for value, length in interface.addresses:
            for name, other, other_length in seen:
                if name == interface.name or same_place(value.text, other.text):
                    continue
                network = network_of(value.text, min(length, other_length))
                if (
                    length < 24
                    and network is not None
                    and network == network_of(other.text, min(length, other_length))
                ):
                    text = f"{value.text} and {other.text} are both in {network}"
                    yield at("interface-mask-merges", value.line, value.offset, text)
                    break
            seen.append((interface.name, value, length))


def prefix_of(mask: str) -> int | None:
    """A prefix length from ``24`` or ``255.255.255.0``."""
    if re.fullmatch(r"[0-9]{1,3}", mask):
        return int(mask) if int(mask) <= 32 else None
    return mask_length(mask)
