"""ifcfg-* files of initscripts and NetworkManager's ifcfg-rh."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wireproof.lint.files.addresses import is_address, network_of
from wireproof.lint.files.interface import Interface, Value, merged, mtu, prefix_of
from wireproof.lint.files.interface_rules import RULES
from wireproof.lint.files.nearest import listed, nearest
from wireproof.lint.files.pieces import Line, Piece, at, pieces
from wireproof.lint.rule import Broken, Recipe

__all__ = ["RULES", "check"]

ASSIGNMENT = re.compile(r"(\s*)([A-Za-z_][A-Za-z0-9_]*)(\s*)=(\s*)(.*?)\s*$")
NAMES = listed(
    """DEVICE NAME UUID TYPE ONBOOT BOOTPROTO IPADDR PREFIX NETMASK GATEWAY BROADCAST NETWORK MTU HWADDR MACADDR
    NM_CONTROLLED CONNECTED_MODE DEFROUTE PEERDNS PEERROUTES USERCTL IPV6INIT IPV6ADDR IPV6_AUTOCONF
    IPV6_DEFROUTE IPV6_FAILURE_FATAL IPV4_FAILURE_FATAL IPV6_DEFAULTGW IPV6_ADDR_GEN_MODE IPV6_PEERDNS
    IPV6_PEERROUTES IPV6ADDR_SECONDARIES IPV6_PRIVACY IPV6FORWARDING IPV6_MTU DNS DOMAIN SEARCH MASTER SLAVE
    BONDING_OPTS BONDING_MASTER TEAM_MASTER TEAM_CONFIG TEAM_PORT_CONFIG DEVICETYPE BRIDGE DELAY STP
    BRIDGING_OPTS VLAN VLAN_ID PHYSDEV VLAN_NAME_TYPE REORDER_HDR PKEY PKEY_ID PKEY_PHYSDEV PKEY_ID_NM
    ETHTOOL_OPTS HOTPLUG ARPCHECK ARP ARPING_WAIT SRCADDR SUBCHANNELS NETTYPE PORTNAME OPTIONS ZONE PROXY_METHOD
    BROWSER_ONLY DHCP_HOSTNAME DHCP_CLIENT_ID DHCP_SEND_HOSTNAME PERSISTENT_DHCLIENT DHCPV6C METRIC
    IPV4_ROUTE_METRIC IPV6_ROUTE_METRIC GATEWAYDEV NOZEROCONF LINKDELAY KEEP_ALIVE AUTOCONNECT_PRIORITY
    AUTOCONNECT_RETRIES ESSID MODE MULTICAST SCOPE WINDOW ISALIAS NO_ALIASROUTING ONPARENT DEVTIMEOUT
    MII_NOT_SUPPORTED DOMAINNAME HOSTNAME PRIO STARTMODE LABEL REMOTE_IPADDR ETHTOOL_OPTIONS IPOIB_MODE
    USE_HWADDR EDNS GENERIC_OPTIONS TXQUEUELEN VRF"""
)
BOOTPROTO = ("none", "static", "dhcp", "bootp", "ibft", "autoip", "shared", "dhcp4", "dhcp6")
YES_NO = ("ONBOOT", "NM_CONTROLLED", "CONNECTED_MODE", "DEFROUTE", "PEERDNS", "USERCTL")
TRUTH = ("yes", "no", "true", "false", "1", "0", "on", "off", "y", "n", "t", "f", "auto", "hotplug", "ibft", "nfsroot")


def check(recipe: Recipe) -> Iterator[Broken]:
    """All that is wrong in the interfaces of ``recipe``."""
    interfaces = []
    for piece in pieces(recipe, "ifcfg"):
        if piece.path.rsplit("/", 1)[-1].startswith(("route", "rule")):
            continue
        values: dict[str, Value] = {}
        for line in piece.lines:
            yield from one_line(line, values)
        yield from together(piece, values)
        interface = interface_of(piece, values)
        interfaces.append(interface)
        yield from mtu(interface)
    yield from merged(interfaces)


def one_line(line: Line, values: dict[str, Value]) -> Iterator[Broken]:
    """A line alone; its value is added to ``values``."""
    found = ASSIGNMENT.match(line.text.split(" #", 1)[0])
    if not found or line.text.lstrip().startswith("#"):
        return
    lead, name, before, after, raw = found.groups()
    if before or after:
        yield at("ifcfg-spaces", line, len(lead), line.text.strip(), f"{lead}{name}={line.text[found.start(5) :]}")
        return
    text = raw.strip("\"'")
    value = Value(line, found.start(5) + (raw[:1] in ("'", '"')), text)
    stem = name.rstrip("0123456789")
    if stem not in NAMES and name not in NAMES:
        meant = nearest(stem.upper(), sorted(NAMES), 0.82) or (stem.upper() if stem.upper() in NAMES else None)
        if meant:
            fixed = line.text.replace(name, meant + name[len(stem) :], 1)
            yield at("ifcfg-name", line, len(lead), f"{name}; nearest is {meant}", fixed)
        return
    values[name] = value
    yield from value_of(stem, value)


def value_of(stem: str, value: Value) -> Iterator[Broken]:
    """The value's form; what holds a variable is not judged."""
    text = value.text
    if not text or "$" in text or "<" in text:
        return
    wrong = {
        "NETMASK": prefix_of(text) is None,
        "PREFIX": not re.fullmatch(r"[0-9]{1,3}", text) or int(text) > 128,
        **dict.fromkeys(("IPADDR", "GATEWAY", "NETWORK", "BROADCAST"), not is_address(text.split("/", 1)[0])),
    }
    if wrong.get(stem, False):
        yield at("interface-address", value.line, value.offset, f"{stem}={text[:80]}")
    elif stem == "MTU" and not re.fullmatch(r"[0-9]{2,6}", text):
        yield at("ifcfg-value", value.line, value.offset, f"MTU={text[:80]}")
    elif stem == "BOOTPROTO" and text.lower() not in BOOTPROTO:
        yield from meant_value(value, stem, BOOTPROTO)
    elif stem in YES_NO and text.lower() not in TRUTH:
        yield from meant_value(value, stem, ("yes", "no"))


def meant_value(value: Value, stem: str, words: tuple[str, ...]) -> Iterator[Broken]:
    """A word that the variable does not take."""
    meant = nearest(value.text.lower(), words, 0.5)
    fix = value.replaced(meant) if meant else None
    yield at("ifcfg-value", value.line, value.offset, f"{stem}={value.text[:80]}", fix)


def together(piece: Piece, values: dict[str, Value]) -> Iterator[Broken]:
    """What two variables say about one thing."""
    for suffix in ("", "0", "1", "2"):
        prefix, mask = values.get("PREFIX" + suffix), values.get("NETMASK" + suffix)
        if prefix and mask and prefix_of(prefix.text) != prefix_of(mask.text) and prefix_of(mask.text) is not None:
            seen = f"PREFIX={prefix.text}, NETMASK={mask.text} is /{prefix_of(mask.text)}"
            yield at("interface-mask-twice", mask.line, mask.offset, seen)
    network, mask = values.get("NETWORK"), values.get("NETMASK")
    length = prefix_of(mask.text) if mask else None
    if network and mask and length is not None:
        real = network_of(network.text, length)
        if real is not None and str(real.network_address) != network.text:
            seen = f"NETWORK={network.text} with {mask.text} is {real}"
            yield at("interface-mask-merges", mask.line, mask.offset, seen)
    device = values.get("DEVICE")
    file = re.search(r"/ifcfg-([^/]+)$", piece.path)
    if device and file and device.text and device.text != file.group(1) and "NAME" not in values:
        interface = re.match(r"(?:eth|ib|en[ops])[\w.]*$", file.group(1))
        if interface and re.match(r"(?:eth|ib|en[ops])[\w.:]*$", device.text):
            fix = device.replaced(file.group(1))
            yield at("ifcfg-device", device.line, device.offset, f"{device.text} in ifcfg-{file.group(1)}", fix)


def interface_of(piece: Piece, values: dict[str, Value]) -> Interface:
    """The interface that the variables describe."""
    file = re.search(r"ifcfg-([^/]+)$", piece.path)
    device = values["DEVICE"].text if "DEVICE" in values else ""
    interface = Interface(device or (file.group(1) if file else ""), mtu=values.get("MTU"))
    kind = values["TYPE"].text.lower() if "TYPE" in values else ""
    interface.kind = {"ethernet": "ethernet", "infiniband": "infiniband", "": ""}.get(kind, "other")
    if "CONNECTED_MODE" in values:
        yes = values["CONNECTED_MODE"].text.lower() in ("yes", "true", "1", "on", "y", "t")
        interface.mode = "connected" if yes else "datagram"
    for suffix in ("", "0", "1", "2", "3"):
        address, prefix, mask = (values.get(name + suffix) for name in ("IPADDR", "PREFIX", "NETMASK"))
        given = prefix or mask
        length = prefix_of(given.text) if given else None
        if address and length is not None and is_address(address.text):
            interface.addresses.append((address, length))
    return interface
