"""ifcfg-* files of initscripts and NetworkManager's ifcfg-rh."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wireproof.lint.files.fragments import Fragment, WrittenLine, at, fragments
from wireproof.lint.files.interfaces.interface import (
    Interface,
    Value,
    is_address,
    merged,
    mtu,
    network_of,
    prefix_of,
)
from wireproof.lint.files.nearest import nearest
from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.tables import listed

__all__ = ["check"]

ASSIGNMENT = re.compile(r"(\s*)([A-Za-z_][A-Za-z0-9_]*)(\s*)=(\s*)(.*?)\s*$")
# more names than a table should hold
FAMILIES = ("IEEE_8021X_", "DCB_", "WPA_", "ROUTING_RULE", "NM_USER_")
YES_NO = ("ONBOOT", "NM_CONTROLLED", "CONNECTED_MODE", "DEFROUTE", "PEERDNS", "USERCTL")


def check(recipe: Recipe) -> Iterator[Broken]:
    """All that is wrong in the interfaces of ``recipe``."""
    interfaces = []
    for fragment in fragments(recipe, "ifcfg"):
        if fragment.path.rsplit("/", 1)[-1].startswith(("route", "rule")):
            continue
        values: dict[str, Value] = {}
        for line in fragment.lines:
            yield from one_line(line, values)
        yield from together(fragment, values)
        interface = interface_of(fragment, values)
        interfaces.append(interface)
        yield from mtu(interface)
    yield from merged(interfaces)


def one_line(line: WrittenLine, values: dict[str, Value]) -> Iterator[Broken]:
    """A line alone; its value is added to ``values``."""
    found = ASSIGNMENT.match(line.text.split(" #", 1)[0])
    if not found or line.text.lstrip().startswith("#"):
        return
    lead, name, before, after, raw = found.groups()
    if before or after:
        fix = f"{lead}{name}={line.text[found.start(5) :]}"
        yield at("ifcfg-spaces", line, len(lead), line.text.strip(), fix)
        return
    stem = name.rstrip("0123456789")
    if {stem, name} & listed("ifcfg") or name.startswith(FAMILIES):
        quoted = raw[:1] in ("'", '"')
        values[name] = Value(line, found.start(5) + quoted, raw.strip("\"'"))
        yield from value_of(stem, values[name])
    else:
        yield from unknown(line, len(lead), name, stem)


def unknown(line: WrittenLine, position: int, name: str, stem: str) -> Iterator[Broken]:
    """A name that is none; ``stem`` is without its number."""
    upper = stem.upper()
    meant = upper if upper in listed("ifcfg") else nearest(upper, listed("ifcfg"), 0.82)
    if meant and abs(len(meant) - len(stem)) < 3:
        fixed = line.text.replace(name, meant + name[len(stem) :], 1)
        yield at("ifcfg-name", line, position, f"{name}; nearest is {meant}", fixed)


ADDRESSES = ("IPADDR", "GATEWAY", "NETWORK", "BROADCAST")


def value_of(stem: str, value: Value) -> Iterator[Broken]:
    """The value's form; what holds a variable is not judged."""
    text = value.text
    if not text or text[0] in "$%<{@" or "$" in text:
        return  # a template fills it in
    number = text[0].isdigit()  # a word is a placeholder
    if number and is_no_address(stem, text):
        yield at("interface-address", value.line, value.offset, f"{stem}={text[:80]}")
    elif number and stem == "MTU" and not re.fullmatch(r"[0-9]{2,6}", text):
        yield at("ifcfg-value", value.line, value.offset, f"MTU={text[:80]}")
    elif stem == "BOOTPROTO" and text.lower() not in listed("bootproto"):
        yield from meant_value(value, stem, listed("bootproto"))
    elif stem in YES_NO and text.lower() not in listed("ifcfg-truth"):
        yield from meant_value(value, stem, frozenset(("yes", "no")))


def is_no_address(stem: str, text: str) -> bool:
    """Whether a variable that holds an address or a mask holds none."""
    if stem == "NETMASK":
        return prefix_of(text) is None
    if stem == "PREFIX":
        return not re.fullmatch(r"[0-9]{1,3}", text) or int(text) > 128
    return stem in ADDRESSES and not is_address(text.split("/", 1)[0])


def meant_value(value: Value, stem: str, known: frozenset[str]) -> Iterator[Broken]:
    """A word that the variable does not take."""
    meant = nearest(value.text.lower(), known, 0.5)
    fix = value.replaced(meant) if meant else None
    yield at("ifcfg-value", value.line, value.offset, f"{stem}={value.text[:80]}", fix)


def together(fragment: Fragment, values: dict[str, Value]) -> Iterator[Broken]:
    """What two variables say about one thing."""
    for suffix in ("", "0", "1", "2"):
        prefix, mask = values.get("PREFIX" + suffix), values.get("NETMASK" + suffix)
        if prefix and mask:
            yield from two_masks(prefix, mask)
    network, mask = values.get("NETWORK"), values.get("NETMASK")
    if network and mask:
        yield from network_and_mask(network, mask)
    device = values.get("DEVICE")
    if device and "NAME" not in values:
        yield from other_device(fragment, device)


def two_masks(prefix: Value, mask: Value) -> Iterator[Broken]:
    """PREFIX and NETMASK."""
    length = prefix_of(mask.text)
    if length is not None and prefix_of(prefix.text) != length:
        seen = f"PREFIX={prefix.text}, NETMASK={mask.text} is /{length}"
        yield at("interface-mask-twice", mask.line, mask.offset, seen)


def network_and_mask(network: Value, mask: Value) -> Iterator[Broken]:
    """NETWORK with bits outside of NETMASK."""
    length = prefix_of(mask.text)
    real = network_of(network.text, length) if length is not None else None
    if real is not None and str(real.network_address) != network.text:
        seen = f"NETWORK={network.text} with {mask.text} is {real}"
        yield at("interface-mask-merges", mask.line, mask.offset, seen)


def other_device(fragment: Fragment, device: Value) -> Iterator[Broken]:
    """DEVICE that is another interface than the file's name says."""
    file = re.search(r"/ifcfg-([^/]+)$", fragment.path)
    if file is None or device.text in ("", file.group(1)):
        return
    interface = re.match(r"(?:eth|ib|en[ops])\w*(?:\.[0-9a-fA-F]{1,4})?$", file.group(1))
    if interface and re.match(r"(?:eth|ib|en[ops])[\w.:]*$", device.text):
        seen = f"{device.text} in ifcfg-{file.group(1)}"
        yield at("ifcfg-device", device.line, device.offset, seen, device.replaced(file.group(1)))


KINDS = {"ethernet": "ethernet", "infiniband": "infiniband", "": ""}


def interface_of(fragment: Fragment, values: dict[str, Value]) -> Interface:
    """The interface that the variables describe."""
    texts = {name: value.text for name, value in values.items()}
    file = re.search(r"ifcfg-([^/]+)$", fragment.path)
    name = texts.get("DEVICE") or (file.group(1) if file else "")
    interface = Interface(name, mtu=values.get("MTU"))
    interface.kind = KINDS.get(texts.get("TYPE", "").lower(), "other")
    connected = texts.get("CONNECTED_MODE")
    if connected is not None:
        yes = connected.lower() in ("yes", "true", "1", "on", "y", "t")
        interface.mode = "connected" if yes else "datagram"
    for suffix in ("", "0", "1", "2", "3"):
        address = values.get("IPADDR" + suffix)
        given = values.get("PREFIX" + suffix) or values.get("NETMASK" + suffix)
        length = prefix_of(given.text) if given else None
        if address and length is not None and is_address(address.text):
            interface.addresses.append((address, length))
    return interface
