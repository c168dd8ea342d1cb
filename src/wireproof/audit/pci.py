"""PCI Express on the way of each adapter: its own registers, the bridges above it, the nearest GPU.
Pure.

From the engine's list of devices, or from what ``lspci`` printed. A value that the kernel shows to
root alone is denied, not missing.
"""

import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from wireproof.audit.facts import HostFacts
from wireproof.audit.interfaces import listed_nics
from wireproof.model.json_reader import decode_json
from wireproof.model.record import FactFrame

PCI = "pci"
"""The fact that lists a host's PCI devices, as the engine reads them."""
HOST = "pci-host/"
"""Where what is said of all devices stands."""
LSPCI = ("lspci", "-nnvv")
"""What an archive keeps instead."""
_ACCELERATORS = {"nvidia", "amdgpu", "habanalabs", "xe"}
_GIGATRANSFERS = {1: 2.5, 2: 5.0, 3: 8.0, 4: 16.0, 5: 32.0, 6: 64.0}
_GIGABITS = {1: 2.0, 2: 4.0, 3: 7.877, 4: 15.754, 5: 31.508, 6: 60.5}
"""Of a lane after its line code (8b/10b; 128b/130b; flits of 242 in 256 bytes), by generation."""
_REDIRECTS = {2: "ReqRedir", 3: "CmpltRedir", 4: "UpstreamFwd"}
"""Bits of the ACS control register that send traffic between devices up to the root."""
_REDIRECTING = 0b1100
_UNREAD = {
    "root": "is shown to root alone: run the audit as root",
    "list": "needs the list of PCI devices, which was not read (lspci -nnvv of an archive)",
}
_NOT_LISTED = "is no PCI device"
_NO_EXPRESS = "its configuration space has no such PCI Express register"
_NO_GPU = "no GPU is behind the same PCIe switch"

Texts = dict[str, tuple[str, str]]
"""Name of a value to its text, or to "" and why there is none (or a key of `_UNREAD`)."""


class PciDevice(msgspec.Struct, frozen=True, kw_only=True):
    """``address``: ``0000:c1:00.0``; ``device_class``: six hexadecimal digits; ``numa``: its node
    where the firmware says it. ``secondary``: the bus below a bridge. ``type``: of the PCI Express
    device or port (0 endpoint, 4 root port, 5 and 6 a switch's upstream and downstream port).
    Payloads and read request in bytes, ``speed`` as generation, ``acs``: control bits of access
    control services. None: no such register, or, where ``closed``, the kernel shows it to root
    alone.
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
    def domain(self) -> str:
        return self.address.partition(":")[0]

    @property
    def bus(self) -> int:
        """-1 when the address is none."""
        parts = self.address.split(":")
        try:
            return int(parts[1], 16) if len(parts) == 3 else -1
        except ValueError:
            return -1


class _PciTable:
    """The devices of one text, and what is asked of them: like hosts share it."""

    def __init__(self, devices: Iterable[PciDevice]) -> None:
        self.devices = tuple(devices)
        self.of_host = _host_frames(self.devices)
        self._known: dict[tuple[str, str], dict[str, FactFrame]] = {}

    def frames(self, name: str, address: str) -> dict[str, FactFrame]:
        """Files ``pci/NAME/VALUE`` of the adapter at ``address``."""
        found = self._known.get((name, address))
        if found is None:
            found = self._known[name, address] = {
                path: _frame(path, text, why)
                for value, (text, why) in _values(address, self.devices).items()
                if (path := f"pci/{name}/{value}")
            }
        return found


def pci_devices(facts: HostFacts) -> tuple[PciDevice, ...]:
    """All that are known; () when nothing was read."""
    return _table(facts).devices


def _table(facts: HostFacts) -> _PciTable:
    """The engine's list, unless it shows headers alone and ``lspci`` printed more."""
    found = _of_engine(facts.file(PCI).text or "[]")
    printed = facts.command(LSPCI).text
    if printed and all(one.closed for one in found.devices):
        return _of_lspci(printed)
    return found


@functools.lru_cache(maxsize=256)
def _of_engine(text: str) -> _PciTable:
    try:
        return _PciTable(decode_json(text, list[PciDevice]))
    except msgspec.DecodeError:
        return _PciTable(())


@functools.lru_cache(maxsize=256)
def _of_lspci(text: str) -> _PciTable:
    return _PciTable(devices_of_lspci(text))


def accelerators(devices: Sequence[PciDevice]) -> list[PciDevice]:
    """GPUs and their like; the display of a management controller is none."""
    return [
        one
        for one in devices
        if one.driver in _ACCELERATORS or one.device_class.startswith(("0302", "12"))
    ]


def pci_facts(facts: HostFacts) -> dict[str, FactFrame]:
    """Files ``pci/NAME/VALUE`` for each interface and RDMA device NAME with an adapter."""
    table = _table(facts)
    found = dict(table.of_host)
    for name, address in adapters_of(facts):
        found |= table.frames(name, address)
    return found


def _host_frames(devices: Sequence[PciDevice]) -> dict[str, FactFrame]:
    """Files ``pci-host/VALUE``: how many network adapters there are, and which have no driver."""
    if not devices:
        return {f"{HOST}{name}": _frame(f"{HOST}{name}", "", "list") for name in _OF_HOST}
    adapters = [one for one in devices if one.device_class.startswith(_NETWORK)]
    drivers = Counter(one.driver or "no driver" for one in adapters)
    counted = ", ".join(f"{number} {driver}" for driver, number in sorted(drivers.items()))
    idle = " ".join(one.address for one in adapters if not one.driver)
    texts = dict(zip(_OF_HOST, (counted or "none", idle or "none"), strict=True))
    return {
        path: _frame(path, text, "") for name, text in texts.items() if (path := f"{HOST}{name}")
    }


_OF_HOST = ("adapters", "no-driver")
_NETWORK = ("0200", "0207", "0280")
"""Ethernet, InfiniBand and other network controllers."""


def _frame(path: str, text: str, why: str) -> FactFrame:
    if text:
        return FactFrame(rank=0, kind="file", status="ok", path=path, text=text)
    if why in _UNREAD:
        reason = _UNREAD[why]
        return FactFrame(rank=0, kind="file", status="denied", path=path, reason=reason)
    return FactFrame(rank=0, kind="file", status="missing", path=path, reason=why)


def adapters_of(facts: HostFacts) -> Iterator[tuple[str, str]]:
    """Each interface and RDMA device with its PCI address, "" where it has none."""
    named = set[str]()
    for kind in ("net", "infiniband"):
        for path in facts.matching(f"/sys/class/{kind}/*/device/uevent"):
            slot = re.search(r"^PCI_SLOT_NAME=(\S+)$", facts.file(path).text or "", re.MULTILINE)
            if slot is None and path in facts.derived:
                continue  # printed of the device, but not where it is
            named.add(path.split("/")[4])
            yield path.split("/")[4], slot.group(1) if slot else ""
    for one in listed_nics(facts):
        if one.pci and one.name not in named:
            yield one.name, one.pci


def _values(address: str, devices: Sequence[PciDevice]) -> Texts:
    by_address = {one.address: one for one in devices}
    own = by_address.get(address)
    if not devices:
        return dict.fromkeys(_NAMES, ("", "list"))
    if own is None:
        return dict.fromkeys(_NAMES, ("", _NOT_LISTED))
    path = _path(own, devices)
    found = {**_own_values(own), **_path_values(path), **_gpu_values(path, devices)}
    return {name: found.get(name, ("", _missing(own))) for name in _NAMES}


_NAMES = (
    *("address", "payload", "path-payload", "read-request", "relaxed-ordering", "width"),
    *("width-most", "speed", "speed-most", "path-rate", "gpu-path", "gpu-acs"),
)


def _missing(one: PciDevice) -> str:
    return "root" if one.closed else _NO_EXPRESS


def _own_values(one: PciDevice) -> Texts:
    known: dict[str, object] = {
        "address": one.address,
        "payload": one.payload,
        "read-request": one.read_request,
        "width": one.width,
        "width-most": one.width_most,
        "speed": _GIGATRANSFERS.get(one.speed or 0),
        "speed-most": _GIGATRANSFERS.get(one.speed_most or 0),
    }
    if one.relaxed is not None:
        known["relaxed-ordering"] = "on" if one.relaxed else "off"
    return {name: (f"{value:g}" if isinstance(value, float) else str(value), "")
            for name, value in known.items() if value}  # fmt: skip


def _path(one: PciDevice, devices: Sequence[PciDevice]) -> list[PciDevice]:
    """The device and the bridges above it, up to the root port."""
    above = {
        (other.domain, other.secondary): other for other in devices if other.secondary is not None
    }
    path = [one]
    while (bridge := above.get((path[-1].domain, path[-1].bus))) is not None:
        if bridge in path or len(path) > _DEEPEST:
            break
        path.append(bridge)
    return path


_DEEPEST = 32


def _path_values(path: Sequence[PciDevice]) -> Texts:
    """The largest payload that all take, and the Gb/s of the narrowest link that is known."""
    found: Texts = {}
    most = [one.payload_most for one in path]
    if all(most):
        found["path-payload"] = (str(min(size for size in most if size)), "")
    rates = [
        ((one.width or 0) * _GIGABITS.get(one.speed or 0, 0.0), one)
        for one in path
        if one.type is not None
    ]
    known = [(rate, one) for rate, one in rates if rate]
    if known and not any(one.closed for one in path):
        rate, narrowest = min(known, key=lambda pair: pair[0])
        lanes = f"{narrowest.width} lanes of {_GIGATRANSFERS[narrowest.speed or 0]:g} GT/s"
        found["path-rate"] = (f"{rate:.0f} ({lanes} at {narrowest.address})", "")
    return found


def _gpu_values(path: Sequence[PciDevice], devices: Sequence[PciDevice]) -> Texts:
    """How the nearest GPU is reached, in the words of ``nvidia-smi topo``: PIX by one switch, PXB
    by several bridges, PHB by the host's bridge, NODE by two of one NUMA node, SYS over more.
    """
    ways = [_between(path, _path(gpu, devices)) for gpu in accelerators(devices)]
    if not ways:
        return {"gpu-path": ("", "there is no GPU"), "gpu-acs": ("", "there is no GPU")}
    word, bridges = min(ways, key=lambda way: _ORDER.index(way[0]))
    if word not in ("PIX", "PXB"):
        return {"gpu-path": (word, ""), "gpu-acs": ("", _NO_GPU)}
    if any(one.closed for one in bridges):
        return {"gpu-path": (word, ""), "gpu-acs": ("", "root")}
    redirecting = [_redirects(one) for one in bridges if (one.acs or 0) & _REDIRECTING]
    return {"gpu-path": (word, ""), "gpu-acs": ("; ".join(redirecting) or "none", "")}


_ORDER = ("PIX", "PXB", "PHB", "NODE", "SYS")


def _redirects(one: PciDevice) -> str:
    bits = [word for bit, word in _REDIRECTS.items() if (one.acs or 0) >> bit & 1]
    return f"{one.address} {' '.join(bits)}"


def _between(
    one: Sequence[PciDevice], other: Sequence[PciDevice]
) -> tuple[str, Sequence[PciDevice]]:
    """The word for the way between the ends of two paths, and the bridges on it."""
    common = next((bridge for bridge in one[1:] if bridge in other[1:]), None)
    if common is None:
        if one[-1].domain == other[-1].domain and one[-1].bus == other[-1].bus:
            return "PHB", ()
        near = one[0].numa is not None and one[0].numa == other[0].numa
        return ("NODE" if near else "SYS"), ()
    up, down = one[1 : one.index(common)], other[1 : other.index(common)]
    return ("PIX" if len(up) + len(down) <= 2 else "PXB"), [*up, *down, common]


_HEAD = re.compile(r"^((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) (.*)$", re.MULTILINE)
_CLASS = re.compile(r"\[([0-9a-f]{4})\]:")
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
_LINK = r":\s.*?Speed (\d+(?:\.\d)?)GT/s[^,]*, Width x(\d{1,2})"


def devices_of_lspci(text: str) -> Iterator[PciDevice]:
    """A device for each paragraph that begins with an address, of domain 0000 where none stands."""
    heads = list(_HEAD.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    for head, end in zip(heads, ends, strict=False):  # without a device there is one end more
        body = text[head.end() : end]
        address = head.group(1)
        kind = _CLASS.search(head.group(2))
        yield PciDevice(
            address=address if address.count(":") == 2 else f"0000:{address}",
            device_class=f"{kind.group(1)}00" if kind else "",
            driver=_first(r"^[ \t]*Kernel driver in use: (\S+)$", body) or "",
            numa=_number(r"^[ \t]*NUMA node: (\d{1,4})$", body),
            secondary=_number(r"\bsecondary=([0-9a-f]{2})\b", body, 16),
            closed="Capabilities: <access denied>" in body,
            **_express(body),  # type: ignore[arg-type]
        )


def _express(body: str) -> dict[str, object]:
    """The registers that are printed."""
    control = _first(r"^[ \t]*DevCtl:(.*?)(?=^[ \t]*DevSta:|^[ \t]*Capabilities:|\Z)", body) or ""
    relaxed = _first(r"RlxdOrd([+-])", control)
    kind = _first(r"\bExpress (?:\(v\d\) )?([A-Z][\w -]*?)(?: \(|,|$)", body)
    width, speed = _link("LnkSta", body)
    width_most, speed_most = _link("LnkCap", body)
    return {
        "type": _TYPES.get(kind or ""),
        "payload": _number(r"MaxPayload (\d{3,4}) bytes", control),
        "payload_most": _number(r"^[ \t]*DevCap:\s*MaxPayload (\d{3,4}) bytes", body),
        "read_request": _number(r"MaxReadReq (\d{3,4}) bytes", control),
        "relaxed": None if relaxed is None else relaxed == "+",
        "width": width,
        "speed": speed,
        "width_most": width_most,
        "speed_most": speed_most,
        "acs": _acs(body),
    }


def _link(register: str, body: str) -> tuple[int | None, int | None]:
    """Lanes and generation."""
    found = re.search(rf"^[ \t]*{register}{_LINK}", body, re.MULTILINE)
    if found is None:
        return None, None
    return int(found.group(2)), _GENERATIONS.get(found.group(1))


def _acs(body: str) -> int | None:
    words = _first(r"^[ \t]*ACSCtl:(.*)$", body)
    if words is None:
        return None
    return sum(1 << bit for bit, word in enumerate(_ACS_BITS) if f"{word}+" in words)


def _first(pattern: str, text: str) -> str | None:
    flags = re.MULTILINE | (re.DOTALL if r"\Z" in pattern else 0)
    found = re.search(pattern, text, flags)
    return found.group(1) if found else None


def _number(pattern: str, text: str, base: int = 10) -> int | None:
    found = _first(pattern, text)
    return int(found, base) if found else None
