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
    twins = [one for one in nics if one.rdma is not None and one.rdma.device == nic.rdma.device]
    real = [one for one in twins if one.kind in ("ethernet", "infiniband") and not one.lower]
    driver = next(
        (
            one.rdma.driver or one.driver
            for one in real
            if one.rdma and (one.rdma.driver or one.driver)
        ),
        "",
    )
    if not driver:
        return nic
    return msgspec.structs.replace(nic, rdma=msgspec.structs.replace(nic.rdma, driver=driver))


def lower_of(nic: Nic, nics: Sequence[Nic]) -> list[str]:
    """Interfaces below ``nic``: as it says, as its members say, or by what they cannot but
    share.
    """
    known = list(dict.fromkeys([*nic.lower, *(one.name for one in nics if one.master == nic.name)]))
    return known or _guessed(nic, nics)


def _guessed(nic: Nic, nics: Sequence[Nic]) -> list[str]:
    others = [one for one in nics if one is not nic and not one.lower and one.kind != "loopback"]
    if nic.driver == "hv_netvsc":
        return [one.name for one in others if one.driver in _ACCELERATED and one.mac == nic.mac]
    if nic.kind == "virtual" and nic.rdma is not None:
        return [one.name for one in others if _same_port(one, nic)]
    if nic.kind == "infiniband" and nic.driver == "bonding":
        return [one.name for one in others if one.kind == "infiniband"]
    return []


def _same_port(one: Nic, other: Nic) -> bool:
    if one.rdma is None or other.rdma is None:
        return False
    return (one.rdma.device, one.rdma.port) == (other.rdma.device, other.rdma.port)
