# pure
"""Turn the Facts and the NIC of a node into named properties and settings. Pure.

Texts are untrusted: text that cannot be parsed is left out, never guessed.
"""

import contextlib
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from wireproof.ledger.relations import has_no_carrier
from wireproof.ledger.traffic import speed_of
from wireproof.model.plan import FactRequest
from wireproof.model.quantity import whole
from wireproof.model.record import FactFrame, Host, Nic
from wireproof.physics import PhysicsError, pcie_goodput

Properties = dict[str, float | str]
_NAMES = """
    library kernel governor no_turbo max_frequency bios model load driver mtu firmware adapter speed
    duplex link_state queueing queue_goodput pcie_current_width pcie_max_width pcie_current_speed
    pcie_max_speed pcie_goodput numa_far claimed_share other_share other_nic kernel_share busy_share
    steal clock_read clock_apart
"""
NAMES = frozenset(_NAMES.split())
"""The names of all properties of a node."""
_Found = dict[str, float | str | None]

_CPU = "/sys/devices/system/cpu"

_GIGATRANSFERS = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5}
_NUMBER = re.compile(r"\s{0,8}([0-9]{1,12}(?:\.[0-9]{1,6})?)")
_FIRMWARE = re.compile(r"^firmware-version:[ \t]{0,8}(\S[^\n]{0,60})", re.MULTILINE)
_DUPLEX = re.compile(r"^\s{0,4}Duplex:[ \t]{0,4}(\w{1,16})", re.MULTILINE)
_QDISC = re.compile(r"^qdisc (\w{1,16}) ", re.MULTILINE)
_RATE = re.compile(r"\b(?:rate|bandwidth|maxrate) ([0-9]{1,12}(?:\.[0-9]{1,6})?)([KMGT]?)bit\b")
_PREFIX = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
UNLIMITED = 8e18
_NUMA_LINE = re.compile(
    r"^NUMA node([0-9]{1,4}) CPU\(s\):[ \t]{0,40}([0-9,-]{1,400})", re.MULTILINE
)
_LONGEST = 80
_MOST_LINES, _MOST_READ = 200, 65536
_ETHTOOL_SETTINGS = ("-k", "-c", "-g", "-a")


_Texts = Mapping[str, str]
"""The texts that could be read: files by path, commands by their command line."""


def properties_of(host: Host, nic: Nic | None, facts: Iterable[FactFrame]) -> Properties:
    """Return the properties by name; unreadable properties are absent."""
    readable = [fact for fact in facts if fact.status == "ok"]
    texts = {
        fact.path if fact.kind == "file" else " ".join(fact.argv): fact.text
        for fact in readable
        if fact.kind in ("file", "command")
    }
    properties = _of_host(host, texts)
    if nic is not None:
        properties |= _of_nic(nic, texts) | _of_link(nic, texts) | _of_queue(nic, texts)
        properties |= _of_slot(nic, texts) | {"numa_far": _is_numa_far(nic, host, texts)}
    return {name: value for name, value in properties.items() if value is not None and value != ""}


def _of_host(host: Host, texts: _Texts) -> _Found:
    load = _number(texts.get("/proc/loadavg", ""))
    version = texts.get("/proc/version", "")
    return {
        "library": host.library,
        "kernel": _group(re.match(r"Linux version (\S{1,80})", version)),
        "governor": _first(texts.get(f"{_CPU}/cpu0/cpufreq/scaling_governor", "")),
        "no_turbo": _first(texts.get(f"{_CPU}/intel_pstate/no_turbo", "")),
        "max_frequency": _number(texts.get(f"{_CPU}/cpu0/cpufreq/cpuinfo_max_freq", "")),
        "bios": _line(texts.get("/sys/class/dmi/id/bios_version", "")),
        "model": _line(texts.get("/sys/class/dmi/id/product_name", "")),
        "load": None if load is None or host.cpu_count <= 0 else load / host.cpu_count,
    }


def _places(nic: Nic) -> tuple[str, str]:
    """Return the sysfs folders of a NIC's interface and of its RDMA device; the interface twice if
    there is no RDMA device.
    """
    net = f"/sys/class/net/{nic.name}"
    return net, f"/sys/class/infiniband/{nic.rdma.device}" if nic.rdma else net


def _of_nic(nic: Nic, texts: _Texts) -> _Found:
    net, device = _places(nic)
    vendor, model = (
        _first(texts.get(f"{net}/device/vendor", "")),
        _first(texts.get(f"{net}/device/device", "")),
    )
    driver_info = texts.get(f"ethtool -i {nic.name}", "")
    return {
        "driver": nic.driver,
        "mtu": float(nic.mtu) if nic.mtu else _number(texts.get(f"{net}/mtu", "")),
        "firmware": _line(texts.get(f"{device}/fw_ver", ""))
        or _group(_FIRMWARE.search(driver_info)),
        "adapter": f"{vendor}:{model}"
        if vendor and model
        else _line(texts.get(f"{device}/board_id", "")),
    }


def _of_link(nic: Nic, texts: _Texts) -> _Found:
    net, _ = _places(nic)
    duplex = _DUPLEX.search(texts.get(f"ethtool {nic.name}", ""))
    read = _number(texts.get(f"{net}/speed", ""))
    return {
        "speed": speed_of(nic) or (read * 1e6 if read and read > 0 else None),
        "duplex": (_first(texts.get(f"{net}/duplex", "")) or _group(duplex)).lower(),
        "link_state": "down" if has_no_carrier(nic) else None,
    }


def _of_queue(nic: Nic, texts: _Texts) -> _Found:
    queueing = texts.get(f"tc -s qdisc show dev {nic.name}", "")
    if not queueing:
        return {}
    classes = texts.get(f"tc class show dev {nic.name}", "")
    limits = _RATE.findall(queueing[:_MOST_READ] + classes[:_MOST_READ])
    rates = [rate for number, prefix in limits if (rate := float(number) * _PREFIX[prefix]) > 0]
    # If nothing limits the queue, report a limit above the rate of any link.
    return {
        "queueing": _group(_QDISC.search(queueing)),
        "queue_goodput": min(rates, default=UNLIMITED) / 8,
    }


def _of_slot(nic: Nic, texts: _Texts) -> _Found:
    values: _Found = {}
    for place in _places(nic):
        for name in (
            "current_link_width",
            "max_link_width",
            "current_link_speed",
            "max_link_speed",
        ):
            value = _number(texts.get(f"{place}/device/{name}", ""))
            if value:
                values.setdefault(f"pcie_{name.replace('_link', '')}", value)
    width, speed = values.get("pcie_current_width"), values.get("pcie_current_speed")
    if isinstance(width, float) and isinstance(speed, float) and speed in _GIGATRANSFERS:
        with contextlib.suppress(PhysicsError):
            values["pcie_goodput"] = pcie_goodput(f"gen{_GIGATRANSFERS[speed]} x{width:.0f}")[0]
    return values


def _is_numa_far(nic: Nic, host: Host, texts: _Texts) -> str | None:
    """Return ``yes`` or ``no``: whether the rank's core belongs to another NUMA node than
    the NIC.
    """
    if host.core is None or nic.numa_node is None or nic.numa_node < 0:
        return None
    answer = None
    for node, cpus in _NUMA_LINE.findall(texts.get("lscpu", "")[:_MOST_READ]):
        if _holds(cpus, host.core):
            answer = "no" if int(node) == nic.numa_node else "yes"
    return answer


def _holds(cpus: str, core: int) -> bool:
    for part in cpus.split(","):
        first, _, last = part.partition("-")
        low, high = whole(first), whole(last or first)
        if low is not None and high is not None and low <= core <= high:
            return True
    return False


def settings_of(nic: Nic | None, facts: Iterable[FactFrame]) -> dict[str, str]:
    """Return the settings that an administrator can change, by name: sysctls, huge pages, and
    ethtool settings of the NIC.
    """
    settings: dict[str, str] = {}
    for fact in facts:
        if fact.status != "ok":
            continue
        if fact.kind == "file" and fact.path.startswith("/proc/sys/"):
            settings[fact.path.removeprefix("/proc/sys/").replace("/", ".")] = " ".join(
                fact.text.split()
            )[:_LONGEST]
        elif fact.kind == "file" and fact.path.startswith("/sys/kernel/mm/transparent_hugepage/"):
            settings["transparent huge pages"] = _line(fact.text)
        elif nic is not None and _asks(fact, nic):
            settings |= _ethtool(fact.argv[1], fact.text)
    return settings


def _asks(fact: FactFrame, nic: Nic) -> bool:
    words = fact.argv
    return (
        len(words) == 3
        and words[0] == "ethtool"
        and words[1] in _ETHTOOL_SETTINGS
        and words[2] == nic.name
    )


def _ethtool(option: str, text: str) -> dict[str, str]:
    """Parse ``name: value`` lines; if a name occurs twice (maximum, then current), keep the last
    value.
    """
    settings = {}
    for line in text[:_MOST_READ].splitlines()[:_MOST_LINES]:
        name, colon, value = line.strip().partition(":")
        value = value.strip().removesuffix("[fixed]").strip()
        if colon and name and value:
            settings[f"ethtool {option}: {name[:_LONGEST]}"] = value[:_LONGEST]
    return settings


def _group(match: re.Match[str] | None) -> str:
    return match.group(1).strip() if match else ""


def _first(text: str) -> str:
    words = text[:200].split()
    return words[0][:_LONGEST] if words else ""


def _line(text: str) -> str:
    return " ".join(text[:200].split())[:_LONGEST]


def _number(text: str) -> float | None:
    match = _NUMBER.match(text)
    return float(match.group(1)) if match else None


# --- The properties of a node and of its peers, which the signs examine.

_AGREE = 0.75  # share of peers that must have the same value to make it the usual value
_LEAST_PEERS = 2


class NodeProperties(msgspec.Struct, frozen=True):
    """One node. ``rose``: the increase of each counter that rose. ``volume``: bytes that the node
    sent and received, the base for comparing counters.
    """

    name: str
    nic: str = ""
    device: str = ""
    rails: tuple[str, ...] = ()
    properties: Properties = {}
    settings: dict[str, str] = {}
    rose: dict[str, int] = {}
    counted: bool = False
    volume: float = 0.0

    def number(self, name: str) -> float | None:
        """Return a property that is a number; None if it is unknown."""
        value = self.properties.get(name)
        return value if isinstance(value, float) else None

    def owns(self, counter: str) -> bool:
        """Return whether a counter belongs to the machine's claimed NIC or to its IP stack."""
        place, _, rest = counter.partition("/")
        owner = rest.split("/", 1)[0]
        return {
            "ip": True,
            "net": owner == self.nic or owner in self.rails,
            "ethtool": owner == self.nic or owner in self.rails,
            "ib": owner == self.device or owner in self.rails,
        }.get(place, False)


class Usual(NamedTuple):
    """The ``value`` that ``members`` of the ``asked`` peers share."""

    value: float | str
    members: int
    asked: int


class OtherNodes(msgspec.Struct, frozen=True):
    """Nodes outside every culprit: the reference for "different", "lower" and "higher"."""

    machines: Sequence[NodeProperties]

    def __len__(self) -> int:
        return len(self.machines)

    def usual(self, name: str) -> Usual | None:
        """Return the value of a property that most peers have; None if they do not agree."""
        return _usual(
            [machine.properties[name] for machine in self.machines if name in machine.properties]
        )

    def usual_number(self, name: str) -> float | None:
        usual_value = self.usual(name)
        return usual_value.value if usual_value and isinstance(usual_value.value, float) else None

    def usual_setting(self, name: str) -> Usual | None:
        return _usual(
            [machine.settings[name] for machine in self.machines if name in machine.settings]
        )

    def median(self, name: str) -> tuple[float, int] | None:
        """Return (median of a number, count of peers that have it); None if too few have it."""
        known = [value for machine in self.machines if (value := machine.number(name)) is not None]
        return (statistics.median(known), len(known)) if len(known) >= _LEAST_PEERS else None

    @property
    def counted(self) -> list[NodeProperties]:
        """Peers whose counters were read."""
        return [machine for machine in self.machines if machine.counted]


def _usual(values: Sequence[float | str]) -> Usual | None:
    if len(values) < _LEAST_PEERS:
        return None
    value, count = Counter(values).most_common(1)[0]
    return Usual(value, count, len(values)) if count >= _AGREE * len(values) else None


# --- The facts that the causes need from every screened node.

_FILES = (
    "/proc/version",
    "/proc/loadavg",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
    "/sys/devices/system/cpu/intel_pstate/no_turbo",
    "/sys/class/dmi/id/bios_version",
)
_OF_NETDEV = (
    "speed",
    "duplex",
    "device/current_link_width",
    "device/max_link_width",
    "device/current_link_speed",
    "device/max_link_speed",
    "device/vendor",
    "device/device",
)
_OF_RDMA = ("fw_ver", "board_id", *_OF_NETDEV[2:6])
_SYSCTLS = (
    "net/core/rmem_max",
    "net/core/wmem_max",
    "net/ipv4/tcp_rmem",
    "net/ipv4/tcp_wmem",
    "net/ipv4/tcp_congestion_control",
)
_COMMANDS: tuple[tuple[str, ...], ...] = (
    ("ethtool", "-i", "{nic}"),
    ("ethtool", "-k", "{nic}"),
    ("ethtool", "-c", "{nic}"),
    ("ethtool", "-g", "{nic}"),
    ("ethtool", "-a", "{nic}"),
    ("tc", "-s", "qdisc", "show", "dev", "{nic}"),
    ("tc", "class", "show", "dev", "{nic}"),
)


def fact_requests(nic: str = "", *, commands: bool = True) -> tuple[FactRequest, ...]:
    """Return the requests for each node: about 3 kB of answers, or 20 kB with ``commands`` (run for
    a named netdev), so omit commands above some hundreds of nodes. ``nic``: the claimed NIC, or an
    RDMA device with or without its port.
    """
    device, _, port = nic.partition(":")
    netdev = nic if ":" not in nic and _is_plain(nic) else ""
    owner = device if port and _is_plain(device) else "*"
    files = [*_FILES, *(f"/proc/sys/{name}" for name in _SYSCTLS)]
    files += [f"/sys/class/net/{netdev or '*'}/{name}" for name in _OF_NETDEV]
    files += [f"/sys/class/infiniband/{owner}/{name}" for name in _OF_RDMA]
    asked = (("lscpu",), *(_COMMANDS if netdev else ())) if commands else ()
    return (
        *(_file(path, named=bool(netdev)) for path in files),
        *(
            FactRequest(
                kind="command",
                argv=tuple(word.format(nic=netdev) for word in argv),
                limit_bytes=16384,
            )
            for argv in asked
        ),
    )


def _file(path: str, *, named: bool) -> FactRequest:
    rdma = path.startswith("/sys/class/infiniband/")
    pattern = rdma or (path.startswith("/sys/class/net/") and not named)
    return FactRequest(kind="glob" if pattern else "file", path=path, limit_bytes=1024)


def _is_plain(name: str) -> bool:
    """Return whether a name is safe in a path, a glob pattern and as an argument of a command."""
    return (
        bool(name)
        and name.isascii()
        and all(char.isalnum() or char in "._-" for char in name)
        and name[0] not in "-."
    )
