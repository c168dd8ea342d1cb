"""Networks that are defined by commands: xCAT's tables, addresses and masks of several
interfaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network

from wireproof.lint.admin.by_program import is_commands, on, option_value
from wireproof.lint.files.interfaces.interface import is_address, network_of, prefix_of
from wireproof.lint.files.nearest import nearest
from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.shell import Command, Word, commands
from wireproof.lint.tables import listed

__all__ = ["CHECKS"]

TYPES = {
    "ethernet": "Ethernet",
    "infiniband": "InfiniBand",
    **{kind: kind for kind in ("vlan", "bond", "bridge", "bridge_ovs", "bmc", "unused")},
}


@dataclass(frozen=True, slots=True)
class Defined:
    """One address with its mask as ``command`` gives them; ``word`` is where the mask stands."""

    command: Command
    word: Word
    address: str
    length: int

    @property
    def network(self) -> IPv4Network | None:
        """What mask and address make."""
        return network_of(self.address, self.length)


def check(recipe: Recipe) -> Iterator[Broken]:
    """Masks of all networks of one text, and xCAT's commands."""
    if not is_commands(recipe):
        return
    everything = commands(recipe)
    xcat = any(command.program in listed("xcat") for command in everything)
    defined: list[Defined] = []
    for command in everything:
        if command.program == "make" and len(command.words) == 2:
            yield from make(recipe, command, xcat)
        elif command.program in ("chdef", "mkdef"):
            yield from masks(recipe, command)
            yield from types(recipe, command)
        defined += definitions(command)
    yield from merging(recipe, defined)


def make(recipe: Recipe, command: Command, xcat: bool) -> Iterator[Broken]:
    """``make networks``. Other tables count only beside xCAT's commands: a Makefile may well have a
    rule 'hosts'.
    """
    program, table = command.words
    if table.text == "networks" or (xcat and table.text in listed("xcat-tables")):
        joined = [(program, f"make{table.text}"), (table, "")]
        yield on("xcat-make", recipe, command, program, command.text, joined)


def masks(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """``mask=`` that is no mask."""
    for word in command.words:
        name, equals, value = word.text.partition("=")
        if name == "mask" and equals and re.match(r"[0-9.]+$", value) and prefix_of(value) is None:
            yield on("network-mask", recipe, command, word)


def types(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """``nictypes.ib0=OmniPath``: confignetwork makes the letters small and then finds none."""
    for word in command.words:
        name, equals, value = word.text.partition("=")
        kind = value.lower()
        if not name.startswith("nictypes.") or not re.fullmatch(r"[a-z_]{2,20}", kind):
            continue
        if equals and kind not in TYPES:
            fabric = re.match(r"omni|opa|hfi|ib", kind)
            meant = "infiniband" if fabric else nearest(kind, tuple(TYPES), 0.7)
            fix = [(word, f"{name}={TYPES[meant]}")] if meant else None
            yield on("xcat-nic-type", recipe, command, word, "", fix)


def definitions(command: Command) -> Iterator[Defined]:
    """The address and mask of one command, when it has both."""
    if command.program in ("chdef", "mkdef"):
        yield from of_chdef(command)
    elif command.program == "ifconfig" and len(command.words) > 2:
        mask = option_value(command, "netmask")
        if mask is not None:
            yield from defined(command, mask, command.texts[2], prefix_of(mask.text))
    elif command.program == "nmcli" or (
        command.program == "ip" and {"add", "a", "replace"} & set(command.texts[2:3])
    ):
        for word in command.words[2:]:
            address, slash, mask_text = word.text.partition("/")
            if slash and address[:1].isdigit():
                yield from defined(command, word, address, prefix_of(mask_text))


def of_chdef(command: Command) -> Iterator[Defined]:
    """``chdef -t network NAME net=10.0.0.0 mask=255.255.255.0``."""
    pairs = {word.text.partition("=")[0]: word for word in command.words if "=" in word.text}
    if "net" in pairs and "mask" in pairs:
        length = prefix_of(pairs["mask"].text.partition("=")[2])
        yield from defined(command, pairs["mask"], pairs["net"].text.partition("=")[2], length)


def defined(command: Command, word: Word, address: str, length: int | None) -> Iterator[Defined]:
    """A definition when its parts are readable."""
    if length is not None and is_address(address) and ":" not in address:
        yield Defined(command, word, address, length)


def merging(recipe: Recipe, defined: list[Defined]) -> Iterator[Broken]:
    """A network address with bits outside its mask, or two networks in one."""
    several = defined[:500]
    for at, one in enumerate(several):
        network = one.network
        if network is None or one.length >= 24:
            continue
        is_net = one.command.program in ("chdef", "mkdef")
        other = next((o for o in several if apart(o, one) and contains(network, o)), None)
        if is_net and str(network.network_address) != one.address:
            mask = one.word.text.removeprefix("mask=")
            seen = f"{one.address} with {mask} is the network {network}"
            if other is not None:
                seen += f", with {other.address} in it"
            yield on("network-mask-merges", recipe, one.command, one.word, seen, narrower(one))
        elif other is not None and other.length < 24 and not (is_net and at == 0):
            seen = f"{one.address} and {other.address} are both in {network}"
            yield on("network-mask-merges", recipe, one.command, one.word, seen)


def apart(one: Defined, other: Defined) -> bool:
    """Whether two definitions are of different /24, and of two interfaces of one node where they
    are interfaces'.
    """
    if network_of(one.address, 24) == network_of(other.address, 24):
        return False
    if one.command.program in ("chdef", "mkdef") or other.command.program in ("chdef", "mkdef"):
        return True
    here, there = device_of(one.command), device_of(other.command)
    same_node = [word.text for word in one.command.outer] == [
        word.text for word in other.command.outer
    ]
    return bool(here and there and here != there and same_node)


def device_of(command: Command) -> str:
    """The interface that a command names, "" when it names none."""
    if command.program == "ifconfig":
        return command.texts[1]
    word = option_value(command, "dev", "ifname", "modify", "mod", "con-name")
    return word.text if word else ""


def contains(network: IPv4Network, other: Defined) -> bool:
    """Whether the other definition's address lies in ``network``."""
    single = network_of(other.address, 32)
    return single is not None and single.subnet_of(network)


def narrower(one: Defined) -> list[tuple[Word, str]] | None:
    """The mask that fits the network's address: /24 for x.y.z.0, /16 for x.y.0.0."""
    if not one.address.endswith(".0"):
        return None
    mask = "255.255.0.0" if one.address.endswith(".0.0") else "255.255.255.0"
    return [(one.word, f"mask={mask}")]


CHECKS = (check,)
