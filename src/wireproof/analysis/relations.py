"""Which ports of a host stand on which others, which own what is below them, whose RDMA device is
whose, and which port a name means. Pure.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from wireproof.model.record import AdapterIdentity, Nic

_ACCELERATED = ("mlx5_core", "mlx4_en", "mlx4_core", "mana")
"""Drivers of the virtual functions that Hyper-V puts under its synthetic interface."""
RAILS = "rails"
"""The kind of the port that stands for several."""
_OWNERS = ("bond", "bonding", "team", "netvsc", "failover", RAILS)
"""Kinds that own what is below them: the members' bytes are theirs and nobody else's."""
_TUNNELS = (
    *("vxlan", "geneve", "wireguard", "gre", "gretap", "ip_gre", "ip6gre", "ip6gretap", "erspan"),
    *("ipip", "sit", "ip6tnl", "vti", "vti6", "gtp", "bareudp", "xfrm", "macsec"),
)
"""Kinds and drivers of tunnels: the kernel names no port that they stand on."""


def is_radio(nic: Nic) -> bool:
    """Whether the port is a Wi-Fi interface."""
    return nic.link_kind == "wlan"


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


def stacks(nics: Iterable[Nic]) -> dict[str, list[str]]:
    """Each port with what is right below it: as it says, as its members say, or by what it cannot
    but share.
    """
    listed = list(nics)
    below = {nic.name: dict.fromkeys(nic.lower) for nic in listed}
    for nic in listed:
        if nic.master in below:
            below[nic.master][nic.name] = None
    return {nic.name: list(below[nic.name]) or _guessed(nic, listed) for nic in listed}


def _guessed(nic: Nic, nics: Sequence[Nic]) -> list[str]:
    if nic.rdma is None and nic.driver not in ("hv_netvsc", "bonding"):
        return []
    others = [one for one in nics if one is not nic and not one.lower and one.kind != "loopback"]
    parents = [one for one in others if _is_child(nic, one)]
    if parents:
        return [min(parents, key=_by_length).name]
    return [one.name for one in others if _must_share(nic, one)]


def _must_share(nic: Nic, other: Nic) -> bool:
    """Whether ``nic`` cannot but stand on ``other``."""
    if nic.driver == "hv_netvsc":
        return other.driver in _ACCELERATED and other.mac == nic.mac
    if nic.kind == "virtual" and nic.rdma is not None:
        return _same_port(other, nic)
    return (nic.kind, nic.driver, other.kind) == ("infiniband", "bonding", "infiniband")


def _is_child(nic: Nic, other: Nic) -> bool:
    """Whether ``nic`` is an IPoIB interface for a partition key beside ``other``: the kernel makes
    it on the same port, and names no port below it. By default its name has the parent's before it.
    """
    over_infiniband = (nic.kind, other.kind) == ("infiniband", "infiniband")
    return over_infiniband and _same_port(other, nic) and _by_length(other) < _by_length(nic)


def _by_length(nic: Nic) -> tuple[int, str]:
    return len(nic.name), nic.name


def _same_port(one: Nic, other: Nic) -> bool:
    if one.rdma is None or other.rdma is None:
        return False
    return (one.rdma.device, one.rdma.port) == (other.rdma.device, other.rdma.port)


def identities(adapter: AdapterIdentity) -> set[tuple[str, str]]:
    """What tells one adapter from another. A number of zeros only is no identity."""
    stated = {
        ("guid", adapter.system_guid),
        ("switch", adapter.switch_id),
        ("serial", adapter.serial),
    }
    return {(kind, value.lower()) for kind, value in stated if value.strip("0:.-x ")}


def owns_what_is_below(nic: Nic) -> bool:
    """Whether the bytes of what the port stands on are its own and nobody else's."""
    words = f"{nic.link_kind} {nic.driver}".lower()
    return any(kind in words for kind in _OWNERS)


def is_tunnel(nic: Nic) -> bool:
    """A tunnel: what crosses it leaves the host by another port, with headers around it."""
    return any(word in _TUNNELS for word in f"{nic.link_kind} {nic.driver}".lower().split())


def beneath(name: str, lower: Mapping[str, Sequence[str]]) -> list[str]:
    """Everything that ``name`` stands on, at any depth, the nearest first; ``lower``: port to the
    ports right below it.
    """
    found: dict[str, None] = {}
    waiting = list(lower.get(name, ()))
    while waiting:
        one = waiting.pop(0)
        if one in lower and one not in found and one != name:
            found[one] = None
            waiting += lower[one]
    return list(found)


def port_called(nics: Iterable[Nic], name: str) -> Nic | None:
    """The port that ``name`` means: the interface of that name, else the port of that RDMA device
    (``mlx5_0``, ``mlx5_0:1``).

    Several interfaces may use one device: of a bond and its members the bond is meant where none of
    these has another device; else what the others stand on.
    """
    listed = list(nics)
    own = next((nic for nic in listed if nic.name == name), None)
    users = [nic for nic in listed if _uses(nic, name)]
    if own is not None or len(listed) < 2 or not users:
        return own or next(iter(users), None)
    lower, known = stacks(listed), {nic.name: nic for nic in listed}
    bonds = [nic for nic in listed if _is_whole_bond(nic, users, lower, known)]
    if bonds:
        return max(bonds, key=lambda nic: len(beneath(nic.name, lower)))
    names = {nic.name for nic in users}
    return min(users, key=lambda nic: (len(names & set(beneath(nic.name, lower))), _number(nic)))


def _uses(nic: Nic, name: str) -> bool:
    device, _, port = name.partition(":")
    return _has_device(nic, device) and port in ("", str(_number(nic)))


def _number(nic: Nic) -> int:
    return nic.rdma.port if nic.rdma is not None else 0


def _is_whole_bond(
    nic: Nic, users: Sequence[Nic], lower: Mapping[str, Sequence[str]], known: Mapping[str, Nic]
) -> bool:
    """Whether ``nic`` owns ports of the ``users``' device, and none of what it owns has another
    RDMA device, or is of another driver.
    """
    if not owns_what_is_below(nic):
        return False
    below, using = beneath(nic.name, lower), {user.name for user in users}
    device = users[0].rdma.device if users[0].rdma is not None else ""
    others = [one for one in below if known[one].rdma and not _has_device(known[one], device)]
    if others or not using & set(below):
        return False
    return nic.name in using or len({known[one].driver for one in below if not lower[one]}) == 1
