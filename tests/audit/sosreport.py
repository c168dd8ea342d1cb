"""A machine as sos archives it: the files that its plugins copy, and what its commands print."""

import contextlib
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec
from tests.audit.fleet import Node

from wireproof.audit.pci import PciDevice

_COPIED = re.compile(
    r"etc/.*|proc/(cpuinfo|version|meminfo|cmdline|modules|interrupts|irq/.*)"
    r"|sys/devices/system/(cpu|clocksource|node/node\d+)/.*|sys/module/[^/]+/(parameters/.*|initstate)"
    r"|sys/class/net/[^/]+/device/numa_node|sys/kernel/mm/transparent_hugepage/enabled"
)
_PRINTED = re.compile(
    r"mlxconfig .*|opainfo|ethtool (-[acgiklS] )?\S+|timedatectl|tuned-adm active"
)
_STATES = {"1": "Down", "2": "Initializing", "3": "Armed", "4": "Active"}
_PHYSICAL = {"2": "Polling", "3": "Disabled", "5": "LinkUp"}
_QUERIED = {
    "SymbolErrorCounter": "symbol_error", "LinkErrorRecoveryCounter": "link_error_recovery",
    "LinkDownedCounter": "link_downed", "PortRcvErrors": "port_rcv_errors",
    "PortRcvRemotePhysicalErrors": "port_rcv_remote_physical_errors",
    "PortXmitDiscards": "port_xmit_discards",
    "LocalLinkIntegrityErrors": "local_link_integrity_errors",
    "ExcessiveBufferOverrunErrors": "excessive_buffer_overrun_errors",
}  # fmt: skip
_OF_BOND = ("mode", "miimon", "arp_interval", "xmit_hash_policy")
_SPEEDS = {3: "8", 4: "16", 5: "32"}


def archived(node: Node, texts: Mapping[str, str]) -> dict[str, str]:
    """``texts`` of the node, as an archive keeps them. ``node``: its interfaces and devices."""
    found = {place: text for place, text in texts.items() if _COPIED.fullmatch(place)}
    for place, text in texts.items():
        if _PRINTED.fullmatch(place):
            found[_command(place)] = text
    for one in node.nics:
        if one.kind != "virtual":
            found[_command(f"ethtool -i {one.name}")] = f"driver: {one.driver}\nversion: 1\n"
            found[_command(f"ethtool {one.name}")] = _settings(one.name, texts)
    sysctls = (
        f"{place.removeprefix('proc/sys/').translate(str.maketrans('./', '/.'))} = {text}\n"
        for place, text in sorted(texts.items())
        if place.startswith("proc/sys/")
    )
    nodes = texts["sys/devices/system/node/online"].count("1") + 1
    found[_command("lscpu")] = f"NUMA node(s):                    {nodes}\n"
    found[_command("sysctl -a")] = "".join(sysctls)
    found[_command("ip -d address")] = _addresses(node, texts)
    found[_command("lspci -nnvv")] = _lspci(node, texts)
    if ports := _ports(texts):
        found[_command("ibstat")] = "".join(
            _ibstat(*port, node, texts) for port in ports if not _is_efa(port[0], texts)
        )
        found[_command("ibv_devinfo -v")] = "".join(_devinfo(*port, texts) for port in ports)
        for device, port in ports:
            if not device.startswith("hfi") and "InfiniBand" in _of(
                device, port, "link_layer", texts
            ):
                found[_command(f"perfquery -C {device} -P {port}")] = _perfquery(
                    device, port, texts
                )
    return found


def _command(words: str) -> str:
    """Where sos keeps what a command printed."""
    name = re.sub(r"[^\w\-./]+", "_", words).replace("/", ".")
    return f"sos_commands/any/{name}"


def _of(device: str, port: str, name: str, texts: Mapping[str, str]) -> str:
    return texts.get(f"sys/class/infiniband/{device}/ports/{port}/{name}", "")


def _ports(texts: Mapping[str, str]) -> list[tuple[str, str]]:
    found = (re.match(r"sys/class/infiniband/([^/]+)/ports/(\d+)/state", one) for one in texts)
    return [(one[1], one[2]) for one in found if one]


def _is_efa(device: str, texts: Mapping[str, str]) -> bool:
    """EFA has no management datagrams, so ibstat does not list it."""
    return "DRIVER=efa" in texts.get(f"sys/class/infiniband/{device}/device/uevent", "")


def _settings(nic: str, texts: Mapping[str, str]) -> str:
    folder = f"sys/class/net/{nic}"
    speed, duplex = texts[f"{folder}/speed"], texts.get(f"{folder}/duplex", "full")
    rate = f"{speed}Mb/s" if int(speed) > 0 else "Unknown!"
    own = texts.get(f"ethtool {nic}", f"Settings for {nic}:")
    return f"{own}\n\tSpeed: {rate}\n\tDuplex: {duplex.title()}\n\tLink detected: yes\n"


def _devinfo(device: str, port: str, texts: Mapping[str, str]) -> str:
    width = re.search(r"(\d+X)", _of(device, port, "rate", texts))
    gids = "".join(
        f"\t\t\tGID[{index:3}]:\t\t::ffff:10.0.0.7, {kind}\n"
        for index in range(4)
        if (kind := _of(device, port, f"gid_attrs/types/{index}", texts))
    )
    efa = _is_efa(device, texts)
    transport, vendor = ("unspecified (4)", "0x1d0f") if efa else ("InfiniBand (0)", "0x02c9")
    number = _of(device, port, "state", texts)[:1]
    state = f"PORT_{_STATES[number].upper().replace('INITIALIZING', 'INIT')} ({number})"
    return (
        f"hca_id:\t{device}\n\ttransport:\t\t\t{transport}\n\tvendor_id:\t\t\t{vendor}\n"
        f"\tboard_id:\t\t\tMT_0000000223\n"
        f"\tphys_port_cnt:\t\t\t1\n\t\tport:\t{port}\n\t\t\tstate:\t\t\t{state}\n"
        f"\t\t\tlink_layer:\t\t{_of(device, port, 'link_layer', texts)}\n"
        f"\t\t\tactive_width:\t\t{width[1] if width else '4X'} (2)\n{gids}\n"
    )


def _ibstat(device: str, port: str, node: Node, texts: Mapping[str, str]) -> str:
    state, physical = (_of(device, port, name, texts)[:1] for name in ("state", "phys_state"))
    rate = _of(device, port, "rate", texts).partition(" ")[0]
    manager = int(_of(device, port, "sm_lid", texts) or "0", 16)
    firmware = texts[f"sys/class/infiniband/{device}/fw_ver"]
    number = next(
        (
            at
            for at, one in enumerate(node.nics)
            if f"sys/class/infiniband/{device}/device/net/{one.name}/mtu" in texts
        ),
        99,
    )
    return (
        f"CA '{device}'\n\tCA type: MT4123\n\tNumber of ports: 1\n\tFirmware version: {firmware}\n"
        f"\tPort {port}:\n\t\tState: {_STATES[state]}\n\t\tPhysical state: {_PHYSICAL[physical]}\n"
        f"\t\tRate: {rate}\n\t\tBase lid: 7\n\t\tLMC: 0\n\t\tSM lid: {manager}\n"
        f"\t\tPort GUID: 0x021122fffe3344{number:02x}\n"
        f"\t\tLink layer: {_of(device, port, 'link_layer', texts)}\n"
    )


def _perfquery(device: str, port: str, texts: Mapping[str, str]) -> str:
    rows = (
        f"{name}:{'.' * (32 - len(name))}{_of(device, port, f'counters/{file}', texts)}\n"
        for name, file in _QUERIED.items()
    )
    return f"# Port counters: Lid 7 port {port} (CapMask: 0x5300)\n" + "".join(rows)


def _addresses(node: Node, texts: Mapping[str, str]) -> str:
    found = ""
    for number, one in enumerate(node.nics, 2):
        folder = f"sys/class/net/{one.name}"
        parent = f"@{one.lower[0]}" if one.link_kind == "vlan" else ""
        master = f" master {one.master}" if one.master else ""
        length = texts.get(f"{folder}/tx_queue_len", "1000").strip()
        found += (
            f"{number}: {one.name}{parent}: <BROADCAST,UP,LOWER_UP> mtu {texts[f'{folder}/mtu']}"
            f" qdisc mq{master} state UP group default qlen {length}\n"
        )
        hardware = (
            "infiniband 00:00:10:29"
            if one.kind == "infiniband"
            else f"ether 00:11:22:33:44:{number - 2:02x}"
        )
        found += f"    link/{hardware} brd ff:ff:ff:ff:ff:ff"
        found += f" parentbus pci parentdev {one.pci}\n" if one.pci else "\n"
        if one.kind == "infiniband":
            found += f"    ipoib pkey  0xffff mode  {texts[f'{folder}/mode']} umcast 0\n"
        if one.link_kind == "vlan":
            found += "    vlan protocol 802.1Q id 40 <REORDER_HDR>\n"
        if one.link_kind == "bond":
            values = {name: texts[f"{folder}/bonding/{name}"].split()[0]
                      for name in _OF_BOND}  # fmt: skip
            found += "    bond " + " ".join(f"{key} {text}" for key, text in values.items()) + "\n"
        if one.master:
            status = texts[f"{folder}/bonding_slave/mii_status"].upper()
            found += f"    bond_slave state ACTIVE mii_status {status} queue_id 0\n"
        found += f"    inet {one.address[0]}/16 scope global {one.name}\n"
    return found


def _lspci(node: Node, texts: Mapping[str, str]) -> str:
    """The link of an adapter is what its interface's files say."""
    links = {
        one.pci: tuple(texts[f"sys/class/net/{one.name}/device/current_link_{name}"].split()[0]
                       for name in ("width", "speed"))
        for one in node.nics
        if one.pci and f"sys/class/net/{one.name}/device/current_link_width" in texts
    }  # fmt: skip
    kinds = {0: "Endpoint", 4: "Root Port (Slot+)", 5: "Upstream Port", 6: "Downstream Port"}
    found = ""
    for one in msgspec.json.decode(texts["pci"], type=list[PciDevice]):
        bridge = f"\tBus: primary=00, secondary={one.secondary:02x}\n" if one.secondary else ""
        own = (str(one.width), _SPEEDS[one.speed or 4])
        width, speed = links.get(one.address, own)
        driver = f"\tKernel driver in use: {one.driver}\n" if one.driver else ""
        found += (
            f"{one.address.removeprefix('0000:')} Some device [{one.device_class[:4]}]: Maker\n"
            f"{bridge}\tCapabilities: [60] Express (v2) {kinds[one.type or 0]}, MSI 00\n"
            f"\t\tDevCap:\tMaxPayload {one.payload_most} bytes, PhantFunc 0\n"
            f"\t\tDevCtl:\tCorrErr+\n\t\t\tRlxdOrd{'-+'[one.relaxed is True]} ExtTag+\n"
            f"\t\t\tMaxPayload {one.payload} bytes, MaxReadReq {one.read_request} bytes\n"
            f"\t\tDevSta:\tCorrErr-\n"
            f"\t\tLnkCap:\tPort #0, Speed {_SPEEDS[one.speed_most or 4]}GT/s,"
            f" Width x{one.width_most}\n"
            f"\t\tLnkSta:\tSpeed {speed.removesuffix('.0')}GT/s, Width x{width}\n{driver}\n"
        )
    return found


def write_archive(folder: Path, texts: Mapping[str, str], before: Mapping[str, str]) -> None:
    """What differs from what is there ``before``."""
    for place in before.keys() - texts.keys():
        (folder / place).unlink()
        with contextlib.suppress(OSError):
            (folder / place).parent.rmdir()
    for place, text in texts.items():
        if before.get(place) != text:
            file = folder / place
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{text}\n")
