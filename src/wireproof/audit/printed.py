# pure
"""Derive files of /sys from the output of ethtool, ibstat, dmidecode and ip that archives keep. The
texts are hostile: what cannot be parsed is left out."""

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from wireproof.audit.expression import UNKNOWN, Value
from wireproof.audit.facts import UNKEPT, HostFacts, first_match
from wireproof.audit.interfaces import IP_ADDRESS, driver_of, link_files, listed_nics
from wireproof.model.record import FactFrame, Nic

DMIDECODE, LSCPU, NUMACTL = ("dmidecode",), ("lscpu",), ("numactl", "--hardware")
CPUPOWER, SESTATUS = ("cpupower", "frequency-info"), ("sestatus",)
IBSTAT, DEVINFO = ("ibstat",), ("ibv_devinfo", "-v")
OF_ARCHIVES = (DMIDECODE, LSCPU, NUMACTL, CPUPOWER, SESTATUS, IBSTAT, DEVINFO)
"""Commands about the whole host whose output replaces /sys."""
Files = Iterator[tuple[str, str]]
_Table = tuple[tuple[str, str, str, str], ...]
"""The name of a row in a program's output, the file with its value, the pattern of valid values,
and the text of the file (with groups of the pattern).
"""
_ALL = (".+", r"\g<0>")
_DMI: dict[str, _Table] = {
    "BIOS Information": (
        ("Vendor", "bios_vendor", *_ALL),
        ("Version", "bios_version", *_ALL),
        ("Release Date", "bios_date", *_ALL),
    ),
    "System Information": (
        ("Manufacturer", "sys_vendor", *_ALL),
        ("Product Name", "product_name", *_ALL),
    ),
}
_ETHTOOL: _Table = (
    ("Speed", "speed", r"(\d{1,7})Mb/s", r"\1"),
    ("Speed", "speed", r"Unknown!.*", "-1"),
    ("Duplex", "duplex", "Full", "full"),
    ("Duplex", "duplex", "Half", "half"),
)
_SELINUX: _Table = (
    ("Current mode", "enforce", "enforcing", "1"),
    ("Current mode", "enforce", "permissive", "0"),
)
"""A kernel with SELinux disabled has no such file."""
_DEVICE: _Table = (
    ("Firmware version", "fw_ver", *_ALL),
    ("CA type", "hca_type", *_ALL),
    ("board_id", "board_id", *_ALL),
)
_PHYSICAL = ("Sleep", "Polling", "Disabled", "PortConfigurationTraining", "LinkUp",
             "LinkErrorRecovery")  # fmt: skip
_PORT_ROWS: _Table = (
    ("Link layer", "link_layer", *_ALL),
    ("Rate", "rate", r"(\d{1,4}(?:\.\d)?)( \(\w+\))?", r"\1 Gb/sec\2"),
    ("State", "state", "Down", "1: DOWN"),
    ("State", "state", "Initializing", "2: INIT"),
    ("State", "state", "Armed", "3: ARMED"),
    ("State", "state", "Active", "4: ACTIVE"),
    *(
        ("Physical state", "phys_state", word, f"{number}: {word}")
        for number, word in enumerate(_PHYSICAL, 1)
    ),
)
"""A port as ibstat prints it. /sys has the number before the word (IBA, 14.2.5.6)."""
_UNLISTED_DEVICE: _Table = (("vendor_id", "device/uevent", "0x1d0f", "DRIVER=efa\n"),)
"""Makers with a single RDMA driver, by the PCI number that ibv_devinfo prints."""
_UNLISTED_PORT: _Table = (
    ("state", "state", r"PORT_([A-Z]+) \(([1-4])\)", r"\2: \1"),
    ("link_layer", "link_layer", *_ALL),
)


def printed_of(nic: str) -> tuple[tuple[str, ...], ...]:
    """Return the commands whose output archives have for an interface; a live host has /sys."""
    return (("ethtool", nic), driver_of(nic))


def printed_files(facts: HostFacts) -> dict[str, FactFrame]:
    """Return the derived files of /sys, by path."""
    texts = dict(
        [
            *_of_ip(facts),
            *files_of_ib(facts, listed_nics(facts)),
            *_of_ethtool(facts),
            *_of_dmidecode(facts),
            *_of_lscpu(facts),
            *_of_cpupower(facts),
            *_files(_rows(_printed(facts, SESTATUS)), _SELINUX, "/sys/fs/selinux"),
        ]
    )
    return {
        path: FactFrame(rank=0, kind="file", status="ok", path=path, text=text)
        for path, text in texts.items()
    }


_ROW = re.compile(r"^[ \t]*(\w[\w ()-]{0,40}):[ \t]+(\S.*)$", re.MULTILINE)


def _rows(text: str) -> dict[str, str]:
    """Return the rows ``name: value`` of a program's output."""
    return {name: value.rstrip() for name, value in _ROW.findall(text)}


def _files(rows: Mapping[str, str], table: _Table, folder: str) -> Files:
    """Yield the files below ``folder`` whose text the rows show."""
    for name, file, pattern, text in table:
        if value := re.fullmatch(pattern, rows.get(name, "")):
            yield f"{folder}/{file}", value.expand(text)


def _printed(facts: HostFacts, argv: tuple[str, ...]) -> str:
    return f"{facts.command(argv).text or ''}\n"


def _of_ip(facts: HostFacts) -> Files:
    if facts.command(IP_ADDRESS).text is None:
        return
    for nic in listed_nics(facts):
        for name, text in (("mtu", str(nic.mtu or "")), ("operstate", nic.operstate)):
            if text:
                yield f"/sys/class/net/{nic.name}/{name}", text
    yield from link_files(facts.command(IP_ADDRESS).text or "")


def _of_ethtool(facts: HostFacts) -> Files:
    for argv, frame in facts.commands.items():
        if len(argv) == 2 and argv[0] == "ethtool" and frame.status == "ok":
            yield from _files(_rows(frame.text), _ETHTOOL, f"/sys/class/net/{argv[1]}")


def _of_dmidecode(facts: HostFacts) -> Files:
    """Yield values of the first structure of each kind."""
    text = _printed(facts, DMIDECODE)
    found = re.findall(r"^(\w[\w ]+)\n((?:\t.*\n?)+)", text, re.MULTILINE)
    for title, body in dict(found[::-1]).items():
        yield from _files(_rows(body), _DMI.get(title, ()), "/sys/class/dmi/id")


_NODES = re.compile(r"^available: \d+ nodes \(([\d,-]{1,99})\)", re.MULTILINE)
_CPU = {"Vendor ID": "vendor_id", "CPU family": "cpu family", "Model": "model",
        "Stepping": "stepping", "Model name": "model name", "Flags": "flags"}  # fmt: skip


def _of_lscpu(facts: HostFacts) -> Files:
    rows = _rows(_printed(facts, LSCPU))
    if lines := [f"{_CPU[key]}\t: {value}\n" for key, value in rows.items() if key in _CPU]:
        yield "/proc/cpuinfo", "processor\t: 0\n" + "".join(lines)
    if online := rows.get("On-line CPU(s) list"):
        yield "/sys/devices/system/cpu/online", online
    if listed := _NODES.search(_printed(facts, NUMACTL)):
        yield "/sys/devices/system/node/online", listed[1]
    if re.fullmatch(r"[1-9]\d{0,3}", nodes := rows.get("NUMA node(s)", "")):
        yield "/sys/devices/system/node/online", "0" if nodes == "1" else f"0-{int(nodes) - 1}"


_POLICY = re.compile(r"^analyzing CPU (\d{1,4}):\n((?:[ \t].*\n?)*)", re.MULTILINE)
_GOVERNOR = re.compile(r'The governor "(\w{1,32})" may decide')
_BOOST = re.compile(r"Supported: yes\n\s+Active: (yes|no)")
_TURBO = {"intel_pstate": ("intel_pstate/no_turbo", {"yes": "0", "no": "1"})}
_CPB = ("cpufreq/boost", {"yes": "1", "no": "0"})


def _of_cpupower(facts: HostFacts) -> Files:
    """Yield governor and turbo of the processors that cpupower lists: only one by default."""
    folder = "/sys/devices/system/cpu"
    for cpu, body in _POLICY.findall(_printed(facts, CPUPOWER)):
        if governor := _GOVERNOR.search(body):
            yield f"{folder}/cpufreq/policy{cpu}/scaling_governor", governor[1]
        if boost := _BOOST.search(body):
            name, states = _TURBO.get(_rows(body).get("driver", ""), _CPB)
            yield f"{folder}/{name}", states[boost[1]]


_CA = re.compile(r"^CA '([\w.-]{1,64})'\n((?:[ \t].*\n?)*)", re.MULTILINE)
_PORT = re.compile(r"^[ \t]+Port (\d{1,3}):\n((?:\s+(?!Port \d)[^\n]*\n?)*)", re.MULTILINE)
_HCA = re.compile(r"^hca_id:[ \t]*([\w.-]{1,64})\n((?:[ \t].*\n?|\n)*)", re.MULTILINE)
_HCA_PORT = re.compile(r"^[ \t]+port:\s+(\d{1,3})\n((?:\s+(?!port:)[^\n]*\n?)*)", re.MULTILINE)
_GID = re.compile(r"^[ \t]+GID\[\s*(\d{1,4})\]:.*, (RoCE v[12]|IB/RoCE v1)\s*$", re.MULTILINE)
_DRIVERS = {"mlx5": "mlx5_core", "mlx4": "mlx4_core", "hfi1": "hfi1", "irdma": "irdma",
            "bnxt_re": "bnxt_re"}  # fmt: skip
"""Drivers whose devices have kernel names: NAME_NUMBER or NAMENUMBER."""
_QUERIED = {
    "SymbolErrorCounter": "symbol_error", "LinkErrorRecoveryCounter": "link_error_recovery",
    "LinkDownedCounter": "link_downed", "PortRcvErrors": "port_rcv_errors",
    "PortRcvRemotePhysicalErrors": "port_rcv_remote_physical_errors",
    "PortXmitDiscards": "port_xmit_discards",
    "LocalLinkIntegrityErrors": "local_link_integrity_errors",
    "ExcessiveBufferOverrunErrors": "excessive_buffer_overrun_errors",
}  # fmt: skip
_FOLDER = "/sys/class/infiniband"


def perfquery_of(device: str, port: str) -> tuple[str, ...]:
    """Return the command whose output an archive keeps for the counters of a port."""
    return ("perfquery", "-C", device, "-P", port)


def files_of_ib(facts: HostFacts, nics: Iterable[Nic]) -> Files:
    """Yield (path, text) of RDMA files. ``nics``: their addresses identify the interfaces of RoCE
    ports.
    """
    lanes = dict(_lanes(facts))
    owners = {_guid(nic.mac): nic for nic in nics if len(nic.mac) in (_MAC, _IPOIB_MAC)}
    listed = _CA.findall(_printed(facts, IBSTAT))
    for device, body in listed:
        folder = f"{_FOLDER}/{device}"
        ports = [(port, _rows(lines)) for port, lines in _PORT.findall(body)]
        interfaces = [owners.get(values.get("Port GUID", "")) for _, values in ports]
        if text := _uevent(facts, device, interfaces):
            yield f"{folder}/device/uevent", text
        yield from _files(_rows(body), _DEVICE, folder)
        for (port, values), owner in zip(ports, interfaces, strict=True):
            width = lanes.get((device, port), "")
            rate = f"{values.get('Rate', '')} ({width})" if width else values.get("Rate", "")
            yield from _files({**values, "Rate": rate}, _PORT_ROWS, f"{folder}/ports/{port}")
            if re.fullmatch(r"\d{1,5}", lid := values.get("SM lid", "")):
                yield f"{folder}/ports/{port}/sm_lid", f"0x{int(lid):x}"
            if owner:
                yield f"{folder}/device/net/{owner.name}/mtu", str(owner.mtu or "")
                yield from _speed_of(owner, values)
    yield from _of_devinfo(facts, [device for device, _ in listed])
    yield from _of_perfquery(facts)


def _speed_of(owner: Nic, values: dict[str, str]) -> Files:
    rate = _RATE.fullmatch(values.get("Rate", ""))
    if rate and values.get("State") == "Active":
        yield f"/sys/class/net/{owner.name}/speed", f"{float(rate[0]) * 1000:.0f}"


def printed_driver(facts: HostFacts, name: str) -> Value:
    """Return the driver from an archive's output of ``ethtool -i``."""
    text = facts.command(driver_of(name)).text or ""
    return first_match(r"^driver: (\w+)(?:\[ib_ipoib\])?$", text) or UNKNOWN


def _uevent(facts: HostFacts, device: str, interfaces: Iterable[Nic | None]) -> str:
    """Return the PCI address of the interfaces, and the driver: by the device's name, else that of
    the interfaces on its ports, because udev may name devices after their slots.
    """
    nics = [nic for nic in interfaces if nic]
    drivers = [printed_driver(facts, nic.name) for nic in nics]
    known = [driver for driver in drivers if isinstance(driver, str) and driver != "ib_ipoib"]
    driver = _DRIVERS.get(re.sub(r"_?\d{1,4}$", "", device), next(iter(known), ""))
    pci = next((nic.pci for nic in nics if nic.pci), "")
    lines = (("DRIVER", driver), ("PCI_SLOT_NAME", pci))
    return "".join(f"{name}={text}\n" for name, text in lines if text)


_RATE = re.compile(r"\d{1,4}(\.\d)?", re.ASCII)
_MAC, _IPOIB_MAC = len("00:11:22:33:44:55"), 20 * 3 - 1
_LOCAL = 0x02
"""The bit of an EUI-64 that an interface identifier inverts (RFC 4291, appendix A)."""


def _guid(mac: str) -> str:
    """Return the GUID that drivers assign to the RoCE port of the interface. An IPoIB address ends
    in the GUID.
    """
    if len(mac) == _IPOIB_MAC:
        return "0x" + mac[-23:].replace(":", "")
    first, *rest = (int(part, 16) for part in mac.split(":"))
    parts = [first ^ _LOCAL, *rest[:2], 0xFF, 0xFE, *rest[2:]]
    return "0x" + "".join(f"{part:02x}" for part in parts)


def _lanes(facts: HostFacts) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the lanes that each port uses, such as 4X."""
    for device, body in _HCA.findall(_printed(facts, DEVINFO)):
        for port, lines in _HCA_PORT.findall(body):
            if width := re.match(r"\d{1,2}X\b", _rows(lines).get("active_width", "")):
                yield (device, port), width[0]


def _of_devinfo(facts: HostFacts, listed: Sequence[str]) -> Files:
    """``listed``: the devices of ibstat, which lists only devices with management datagrams, so
    neither EFA nor iWARP.
    """
    for device, body in _HCA.findall(_printed(facts, DEVINFO)):
        folder = f"{_FOLDER}/{device}"
        unlisted = device not in listed
        yield from _files(_rows(body), _DEVICE + _UNLISTED_DEVICE * unlisted, folder)
        for port, lines in _HCA_PORT.findall(body):
            for index, kind in _GID.findall(lines):
                yield f"{folder}/ports/{port}/gid_attrs/types/{index}", kind
            if unlisted:
                yield from _files(_rows(lines), _UNLISTED_PORT, f"{folder}/ports/{port}")


_WORDS = len(perfquery_of("", ""))


def _of_perfquery(facts: HostFacts) -> Files:
    for argv, frame in facts.commands.items():
        if frame.status != "ok" or len(argv) != _WORDS or argv != perfquery_of(argv[2], argv[4]):
            continue
        for name, count in re.findall(r"^(\w+):\.+(\d{1,20})$", frame.text, re.MULTILINE):
            if file := _QUERIED.get(name):
                yield f"{_FOLDER}/{argv[2]}/ports/{argv[4]}/counters/{file}", count


_TOOLS = ("mlxconfig", "mstconfig")
_VALUE = re.compile(r"^[* ]\s+([A-Z][A-Z0-9_]{1,60})\s+(\S+)\s+(\S+)\s+(\S+)[ \t]*$", re.MULTILINE)
_LINK_TYPE = "LINK_TYPE"
_NAMED = ("PCI_WR_ORDERING", "ATS_ENABLED")
_PENDING = "pending"
_MOST_NAMED = 8
_LIVE = "is read only from an archive: on a host, run mlxconfig by hand"


def queries_of(address: str) -> tuple[tuple[str, ...], ...]:
    """Return the commands that may describe the adapter at a PCI address; sos queries
    function 0.
    """
    first = f"{address.rpartition('.')[0]}.0"
    return tuple((tool, "-d", first, "-e", "q") for tool in _TOOLS)


def mlxconfig_files(
    facts: HostFacts, adapters: Iterable[tuple[str, str]]
) -> Iterator[tuple[str, FactFrame]]:
    """Yield files ``mlxconfig/NIC/NAME``. ``adapters``: interfaces with their PCI addresses."""
    for nic, address in adapters:
        answers = [facts.at(argv) for argv in queries_of(address)] if address else []
        told = [answer for answer in answers if answer is not None]
        values = _values(next((answer.text for answer in told if answer.status == "ok"), ""))
        for name in (*_NAMED, _LINK_TYPE, _PENDING):
            path = f"mlxconfig/{nic}/{name}"
            # the second function has the second port; virtual functions count for the first
            port = 2 if address.endswith(".1") else 1
            row = f"{_LINK_TYPE}_P{port}" if name == _LINK_TYPE else name
            yield path, _frame(path, values.get(row, ""), UNKEPT if told else _LIVE)


def _values(text: str) -> dict[str, str]:
    """Return the values in force, and those that wait for a restart."""
    rows = _VALUE.findall(text)
    if not rows:
        return {}
    waiting = [f"{name} {after}" for name, _, now, after in rows if now != after]
    return {name: now for name, _, now, _ in rows} | {
        _PENDING: ", ".join(waiting[:_MOST_NAMED]) or "none"
    }


@functools.lru_cache(maxsize=1024)
def _frame(path: str, text: str, why: str) -> FactFrame:
    if text:
        return FactFrame(rank=0, kind="file", status="ok", path=path, text=text)
    status = "failed" if why == UNKEPT else "missing"
    return FactFrame(rank=0, kind="file", status=status, path=path, reason=why)  # type: ignore[arg-type]


_MODES = r"^[ \t]*{}:((?:\s+\d+base\S+)+)"
_SUPPORTED = re.compile(_MODES.format("Supported link modes"), re.MULTILINE)
_OFFERED = re.compile(_MODES.format("Link partner advertised link modes"), re.MULTILINE)
_LANES = re.compile(r"^LinkWidthSupported:\.*(.+)$", re.MULTILINE)
_SIGNALS = re.compile(r"^LinkSpeed(?:Ext)?Supported2?:\.*(.+)$", re.MULTILINE)


def modes_of(facts: HostFacts, nic: str) -> dict[str, Value]:
    """Return what the output of ``ethtool NIC`` says about link modes: Gb/s of the fastest that the
    interface supports and of the fastest that both ends offer, and whether its module is uncoded.
    """
    modes = _modes(facts.command(("ethtool", nic)).text or "")
    return dict(zip(("nic.most", "nic.offered", "nic.uncoded"), modes, strict=True))


@functools.lru_cache(maxsize=256)
def _modes(text: str) -> tuple[Value, Value, Value]:
    supported = _rates(_SUPPORTED, text)
    both = supported & _rates(_OFFERED, text)
    return max(supported, default=UNKNOWN), max(both, default=UNKNOWN), _uncoded(text)


_UNCODED = {"LR4_ER4", "LR_ER_FR", "DR"}
"""Media of 100 Gb/s that work without Reed-Solomon code by the adapter (IEEE 802.3ba, 802.3cu)."""


def _uncoded(text: str) -> Value:
    """Return whether the module is uncoded; UNKNOWN if the driver lists the modes of all media."""
    if re.search(r"^[ \t]*Port: Direct Attach Copper$", text, re.MULTILINE):
        return False
    match = _SUPPORTED.search(text)
    media = set(re.findall(r"\s100000base(\w+)/Full", match[1])) if match else set()
    if not media or (media & _UNCODED and media - _UNCODED):
        return UNKNOWN
    return media <= _UNCODED


def _rates(heading: re.Pattern[str], text: str) -> set[float]:
    """Return the rates in Gb/s of the modes below a heading: 10000baseT/Full is 10."""
    match = heading.search(text)
    modes = re.findall(r"\s(\d{1,7})base", match[1]) if match else []
    return {int(mode) / 1000 for mode in modes}


def port_info(device: str, port: str) -> tuple[str, ...]:
    """Return the command that queries a port for its own attributes."""
    return ("ibportstate", "-C", device, "-P", port, "-D", "0", port)


_OF_MODEL: dict[str, Value] = {"MT4115": 100.0, "MT4119": 100.0, "MT4123": 200.0, "MT4129": 400.0}
"""ConnectX-4 to 7 by their PCI device in decimal (pci.ids), as ibstat prints it."""


def signalled(facts: HostFacts, device: str, port: str) -> Value:
    """Return the Gb/s that the lanes of the InfiniBand port can signal, including encoding."""
    text = facts.command(port_info(device, port)).text or ""
    lanes, signals = _LANES.search(text), " ".join(_SIGNALS.findall(text))
    widths = [int(width) for width in re.findall(r"\b(\d{1,2})X", lanes[1])] if lanes else []
    speeds = [float(speed) for speed in re.findall(r"\b(\d{1,4}(?:\.\d{1,6})?) Gbps", signals)]
    if widths and speeds:
        return max(widths) * max(speeds)
    return _OF_MODEL.get(facts.line(f"{_FOLDER}/{device}/hca_type"), UNKNOWN)
