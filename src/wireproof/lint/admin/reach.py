"""Commands that test or give addresses: ping, ip, ifconfig, nmcli."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wireproof.lint.admin.by_program import by_program, on, option_value
from wireproof.lint.files.fragments import LONGEST_LINE
from wireproof.lint.files.interfaces.interface import (
    CONNECTED_MOST,
    DATAGRAM_MOST,
    ETHERNET_MOST,
    Interface,
    is_address,
)
from wireproof.lint.files.interfaces.interface import prefix_of as length_of
from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.shell import Command, Word, commands

__all__ = ["CHECKS"]

# Options of ping that take a value. Source: ping(8) of iputils.
PING_VALUES = (
    "-c",
    "-i",
    "-I",
    "-s",
    "-W",
    "-w",
    "-t",
    "-l",
    "-m",
    "-M",
    "-p",
    "-Q",
    "-S",
    "-T",
    "-F",
    "-N",
    "-e",
)


def ping(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """``ping -c ADDRESS``: a count that is no count, and no host."""
    hosts, skip = [], False
    for word in command.words[1:]:
        if skip:
            skip = False
        elif plain(word.text) in PING_VALUES:
            skip = True
        elif not word.text.startswith(("-", "–")):
            hosts.append(word)
    for at, word in enumerate(command.words[1:-1], start=1):
        value = command.words[at + 1]
        if (
            plain(word.text) == "-c"
            and not hosts
            and not value.text.isdigit()
            and named(value.text)
        ):
            yield on(
                "ping-count", recipe, command, word, f"-c {value.text}", [(word, f"{word.raw} 3")]
            )
            return


def plain(option: str) -> str:
    """An option with its typographic dash made a hyphen."""
    return "-" + option[1:] if option[:1] in "–—−" else option


def named(text: str) -> bool:
    """An address or a name, as a host is written; no variable that may hold a number."""
    return is_address(text) or bool(re.match(r"[A-Za-z][\w.-]*$|<[^>]*>$", text))


def ip(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """``ip addr add`` and ``ip link set mtu``."""
    texts = command.texts
    if len(texts) > 3 and texts[1][:1] == "a" and texts[2] in ("add", "a", "replace", "change"):
        word = command.words[3]
        if word.text[:1].isdigit() and "$" not in word.text:
            yield from address(recipe, command, word)
    size = option_value(command, "mtu")
    if size is not None and "set" in texts:
        device = option_value(command, "dev") or option_value(command, "set")
        yield from mtu(recipe, command, device.text if device else "", size)


def ifconfig(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """``ifconfig IF ADDRESS netmask MASK mtu N``."""
    mask = option_value(command, "netmask")
    if mask is not None and re.match(r"[0-9.]+$", mask.text) and length_of(mask.text) is None:
        yield on("command-address", recipe, command, mask)
    size = option_value(command, "mtu")
    if size is not None and len(command.words) > 1:
        yield from mtu(recipe, command, command.words[1].text, size)


def address(recipe: Recipe, command: Command, word: Word) -> Iterator[Broken]:
    """An address that must have a prefix length."""
    host, slash, length = word.text.partition("/")
    if not is_address(host) or (slash and not is_length(host, length)):
        yield on("command-address", recipe, command, word)
    elif not slash and "peer" not in command.texts:
        seen = f"{word.text} without /24"
        yield on("command-address", recipe, command, word, seen, [(word, f"{word.raw}/24")])


def is_length(host: str, length: str) -> bool:
    """A prefix length that fits the address, or a mask."""
    if length.isascii() and length.isdigit() and int(length[:4]) <= (128 if ":" in host else 32):
        return True
    return length_of(length) is not None


def mtu(recipe: Recipe, command: Command, device: str, size: Word) -> Iterator[Broken]:
    """An MTU against the kind of interface that the name tells."""
    if not re.fullmatch(r"[0-9]{1,9}", size.text):
        return
    interface, value = Interface(device), int(size.text)
    if interface.ethernet and value > ETHERNET_MOST:
        yield on("command-mtu", recipe, command, size, f"{size.text} on {device}", [(size, "9000")])
    elif interface.infiniband and value > CONNECTED_MOST:
        yield on(
            "command-mtu",
            recipe,
            command,
            size,
            f"{size.text} on {device}",
            [(size, str(CONNECTED_MOST))],
        )
    elif interface.infiniband and value > DATAGRAM_MOST:
        seen = f"{size.text} on {device}"
        if ipoib_mode(recipe, device) == "datagram":
            yield on("command-mtu", recipe, command, size, f"{seen}, which is set to datagram")
        elif not any("connected" in line[:LONGEST_LINE].lower() for line in recipe.lines):
            yield on("mtu-not-connected", recipe, command, size, seen)


def ipoib_mode(recipe: Recipe, device: str) -> str:
    """The IPoIB mode that the text sets for a device, "" when it sets none or both."""
    modes: set[str] = set()
    for command in commands(recipe):
        for redirect in command.redirects:
            if redirect.target.text.endswith(f"/{device}/mode") and command.program in (
                "echo",
                "printf",
            ):
                modes.update(text for text in command.texts if text in ("connected", "datagram"))
    return modes.pop() if len(modes) == 1 else ""


def nmcli(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """Addresses that nmcli sets."""
    for at, word in enumerate(command.words[:-1]):
        value, name = command.words[at + 1], word.text.lstrip("+-")
        if name in ("ipv4.addresses", "ipv4.address", "ip4") and is_one(value.text):
            yield from address(recipe, command, value)


def is_one(text: str) -> bool:
    """One address by its first digit, not a list."""
    return text[:1].isdigit() and not {",", "$"} & set(text)


CHECKS = (
    by_program(
        {
            "ping": ping,
            "ping6": ping,
            "ip": ip,
            "ifconfig": ifconfig,
            "nmcli": nmcli,
        }
    ),
)
