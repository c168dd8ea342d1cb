"""What ``check`` asks of runs of our own engine and ``prove`` of foreign commands: each question
once, answered out of a ledger's readings. Pure.

How much is due, and how sure it must be, differs between the two and is the caller's; what the
ports are and what they carried is not.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeVar

from wireproof.analysis.crossed import Crossed, added, crossed_at, everywhere
from wireproof.analysis.functions import is_real
from wireproof.analysis.ledger import STANDS_AT_0
from wireproof.analysis.relations import beneath, identities, is_radio, stacks
from wireproof.model.claim import Criteria, LinkClaim
from wireproof.model.finding import Severity, Striping
from wireproof.model.ledger import DIRECTIONS, Carrier, Direction, Ledger, PortLedger
from wireproof.model.quantity import volume
from wireproof.model.record import Nic

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
_ON_AIR = 0.05  # of what crossed what stands on a Wi-Fi interface
_FEWEST_PACKETS = 500  # fewer messages than this cannot be told from other packets


# --- whose machine, whose adapter


def sharing(ends: Iterable[tuple[AbstractSet[Identity], T]]) -> list[list[T]]:
    """What states an identity in common, also by way of a third, in groups; what states none is
    alone.
    """
    groups: list[tuple[set[Identity], list[T]]] = []
    for stated, one in ends:
        same = [group for group in groups if group[0] & stated]
        groups = [group for group in groups if group not in same]
        known = set(stated).union(*(group[0] for group in same))
        groups.append((known, [*(mate for group in same for mate in group[1]), one]))
    return [mates for _, mates in groups]


def kernels(spaces: Iterable[tuple[str, T]]) -> list[list[T]]:
    """What runs on one kernel, by its boot id, whatever the network namespaces; what states none
    is alone.
    """
    return sharing((kernel_of(boot_id), one) for boot_id, one in spaces)


def kernel_of(boot_id: str) -> set[Identity]:
    """The identity of a kernel; empty if it is not known."""
    return {("kernel", boot_id)} if boot_id else set()


def adapters_of(nics: Sequence[Nic], name: str) -> set[Identity]:
    """Every identity that the adapters behind a port and below it state; empty if none is known."""
    below = {name, *beneath(name, stacks(nics))}
    behind = [nic.adapter for nic in nics if nic.name in below and nic.adapter is not None]
    return {identity for adapter in behind for identity in identities(adapter)}


def one_adapter(ends: Sequence[AbstractSet[Identity]]) -> bool | None:
    """Whether two of ``ends`` are functions of one adapter, by any identity that both state; None
    if two of them state nothing that can be compared.
    """
    pairs = [(one, two) for number, one in enumerate(ends) for two in ends[number + 1 :]]
    if any(one & two for one, two in pairs):
        return True
    comparable = all({kind for kind, _ in one} & {kind for kind, _ in two} for one, two in pairs)
    return False if comparable else None


def inside_adapter(
    level: str | None, ends: Sequence[AbstractSet[Identity]], masked: Iterable[bool]
) -> bool:
    """Whether the adapter's own switch may have carried what no counter of a physical port shows:
    two of ``ends`` are functions of one adapter, or a register stands at 0 and nothing tells whose
    functions they are.
    """
    if level == "wire":
        return False
    shared = one_adapter(ends)
    return shared or (shared is None and any(masked))


def is_masked(ledger: Ledger, name: str) -> bool:
    """Whether a register of a physical port at ``name`` stands at 0 although the port is in use: a
    host that may not read it and a port that all bytes turned round in look alike.
    """
    ports = _upright(ledger, name)
    return any(one.remark == STANDS_AT_0 for port in ports for one in (*port.tx, *port.rx))


def _upright(ledger: Ledger, name: str) -> list[PortLedger]:
    """A port with everything that it stands on."""
    lower = {one: port.nic.lower for one, port in ledger.ports.items()}
    return [ledger.ports[one] for one in (name, *beneath(name, lower))]


# --- which port


def busiest(
    ledger: Ledger, directions: Iterable[Direction], claimed: str = ""
) -> tuple[str, Crossed | None]:
    """The claimed port, or the way out that carried most, with what crossed it in the busier
    direction; "" if there is neither.
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
    """What crossed each loopback interface."""
    ports = ledger.ports.items()
    return {
        name: crossed_at(ledger, name, direction)
        for name, port in ports
        if port.nic.kind == "loopback"
    }


def is_on_air(ledger: Ledger, name: str) -> bool:
    """Whether a port is a Wi-Fi interface, or one below it carried a part of its bytes."""
    below = (port.nic for port in _upright(ledger, name))
    radios = [nic.name for nic in below if is_radio(nic)]
    for way in DIRECTIONS:
        whole = crossed_at(ledger, name, way).bytes or 0.0
        part = added([crossed_at(ledger, one, way) for one in radios]).bytes or 0.0
        if part > _ON_AIR * whole:
            return True
    return name in radios


def unplaced(ledger: Ledger, seen: Mapping[str, float], least: float) -> str:
    """A virtual port among those that carried ``least`` bytes, if what it stands on is hidden: any
    other port may count the same bytes. "" if there is none.
    """
    loud = (ledger.ports[name].nic for name, count in seen.items() if count >= max(least, 1.0))
    hidden = (nic.name for nic in loud if nic.kind == "virtual" and nic.hidden and not nic.lower)
    return next(hidden, "")


def uncounted(ledger: Ledger, around: Mapping[str, Crossed]) -> str:
    """A port of an adapter, or what stands on such ports, that may have carried bytes which no
    counter shows; "" if there is none.
    """
    blind = (name for name, one in around.items() if not one.complete or one.bytes is None)
    return next((one for one in blind if any(map(is_real, _upright(ledger, one)))), "")


# --- how much, and by what


def turned_round(inside: float | None, seen: float, need: float, most: float) -> bool:
    """Whether counters of the adapter's switch saw ``most`` bytes or more, and the port itself less
    than half of the ``need``.
    """
    return inside is not None and inside >= most and seen < _HALF * need


def lacks_packets(
    seen: float | None, due: float | None, share: float, fewest: float = _FEWEST_PACKETS
) -> bool:
    """Whether fewer packets crossed than messages that cannot be merged; False if nothing tells,
    or these are fewer than ``fewest``.
    """
    return seen is not None and due is not None and due >= fewest and seen < share * due


def could_carry(
    seen: float, packets: float | None, need: float, due: float | None, share: float
) -> bool:
    """Whether a port moved enough bytes to have carried the ``need``, and enough packets, if these
    are counted, for the ``due`` messages.
    """
    return seen >= share * need and not lacks_packets(packets, due, share, fewest=0)


def mostly(by: Mapping[Carrier, float], need: float) -> Carrier | None:
    """What carried ``need`` bytes, by what was counted of each carrier; None where that does not
    tell.
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
    """Code, severity and sentence if the bytes ``where`` went by another protocol than the link's;
    None if they went by it, or nothing tells.
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


# --- what share each rail is due, and whether the shares that were seen are those


def due_shares(link: LinkClaim | None, count: int) -> list[float]:
    """The share of each rail by its line rate; equal ones where no rates are known."""
    rates = link.shares if link is not None and len(link.shares) == count else (1.0,) * count
    whole = sum(rates)
    return [rate / whole for rate in rates]


def state_of(seen: Sequence[float | None], due: Sequence[float], criteria: Criteria) -> Striping:
    """How the rails shared the bytes, by the shares that were ``seen`` and are ``due``."""
    known = [(share, wanted) for share, wanted in zip(seen, due, strict=True) if share is not None]
    if len(known) < len(seen):
        return "unknown"
    if sum(share >= criteria.stray_share * wanted for share, wanted in known) == 1:
        return "one-rail"
    tolerance = criteria.rail_tolerance
    even = all(abs(share / wanted - 1) <= tolerance for share, wanted in known)
    return "striped" if even else "unequal"
