# pure
"""The questions about a path that ``check`` asks about its runs and ``prove`` about other commands.
Pure. Each function answers one question from the readings of a ledger. The callers decide how many
bytes are due and how certain the answer must be.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeVar

from wireproof.ledger.crossed import Crossed, added, crossed_at, everywhere
from wireproof.ledger.functions import is_real
from wireproof.ledger.ledger import STANDS_AT_0
from wireproof.ledger.relations import beneath, identities, is_radio, stacks
from wireproof.model.claim import Criteria, LinkClaim
from wireproof.model.finding import Port, Severity, Striping
from wireproof.model.quantity import goodput, volume
from wireproof.model.record import Nic
from wireproof.model.traffic import DIRECTIONS, Carrier, Direction, Ledger, PortLedger

T = TypeVar("T")
Identity = tuple[str, str]

_RDMA = (
    "rocev2",
    "iwarp",
    "infiniband",
    "omnipath",
    "truescale",
    "efa",
    "slingshot",
    "fabric",
)
_SHARE = 0.9
_HALF = 0.5
_ON_AIR = 0.05  # share of the crossed bytes that a Wi-Fi interface carried
_LARGEST_PACKET = 524_288.0
"""Maximum number of bytes that a counter counts as one packet (linux include/linux/netdevice.h,
GSO_MAX_SIZE).
"""
_FEWEST_PACKETS = 500  # fewer messages than this cannot be distinguished from other packets


# --- identity of machine and adapter


def sharing(ends: Iterable[tuple[AbstractSet[Identity], T]]) -> list[list[T]]:
    """Group ends that share an identity, directly or through a third end; an end without an
    identity is alone.
    """
    groups: list[tuple[set[Identity], list[T]]] = []
    for stated, one in ends:
        same = [group for group in groups if group[0] & stated]
        groups = [group for group in groups if group not in same]
        known = set(stated).union(*(group[0] for group in same))
        groups.append((known, [*(mate for group in same for mate in group[1]), one]))
    return [mates for _, mates in groups]


def kernels(spaces: Iterable[tuple[str, T]]) -> list[list[T]]:
    """Group ends that share a kernel by its boot id, regardless of network namespaces.

    An end without a boot id is alone.
    """
    return sharing((kernel_of(boot_id), one) for boot_id, one in spaces)


def kernel_of(boot_id: str) -> set[Identity]:
    """Return the identity of a kernel; empty if it is not known."""
    return {("kernel", boot_id)} if boot_id else set()


def adapters_of(nics: Sequence[Nic], name: str) -> set[Identity]:
    """Return all identities that the adapters behind and below a port state; empty if none is
    known.
    """
    below = {name, *beneath(name, stacks(nics))}
    behind = [nic.adapter for nic in nics if nic.name in below and nic.adapter is not None]
    return {identity for adapter in behind for identity in identities(adapter)}


def one_adapter(ends: Sequence[AbstractSet[Identity]]) -> bool | None:
    """Return whether two of ``ends`` are functions of one adapter, by any identity that both state.

    None if two of them state nothing that can be compared.
    """
    pairs = [(one, two) for number, one in enumerate(ends) for two in ends[number + 1 :]]
    if any(one & two for one, two in pairs):
        return True
    comparable = all({kind for kind, _ in one} & {kind for kind, _ in two} for one, two in pairs)
    return False if comparable else None


def inside_adapter(
    level: str | None, ends: Sequence[AbstractSet[Identity]], masked: Iterable[bool]
) -> bool:
    """Return whether the adapter's internal switch may have carried bytes that no physical port's
    counter shows. This is possible if two of ``ends`` are functions of one adapter, or if a port
    register reads 0 and the adapter of the ends is unknown.
    """
    if level == "wire":
        return False
    shared = one_adapter(ends)
    return shared or (shared is None and any(masked))


def is_masked(ledger: Ledger, name: str) -> bool:
    """Return whether a register of a physical port at ``name`` reads 0 although the port is in use.
    A host without permission to read the register looks like a port that returned all bytes
    internally.
    """
    ports = _upright(ledger, name)
    return any(one.remark == STANDS_AT_0 for port in ports for one in (*port.tx, *port.rx))


def _upright(ledger: Ledger, name: str) -> list[PortLedger]:
    """Return a port with all ports below it."""
    return [ledger.ports[one] for one in (name, *beneath(name, ledger.lower))]


def restarted(ledger: Ledger, name: str) -> bool:
    """Return whether a port, or a port below it, restarted; without a name, any real port."""
    ports = _upright(ledger, name) if name else filter(is_real, ledger.ports.values())
    return any(port.restarted for port in ports)


def refresh_ms(ledger: Ledger, name: str) -> float:
    """Return the slowest refresh of the byte counters at ``name`` and below, in ms."""
    entries = [one for port in _upright(ledger, name) for one in (*port.tx, *port.rx)]
    return max((one.refresh_ms for one in entries if one.bytes is not None), default=0.0)


# --- which port


def busiest(
    ledger: Ledger, directions: Iterable[Direction], claimed: str = ""
) -> tuple[str, Crossed | None]:
    """Return the claimed port, or the busiest egress port, with its traffic in the busier
    direction.

    The name is "" if there is neither.
    """
    seen: list[tuple[str, Crossed]] = []
    for direction in directions:
        if claimed:
            seen.append((claimed, crossed_at(ledger, claimed, direction)))
        else:
            ways = sorted(everywhere(ledger, direction).items(), key=lambda way: way[0])
            seen += [way for way in ways if way[1].bytes is not None]
    return max(seen, key=lambda way: way[1].bytes or 0.0, default=("", None))


def looped(ledger: Ledger, direction: Direction) -> dict[str, Crossed]:
    """Return the traffic of each loopback interface."""
    return {
        name: crossed_at(ledger, name, direction)
        for name, port in ledger.ports.items()
        if port.nic.kind == "loopback"
    }


def is_on_air(ledger: Ledger, name: str) -> bool:
    """Return whether a port is a Wi-Fi interface, or a Wi-Fi interface below it carried part of its
    bytes."""
    below = (port.nic for port in _upright(ledger, name))
    radios = [nic.name for nic in below if is_radio(nic)]
    for way in DIRECTIONS:
        whole = crossed_at(ledger, name, way).bytes or 0.0
        part = added([crossed_at(ledger, one, way) for one in radios]).bytes or 0.0
        if part > _ON_AIR * whole:
            return True
    return name in radios


def unplaced(ledger: Ledger, seen: Mapping[str, float], least: float) -> str:
    """Return a virtual port with at least ``least`` bytes whose lower device is hidden, or "".

    Any other port may count the same bytes.
    """
    loud = (name for name, count in seen.items() if count >= max(least, 1.0))
    return next((name for name in loud if _is_unplaced(ledger.ports[name].nic)), "")


def _is_unplaced(nic: Nic) -> bool:
    return nic.kind == "virtual" and bool(nic.hidden) and not nic.lower


def apart(ledger: Ledger, ways: Mapping[str, Crossed]) -> dict[str, Crossed]:
    """Return egress ports that count no byte twice: if the ports below virtual ports are hidden,
    either the real ports or a single virtual port, whichever counted more.
    """
    hidden = [name for name in ways if _is_unplaced(ledger.ports[name].nic)]
    groups = [{name: ways[name]} for name in hidden]
    groups.append({name: way for name, way in ways.items() if name not in hidden})
    return max(groups, key=lambda group: sum(way.bytes or 0.0 for way in group.values()))


def uncounted(ledger: Ledger, around: Mapping[str, Crossed]) -> str:
    """Return a port that may have carried bytes that no counter shows, or "": a port of an adapter,
    or any port that restarted.
    """
    blind = {name for name, one in around.items() if not one.complete or one.bytes is None}
    ports = ((name, port) for name in around for port in _upright(ledger, name))
    open_ = (name for name, port in ports if port.restarted or (name in blind and is_real(port)))
    return next(open_, "")


# --- amount and protocol


def turned_round(inside: float | None, seen: float, need: float, most: float) -> bool:
    """Return whether the adapter's switch counted at least ``most`` bytes and the port less than
    half of ``need``.
    """
    return inside is not None and inside >= most and seen < _HALF * need


def may_have_wrapped(
    wrap: float | None, seen: float, least: float, most: float, packets: float | None = None
) -> bool:
    """Return whether a counter that wraps after ``wrap`` bytes may show ``seen`` although between
    ``least`` and ``most`` bytes crossed.

    ``packets``: number of packets that crossed; None: not counted. Too few packets cannot have
    carried ``least`` bytes.
    """
    if packets is not None:
        most = min(most, packets * _LARGEST_PACKET)
    return wrap is not None and seen + math.ceil((least - seen) / wrap) * wrap <= most


def lacks_packets(
    seen: float | None, due: float | None, share: float, fewest: float = _FEWEST_PACKETS
) -> bool:
    """Return whether fewer packets crossed than there were messages that cannot be merged.

    False if nothing counts packets, or if there are fewer messages than ``fewest``.
    """
    return seen is not None and due is not None and due >= fewest and seen < share * due


def could_carry(
    seen: float, packets: float | None, need: float, due: float | None, share: float
) -> bool:
    """Return whether a port moved enough bytes for ``need`` and, if counted, packets for ``due``
    messages.
    """
    return seen >= share * need and not lacks_packets(packets, due, share, fewest=0)


def mostly(by: Mapping[Carrier, float], need: float) -> Carrier | None:
    """Return the carrier of ``need`` bytes, by the bytes counted per carrier; None if that is
    unclear.
    """
    kernel, rdma = by.get("kernel"), by.get("rdma", by.get("psm"))
    need = max(need, 1.0)
    if kernel is None or rdma is None:
        return None
    if rdma >= _SHARE * need:
        return "psm" if "rdma" not in by else "rdma"
    return "kernel" if kernel >= _SHARE * need and rdma < _HALF * need else None


def other_protocol(
    link: LinkClaim, by: Mapping[Carrier, float], need: float, where: str
) -> tuple[str, Severity, str] | None:
    """Return code, severity and sentence if the bytes at ``where`` used a protocol other than the
    link's. None if they used the link's protocol or the protocol is unknown.
    """
    carrier = mostly(by, need)
    kernel, rdma = volume(by.get("kernel", 0.0)), volume(by.get("rdma", by.get("psm", 0.0)))
    claimed = f"{link.kind} was claimed, and on {where}"
    if carrier == "kernel" and link.protocol in _RDMA:
        text = f"{claimed} the kernel's sockets carried {kernel} and RDMA {rdma}"
        return "tcp-instead-of-rdma", "fail", text
    if carrier in ("rdma", "psm") and link.protocol == "tcp":
        text = f"{claimed} RDMA carried {rdma} and the kernel's sockets {kernel}"
        return "rdma-instead-of-tcp", "warning", text
    return None


# --- the expected share of each rail, and whether the rails carried it


def used_by_others(place: Port, nic: str, bytes_per_s: float, us: str) -> str:
    """Return the clause about traffic at a port that ``us`` did not send."""
    verb = "sends" if place.direction == "tx" else "receives"
    return f"{place.node}: {nic} {verb} {goodput(bytes_per_s)} that {us} did not send"


def due_shares(link: LinkClaim | None, count: int) -> list[float]:
    """Return each rail's share in proportion to its line rate; equal shares if no rates
    are known.
    """
    rates = link.shares if link is not None and len(link.shares) == count else (1.0,) * count
    whole = sum(rates)
    return [rate / whole for rate in rates]


def state_of(seen: Sequence[float | None], due: Sequence[float], criteria: Criteria) -> Striping:
    """Return how the rails shared the bytes, from the shares ``seen`` and ``due``."""
    known = [(share, wanted) for share, wanted in zip(seen, due, strict=True) if share is not None]
    if len(known) < len(seen):
        return "unknown"
    if sum(share >= criteria.stray_share * wanted for share, wanted in known) == 1:
        return "one-rail"
    tolerance = criteria.rail_tolerance
    even = all(abs(share / wanted - 1) <= tolerance for share, wanted in known)
    return "striped" if even else "unequal"
