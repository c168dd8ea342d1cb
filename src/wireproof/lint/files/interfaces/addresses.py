"""Addresses and masks as configuration files write them."""

from __future__ import annotations

from ipaddress import AddressValueError, IPv4Address, IPv4Network, NetmaskValueError, ip_address

__all__ = ["is_address", "mask_length", "network_of", "same_place"]


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
