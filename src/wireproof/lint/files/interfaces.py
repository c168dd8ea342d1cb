# pure
"""Network interfaces: ifcfg-* files of initscripts and NetworkManager's ifcfg-rh, NetworkManager's
keyfiles, and the combined meaning of the settings of an interface, whatever file they come from.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import AddressValueError, IPv4Address, IPv4Network, NetmaskValueError, ip_address
from typing import Literal

from wireproof.lint.fragments import Fragment, Part, WrittenLine, at, fragments, parts
from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.tables import listed, nearest, spelled

# --- Addresses.


def is_address(text: str) -> bool:
    """Return whether ``text`` is an IPv4 or IPv6 address; a zone (``%eth0``) may follow."""
    try:
        ip_address(text.split("%", 1)[0][:64])
    except ValueError:
        return False
    return True


def prefix_of(mask: str) -> int | None:
    """Return the prefix length of ``24`` or ``255.255.255.0``; None if it is not a mask
    (``255.0.255.0``).
    """
    if re.fullmatch(r"[0-9]{1,3}", mask):
        return int(mask) if int(mask) <= 32 else None
    try:
        bits = int(IPv4Address(mask))
    except AddressValueError:
        return None
    ones = bits.bit_count()
    return ones if bits == (0xFFFFFFFF << (32 - ones)) & 0xFFFFFFFF else None


def network_of(address: str, length: int) -> IPv4Network | None:
    """Return the network of an address; None for IPv6 and for anything that is not an address."""
    try:
        return IPv4Network((address, length), strict=False)
    except (AddressValueError, NetmaskValueError, ValueError):
        return None


def same_place(address: str, other: str) -> bool:
    """Return whether two IPv4 addresses are in the same /24."""
    network = network_of(address, 24)
    return network is not None and network == network_of(other, 24)


# --- An interface.

# bytes; mlx5, the largest of the common drivers; switches support at least 9216
ETHERNET_MOST = 9978
CONNECTED_MOST = 65520
DATAGRAM_MOST = 10236  # Omni-Path with a 10 KiB fabric MTU, less the 4 bytes of the IPoIB header
VIRTUAL = re.compile(r"(?:lo|veth|br|docker|virbr|tun|tap|dummy|bond|team|vx)")
ETHERNET = re.compile(r"(?:eth|eno|ens|enp|em|p\d+p)\w*$")
INFINIBAND = re.compile(r"(?:ib|opib|ibp|ibs)\w*(?:\.[0-9a-fA-F]+)?$")


@dataclass
class Interface:
    """An interface: ``name`` is "" if unknown, ``mode`` is None if the file does not set it."""

    name: str = ""
    kind: str = ""
    mode: Literal["connected", "datagram"] | None = None
    mtu: Part | None = None
    addresses: list[tuple[Part, int]] = field(default_factory=list)  # with the prefix length

    @property
    def infiniband(self) -> bool:
        """Whether it is an IPoIB interface."""
        return self.kind == "infiniband" or (not self.kind and bool(INFINIBAND.match(self.name)))

    @property
    def ethernet(self) -> bool:
        """Whether it is certainly a physical Ethernet interface."""
        if VIRTUAL.match(self.name):
            return False
        return self.kind == "ethernet" or (not self.kind and bool(ETHERNET.match(self.name)))


def _mtu(interface: Interface) -> Iterator[Broken]:
    value = interface.mtu
    if value is None or not re.fullmatch(r"[0-9]{1,9}", value.text):
        return
    size = int(value.text)
    if interface.mode or interface.infiniband:
        yield from _ipoib_mtu(interface, value, size)
    elif interface.ethernet and size > ETHERNET_MOST:
        yield value.broken("interface-mtu-ethernet", f"MTU {size}", "9000")


def _ipoib_mtu(interface: Interface, value: Part, size: int) -> Iterator[Broken]:
    connected = interface.mode == "connected"
    new = str(CONNECTED_MOST) if connected else None
    if size > (CONNECTED_MOST if connected else DATAGRAM_MOST):
        mode = f"{interface.mode} mode" if interface.mode else "datagram mode (the default)"
        yield value.broken("interface-mtu-mode", f"MTU {size} with {mode}", new)
    elif connected and size in (2044, 4092):
        seen = f"MTU {size} is a datagram's, the mode is connected"
        yield value.broken("interface-mtu-mode", seen, new)


def _merged(interfaces: list[Interface]) -> Iterator[Broken]:
    """Find addresses that differ in their third number, but that a mask shorter than /24 puts into
    the same network.
    """
    seen: list[tuple[str, Part, int]] = []
    for interface in interfaces:
        for value, length in interface.addresses:
            for name, other, other_length in seen:
                if name == interface.name or same_place(value.text, other.text):
                    continue
                shared = min(length, other_length)
                network = network_of(value.text, shared) if length < 24 else None
                if network is not None and network == network_of(other.text, shared):
                    text = f"{value.text} and {other.text} are both in {network}"
                    yield value.broken("interface-mask-merges", text)
                    break
            seen.append((interface.name, value, length))


# --- ifcfg-*.

ASSIGNMENT = re.compile(r"(\s*)([A-Za-z_][A-Za-z0-9_]*)(\s*)=(\s*)(.*?)\s*$")
# more names than a table should contain
FAMILIES = ("IEEE_8021X_", "DCB_", "WPA_", "ROUTING_RULE", "NM_USER_")
YES_NO = ("ONBOOT", "NM_CONTROLLED", "CONNECTED_MODE", "DEFROUTE", "PEERDNS", "USERCTL")
ADDRESSES = ("IPADDR", "GATEWAY", "NETWORK", "BROADCAST")
IFCFG_TYPES = {"ethernet": "ethernet", "infiniband": "infiniband", "": ""}


def ifcfg(recipe: Recipe) -> Iterator[Broken]:
    """Check the interfaces of ``recipe``."""
    interfaces = []
    for fragment in fragments(recipe, "ifcfg"):
        if fragment.path.rsplit("/", 1)[-1].startswith(("route", "rule")):
            continue
        values: dict[str, Part] = {}
        for line in fragment.lines:
            yield from _one_line(line, values)
        yield from _together(fragment, values)
        interface = _of_variables(fragment, values)
        interfaces.append(interface)
        yield from _mtu(interface)
    yield from _merged(interfaces)


def _one_line(line: WrittenLine, values: dict[str, Part]) -> Iterator[Broken]:
    found = ASSIGNMENT.match(line.text.split(" #", 1)[0])
    if line.is_comment:
        return
    if not found:
        yield from _without_sign(line)
        return
    lead, name, before, after, value = parts(line, found)
    if before.text or after.text:
        fix = f"{lead.text}{name.text}={line.text[value.offset :]}"
        yield at("ifcfg-spaces", line, name.offset, line.text.strip(), fix)
        return
    stem, known = name.text.rstrip("0123456789"), listed("ifcfg")
    meant = spelled(stem.upper(), known, 0.82)
    if {stem, name.text} & known or name.text.startswith(FAMILIES):
        quoted = value.text[:1] in ("'", '"')
        values[name.text] = Part(line, value.offset + quoted, value.text.strip("\"'"))
        yield from _form(stem, values[name.text])
    elif meant and abs(len(meant) - len(stem)) < 3:
        seen = f"{name.text}; nearest is {meant}"
        yield name.broken("ifcfg-name", seen, meant + name.text[len(stem) :])


def _without_sign(line: WrittenLine) -> Iterator[Broken]:
    """Check ``ONBOOT yes``, which the shell takes for a command."""
    found = re.match(r"\s*(\w{2,40})\s+(\S{1,200})\s*$", line.text)
    if found and {found[1], found[1].rstrip("0123456789")} & listed("ifcfg"):
        yield at("ifcfg-spaces", line, 0, line.text.strip(), f"{found[1]}={found[2]}")


def _form(stem: str, value: Part) -> Iterator[Broken]:
    """Check the form of a value, unless it contains a variable."""
    text = value.text
    if not text or text[0] in "$%<{@" or "$" in text:
        return  # a template fills it in
    number = text[0].isdigit()  # the word is a placeholder
    if number and _is_no_address(stem, text):
        yield value.broken("interface-address", f"{stem}={text[:80]}")
    elif number and stem == "MTU" and not re.fullmatch(r"[0-9]{2,6}", text):
        yield value.broken("ifcfg-value", f"MTU={text[:80]}")
    elif stem == "BOOTPROTO" and text.lower() not in listed("bootproto"):
        yield _no_word("ifcfg-value", stem, value, listed("bootproto"))
    elif stem in YES_NO and text.lower() not in listed("ifcfg-truth"):
        yield _no_word("ifcfg-value", stem, value, ("yes", "no"))


def _no_word(code: str, name: str, value: Part, known: tuple[str, ...] | frozenset[str]) -> Broken:
    """Report a word that ``name`` does not accept; the fix is the most similar word."""
    return value.broken(code, f"{name}={value.text[:80]}", nearest(value.text.lower(), known, 0.5))


def _is_no_address(stem: str, text: str) -> bool:
    """Return whether a variable for an address or a mask contains neither."""
    if stem == "NETMASK":
        return prefix_of(text) is None
    if stem == "PREFIX":
        return not re.fullmatch(r"[0-9]{1,3}", text) or int(text) > 128
    return stem in ADDRESSES and not is_address(text.split("/", 1)[0])


def _together(fragment: Fragment, values: dict[str, Part]) -> Iterator[Broken]:
    """Find two variables that contradict each other."""
    for suffix in ("", "0", "1", "2"):
        prefix, mask = values.get("PREFIX" + suffix), values.get("NETMASK" + suffix)
        length = prefix_of(mask.text) if mask else None
        if prefix and mask and length is not None and prefix_of(prefix.text) != length:
            seen = f"PREFIX={prefix.text}, NETMASK={mask.text} is /{length}"
            yield mask.broken("interface-mask-twice", seen)
    if "NETWORK" in values and "NETMASK" in values:
        yield from _network(values["NETWORK"], values["NETMASK"])
    if "DEVICE" in values and "NAME" not in values:
        yield from _other_device(fragment, values["DEVICE"])


def _network(network: Part, mask: Part) -> Iterator[Broken]:
    """Find a NETWORK with bits outside NETMASK."""
    length = prefix_of(mask.text)
    real = network_of(network.text, length) if length is not None else None
    if real is not None and str(real.network_address) != network.text:
        seen = f"NETWORK={network.text} with {mask.text} is {real}"
        yield mask.broken("interface-mask-merges", seen)


def _other_device(fragment: Fragment, device: Part) -> Iterator[Broken]:
    """Find a DEVICE that differs from the interface in the file's name."""
    file = re.search(r"/ifcfg-([^/]+)$", fragment.path)
    if file is None or device.text in ("", file[1]):
        return
    interface = re.match(r"(?:eth|ib|en[ops])\w*(?:\.[0-9a-fA-F]{1,4})?$", file[1])
    if interface and re.match(r"(?:eth|ib|en[ops])[\w.:]*$", device.text):
        yield device.broken("ifcfg-device", f"{device.text} in ifcfg-{file[1]}", file[1])


def _of_variables(fragment: Fragment, values: dict[str, Part]) -> Interface:
    texts = {name: value.text for name, value in values.items()}
    file = re.search(r"ifcfg-([^/]+)$", fragment.path)
    name = texts.get("DEVICE") or (file[1] if file else "")
    kind = IFCFG_TYPES.get(texts.get("TYPE", "").lower(), "other")
    interface = Interface(name, kind, mtu=values.get("MTU"))
    if "CONNECTED_MODE" in texts:
        yes = texts["CONNECTED_MODE"].lower() in ("yes", "true", "1", "on", "y", "t")
        interface.mode = "connected" if yes else "datagram"
    for suffix in ("", "0", "1", "2", "3"):
        address = values.get("IPADDR" + suffix)
        given = values.get("PREFIX" + suffix) or values.get("NETMASK" + suffix)
        length = prefix_of(given.text) if given else None
        if address and length is not None and is_address(address.text):
            interface.addresses.append((address, length))
    return interface


# --- NetworkManager's keyfiles.

SECTION = re.compile(r"\s*\[([^\]]{1,80})\]\s*$")
PROPERTY = re.compile(r"\s*([\w.-]{1,80})\s*=\s*(.*?)\s*$")
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
KEYFILE_TYPES = {"ethernet": "ethernet", "802-3-ethernet": "ethernet", "infiniband": "infiniband"}

Sections = dict[str, dict[str, Part]]


def keyfile(fragment: Fragment) -> Iterator[Broken]:
    """Check a connection."""
    sections = _sections(fragment)
    for family, methods in METHODS.items():
        yield from _addressing(sections.get(family, {}), methods)
    mode = sections.get("infiniband", {}).get("transport-mode")
    if mode and mode.text not in MODES:
        yield _no_word("keyfile-value", "transport-mode", mode, MODES)
    yield from _mtu(_of_sections(sections))


def _sections(fragment: Fragment) -> Sections:
    """Return section: property: value. If a property occurs twice, the last one counts."""
    sections: Sections = {}
    current: dict[str, Part] = {}
    for line in fragment.lines:
        head = SECTION.match(line.text)
        found = PROPERTY.match(line.text)
        if head:
            current = sections.setdefault(head[1], {})
        elif found and not line.text.lstrip().startswith(("#", ";")):
            current[found[1]] = Part(line, found.start(2), found[2])
    return sections


def _addressing(section: dict[str, Part], methods: tuple[str, ...]) -> Iterator[Broken]:
    """Check the method and the addresses of an address family."""
    method = section.get("method")
    addresses = [
        value for name, value in section.items() if re.fullmatch(r"address(?:es)?\d{0,3}", name)
    ]
    if method and method.text not in methods:
        lower = method.text.lower()
        new = MEANT.get(lower) or nearest(lower, methods, 0.6)
        yield method.broken("keyfile-value", f"method={method.text[:80]}", new)
    if method and method.text == "manual" and not addresses:
        yield method.broken("keyfile-no-address", "")
    for value in addresses:
        yield from _address(value)


def _address(value: Part) -> Iterator[Broken]:
    address, slash, length = value.text.rstrip(";").split(";")[0].split(",")[0].partition("/")
    most = 128 if ":" in address else 32
    if not is_address(address.strip()):
        yield value.broken("interface-address", address[:80])
    elif not slash:
        new = value.text.replace(address, f"{address}/24", 1) if "." in address else None
        yield value.broken("keyfile-no-prefix", value.text[:80], new)
    elif not re.fullmatch(r"\s*[0-9]{1,3}\s*", length) or int(length) > most:
        yield value.broken("interface-address", value.text[:80])


def _of_sections(sections: Sections) -> Interface:
    connection = {name: value.text for name, value in sections.get("connection", {}).items()}
    kind = KEYFILE_TYPES.get(connection["type"], "other") if "type" in connection else ""
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
