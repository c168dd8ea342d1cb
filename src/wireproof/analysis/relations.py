"""Which ports stand on which others, and whose RDMA device is whose, where the engine leaves it
open. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from wireproof.model.record import Nic

__all__ = ["lower_of", "stated"]

_ACCELERATED = ("mlx5_core", "mlx4_en", "mlx4_core", "mana")
"""Drivers of the virtual functions that Hyper-V puts under its synthetic interface."""


def stated(nic: Nic, nics: Iterable[Nic]) -> Nic:
    """The port with its RDMA device's driver, which the adapter's own interface on the same device
    tells.
    """
    if nic.rdma is None or nic.rdma.driver or nic.kind != "virtual":
        return nic
    drivers = [_own_driver(one) for one in nics if _has_device(one, nic.rdma.device)]
    driver = next((one for one in drivers if one), "")
    if not driver:
        return nic
    return msgspec.structs.replace(nic, rdma=msgspec.structs.replace(nic.rdma, driver=driver))


def _has_device(nic: Nic, device: str) -> bool:
    return nic.rdma is not None and nic.rdma.device == device


def _own_driver(nic: Nic) -> str:
    """The driver of an adapter's own interface; "" of one that stands on others."""
    if nic.kind not in ("ethernet", "infiniband") or nic.lower or nic.rdma is None:
        return ""
    return nic.rdma.driver or nic.driver


def lower_of(nic: Nic, nics: Sequence[Nic]) -> list[str]:
    """Interfaces below ``nic``: as it says, as its members say, or by what they cannot but
    share.
    """
    known = list(dict.fromkeys([*nic.lower, *(one.name for one in nics if one.master == nic.name)]))
    return known or _guessed(nic, nics)


def _guessed(nic: Nic, nics: Sequence[Nic]) -> list[str]:
    others = [one for one in nics if one is not nic and not one.lower and one.kind != "loopback"]
    return [one.name for one in others if _must_share(nic, one)]


def _must_share(nic: Nic, other: Nic) -> bool:
    """Whether ``nic`` cannot but stand on ``other``."""
    if nic.driver == "hv_netvsc":
        return other.driver in _ACCELERATED and other.mac == nic.mac
    if nic.kind == "virtual" and nic.rdma is not None:
        return _same_port(other, nic)
    return (nic.kind, nic.driver, other.kind) == ("infiniband", "bonding", "infiniband")


def _same_port(one: Nic, other: Nic) -> bool:
    if one.rdma is None or other.rdma is None:
        return False
    return (one.rdma.device, one.rdma.port) == (other.rdma.device, other.rdma.port)
