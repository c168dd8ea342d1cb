# pure
"""Select the interfaces of a host to audit, and derive their names for conditions. Pure.

Interfaces of an adapter are always audited. A virtual interface (VLAN, bond, bridge, IPoIB child,
macvlan, veth, tun) is audited if it may carry the fabric: it was chosen, or it is up with an
address and does not belong to a container or hypervisor. Interfaces below a selected interface are
included.
"""

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

import msgspec

from wireproof.audit.expression import UNKNOWN, Value
from wireproof.audit.facts import HostFacts, first_match, sections
from wireproof.model.errors import decode_json
from wireproof.model.record import FactFrame, Nic

INTERFACES = "interfaces"
"""The fact that lists a host's interfaces, as the engine finds them."""
CHOSEN = "chosen-interfaces"
"""The fact that lists the interfaces that the user chose, one per line."""
_NOISE = re.compile(
    r"docker\d*|br-[0-9a-f]{12}|virbr\d+(-nic)?|vnet\d+|vmnet\d+|lxc\w*|lxdbr\d+|podman\d+|cni\w*"
    r"|cali\w+|tunl0|flannel\S*|cilium\S*|weave|kube-\S+|nodelocaldns|veth[0-9a-f]{6,8}|ifb\d+"
)
"""Names that container engines and hypervisors give to their interfaces."""
_NOT_FABRIC = {"dummy", "ifb", "nlmon", "wireguard", "gre", "sit", "ipip"}
_UP = {"up", "unknown"}
"""Drivers of tun and of some bridges never report more than "unknown"."""


def audited(facts: HostFacts) -> list[Nic]:
    """Return the interfaces to audit, by name. Interfaces known only from files come without the
    interfaces below them.
    """
    listed = {nic.name: nic for nic in listed_nics(facts)}
    chosen = set((facts.file(CHOSEN).text or "").split())
    addressed = any(nic.address for nic in listed.values())
    selected = {
        name
        for name, nic in listed.items()
        if is_real(nic) or name in chosen or _may_carry(nic, addressed)
    }
    for path in facts.matching("/sys/class/net/*/device/uevent"):
        name = path.split("/")[4]
        selected.add(name)
        listed.setdefault(name, Nic(name=name))
    return [listed[name] for name in sorted(_closure(listed, selected)) if name in listed]


def listed_nics(facts: HostFacts) -> list[Nic]:
    """Return the interfaces from the engine, or from an archive's output of ``ip``, or else of
    ``ethtool -i``. RDMA ports without an interface are left out.
    """
    nics = _decoded(facts.file(INTERFACES).text or "[]")
    if nics is None:
        return []
    if not nics and (printed := facts.command(IP_ADDRESS).text):
        nics = [_with_address(nic, facts) for nic in nics_of_ip(printed)]
    elif not nics:
        nics = list(_nics_of_ethtool(facts))
    return [nic for nic in nics if nic.rdma is None or ":" not in nic.name]


@functools.lru_cache(maxsize=8)
def _decoded(text: str) -> list[Nic] | None:
    """Return the engine's list, None if it is damaged; each host asks for it several times."""
    try:
        return decode_json(text, list[Nic])
    except msgspec.DecodeError:
        return None


def driver_of(nic: str) -> tuple[str, ...]:
    """Return the command that prints an interface's driver and PCI address."""
    return ("ethtool", "-i", nic)


_BUS = re.compile(
    r"^bus-info: (?:([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])"
    r"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-\w+)$",
    re.MULTILINE,
)
"""On PCI, or on the bus of a hypervisor."""


def _nics_of_ethtool(facts: HostFacts) -> Iterator[Nic]:
    """Yield the interfaces of adapters, which have an address on their bus."""
    for argv, frame in facts.commands.items():
        if argv[:2] == driver_of("")[:2] and _BUS.search(frame.text):
            yield _with_address(Nic(name=argv[2], kind=_kind_of(frame.text)), facts)


def _kind_of(text: str) -> Literal["ethernet", "infiniband"]:
    return "infiniband" if "ib_ipoib" in text else "ethernet"


_SOFTWARE = re.compile(
    r"^driver: (?:(bonding)|(802\.1Q VLAN Support)|(bridge|macvlan|ipvlan|team|tun|veth))$",
    re.MULTILINE,
)


def _with_address(nic: Nic, facts: HostFacts) -> Nic:
    """Return the interface with its PCI address, which ``ip`` prints only since Linux 5.14, and
    the kind of a virtual interface, which it prints only with -d.
    """
    if nic.pci or not is_real(nic):
        return nic
    text = facts.command(driver_of(nic.name)).text or ""
    if software := _SOFTWARE.search(text):
        kind = "bond" if software[1] else "vlan" if software[2] else software[3]
        return msgspec.structs.replace(nic, kind="virtual", link_kind=kind)
    (pci,) = _matched(_BUS, text, 1)
    return msgspec.structs.replace(nic, pci=pci)


def is_real(nic: Nic) -> bool:
    """Return whether an adapter, not software, provides the interface."""
    return nic.kind == "ethernet" or (nic.kind == "infiniband" and not nic.lower)


def _may_carry(nic: Nic, addressed: bool) -> bool:
    """Return whether a virtual interface may carry the fabric. ``addressed``: the host's addresses
    are known, which a folder of files does not have.
    """
    if nic.kind == "loopback" or nic.link_kind in _NOT_FABRIC or _NOISE.fullmatch(nic.name):
        return False
    routed = any(not address.startswith(("fe80:", "169.254.")) for address in nic.address)
    return nic.operstate in _UP and (not addressed or routed)


def names_of(nic: Nic, facts: HostFacts, all_of: Iterable[Nic]) -> dict[str, Value]:
    """Return the names ``nic.*`` that do not need the adapter's files."""
    below = [other for other in all_of if other.name in nic.lower]
    sizes = [_mtu(other.name, other.mtu, facts) for other in below]
    known = [size for size in sizes if isinstance(size, int)]
    return {
        "nic.name": nic.name,
        "nic.kind": interface_kind(nic, facts),
        "nic.device": is_real(nic),
        "nic.lower": list(nic.lower),
        "nic.lower_mtu": min(known) if known and len(known) == len(sizes) else UNKNOWN,
        "nic.mtu": _mtu(nic.name, nic.mtu, facts),
        "nic.master": nic.master,
    }


def interface_kind(nic: Nic, facts: HostFacts) -> Value:
    """Return the kernel's word for a virtual interface, ``ipoib``, or ``ethernet``."""
    if nic.kind == "infiniband" or facts.line(f"/sys/class/net/{nic.name}/type") == _INFINIBAND:
        return "ipoib"
    return nic.link_kind or nic.kind


_MOST_LEVELS = 8


def rate_of(
    nic: Nic, rates: Mapping[str, Value], named: Mapping[str, Nic], levels: int = _MOST_LEVELS
) -> Value:
    """Return the rate in Gb/s. ``rates``: the rates of adapters' interfaces; ``named``: all
    interfaces. A bond has the sum of its members; an interface above a single other has its rate.
    The rate that a virtual driver claims is ignored.
    """
    if nic.name in rates or not levels:
        return rates.get(nic.name, UNKNOWN)
    below = [
        rate_of(named[name], rates, named, levels - 1) if name in named else UNKNOWN
        for name in nic.lower
    ]
    known = [rate for rate in below if isinstance(rate, (int, float))]
    if not known or len(known) < len(below) or (len(known) > 1 and nic.link_kind != "bond"):
        return UNKNOWN
    return sum(known)


_INFINIBAND = "32"
"""ARPHRD_INFINIBAND of if_arp.h."""


def _mtu(name: str, listed: int | None, facts: HostFacts) -> Value:
    text = (facts.file(f"/sys/class/net/{name}/mtu").text or "").strip()
    if re.fullmatch(r"\d{1,9}", text, re.ASCII):
        return int(text)
    return UNKNOWN if listed is None else listed


ROUTES = ("/proc/net/route", "/proc/net/ipv6_route")
IP_ROUTE = ("ip", "route", "show", "table", "all")
_ROUTED = (
    re.compile(r"^(\S+)\s+0{8}\s+\S+\s+([0-9A-F]{4})\s", re.MULTILINE),
    re.compile(r"^0{32} 00 (?:\S+ ){6}\S*([0-9a-f]{4}) +(\S+)$", re.MULTILINE),
)
"""Default routes of the two files: (interface, flags) and (flags, interface)."""
_PRINTED = re.compile(r"^default .*?\bdev (\S+)", re.MULTILINE)
_RTF_UP, _LOOPBACK = 1, "lo"


def default_interfaces(facts: HostFacts) -> set[str]:
    """Return the interfaces that default routes use."""
    old, new = (facts.file(path).text or "" for path in ROUTES)
    routes = [(name, flags) for name, flags in _ROUTED[0].findall(old)]
    routes += [(name, flags) for flags, name in _ROUTED[1].findall(new)]
    names = {name for name, flags in routes if int(flags, 16) & _RTF_UP and name != _LOOPBACK}
    return names | set(_PRINTED.findall(facts.command(IP_ROUTE).text or ""))


def with_lower(facts: HostFacts, names: Iterable[str]) -> frozenset[str]:
    """Return the interfaces and all interfaces below them."""
    return _closure({nic.name: nic for nic in listed_nics(facts)}, names)


def _closure(listed: Mapping[str, Nic], names: Iterable[str]) -> frozenset[str]:
    waiting, closure = list(names), set[str]()
    while waiting:
        name = waiting.pop()
        if name not in closure:
            closure.add(name)
            waiting += listed[name].lower if name in listed else []
    return frozenset(closure)


def manages(facts: HostFacts, name: str, rdma: Value, elsewhere: Value) -> Value:
    """Return whether an interface serves only the host, not the fabric: it was not chosen, no RDMA
    runs over it, and it carries the default route or the RDMA ports are elsewhere. ``rdma``:
    whether RDMA runs over it. ``elsewhere``: true if the host has RDMA ports. UNKNOWN if that was
    not read.
    """
    chosen = with_lower(facts, (facts.file(CHOSEN).text or "").split())
    if rdma is True or name in chosen:
        return False
    if rdma is False and name in with_lower(facts, default_interfaces(facts)):
        return True
    read = facts.file(ROUTES[0]).text is not None or facts.command(IP_ROUTE).text is not None
    return elsewhere if elsewhere is not False or read else UNKNOWN


SLOTS = tuple(
    f"/sys/class/{kind}/*/device/../max_link_{name}"
    for kind in ("net", "infiniband")
    for name in ("width", "speed")
)
"""The abilities of the bridge above an adapter, which every user may read."""


def with_slots(
    pci: dict[str, FactFrame], facts: HostFacts, names: Iterable[str]
) -> dict[str, FactFrame]:
    """Return ``pci`` with the files ``pci/NAME/width-most`` and ``speed-most`` that need root: the
    width and speed that adapter and slot support.
    """
    slots = [(name, place.replace("*", name)) for name in names for place in SLOTS]
    for name, slot in slots:
        path = f"pci/{name}/{slot.rpartition('_')[2]}-most"
        if pci[path].status != "denied":
            continue
        texts = [facts.line(slot), facts.line(slot.replace("../", ""))]
        numbers = [re.match(r"\d{1,3}(?:\.\d)?\b", text, re.ASCII) for text in texts]
        known = [float(number[0]) for number in numbers if number]
        if len(known) == len(texts):
            text = f"{min(known):g}"
            pci[path] = FactFrame(rank=0, kind="file", status="ok", path=path, text=text)
    return pci


IP_ADDRESS = ("ip", "-d", "address")
_HEAD = re.compile(r"^\d{1,9}: ([^\s:@]{1,15})(?:@([^\s:@]{1,15}))?: <[^>\n]*> (.*)$", re.MULTILINE)
_LINK = re.compile(r"^[ \t]+link/(\S+)(?: ([0-9a-f:]{2,64}))?", re.MULTILINE)
_ADDRESS = re.compile(r"^[ \t]+inet6? ([0-9a-fA-F.:]{2,45})/", re.MULTILINE)
_KIND = re.compile(
    r"^[ \t]+(vlan|bond|bridge|veth|macvlan|ipvlan|tun|vxlan|ipoib|team|dummy|ifb|gre|sit|ipip"
    r"|wireguard)(?:\s|$)",
    re.MULTILINE,
)
_PARENT = re.compile(r"\bparentbus pci parentdev ([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])\b")
_KINDS: dict[str, Literal["ethernet", "infiniband", "loopback"]] = {
    "ether": "ethernet",
    "infiniband": "infiniband",
    "loopback": "loopback",
}


def nics_of_ip(text: str) -> list[Nic]:
    """Parse the output of ``ip``, and add to each interface the members that name it as master."""
    nics = [_nic(*link) for link in _links(text)]
    members = [(nic.master, nic.name) for nic in nics if nic.master]
    lower = {nic.name: list(nic.lower) for nic in nics}
    for master, name in members:
        lower.setdefault(master, []).append(name)
    return [msgspec.structs.replace(nic, lower=lower[nic.name]) for nic in nics]


def _links(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield name, parent, words after the flags of the first line, and further lines of each
    interface.
    """
    for head, body in sections(_HEAD, text):
        name, parent, words = head.groups(default="")
        yield name, parent, words, body


_OF_BOND = ("mode", "miimon", "arp_interval", "xmit_hash_policy")


def link_files(text: str) -> Iterator[tuple[str, str]]:
    """Yield files of /sys/class/net whose text ``ip -d`` prints."""
    for name, _, words, body in _links(text):
        bond = first_match(r"^[ \t]+bond (mode .*)$", body).split()
        values = dict(zip(bond[::2], bond[1::2], strict=False))
        texts = {
            "tx_queue_len": first_match(r"\bqlen (\d{1,9})\b", words),
            "mode": first_match(r"^[ \t]+ipoib .*\bmode +(datagram|connected)\b", body),
            "bonding_slave/mii_status": first_match(
                r"^[ \t]+bond_slave .*\bmii_status (\w+)", body
            ).lower(),
            **{f"bonding/{key}": values.get(key, "") for key in _OF_BOND},
        }
        yield from ((f"/sys/class/net/{name}/{file}", word) for file, word in texts.items() if word)


def _nic(name: str, parent: str, words: str, body: str) -> Nic:
    """``words``: after the flags of the first line; ``body``: further lines."""
    hardware, mac = _matched(_LINK, body, 2)
    (word,) = _matched(_KIND, body, 1)
    (pci,) = _matched(_PARENT, body, 1)
    known = _KINDS.get(hardware)
    mtu = first_match(r"\bmtu (\d{1,7})\b", words)
    return Nic(
        name=name,
        address=_ADDRESS.findall(body),
        mtu=int(mtu) if mtu else None,
        operstate=first_match(r"\bstate (\S+)", words).lower(),
        pci=pci,
        kind="virtual" if known is None or (word and known == "ethernet") else known,
        mac=mac,
        lower=[parent] if parent and word != "veth" else [],
        master=first_match(r"\bmaster (\S+)", words),
        link_kind="" if word == "ipoib" and not parent else word,
    )


def _matched(pattern: re.Pattern[str], text: str, groups: int) -> tuple[str, ...]:
    """Return the groups of the first match; "" for groups without one."""
    match = pattern.search(text)
    return match.groups(default="") if match else ("",) * groups
