"""NetworkManager's keyfiles."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wireproof.lint.files.fragments import Fragment, at, fragments
from wireproof.lint.files.interfaces.interface import Interface, Value, is_address, mtu, prefix_of
from wireproof.lint.files.nearest import nearest
from wireproof.lint.rule import Broken, Recipe

__all__ = ["check"]

SECTION = re.compile(r"\s*\[([^\]]{1,80})\]\s*$")
PROPERTY = re.compile(r"(\s*)([\w.-]{1,80})\s*=\s*(.*?)\s*$")
METHODS = {
    "ipv4": ("auto", "manual", "link-local", "shared", "disabled"),
    "ipv6": ("auto", "manual", "link-local", "shared", "disabled", "ignore", "dhcp"),
}
MEANT = {
    "static": "manual",
    "none": "disabled",
    "fixed": "manual",
    "dhcp": "auto",
    "off": "disabled",
}
MODES = ("datagram", "connected")
KINDS = {"ethernet": "ethernet", "802-3-ethernet": "ethernet", "infiniband": "infiniband"}

Sections = dict[str, dict[str, Value]]


def check(recipe: Recipe) -> Iterator[Broken]:
    """All that is wrong in the connections of ``recipe``."""
    for fragment in fragments(recipe, "keyfile"):
        sections = sections_of(fragment)
        for family, methods in METHODS.items():
            yield from addressing(sections.get(family, {}), methods)
        mode = sections.get("infiniband", {}).get("transport-mode")
        if mode and mode.text not in MODES:
            meant = nearest(mode.text.lower(), MODES, 0.5)
            fix = mode.replaced(meant) if meant else None
            yield at(
                "keyfile-value", mode.line, mode.offset, f"transport-mode={mode.text[:80]}", fix
            )
        yield from mtu(interface_of(sections))


def sections_of(fragment: Fragment) -> Sections:
    """Section: property: value. Of a property that stands twice the last counts."""
    sections: Sections = {}
    current: dict[str, Value] = {}
    for line in fragment.lines:
        head = SECTION.match(line.text)
        found = PROPERTY.match(line.text)
        if head:
            current = sections.setdefault(head.group(1), {})
        elif found and not line.text.lstrip().startswith(("#", ";")):
            current[found.group(2)] = Value(line, found.start(3), found.group(3))
    return sections


def addressing(section: dict[str, Value], methods: tuple[str, ...]) -> Iterator[Broken]:
    """The method and the addresses of one family."""
    method = section.get("method")
    addresses = [
        value for name, value in section.items() if re.fullmatch(r"address(?:es)?\d{0,3}", name)
    ]
    if method and method.text not in methods:
        meant = MEANT.get(method.text.lower()) or nearest(method.text.lower(), methods, 0.6)
        fix = method.replaced(meant) if meant else None
        yield at("keyfile-value", method.line, method.offset, f"method={method.text[:80]}", fix)
    if method and method.text == "manual" and not addresses:
        yield at("keyfile-no-address", method.line, method.offset)
    for value in addresses:
        yield from address_of(value)


def address_of(value: Value) -> Iterator[Broken]:
    """``address1=10.0.0.1/24,10.0.0.254``."""
    address, slash, length = value.text.rstrip(";").split(";")[0].split(",")[0].partition("/")
    most = 128 if ":" in address else 32
    if not is_address(address.strip()):
        yield at("interface-address", value.line, value.offset, address[:80])
    elif not slash:
        with_length = value.text.replace(address, f"{address}/24", 1)
        fix = value.replaced(with_length) if "." in address else None
        yield at("keyfile-no-prefix", value.line, value.offset, value.text[:80], fix)
    elif not re.fullmatch(r"\s*[0-9]{1,3}\s*", length) or int(length) > most:
        yield at("interface-address", value.line, value.offset, value.text[:80])


def interface_of(sections: Sections) -> Interface:
    """The interface that the connection describes."""
    connection = {name: value.text for name, value in sections.get("connection", {}).items()}
    kind = KINDS.get(connection["type"], "other") if "type" in connection else ""
    names = ("infiniband", "ethernet", "802-3-ethernet")
    section = next((found for name in names if (found := sections.get(name))), {})
    interface = Interface(connection.get("interface-name", ""), kind, mtu=section.get("mtu"))
    mode = sections.get("infiniband", {}).get("transport-mode")
    if mode:
        interface.mode = "connected" if mode.text == "connected" else "datagram"
    elif "infiniband" in sections:
        interface.kind = "infiniband"
    address = sections.get("ipv4", {}).get("address1")
    if address and "/" in address.text:
        length = prefix_of(address.text.split(",")[0].rpartition("/")[2].strip())
        if length is not None:
            interface.addresses.append((address, length))
    return interface
