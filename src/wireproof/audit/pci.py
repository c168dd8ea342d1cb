# pure
"""Describe the PCI Express path of each adapter: its registers, the bridges above it, the nearest
GPU. Pure.

The source is the engine's list of devices, or the output of ``lspci``. A value that the kernel
shows only to root is denied, not missing.
"""

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from wireproof.audit.facts import HostFacts, first_match, sections
from wireproof.audit.interfaces import listed_nics
from wireproof.model.errors import decode_json
from wireproof.model.record import FactFrame

PCI = "pci"
"""The fact that lists a host's PCI devices, as the engine reads them."""
HOST = "pci-host/"
"""Prefix of facts about all devices."""
LSPCI = ("lspci", "-nnvv")
"""The command whose output an archive keeps instead."""
_ACCELERATORS = {"nvidia", "amdgpu", "habanalabs", "xe"}
_GIGATRANSFERS = {1: 2.5, 2: 5.0, 3: 8.0, 4: 16.0, 5: 32.0, 6: 64.0}
_GIGABITS = {1: 2.0, 2: 4.0, 3: 7.877, 4: 15.754, 5: 31.508, 6: 60.5}
"""Gb/s of a lane after its line code (8b/10b; 128b/130b; flits of 242 in 256 bytes), by
generation.
"""
_REDIRECTS = {2: "ReqRedir", 3: "CmpltRedir", 4: "UpstreamFwd"}
"""Bits of the ACS control register that redirect traffic between devices up to the root."""
_REDIRECTING = 0b1100
_UNREAD = {
    "root": "is visible only to root: run the audit as root",
    "numa": "needs NUMA nodes, which lspci did not print",
    "list": "needs the list of PCI devices, which was not read (lspci -nnvv of an archive)",
}
_NOT_LISTED = "is no PCI device"
_NO_EXPRESS = "its configuration space has no such PCI Express register"
_NO_GPU = "no GPU is behind the same PCIe switch"

Texts = dict[str, tuple[str, str]]
"""Map the name of a value to (text, ""), or to ("", reason) with a reason or a key of `_UNREAD`."""


class PciDevice(msgspec.Struct, frozen=True, kw_only=True):
    """``address``: ``0000:c1:00.0``. ``device_class``: six hexadecimal digits. ``numa``: NUMA node
    if the firmware reports it. ``secondary``: the bus below a bridge. ``type``: type of the PCI
    Express device or port (0 endpoint, 4 root port, 5 and 6 upstream and downstream port of a
    switch). Payloads and read request in bytes, ``speed`` as generation, ``acs``: control bits of
    access control services. None: no such register, or, if ``closed``, visible only to root.
    """

    address: str
    device_class: str = msgspec.field(name="class", default="")
    driver: str = ""
    numa: int | None = None
    secondary: int | None = None
    type: int | None = None
    payload: int | None = None
    payload_most: int | None = None
    read_request: int | None = None
    relaxed: bool | None = None
    width: int | None = None
    width_most: int | None = None
    speed: int | None = None
    speed_most: int | None = None
    acs: int | None = None
    closed: bool = False

    @property
    def bus(self) -> tuple[str, int]:
        """The domain and the number of the bus; -1 if the address is invalid."""
        parts = re.fullmatch(r"([^:]*):([0-9a-fA-F]{1,8}):[^:]*", self.address)
        return (parts[1], int(parts[2], 16)) if parts else ("", -1)


_Source = tuple[Callable[[str], tuple[PciDevice, ...]], str]
"""A list of devices as text, and its parser. Answers are cached: similar hosts share the text."""


def pci_devices(facts: HostFacts) -> tuple[PciDevice, ...]:
    """Return all known devices; () if nothing was read."""
    parse, text = _source(facts)
    return parse(text)


def _source(facts: HostFacts) -> _Source:
    """Return the engine's list, unless it has only headers and ``lspci`` printed more."""
    engine = facts.file(PCI).text or "[]"
    printed = facts.command(LSPCI).text
    if printed and all(device.closed for device in _of_engine(engine)):
        return _of_lspci, printed
    return _of_engine, engine


@functools.lru_cache(maxsize=256)
def _of_engine(text: str) -> tuple[PciDevice, ...]:
    try:
        return tuple(decode_json(text, list[PciDevice]))
    except msgspec.DecodeError:
        return ()


@functools.lru_cache(maxsize=256)
def _of_lspci(text: str) -> tuple[PciDevice, ...]:
    return tuple(devices_of_lspci(text))


def accelerators(devices: Sequence[PciDevice]) -> list[PciDevice]:
    """Return GPUs and similar devices, without the display of a management controller."""
    return [
        device
        for device in devices
        if device.driver in _ACCELERATORS or device.device_class.startswith(("0302", "12"))
    ]


def pci_facts(facts: HostFacts, adapters: Iterable[tuple[str, str]]) -> dict[str, FactFrame]:
    """Return files ``pci/NAME/VALUE`` for each of the adapters (`adapters_of`)."""
    source = _source(facts)
    frames = dict(_host_frames(*source))
    for name, address in adapters:
        frames |= _adapter_frames(*source, name, address)
    return frames


@functools.lru_cache(maxsize=1024)
def _adapter_frames(
    parse: Callable[[str], tuple[PciDevice, ...]], text: str, name: str, address: str
) -> dict[str, FactFrame]:
    """Return the files ``pci/NAME/VALUE`` of the adapter at ``address``."""
    values = {f"pci/{name}/{key}": each for key, each in _values(address, parse(text)).items()}
    return {path: _frame(path, shown, why) for path, (shown, why) in values.items()}


@functools.lru_cache(maxsize=256)
def _host_frames(parse: Callable[[str], tuple[PciDevice, ...]], text: str) -> dict[str, FactFrame]:
    """Return files ``pci-host/VALUE``: the number of network adapters, and those without
    a driver.
    """
    devices = parse(text)
    adapters = [device for device in devices if device.device_class.startswith(_NETWORK)]
    drivers = Counter(device.driver or "no driver" for device in adapters)
    counted = ", ".join(f"{number} {driver}" for driver, number in sorted(drivers.items()))
    idle = " ".join(device.address for device in adapters if not device.driver)
    texts = {f"{HOST}adapters": counted or "none", f"{HOST}no-driver": idle or "none"}
    return {path: _frame(path, shown if devices else "", "list") for path, shown in texts.items()}


_NETWORK = ("0200", "0207", "0208", "0280")
"""Ethernet, InfiniBand, fabric (Omni-Path) and other network controllers."""


def _frame(path: str, text: str, why: str) -> FactFrame:
    if text:
        return FactFrame(rank=0, kind="file", status="ok", path=path, text=text)
    if why in _UNREAD:
        return FactFrame(rank=0, kind="file", status="denied", path=path, reason=_UNREAD[why])
    return FactFrame(rank=0, kind="file", status="missing", path=path, reason=why)


def adapters_of(facts: HostFacts) -> Iterator[tuple[str, str]]:
    """Yield each interface and RDMA device with its PCI address, "" if it has none."""
    named = set[str]()
    for kind in ("net", "infiniband"):
        for path in facts.matching(f"/sys/class/{kind}/*/device/uevent"):
            slot = first_match(r"^PCI_SLOT_NAME=(\S+)$", facts.file(path).text or "")
            if not slot and path in facts.derived:
                continue  # derived from output about the device that does not give its address
            named.add(path.split("/")[4])
            yield path.split("/")[4], slot
    for nic in listed_nics(facts):
        if nic.pci and nic.name not in named:
            yield nic.name, nic.pci


def _values(address: str, devices: Sequence[PciDevice]) -> Texts:
    by_address = {device.address: device for device in devices}
    adapter = by_address.get(address)
    if not devices:
        return dict.fromkeys(_NAMES, ("", "list"))
    if adapter is None:
        return dict.fromkeys(_NAMES, ("", _NOT_LISTED))
    path = _path(adapter, devices)
    texts = {**_own_values(path), **_path_values(path), **_gpu_values(path, devices)}
    texts["numa"] = _numa_text(adapter, devices)
    missing = "root" if adapter.closed else _NO_EXPRESS
    return {name: texts.get(name, ("", missing)) for name in _NAMES}


_NAMES = (
    *("address", "numa", "payload", "path-payload", "read-request", "relaxed-ordering", "width"),
    *("width-most", "speed", "speed-most", "path-rate", "gpu-path", "gpu-acs"),
)


def _numa_text(adapter: PciDevice, devices: Sequence[PciDevice]) -> tuple[str, str]:
    """Return -1 if only other devices have a node: ``lspci`` leaves out what the firmware does not
    report.
    """
    if adapter.numa is not None:
        return str(adapter.numa), ""
    return ("-1", "") if any(each.numa is not None for each in devices) else ("", "numa")


def _own_values(path: Sequence[PciDevice]) -> Texts:
    """Return the registers of the first device. ``-most``: values that it and its slot support."""
    device = path[0]
    speeds = [end.speed_most for end in path[:2] if end.speed_most]
    widths = [end.width_most for end in path[:2] if end.width_most]
    known: dict[str, object] = {
        "address": device.address,
        "payload": device.payload,
        "read-request": device.read_request,
        "width": device.width,
        "width-most": min(widths, default=None),
        "speed": _GIGATRANSFERS.get(device.speed or 0),
        "speed-most": _GIGATRANSFERS.get(min(speeds, default=0)),
    }
    if device.relaxed is not None:
        known["relaxed-ordering"] = "on" if device.relaxed else "off"
    return {name: (f"{value:g}" if isinstance(value, float) else str(value), "")
            for name, value in known.items() if value is not None}  # fmt: skip


def _path(device: PciDevice, devices: Sequence[PciDevice]) -> list[PciDevice]:
    """Return the device and the bridges above it, up to the root port."""
    above = {
        (other.bus[0], other.secondary): other for other in devices if other.secondary is not None
    }
    path = [device]
    while (bridge := above.get(path[-1].bus)) is not None:
        if bridge in path or len(path) > _DEEPEST:
            break
        path.append(bridge)
    return path


_DEEPEST = 32


def _path_values(path: Sequence[PciDevice]) -> Texts:
    """Return the largest payload that all devices on the path accept, and Gb/s of the narrowest
    known link.
    """
    texts: Texts = {}
    most = [device.payload_most for device in path]
    if all(most):
        texts["path-payload"] = (str(min(size for size in most if size)), "")
    rates = [
        ((device.width or 0) * _GIGABITS.get(device.speed or 0, 0.0), device)
        for device in path
        if device.type is not None
    ]
    known = [(rate, device) for rate, device in rates if rate]
    if known and not any(device.closed for device in path):
        rate, narrowest = min(known, key=lambda pair: pair[0])
        lanes = f"{narrowest.width} lanes of {_GIGATRANSFERS[narrowest.speed or 0]:g} GT/s"
        texts["path-rate"] = (f"{rate:.0f} ({lanes} at {narrowest.address})", "")
    return texts


def _gpu_values(path: Sequence[PciDevice], devices: Sequence[PciDevice]) -> Texts:
    """Describe the path to the nearest GPU in the words of ``nvidia-smi topo``: PIX (a single
    switch), PXB (several bridges), PHB (the host bridge), NODE (two host bridges of a NUMA node),
    SYS (across NUMA nodes).
    """
    ways = [_between(path, _path(gpu, devices)) for gpu in accelerators(devices)]
    if not ways:
        return {"gpu-path": ("", "there is no GPU"), "gpu-acs": ("", "there is no GPU")}
    word, bridges = min(ways, key=lambda way: _ORDER.index(way[0]))
    if word not in ("PIX", "PXB"):
        return {"gpu-path": (word, ""), "gpu-acs": ("", _NO_GPU)}
    if any(bridge.closed for bridge in bridges):
        return {"gpu-path": (word, ""), "gpu-acs": ("", "root")}
    redirecting = [_redirects(bridge) for bridge in bridges if (bridge.acs or 0) & _REDIRECTING]
    return {"gpu-path": (word, ""), "gpu-acs": ("; ".join(redirecting) or "none", "")}


_ORDER = ("PIX", "PXB", "PHB", "NODE", "SYS")


def _redirects(device: PciDevice) -> str:
    bits = [word for bit, word in _REDIRECTS.items() if (device.acs or 0) >> bit & 1]
    return f"{device.address} {' '.join(bits)}"


def _between(
    first: Sequence[PciDevice], second: Sequence[PciDevice]
) -> tuple[str, Sequence[PciDevice]]:
    """Return the word for the path between the first devices of two paths, and its bridges."""
    common = next((bridge for bridge in first[1:] if bridge in second[1:]), None)
    if common is None:
        if first[-1].bus == second[-1].bus:
            return "PHB", ()
        near = first[0].numa is not None and first[0].numa == second[0].numa
        return ("NODE" if near else "SYS"), ()
    up, down = first[1 : first.index(common)], second[1 : second.index(common)]
    return ("PIX" if len(up) + len(down) <= 2 else "PXB"), [*up, *down, common]


_HEAD = re.compile(r"^((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) (.*)$", re.MULTILINE)
_CLASS = re.compile(r"\[([0-9a-f]{4})\]:")
_CLASSES = {
    "Ethernet controller": "020000", "Infiniband controller": "020700",
    "Fabric controller": "020800", "Network controller": "028000", "PCI bridge": "060400",
    "3D controller": "030200", "Processing accelerators": "120000",
}  # fmt: skip
"""Names of classes as lspci prints them without -n."""
_TYPES = {
    "Root Port": 4,
    "Upstream Port": 5,
    "Downstream Port": 6,
    "Legacy Endpoint": 1,
    "Endpoint": 0,
}
_GENERATIONS = {"2.5": 1, "5": 2, "8": 3, "16": 4, "32": 5, "64": 6}
_ACS_BITS = ("SrcValid", "TransBlk", "ReqRedir", "CmpltRedir", "UpstreamFwd", "EgressCtrl",
             "DirectTrans")  # fmt: skip
_LINK = r":\s.*?Speed (?:(\d+(?:\.\d)?)GT/s|unknown)[^,]*, Width x(\d{1,2})"


def devices_of_lspci(text: str) -> Iterator[PciDevice]:
    """Yield a device for each paragraph that starts with an address; the default domain is 0000."""
    for head, body in sections(_HEAD, text):
        address = head.group(1)
        kind = _CLASS.search(head.group(2))
        named = _CLASSES.get(head.group(2).partition(":")[0], "")
        yield PciDevice(
            address=address if address.count(":") == 2 else f"0000:{address}",
            device_class=f"{kind.group(1)}00" if kind else named,
            driver=first_match(r"^[ \t]*Kernel driver in use: (\S+)$", body),
            numa=_number(r"^[ \t]*NUMA node: (\d{1,4})$", body),
            secondary=_number(r"\bsecondary=([0-9a-f]{2})\b", body, 16),
            closed="Capabilities: <access denied>" in body,
            **_express(body),  # type: ignore[arg-type]
        )


_DEVICE_CONTROL = r"(?s)^[ \t]*DevCtl:(.*?)(?=^[ \t]*DevSta:|^[ \t]*Capabilities:|\Z)"


def _express(body: str) -> dict[str, object]:
    """Return the registers that are printed."""
    control = first_match(_DEVICE_CONTROL, body)
    relaxed = first_match(r"RlxdOrd([+-])", control)
    kind = first_match(r"\bExpress (?:\(v\d\) )?([A-Z][\w -]*?)(?: \(|,|$)", body)
    width, speed = _link("LnkSta", body)
    width_most, speed_most = _link("LnkCap", body)
    return {
        "type": _TYPES.get(kind),
        "payload": _number(r"MaxPayload (\d{3,4}) bytes", control),
        "payload_most": _number(r"^[ \t]*DevCap:\s*MaxPayload (\d{3,4}) bytes", body),
        "read_request": _number(r"MaxReadReq (\d{3,4}) bytes", control),
        "relaxed": relaxed == "+" if relaxed else None,
        "width": width,
        "speed": speed,
        "width_most": width_most,
        "speed_most": speed_most,
        "acs": _acs(body),
    }


def _link(register: str, body: str) -> tuple[int | None, int | None]:
    """Return (lanes, generation)."""
    match = re.search(rf"^[ \t]*{register}{_LINK}", body, re.MULTILINE)
    if match is None:
        return None, None
    return int(match.group(2)), _GENERATIONS.get(match.group(1))


def _acs(body: str) -> int | None:
    words = first_match(r"^[ \t]*ACSCtl:(.*)$", body)
    if not words:
        return None
    return sum(1 << bit for bit, word in enumerate(_ACS_BITS) if f"{word}+" in words)


def _number(pattern: str, text: str, base: int = 10) -> int | None:
    digits = first_match(pattern, text)
    return int(digits, base) if digits else None
