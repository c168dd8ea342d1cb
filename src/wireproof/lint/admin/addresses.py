# pure
"""Commands that set or test addresses, and define networks: ping, ip, ifconfig, nmcli, xCAT's
tables.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Network
from itertools import pairwise

from wireproof.lint.files.interfaces import (
    CONNECTED_MOST,
    DATAGRAM_MOST,
    ETHERNET_MOST,
    Interface,
    is_address,
    network_of,
    prefix_of,
    same_place,
)
from wireproof.lint.fragments import LONGEST_LINE
from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.shell import Command, Word, broken, commands
from wireproof.lint.tables import listed, nearest

# Options of ping that take a value. Source: ping(8) of iputils.
PING_VALUES = frozenset(f"-{letter}" for letter in "ciIsWwtlmMpQSTFNe")


def ping(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """Find ``ping -c ADDRESS``: the count is not a number, and no host is left."""
    if _pinged(command):
        return
    for word, value in pairwise(command.words[1:]):
        if _plain(word.text) == "-c" and not value.text.isdigit() and _is_host(value.text):
            new = [(word, f"{word.raw} 3")]
            yield broken("ping-count", recipe, command, word, f"-c {value.text}", new)
            return


def _pinged(command: Command) -> bool:
    """Return whether the command names a host that is not the value of an option."""
    return any(
        _plain(option) not in PING_VALUES and not text.startswith(("-", "–"))
        for option, text in pairwise(command.texts)
    )


def _plain(option: str) -> str:
    """Return an option with a hyphen instead of its typographic dash."""
    return "-" + option[1:] if option[:1] in "–—−" else option


def _is_host(text: str) -> bool:
    """Return whether ``text`` is an address or a host name, and not a variable that may hold a
    number.
    """
    return is_address(text) or bool(re.match(r"[A-Za-z][\w.-]*$|<[^>]*>$", text))


def ip(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """Check ``ip addr add`` and ``ip link set mtu``."""
    texts = command.texts
    if len(texts) > 3 and texts[1][:1] == "a" and texts[2] in ("add", "a", "replace", "change"):
        word = command.words[3]
        if word.text[:1].isdigit() and "$" not in word.text:
            yield from _address(recipe, command, word)
    size = command.value("mtu")
    if size is not None and "set" in texts:
        device = command.value("dev") or command.value("set")
        yield from mtu(recipe, command, device.text if device else "", size)


def ifconfig(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """Check ``ifconfig IF ADDRESS netmask MASK mtu N``."""
    mask, size = command.value("netmask"), command.value("mtu")
    if mask is not None and re.match(r"[0-9.]+$", mask.text) and prefix_of(mask.text) is None:
        yield broken("command-address", recipe, command, mask)
    if size is not None and len(command.words) > 1:
        yield from mtu(recipe, command, command.words[1].text, size)


def nmcli(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """Check addresses that nmcli sets: words that begin with a digit and are not lists."""
    for word, value in pairwise(command.words):
        if word.text.lstrip("+-") not in ("ipv4.addresses", "ipv4.address", "ip4"):
            continue
        if value.text[:1].isdigit() and not {",", "$"} & set(value.text):
            yield from _address(recipe, command, value)


def _address(recipe: Recipe, command: Command, word: Word) -> Iterator[Broken]:
    """Check an address that must have a prefix length."""
    host, slash, length = word.text.partition("/")
    if not is_address(host) or (slash and not _is_length(host, length)):
        yield broken("command-address", recipe, command, word)
    elif not slash and "peer" not in command.texts:
        seen, edits = f"{word.text} without /24", [(word, f"{word.raw}/24")]
        yield broken("command-address", recipe, command, word, seen, edits)


def _is_length(host: str, length: str) -> bool:
    """Return whether ``length`` is a prefix length or a mask for the address."""
    if length.isascii() and length.isdigit() and int(length[:4]) <= (128 if ":" in host else 32):
        return True
    return prefix_of(length) is not None


def mtu(recipe: Recipe, command: Command, device: str, size: Word) -> Iterator[Broken]:
    """Check an MTU against the kind of interface that its name implies."""
    if not re.fullmatch(r"[0-9]{1,9}", size.text):
        return
    interface, value, seen = Interface(device), int(size.text), f"{size.text} on {device}"
    most = ETHERNET_MOST if interface.ethernet else CONNECTED_MOST
    if (interface.ethernet or interface.infiniband) and value > most:
        right = "9000" if interface.ethernet else str(most)
        yield broken("command-mtu", recipe, command, size, seen, [(size, right)])
    elif interface.infiniband and value > DATAGRAM_MOST:
        if _ipoib_modes(recipe).get(device) == {"datagram"}:
            seen += ", which is set to datagram"
            yield broken("command-mtu", recipe, command, size, seen)
        elif not _names_connected(recipe):
            yield broken("mtu-not-connected", recipe, command, size, seen)


@lru_cache(maxsize=4)
def _names_connected(recipe: Recipe) -> bool:
    return any("connected" in line[:LONGEST_LINE].lower() for line in recipe.lines)


@lru_cache(maxsize=4)
def _ipoib_modes(recipe: Recipe) -> Mapping[str, set[str]]:
    """Return the IPoIB modes that the text sets, by device."""
    modes: dict[str, set[str]] = {}
    for command in commands(recipe):
        chosen = {text for text in command.texts if text in ("connected", "datagram")}
        if command.program not in ("echo", "printf") or not chosen:
            continue
        for redirect in command.redirects:
            *_, device, file = ["", "", *redirect.target.text.split("/")]
            if file == "mode" and device:
                modes.setdefault(device, set()).update(chosen)
    return modes


# --- Networks.

TYPES = {
    "ethernet": "Ethernet",
    "infiniband": "InfiniBand",
    **{kind: kind for kind in ("vlan", "bond", "bridge", "bridge_ovs", "bmc", "unused")},
}
DEFINE = ("chdef", "mkdef")


@dataclass(frozen=True, slots=True)
class Defined:
    """An address with its mask, from ``command``. ``word`` is the word that contains the
    mask.
    """

    command: Command
    word: Word
    address: str
    length: int

    @property
    def by_xcat(self) -> bool:
        """Whether this is a network of xCAT's tables, not of an interface."""
        return self.command.program in DEFINE


def networks(recipe: Recipe) -> Iterator[Broken]:
    """Check the masks of all networks of a text, and xCAT's commands."""
    everything = commands(recipe)
    xcat = any(command.program in listed("xcat") for command in everything)
    found: list[Defined] = []
    for command in everything:
        if command.program == "make" and len(command.words) == 2:
            yield from _make(recipe, command, xcat)
        elif command.program in DEFINE:
            yield from _masks_and_types(recipe, command)
        for word, address, mask in _pairs(command):
            length = prefix_of(mask)
            if length is not None and is_address(address) and ":" not in address:
                found.append(Defined(command, word, address, length))
    yield from _merging(recipe, found[:500])


def _make(recipe: Recipe, command: Command, xcat: bool) -> Iterator[Broken]:
    """Find ``make networks``. Other tables count only beside xCAT's commands, because a Makefile
    may have a rule 'hosts'.
    """
    program, table = command.words
    if table.text == "networks" or (xcat and table.text in listed("xcat-tables")):
        joined = [(program, f"make{table.text}"), (table, "")]
        yield broken("xcat-make", recipe, command, program, command.text, joined)


def _masks_and_types(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """Find a ``mask=`` that is not a mask, and ``nictypes.ib0=OmniPath``: confignetwork converts it
    to lower case and then finds no such type.
    """
    for word in command.words:
        name, equals, value = word.text.partition("=")
        kind = value.lower()
        if name == "mask" and re.match(r"[0-9.]+$", value) and prefix_of(value) is None:
            yield broken("network-mask", recipe, command, word)
        if not name.startswith("nictypes.") or not equals or kind in TYPES:
            continue
        if re.fullmatch(r"[a-z_]{2,20}", kind):
            fabric = re.match(r"omni|opa|hfi|ib", kind)
            meant = "infiniband" if fabric else nearest(kind, tuple(TYPES), 0.7)
            fix = [(word, f"{name}={TYPES[meant]}")] if meant else None
            yield broken("xcat-nic-type", recipe, command, word, "", fix)


def _pairs(command: Command) -> Iterator[tuple[Word, str, str]]:
    """Return each address and mask that a command contains, with the word of the mask."""
    program, texts = command.program, command.texts
    if program in DEFINE:  # chdef -t network NAME net=10.0.0.0 mask=255.255.255.0
        given = {word.text.partition("=")[0]: word for word in command.words if "=" in word.text}
        if {"net", "mask"} <= given.keys():
            net = given["net"].text.removeprefix("net=")
            yield given["mask"], net, given["mask"].text.removeprefix("mask=")
    elif program == "ifconfig" and len(texts) > 2:
        word = command.value("netmask")
        if word is not None:
            yield word, texts[2], word.text
    elif program == "nmcli" or (program == "ip" and texts[2:3] in (("add",), ("a",), ("replace",))):
        for word in command.words[2:]:
            address, slash, mask = word.text.partition("/")
            if slash and address[:1].isdigit():
                yield word, address, mask


def _merging(recipe: Recipe, several: list[Defined]) -> Iterator[Broken]:
    """Find a network address with bits outside its mask, or two networks merged by a mask."""
    for at, one in enumerate(several):
        network = network_of(one.address, one.length)
        if network is None or one.length >= 24:
            continue
        other = next((o for o in several if _apart(o, one) and _contains(network, o)), None)
        seen = f"{one.address} with {one.word.text.removeprefix('mask=')} is the network {network}"
        if one.by_xcat and str(network.network_address) != one.address:
            if other is not None:
                seen += f", with {other.address} in it"
            edits = _narrower(one)
            yield broken("network-mask-merges", recipe, one.command, one.word, seen, edits)
        elif other is not None and other.length < 24 and not (one.by_xcat and at == 0):
            seen = f"{one.address} and {other.address} are both in {network}"
            yield broken("network-mask-merges", recipe, one.command, one.word, seen)


def _apart(one: Defined, other: Defined) -> bool:
    """Return whether two definitions are in different /24 networks. Both interfaces must be on the
    same node.
    """
    if same_place(one.address, other.address):
        return False
    if one.by_xcat or other.by_xcat:
        return True
    here, there = _device(one.command), _device(other.command)
    nodes = [[word.text for word in each.command.outer] for each in (one, other)]
    return bool(here and there and here != there and nodes[0] == nodes[1])


def _device(command: Command) -> str:
    if command.program == "ifconfig":
        return command.texts[1]
    word = command.value("dev", "ifname", "modify", "mod", "con-name")
    return word.text if word else ""


def _contains(network: IPv4Network, other: Defined) -> bool:
    single = network_of(other.address, 32)
    return single is not None and single.subnet_of(network)


def _narrower(one: Defined) -> list[tuple[Word, str]] | None:
    """Return the mask that fits the network's address: /24 for x.y.z.0, /16 for x.y.0.0."""
    mask = "255.255.0.0" if one.address.endswith(".0.0") else "255.255.255.0"
    return [(one.word, f"mask={mask}")] if one.address.endswith(".0") else None


JUDGES = {"ping": ping, "ping6": ping, "ip": ip, "ifconfig": ifconfig, "nmcli": nmcli}
CHECKS = (networks,)
