"""Which interfaces of a host are audited, and what conditions may ask of them. Pure.

Those of an adapter always. A virtual one (VLAN, bond, bridge, IPoIB child, macvlan, veth, tun)
where it may carry the fabric: it is chosen, or it is up with an address and no container's or
hypervisor's own; and whatever such a one stands on.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

import msgspec

from wireproof.audit.expression import UNKNOWN, Value
from wireproof.audit.facts import HostFacts
from wireproof.model.json_reader import decode_json
from wireproof.model.record import Nic

INTERFACES = "interfaces"
"""The fact that lists a host's interfaces, as the engine finds them."""
CHOSEN = "chosen-interfaces"
"""The fact that names the interfaces that the audit was asked for, one a line."""
_NOISE = re.compile(
    r"docker\d*|br-[0-9a-f]{12}|virbr\d+(-nic)?|vnet\d+|vmnet\d+|lxc\w*|lxdbr\d+|podman\d+|cni\w*"
    r"|cali\w+|tunl0|flannel\S*|cilium\S*|weave|kube-\S+|nodelocaldns|veth[0-9a-f]{6,8}|ifb\d+"
)
"""Names that container engines and hypervisors give to what they make."""
_NOT_FABRIC = {"dummy", "ifb", "nlmon", "wireguard", "gre", "sit", "ipip"}
_UP = {"up", "unknown"}
"""Drivers of tun and of some bridges never say more than "unknown"."""


def audited(facts: HostFacts) -> list[Nic]:
    """The interfaces to audit, by name; those that only files name, without what they stand on."""
    listed = {one.name: one for one in listed_nics(facts)}
    chosen = set((facts.file(CHOSEN).text or "").split())
    addressed = any(one.address for one in listed.values())
    found = {
        name
        for name, one in listed.items()
        if is_real(one) or name in chosen or _may_carry(one, addressed)
    }
    for path in facts.matching("/sys/class/net/*/device/uevent"):
        name = path.split("/")[4]
        found.add(name)
        listed.setdefault(name, Nic(name=name))
    _add_lower(found, listed)
    return [listed[name] for name in sorted(found)]


def listed_nics(facts: HostFacts) -> list[Nic]:
    """As the engine found them, or as an archive keeps what ``ip`` printed; RDMA ports without an
    interface are none.
    """
    text = facts.file(INTERFACES).text
    try:
        nics = decode_json(text, list[Nic]) if text else []
    except msgspec.DecodeError:
        return []
    if not nics and (printed := facts.command(IP_ADDRESS).text):
        nics = nics_of_ip(printed)
    return [one for one in nics if one.rdma is None or ":" not in one.name]


def is_real(one: Nic) -> bool:
    """An adapter's own interface, not one that software made."""
    return one.kind == "ethernet" or (one.kind == "infiniband" and not one.lower)


def _may_carry(one: Nic, addressed: bool) -> bool:
    """``addressed``: the host's addresses are known; those of a folder of files are not."""
    if one.kind == "loopback" or one.link_kind in _NOT_FABRIC or _NOISE.fullmatch(one.name):
        return False
    return one.operstate in _UP and (not addressed or any(map(_is_routed, one.address)))


def _is_routed(address: str) -> bool:
    return not address.startswith(("fe80:", "169.254."))


def _add_lower(found: set[str], listed: Mapping[str, Nic]) -> None:
    """What the found ones stand on, to the bottom."""
    waiting = list(found)
    while waiting:
        for name in listed[waiting.pop()].lower:
            if name in listed and name not in found:
                found.add(name)
                waiting.append(name)


def names_of(one: Nic, facts: HostFacts, all_of: Iterable[Nic]) -> dict[str, Value]:
    """The names ``nic.*`` that do not need the adapter's own files."""
    below = [other for other in all_of if other.name in one.lower]
    sizes = [_mtu(other.name, other.mtu, facts) for other in below]
    known = [size for size in sizes if isinstance(size, int)]
    return {
        "nic.name": one.name,
        "nic.kind": interface_kind(one, facts),
        "nic.device": is_real(one),
        "nic.lower": list(one.lower),
        "nic.lower_mtu": min(known) if known and len(known) == len(sizes) else UNKNOWN,
        "nic.mtu": _mtu(one.name, one.mtu, facts),
        "nic.master": one.master,
    }


def interface_kind(one: Nic, facts: HostFacts) -> Value:
    """The kernel's word for a virtual one, ``ipoib``, or ``ethernet``."""
    if one.kind == "infiniband" or _type(one.name, facts) == _INFINIBAND:
        return "ipoib"
    return one.link_kind or one.kind


_MOST_LEVELS = 8


def rate_of(
    one: Nic, rates: Mapping[str, Value], named: Mapping[str, Nic], levels: int = _MOST_LEVELS
) -> Value:
    """Gb/s. ``rates``: of the adapters' interfaces; ``named``: all. A bond has its members' sum,
    what stands on one other has its rate; what a virtual driver claims is no rate.
    """
    if one.name in rates or not levels:
        return rates.get(one.name, UNKNOWN)
    below = [
        rate_of(named[name], rates, named, levels - 1) if name in named else UNKNOWN
        for name in one.lower
    ]
    known = [rate for rate in below if isinstance(rate, (int, float))]
    if not known or len(known) < len(below) or (len(known) > 1 and one.link_kind != "bond"):
        return UNKNOWN
    return sum(known)


_INFINIBAND = "32"
"""ARPHRD_INFINIBAND of if_arp.h."""


def _type(name: str, facts: HostFacts) -> str:
    return (facts.file(f"/sys/class/net/{name}/type").text or "").strip()


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
"""Default routes of the two files: interface and flags, flags and interface."""
_PRINTED = re.compile(r"^default .*?\bdev (\S+)", re.MULTILINE)
_RTF_UP, _LOOPBACK = 1, "lo"


def default_interfaces(facts: HostFacts) -> set[str]:
    """Those that a default route leads through."""
    old, new = (facts.file(path).text or "" for path in ROUTES)
    found = [(name, flags) for name, flags in _ROUTED[0].findall(old)]
    found += [(name, flags) for flags, name in _ROUTED[1].findall(new)]
    names = {name for name, flags in found if int(flags, 16) & _RTF_UP and name != _LOOPBACK}
    return names | set(_PRINTED.findall(facts.command(IP_ROUTE).text or ""))


def with_lower(facts: HostFacts, names: Iterable[str]) -> frozenset[str]:
    """The interfaces and all that they stand on."""
    lower = {one.name: one.lower for one in listed_nics(facts)}
    waiting, found = list(names), set[str]()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += lower.get(name, [])
    return frozenset(found)


def manages(facts: HostFacts, name: str, rdma: Value, elsewhere: Value) -> Value:
    """Whether an interface serves the host alone, not the fabric: nobody chose it, no RDMA runs
    over it, and it carries the default route or the RDMA ports are others. ``rdma``: whether RDMA
    runs over it; ``elsewhere``: whether the host has RDMA ports. UNKNOWN if that was not read.
    """
    chosen = with_lower(facts, (facts.file(CHOSEN).text or "").split())
    if rdma is True or name in chosen:
        return False
    if rdma is False and name in with_lower(facts, default_interfaces(facts)):
        return True
    read = facts.file(ROUTES[0]).text is not None or facts.command(IP_ROUTE).text is not None
    return elsewhere if elsewhere is not False or read else UNKNOWN


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
    """What is printed of each interface, and what the others say to stand on or be a member of."""
    found = list(_nics(text))
    members = [(one.master, one.name) for one in found if one.master]
    lower = {one.name: list(one.lower) for one in found}
    for master, name in members:
        lower.setdefault(master, []).append(name)
    return [msgspec.structs.replace(one, lower=lower[one.name]) for one in found]


def _links(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Name, parent, words behind the flags of the first line, and the further lines of each."""
    heads = list(_HEAD.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    for head, end in zip(heads, ends, strict=False):  # without an interface there is one end more
        name, parent, words = head.groups(default="")
        yield name, parent, words, text[head.end() : end]


def _nics(text: str) -> Iterator[Nic]:
    for link in _links(text):
        yield _nic(*link)


_OF_BOND = ("mode", "miimon", "arp_interval", "xmit_hash_policy")


def link_files(text: str) -> Iterator[tuple[str, str]]:
    """Files of /sys/class/net of which ``ip -d`` prints the text."""
    for name, _, words, body in _links(text):
        bond = _word(r"^[ \t]+bond (mode .*)$", body).split()
        values = dict(zip(bond[::2], bond[1::2], strict=False))
        found = {
            "tx_queue_len": _word(r"\bqlen (\d{1,9})\b", words),
            "mode": _word(r"^[ \t]+ipoib .*\bmode (datagram|connected)\b", body),
            "bonding_slave/mii_status": _word(
                r"^[ \t]+bond_slave .*\bmii_status (\w+)", body
            ).lower(),
            **{f"bonding/{key}": values.get(key, "") for key in _OF_BOND},
        }
        yield from ((f"/sys/class/net/{name}/{file}", said) for file, said in found.items() if said)


def _nic(name: str, parent: str, words: str, body: str) -> Nic:
    """``words``: behind the flags of its first line; ``body``: its further lines."""
    hardware, mac = _matched(_LINK, body, 2)
    (word,) = _matched(_KIND, body, 1)
    (pci,) = _matched(_PARENT, body, 1)
    known = _KINDS.get(hardware)
    return Nic(
        name=name,
        address=_ADDRESS.findall(body),
        mtu=_number(r"\bmtu (\d{1,7})\b", words),
        operstate=_word(r"\bstate (\S+)", words).lower(),
        pci=pci,
        kind="virtual" if known is None or (word and known == "ethernet") else known,
        mac=mac,
        lower=[parent] if parent and word != "veth" else [],
        master=_word(r"\bmaster (\S+)", words),
        link_kind="" if word == "ipoib" and not parent else word,
    )


def _matched(pattern: re.Pattern[str], text: str, groups: int) -> tuple[str, ...]:
    """The groups of the first match; "" for each without one."""
    found = pattern.search(text)
    return found.groups(default="") if found else ("",) * groups


def _word(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    return found.group(1) if found else ""


def _number(pattern: str, text: str) -> int | None:
    found = _word(pattern, text)
    return int(found) if found else None
