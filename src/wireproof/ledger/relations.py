# pure
"""Relations between the ports of a host: ports that are stacked on others, own those below, share
an RDMA device, or are rails of one claim. Pure. It also finds the port that a name refers to.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from wireproof.ledger.catalogue import family_of
from wireproof.model.claim import is_several, rails_of
from wireproof.model.record import AdapterIdentity, Host, Nic
from wireproof.model.traffic import Ledger, PortLedger

_ACCELERATED = ("mlx5_core", "mlx4_en", "mlx4_core", "mana")
"""Drivers of the virtual functions that Hyper-V places below its synthetic interface."""
RAILS = "rails"
"""The kind of the port that represents several rails."""
_OWNERS = ("bond", "bonding", "team", "netvsc", "failover", RAILS)
"""Kinds that own the ports below, so that all bytes of the members belong to them."""
_TUNNELS = (
    *("vxlan", "geneve", "wireguard", "gre", "gretap", "ip_gre", "ip6gre", "ip6gretap", "erspan"),
    *("ipip", "sit", "ip6tnl", "vti", "vti6", "gtp", "bareudp", "xfrm", "macsec", "openvswitch"),
)
"""Kinds and drivers of tunnels and internal ports: the kernel does not show the port below them."""


def is_radio(nic: Nic) -> bool:
    """Return whether the port is a Wi-Fi interface."""
    return nic.link_kind == "wlan"


def has_no_carrier(nic: Nic) -> bool:
    """Return whether the port is known to have no link."""
    return nic.carrier is False or nic.operstate in ("down", "lowerlayerdown")


def stated(nic: Nic, nics: Iterable[Nic]) -> Nic:
    """Return the port with its RDMA device's driver, as reported by the adapter's own interface."""
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
    """Return the driver of an adapter's interface; "" for an interface that is stacked on
    others."""
    if nic.kind not in ("ethernet", "infiniband") or nic.lower or nic.rdma is None:
        return ""
    return nic.rdma.driver or nic.driver


def stacks(nics: Iterable[Nic]) -> dict[str, list[str]]:
    """Map each port to the ports directly below: as it reports, as its members report, or
    inferred.
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
    """Return whether ``other`` is the only port that can be below ``nic``."""
    if nic.driver == "hv_netvsc":
        return other.driver in _ACCELERATED and other.mac == nic.mac
    if nic.kind == "virtual" and nic.rdma is not None:
        return _same_port(other, nic)
    return (nic.kind, nic.driver, other.kind) == ("infiniband", "bonding", "infiniband")


def _is_child(nic: Nic, other: Nic) -> bool:
    """Return whether ``nic`` is an IPoIB interface for a partition key beside ``other``.

    The kernel creates it on the same port and shows no port below it. By default its name starts
    with the parent's name.
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
    """Return the identities of an adapter. A value that consists of zeros is not an identity."""
    stated = {
        ("guid", adapter.system_guid),
        ("switch", adapter.switch_id),
        ("serial", adapter.serial),
    }
    return {(kind, value.lower()) for kind, value in stated if value.strip("0:.-x ")}


def owns_what_is_below(nic: Nic) -> bool:
    """Return whether all bytes of the ports below belong to this port."""
    words = f"{nic.link_kind} {nic.driver}".lower()
    return any(kind in words for kind in _OWNERS)


def is_tunnel(nic: Nic) -> bool:
    """Return whether its traffic leaves the host through another port that the kernel does not
    show. This is true for tunnels, which encapsulate the traffic, and for internal ports of Open
    vSwitch.
    """
    return any(word in _TUNNELS for word in f"{nic.link_kind} {nic.driver}".lower().split())


def beneath(name: str, lower: Mapping[str, Sequence[str]]) -> list[str]:
    """Return all ports below ``name``, at any depth, the nearest first.

    ``lower``: port -> the ports directly below it.
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
    """Return the port that ``name`` refers to: an interface, or the port of an RDMA device
    (``mlx5_0:1``).

    Several interfaces may use one device. The result is the bond if none of its members has another
    device; otherwise the port below the others.
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


def claimed_nic(nics: Sequence[Nic], claim: str) -> Nic | None:
    """Return the port that ``claim`` refers to, None if there is none. Without a claim, return the
    only port that is neither the loopback nor stacked on another port.
    """
    if claim:
        return port_called(nics, claim)
    real = [nic for nic in nics if nic.kind != "loopback" and not nic.lower]
    return real[0] if len(real) == 1 else None


def _uses(nic: Nic, name: str) -> bool:
    device, _, port = name.partition(":")
    return _has_device(nic, device) and port in ("", str(_number(nic)))


def _number(nic: Nic) -> int:
    return nic.rdma.port if nic.rdma is not None else 0


def _is_whole_bond(
    nic: Nic, users: Sequence[Nic], lower: Mapping[str, Sequence[str]], known: Mapping[str, Nic]
) -> bool:
    """Return whether ``nic`` owns ports of the ``users``' device and no port of another device or
    driver.
    """
    if not owns_what_is_below(nic):
        return False
    below, using = beneath(nic.name, lower), {user.name for user in users}
    device = users[0].rdma.device if users[0].rdma is not None else ""
    others = [one for one in below if known[one].rdma and not _has_device(known[one], device)]
    if others or not using & set(below):
        return False
    return nic.name in using or len({known[one].driver for one in below if not lower[one]}) == 1


# --- The rails of a host as an additional port that includes the traffic of all rails. The kernel
# does not know this port: it is a bond that the user claims and no driver creates.


def rail_nics(nics: Iterable[Nic], claim: str) -> list[Nic]:
    """Return the ports in ``claim``, in its order, without missing ones."""
    listed, names = list(nics), rails_of(claim)
    found = (port_called(listed, name) for name in names)
    return [nic for nic in found if nic is not None]


def with_rails(host: Host, claim: str) -> Host:
    """Return the host with an extra port for the claimed rails.

    Unchanged if the claim lists one NIC, none, or NICs that the host does not have.
    """
    if not is_several(claim):
        return host
    found = rail_nics(host.nics, claim)
    if len({nic.name for nic in found}) < len(rails_of(claim)):
        return host
    return msgspec.structs.replace(host, nics=[*host.nics, _together(claim, found)])


def ledger_with_rails(ledger: Ledger, claim: str) -> Ledger:
    """Return the ledger with an extra port for the claimed rails, if the host has them all."""
    if not is_several(claim):
        return ledger
    found = rail_nics([port.nic for port in ledger.ports.values()], claim)
    if len({nic.name for nic in found}) < len(rails_of(claim)):
        return ledger
    known = all(ledger.ports[nic.name].known for nic in found)
    port = PortLedger(nic=_together(claim, found), tx=[], rx=[], known=known)
    return msgspec.structs.replace(ledger, ports={**ledger.ports, claim: port})


def are_rails(nic: Nic) -> bool:
    """Return whether the port represents rails."""
    return nic.link_kind == RAILS


def is_known(nic: Nic, nics: Sequence[Nic]) -> bool:
    """Return whether the catalogue contains the port's counters; for rails, the counters of
    each."""
    if not are_rails(nic):
        return family_of(nic) is not None
    return all(family_of(one) is not None for one in nics if one.name in nic.lower)


def _together(claim: str, rails: Sequence[Nic]) -> Nic:
    sizes = [nic.mtu for nic in rails]
    carriers = {nic.carrier for nic in rails}
    return Nic(
        name=claim,
        kind="infiniband" if all(nic.kind == "infiniband" for nic in rails) else "ethernet",
        link_kind=RAILS,
        lower=[nic.name for nic in rails],
        mtu=None if None in sizes else min(size for size in sizes if size is not None),
        carrier=True if carriers == {True} else None,
    )
