"""ifcfg-* files of initscripts and NetworkManager's ifcfg-rh."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wireproof.lint.files.fragments import Fragment, Line, at, fragments
from wireproof.lint.files.interfaces.addresses import is_address, network_of
from wireproof.lint.files.interfaces.interface import Interface, Value, merged, mtu, prefix_of
from wireproof.lint.files.nearest import listed, nearest
from wireproof.lint.rule import Broken, Recipe

__all__ = ["check"]

ASSIGNMENT = re.compile(r"(\s*)([A-Za-z_][A-Za-z0-9_]*)(\s*)=(\s*)(.*?)\s*$")
# Source: sysconfig.txt of initscripts and the settings of NetworkManager's ifcfg-rh.
NAMES = listed(
    """ACCEPT_ALL_MAC_ADDRESSES ACD_TIMEOUT ADDRESS AP_ISOLATION ARP ARPCHECK ARPING_WAIT
    AUTH_RETRIES AUTOCONNECT_PRIORITY AUTOCONNECT_RETRIES AUTOCONNECT_SLAVES BAND BONDING_MASTER
    BONDING_OPTS BOND_PORT_PRIO BOND_PORT_QUEUE_ID BOOTPROTO BRIDGE BRIDGE_MACADDR
    BRIDGE_PORT_VLANS BRIDGE_UUID BRIDGE_VLANS BRIDGING_OPTS BROADCAST BROWSER_ONLY BSSID
    CHANNEL CIPHER_GROUP CIPHER_PAIRWISE CONNECTED_MODE CONNECTION_METERED CTCPROT DCB
    DEFAULTKEY DEFROUTE DELAY DEVICE DEVICETYPE DEVTIMEOUT DHCPV6C DHCPV6_DUID DHCPV6_HOSTNAME
    DHCPV6_HOSTNAME_FLAGS DHCPV6_IAID DHCPV6_PD_HINT DHCPV6_SEND_HOSTNAME DHCP_CLIENT_ID
    DHCP_FQDN DHCP_HOSTNAME DHCP_HOSTNAME_FLAGS DHCP_IAID DHCP_REJECT_SERVERS DHCP_SEND_HOSTNAME
    DHCP_VENDOR_CLASS_IDENTIFIER DNS DNS_OVER_TLS DOMAIN DOMAINNAME EDNS ESSID ETHTOOL_OPTIONS
    ETHTOOL_OPTS ETHTOOL_WAKE_ON_LAN FILS FILTER GATEWAY GATEWAYDEV GATEWAY_PING_TIMEOUT
    GENERATE_MAC_ADDRESS_MASK GENERIC_OPTIONS GVRP HOSTNAME HOSTNAME_FROM_DHCP
    HOSTNAME_FROM_DNS_LOOKUP HOSTNAME_ONLY_FROM_DEFAULT HOSTNAME_PRIORITY HOTPLUG HWADDR
    HWADDR_BLACKLIST IPADDR IPOIB_MODE IPV4_AUTO_ROUTE_EXT_GW IPV4_DHCP_TIMEOUT
    IPV4_DNS_PRIORITY IPV4_FAILURE_FATAL IPV4_LINK_LOCAL IPV4_REPLACE_LOCAL_RULE
    IPV4_REQUIRED_TIMEOUT IPV4_ROUTE_METRIC IPV4_ROUTE_TABLE IPV6ADDR IPV6ADDR_SECONDARIES
    IPV6FORWARDING IPV6INIT IPV6TUNNELIPV4 IPV6_ADDR_GEN_MODE IPV6_AUTOCONF
    IPV6_AUTO_ROUTE_EXT_GW IPV6_DEFAULTDEV IPV6_DEFAULTGW IPV6_DEFROUTE IPV6_DHCP_TIMEOUT
    IPV6_DISABLED IPV6_DNS_PRIORITY IPV6_DOMAIN IPV6_FAILURE_FATAL IPV6_MTU IPV6_PEERDNS
    IPV6_PEERROUTES IPV6_PRIVACY IPV6_PRIVACY_PREFER_PUBLIC_IP IPV6_RA_TIMEOUT
    IPV6_REPLACE_LOCAL_RULE IPV6_REQUIRED_TIMEOUT IPV6_RES_OPTIONS IPV6_ROUTE_METRIC
    IPV6_ROUTE_TABLE IPV6_TOKEN ISALIAS KEEP_ALIVE KEY KEY_MGMT KEY_PASSPHRASE KEY_TYPE LABEL
    LINKDELAY LLDP LLMNR MACADDR MAC_ADDRESS_RANDOMIZATION MASTER MASTER_UUID MATCH_DRIVER
    MATCH_INTERFACE_NAME MATCH_KERNEL_COMMAND_LINE MATCH_PATH MDNS METRIC MII_NOT_SUPPORTED MODE
    MPTCP_FLAGS MTU MUD_URL MULTICAST MULTI_CONNECT MVRP NAME NETMASK NETTYPE NETWORK
    NM_CONTROLLED NOZEROCONF NO_ALIASROUTING ONBOOT ONPARENT OPTIONS OVS_PORT OVS_PORT_UUID
    PAC_SCRIPT PAC_URL PEERDNS PEERROUTES PERSISTENT_DHCLIENT PHYSDEV PKEY PKEY_ID PKEY_ID_NM
    PKEY_PHYSDEV PMF PORTNAME POWERSAVE PREFIX PRIO PROXY_METHOD QDISC REMOTE_IPADDR REORDER_HDR
    RES_OPTIONS SCOPE SEARCH SECONDARY_UUIDS SECURITYMODE SLAVE SRCADDR SRIOV_AUTOPROBE_DRIVERS
    SRIOV_TOTAL_VFS SRIOV_VF SSID_HIDDEN STABLE_ID STARTMODE STP SUBCHANNELS TC_COMMIT
    TEAM_CONFIG TEAM_MASTER TEAM_MASTER_UUID TEAM_PORT_CONFIG TXQUEUELEN TYPE USERCTL USERS
    USE_HWADDR UUID VLAN VLAN_EGRESS_PRIORITY_MAP VLAN_FLAGS VLAN_ID VLAN_INGRESS_PRIORITY_MAP
    VLAN_NAME_TYPE VLAN_PROTOCOL VRF VRF_UUID WAIT_ACTIVATION_DELAY WEP_KEY_FLAGS WINDOW
    WPS_METHOD ZONE"""
)
# more names than a table should hold
FAMILIES = ("IEEE_8021X_", "DCB_", "WPA_", "ROUTING_RULE", "NM_USER_")
BOOTPROTO = ("none", "static", "dhcp", "bootp", "ibft", "autoip", "shared", "dhcp4", "dhcp6")
YES_NO = ("ONBOOT", "NM_CONTROLLED", "CONNECTED_MODE", "DEFROUTE", "PEERDNS", "USERCTL")
TRUTH = (
    "yes",
    "no",
    "true",
    "false",
    "1",
    "0",
    "on",
    "off",
    "y",
    "n",
    "t",
    "f",
    "auto",
    "hotplug",
    "ibft",
    "nfsroot",
)


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


def one_line(line: Line, values: dict[str, Value]) -> Iterator[Broken]:
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
    if stem in NAMES or name in NAMES or name.startswith(FAMILIES):
        quoted = raw[:1] in ("'", '"')
        values[name] = Value(line, found.start(5) + quoted, raw.strip("\"'"))
        yield from value_of(stem, values[name])
    else:
        yield from unknown(line, len(lead), name, stem)


def unknown(line: Line, position: int, name: str, stem: str) -> Iterator[Broken]:
    """A name that is none; ``stem`` is without its number."""
    upper = stem.upper()
    meant = upper if upper in NAMES else nearest(upper, NAMES, 0.82)
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
    elif stem == "BOOTPROTO" and text.lower() not in BOOTPROTO:
        yield from meant_value(value, stem, BOOTPROTO)
    elif stem in YES_NO and text.lower() not in TRUTH:
        yield from meant_value(value, stem, ("yes", "no"))


def is_no_address(stem: str, text: str) -> bool:
    """Whether a variable that holds an address or a mask holds none."""
    if stem == "NETMASK":
        return prefix_of(text) is None
    if stem == "PREFIX":
        return not re.fullmatch(r"[0-9]{1,3}", text) or int(text) > 128
    return stem in ADDRESSES and not is_address(text.split("/", 1)[0])


def meant_value(value: Value, stem: str, words: tuple[str, ...]) -> Iterator[Broken]:
    """A word that the variable does not take."""
    meant = nearest(value.text.lower(), words, 0.5)
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
