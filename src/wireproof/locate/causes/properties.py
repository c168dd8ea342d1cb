"""What is known about the machine of a node, as named properties and settings: from Facts and from
its NIC. Pure.

Texts are hostile: what is not understood is left out, nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from wireproof.model.record import FactFrame, Host, Nic
from wireproof.physics import PhysicsError, pcie_goodput

__all__ = ["UNLIMITED", "Properties", "claimed_nic", "machine", "settings"]

Properties = dict[str, float | str]

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
_LONGEST_WORD = 80
_MOST_LINES = 200
_ETHTOOL_SETTINGS = ("-k", "-c", "-g", "-a")


def claimed_nic(host: Host, claim: str) -> Nic | None:
    """The NIC that is meant: by name or RDMA device; without a claim the only one that is no
    loopback.
    """
    device, _, port = claim.partition(":")
    for nic in host.nics:
        rdma = nic.rdma
        if claim and (
            nic.name == claim or (rdma and rdma.device == device and port in ("", str(rdma.port)))
        ):
            return nic
    real = [nic for nic in host.nics if nic.kind != "loopback"]
    return real[0] if not claim and len(real) == 1 else None


def machine(host: Host, nic: Nic | None, facts: Iterable[FactFrame]) -> Properties:
    """Properties by name; one that could not be read is absent."""
    good = [fact for fact in facts if fact.status == "ok"]
    files = {fact.path: fact.text for fact in good if fact.kind == "file"}
    commands = {" ".join(fact.argv): fact.text for fact in good if fact.kind == "command"}
    found: Properties = {}
    _put(found, "library", host.library)
    _put(
        found,
        "kernel",
        _group(re.match(r"Linux version (\S{1,80})", files.get("/proc/version", ""))),
    )
    _put(found, "governor", _word(files, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))
    _put(found, "no_turbo", _word(files, "/sys/devices/system/cpu/intel_pstate/no_turbo"))
    _put(
        found,
        "max_frequency",
        _number(files.get("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "")),
    )
    _put(found, "bios", _line(files.get("/sys/class/dmi/id/bios_version", "")))
    _put(found, "model", _line(files.get("/sys/class/dmi/id/product_name", "")))
    load = _number(files.get("/proc/loadavg", ""))
    if load is not None and host.cpu_count > 0:
        found["load"] = load / host.cpu_count
    if nic is not None:
        _nic(found, nic, files, commands)
        _numa(found, nic, host, commands)
    return found


def _nic(
    found: Properties, nic: Nic, files: Mapping[str, str], commands: Mapping[str, str]
) -> None:
    net = f"/sys/class/net/{nic.name}"
    device = f"/sys/class/infiniband/{nic.rdma.device}" if nic.rdma else net
    _put(found, "driver", nic.driver)
    _put(found, "mtu", float(nic.mtu) if nic.mtu else _number(files.get(f"{net}/mtu", "")))
    rate = _number(nic.rdma.rate) if nic.rdma and not nic.rdma.in_software else None
    speed = (
        float(nic.speed_mbps)
        if nic.speed_mbps and nic.speed_mbps > 0
        else _number(files.get(f"{net}/speed", ""))
    )
    _put(found, "speed", rate * 1e9 if rate else speed * 1e6 if speed else None)
    shown = commands.get(f"ethtool {nic.name}", "")
    _put(found, "duplex", (_word(files, f"{net}/duplex") or _group(_DUPLEX.search(shown))).lower())
    if nic.carrier is False or nic.operstate in ("down", "lowerlayerdown"):
        found["link_state"] = "down"
    firmware = _line(files.get(f"{device}/fw_ver", ""))
    _put(
        found,
        "firmware",
        firmware or _group(_FIRMWARE.search(commands.get(f"ethtool -i {nic.name}", ""))),
    )
    vendor, model = _word(files, f"{net}/device/vendor"), _word(files, f"{net}/device/device")
    _put(
        found,
        "adapter",
        f"{vendor}:{model}" if vendor and model else _line(files.get(f"{device}/board_id", "")),
    )
    queueing = commands.get(f"tc -s qdisc show dev {nic.name}", "")
    _put(found, "queueing", _group(_QDISC.search(queueing)))
    if queueing:
        # What nothing limits is limited by a rate that no link has.
        limits = queueing[:65536] + commands.get(f"tc class show dev {nic.name}", "")[:65536]
        rates = [float(number) * _PREFIX[prefix] for number, prefix in _RATE.findall(limits)]
        found["queue_goodput"] = min([rate for rate in rates if rate > 0], default=UNLIMITED) / 8
    for place in (f"{net}/device", f"{device}/device"):
        _slot(found, files, place)


def _slot(found: Properties, files: Mapping[str, str], place: str) -> None:
    for name in ("current_link_width", "max_link_width", "current_link_speed", "max_link_speed"):
        value = _number(files.get(f"{place}/{name}", ""))
        if value:
            found.setdefault(f"pcie_{name.replace('_link', '')}", value)
    width, speed = found.get("pcie_current_width"), found.get("pcie_current_speed")
    if isinstance(width, float) and isinstance(speed, float) and speed in _GIGATRANSFERS:
        try:
            found["pcie_goodput"] = pcie_goodput(f"gen{_GIGATRANSFERS[speed]} x{width:.0f}")[0]
        except PhysicsError:
            return


def _numa(found: Properties, nic: Nic, host: Host, commands: Mapping[str, str]) -> None:
    """``far`` yes or no: the rank's core hangs on another memory than the NIC."""
    if host.core is None or nic.numa_node is None or nic.numa_node < 0:
        return
    for node, cpus in _NUMA_LINE.findall(commands.get("lscpu", "")[:65536]):
        if _holds(cpus, host.core):
            found["numa_far"] = "no" if int(node) == nic.numa_node else "yes"


def _holds(cpus: str, core: int) -> bool:
    for part in cpus.split(","):
        low, _, high = part.partition("-")
        if low.isdigit() and (high or low).isdigit() and int(low) <= core <= int(high or low):
            return True
    return False


def settings(nic: Nic | None, facts: Iterable[FactFrame]) -> dict[str, str]:
    """What an administrator can set, by name: sysctls, huge pages, and what ``ethtool`` says of the
    NIC.
    """
    found: dict[str, str] = {}
    for fact in facts:
        if fact.status != "ok":
            continue
        if fact.kind == "file" and fact.path.startswith("/proc/sys/"):
            found[fact.path.removeprefix("/proc/sys/").replace("/", ".")] = " ".join(
                fact.text.split()
            )[:_LONGEST_WORD]
        elif fact.kind == "file" and fact.path.startswith("/sys/kernel/mm/transparent_hugepage/"):
            found["transparent huge pages"] = _line(fact.text)
        elif nic is not None and _asks(fact, nic):
            found |= _ethtool(fact.argv[1], fact.text)
    return found


def _asks(fact: FactFrame, nic: Nic) -> bool:
    words = fact.argv
    return (
        len(words) == 3
        and words[0] == "ethtool"
        and words[1] in _ETHTOOL_SETTINGS
        and words[2] == nic.name
    )


def _ethtool(option: str, text: str) -> dict[str, str]:
    """``name: value`` lines; a name that comes twice (maximum, then current) keeps the last."""
    found = {}
    for line in text[:65536].splitlines()[:_MOST_LINES]:
        name, colon, value = line.strip().partition(":")
        value = value.strip().removesuffix("[fixed]").strip()
        if colon and name and value:
            found[f"ethtool {option}: {name[:_LONGEST_WORD]}"] = value[:_LONGEST_WORD]
    return found


def _put(found: Properties, name: str, value: float | str | None) -> None:
    if value is not None and value != "":
        found[name] = value


def _group(match: re.Match[str] | None) -> str:
    return match.group(1).strip() if match else ""


def _word(files: Mapping[str, str], path: str) -> str:
    words = files.get(path, "")[:200].split()
    return words[0][:_LONGEST_WORD] if words else ""


def _line(text: str) -> str:
    return " ".join(text[:200].split())[:_LONGEST_WORD]


def _number(text: str) -> float | None:
    found = _NUMBER.match(text)
    return float(found.group(1)) if found else None
