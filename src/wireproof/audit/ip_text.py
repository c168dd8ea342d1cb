"""Interfaces from the text of ``ip -d address``, as archives keep it. Pure. The text is hostile:
what is not understood is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from wireproof.model.record import Nic

__all__ = ["IP_ADDRESS", "link_files", "nics_of_ip"]

IP_ADDRESS = ("ip", "-d", "address")
_HEAD = re.compile(r"^\d{1,9}: ([^\s:@]{1,15})(?:@([^\s:@]{1,15}))?: <[^>\n]*> (.*)$", re.MULTILINE)
_LINK = re.compile(r"^[ \t]+link/(\S+)(?: ([0-9a-f:]{2,64}))?", re.MULTILINE)
_MII_STATUS = r"^[ \t]+bond_slave .*\bmii_status (\w+)"
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
