"""Interfaces from the text of ``ip -d address``, as archives keep it. Pure. The text is hostile:
what is not understood is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from wireproof.model.record import Nic

__all__ = ["IP_ADDRESS", "nics_of_ip"]

IP_ADDRESS = ("ip", "-d", "address")
_HEAD = re.compile(r"^\d{1,9}: ([^\s:@]{1,15})(?:@([^\s:@]{1,15}))?: <[^>\n]*> (.*)$", re.MULTILINE)
_LINK = re.compile(r"^\s+link/(\S+)(?: ([0-9a-f:]{2,64}))?", re.MULTILINE)
_ADDRESS = re.compile(r"^\s+inet6? ([0-9a-fA-F.:]{2,45})/", re.MULTILINE)
_KIND = re.compile(
    r"^\s+(vlan|bond|bridge|veth|macvlan|ipvlan|tun|vxlan|ipoib|team|dummy|ifb|gre|sit|ipip"
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


def _nics(text: str) -> Iterator[Nic]:
    heads = list(_HEAD.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    for head, end in zip(heads, ends, strict=False):  # without an interface there is one end more
        name, parent, words = head.groups()
        body = text[head.end() : end]
        link = _LINK.search(body)
        kind = _KIND.search(body)
        address = _PARENT.search(body)
        word = kind.group(1) if kind else ""
        hardware = _KINDS.get(link.group(1)) if link else None
        yield Nic(
            name=name,
            address=_ADDRESS.findall(body),
            mtu=_number(r"\bmtu (\d{1,7})\b", words),
            operstate=(_word(r"\bstate (\S+)", words) or "").lower(),
            pci=address.group(1) if address else "",
            kind="virtual" if hardware in (None, "ethernet") and word else hardware or "virtual",
            mac=(link.group(2) or "") if link else "",
            lower=[parent] if parent and word != "veth" else [],
            master=_word(r"\bmaster (\S+)", words) or "",
            link_kind="" if word == "ipoib" and not parent else word,
        )


def _word(pattern: str, text: str) -> str | None:
    found = re.search(pattern, text)
    return found.group(1) if found else None


def _number(pattern: str, text: str) -> int | None:
    found = _word(pattern, text)
    return int(found) if found else None
