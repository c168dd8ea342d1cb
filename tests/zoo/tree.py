"""A machine of the zoo as files: /sys as the kernel lays it out, driver statistics as ``ethtool
-S`` prints them.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from tests.zoo.parts import Port
from tests.zoo.ramp import LOOPBACK, Machine

_TYPE = {"loopback": "772", "infiniband": "32"}
_DEVTYPE = ("bond", "bridge", "vlan", "macvlan", "ipvlan", "team", "vxlan", "netkit")


def lay_out(root: Path, machine: Machine, name: str, seed: int = 1) -> dict[str, tuple[str, str]]:
    """Write the machine's tree below ``root``; counter name -> (file below the root, statistic in
    it or "").
    """
    places: dict[str, tuple[str, str]] = {}
    _put(root, "proc/sys/kernel/random/boot_id", f"{name:0<8.8}-0000-4000-8000-{seed:012x}")
    _put(root, "etc/hostname", name)
    _put(root, "netns", "4026531840")
    for index, port in enumerate((LOOPBACK, *machine.ports), start=1):
        _lay_port(root, port, index, machine, places)
    write_counters(root, machine, machine.reading(0.0), places)
    return places


def _put(root: Path, path: str, text: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text + "\n")


def _link(root: Path, path: str, target: str) -> None:
    """A relative link that ends with the target's name, as sysfs has them. ``target`` is below the
    root.
    """
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.is_symlink():
        goal = root / target
        file.symlink_to(Path(os.path.relpath(goal.parent, file.parent)) / goal.name)


def _device(port: Port) -> str:
    """The folder of the hardware; "" for a virtual interface."""
    if port.subsystem == "pci":
        return f"sys/devices/pci{port.pci[:7]}/{port.pci}" if port.pci else ""
    if port.subsystem == "auxiliary":
        physical = port.identity["physical"]
        return f"sys/devices/pci{physical[:7]}/{physical}/mlx5_core.sf.4"
    if port.subsystem in ("vmbus", "virtio", "platform", "usb", "thunderbolt", "xen", "vio"):
        return f"sys/devices/{port.subsystem}/{port.nic}-device"
    return ""


def _lay_port(
    root: Path, port: Port, index: int, machine: Machine, places: dict[str, tuple[str, str]]
) -> None:
    device = _device(port)
    if device:
        _lay_device(root, port, device)
    if port.nic:
        net = f"{device}/net/{port.nic}" if device else f"sys/devices/virtual/net/{port.nic}"
        _lay_interface(root, port, index, net, device)
    if port.device and f"ib/{port.device}" not in machine.hidden:
        _lay_rdma(root, port, device, machine)
    readable = set(machine.names())
    for file in port.files:
        name = port.spelled(file)
        if name in readable:
            places[name] = _place(root, name)


def _lay_device(root: Path, port: Port, device: str) -> None:
    bus = port.subsystem
    driver = f"sys/bus/{bus}/drivers/{port.driver}"
    (root / driver).mkdir(parents=True, exist_ok=True)
    _link(root, f"{device}/driver", driver)
    _link(root, f"{device}/subsystem", f"sys/bus/{bus}")
    _put(root, f"{device}/numa_node", "0")
    if bus == "pci":
        _put(root, f"{device}/current_link_speed", "16.0 GT/s PCIe")
        _put(root, f"{device}/current_link_width", "16")
    if port.function == "virtual" and port.identity.get("physical"):
        physical = port.identity["physical"]
        folder = f"sys/devices/pci{physical[:7]}/{physical}"
        (root / folder).mkdir(parents=True, exist_ok=True)
        _link(root, f"{device}/physfn", folder)
    elif port.function == "physical":
        _put(root, f"{device}/sriov_totalvfs", "8")
    if port.function == "scalable":
        _put(root, f"{device}/sfnum", "88")
    if serial := port.identity.get("serial"):
        (root / device / "config").write_bytes(_configuration(serial))


def _configuration(serial: str) -> bytes:
    """PCI configuration space with one extended capability: the device serial number, low word
    first.
    """
    number = int(serial.replace("-", ""), 16)
    capability = (0x0001_0003).to_bytes(4, "little") + number.to_bytes(8, "little")
    return bytes(0x100) + capability + bytes(0x400 - 0x100 - len(capability))


def _lay_interface(root: Path, port: Port, index: int, net: str, device: str) -> None:
    _link(root, f"sys/class/net/{port.nic}", net)
    for file, text in {
        "ifindex": str(index),
        "iflink": str(index + 100 if port.link_kind == "veth" else index),
        "mtu": str(port.mtu),
        "carrier": "1",
        "operstate": "up",
        "type": _TYPE.get(port.kind, "1"),
        "dev_port": "0",
        "address": f"02:00:00:00:00:{index:02x}",
        "speed": str(port.speed_mbps if port.speed_mbps else -1),
        "phys_switch_id": port.identity.get("switch_id", ""),
        "phys_port_id": port.identity.get("port_id", ""),
        "uevent": (f"DEVTYPE={port.link_kind}\n" if port.link_kind in _DEVTYPE else "")
        + f"INTERFACE={port.nic}",
    }.items():
        _put(root, f"{net}/{file}", text)
    if device:
        _link(root, f"{net}/device", device)
    if port.link_kind == "bond":
        _put(root, f"{net}/bonding/slaves", " ".join(port.lower))
    if port.link_kind == "bridge":
        (root / net / "bridge").mkdir(parents=True, exist_ok=True)
    if port.link_kind == "tun":
        _put(root, f"{net}/tun_flags", "0x1001")
    if port.master:
        _link(root, f"{net}/master", f"sys/devices/virtual/net/{port.master}")
    for lower in port.lower:
        _link(root, f"{net}/lower_{lower}", f"sys/class/net/{lower}")


def _lay_rdma(root: Path, port: Port, device: str, machine: Machine) -> None:
    software = port.rdma_driver in ("rdma_rxe", "siw")
    if port.device.startswith("cxi"):
        _lay_cxi(root, port, device)
        return
    owner = device or _owner(port, machine)
    folder = (
        f"sys/devices/virtual/infiniband/{port.device}"
        if software
        else f"{owner}/infiniband/{port.device}"
    )
    _link(root, f"sys/class/infiniband/{port.device}", folder)
    if not software:
        _link(root, f"{folder}/device", owner)
    elif port.rdma_driver == "rdma_rxe":
        _put(root, f"{folder}/parent", port.nic)
        _put(root, f"{folder}/ports/1/hw_counters/rcvd_rnr_err", "0")
    _put(root, f"{folder}/node_type", "4: RNIC" if port.rdma_driver == "siw" else "1: CA")
    _put(root, f"{folder}/node_guid", port.identity.get("node_guid", "0000:0000:0000:0000"))
    _put(root, f"{folder}/sys_image_guid", port.identity.get("system_guid", "0000:0000:0000:0000"))
    for file, text in {
        "rate": port.rate,
        "link_layer": port.link_layer,
        "state": "4: ACTIVE",
    }.items():
        _put(root, f"{folder}/ports/{port.ib_port}/{file}", text)
    if port.link_layer == "Ethernet" and port.nic:
        _name_in_gids(root / folder / "ports" / str(port.ib_port) / "gid_attrs" / "ndevs", port.nic)


def _owner(port: Port, machine: Machine) -> str:
    """The hardware under a bond or VLAN that carries the RDMA device's name."""
    lower = next(one for one in machine.ports if one.nic in port.lower)
    return _device(lower) or _owner(lower, machine)


def _name_in_gids(folder: Path, nic: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    number = len(list(folder.iterdir()))
    (folder / str(number)).write_text(nic + "\n")


def _lay_cxi(root: Path, port: Port, device: str) -> None:
    _link(root, f"sys/class/cxi/{port.device}", f"{device}/cxi/{port.device}")
    _link(root, f"{device}/cxi/{port.device}/device", device)
    (root / device / "telemetry").mkdir(parents=True, exist_ok=True)


def _place(root: Path, name: str) -> tuple[str, str]:
    """The real file of a counter, links resolved; driver statistics are lines of one file."""
    kind, rest = name.split("/", 1)
    if kind == "ethtool":
        nic, statistic = rest.split("/", 1)
        return f"ethtool/{nic}", statistic
    if kind == "net":
        nic, statistic = rest.split("/", 1)
        path = f"sys/class/net/{nic}/statistics/{statistic}"
    elif kind == "cxi":
        device, statistic = rest.split("/", 1)
        path = f"sys/class/cxi/{device}/device/telemetry/{statistic}"
    else:
        device, inner = rest.split("/", 1)
        path = f"sys/class/infiniband/{device}/" + (
            inner if inner.startswith("hw_counters/") else f"ports/{inner}"
        )
    real = Path(os.path.realpath(root / Path(path).parent)) / Path(path).name
    return str(real.relative_to(os.path.realpath(root))), ""


def write_counters(
    root: Path,
    machine: Machine,
    values: dict[str, int],
    places: dict[str, tuple[str, str]],
    now_s: float = 0.0,
) -> None:
    """Put ``values`` into the files, as the driver would show them."""
    texts: dict[str, list[str]] = {}
    for name in _known(machine.names(), places):
        path, statistic = places[name]
        if statistic:
            texts.setdefault(path, ["NIC statistics:"]).append(f"     {statistic}: {values[name]}")
        else:
            texts[path] = [
                f"{values[name]}@{now_s:.6f}" if name.startswith("cxi/") else str(values[name])
            ]
    for path, lines in texts.items():
        _put(root, path, "\n".join(lines))


def _known(names: Iterable[str], places: dict[str, tuple[str, str]]) -> list[str]:
    return [name for name in names if name in places]


def counter_files(places: dict[str, tuple[str, str]]) -> dict[str, str]:
    """Counter name -> path as a plan's ``model_counter`` names it."""
    return {
        name: f"{path}#{statistic}" if statistic else path
        for name, (path, statistic) in places.items()
    }
