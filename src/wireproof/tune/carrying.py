"""Find the interfaces of a host that carry connections which must not break. Pure."""

import ipaddress
import re
from collections.abc import Iterable

import msgspec

from wireproof.audit.facts import HostFacts
from wireproof.audit.interfaces import ROUTES, listed_nics
from wireproof.model.errors import BadInput, decode_json
from wireproof.model.plan import FactRequest
from wireproof.model.tuning import Change, HostPlan, Keep, TunePlan
from wireproof.tune.allowed import refused, refused_command, wrong_target
from wireproof.tune.settings_files import is_text

# --- Read a plan file that ``tune plan -o`` wrote; its contents are not trusted. Pure.

_ID = re.compile(r"[!-~]{1,200}", re.ASCII)
_VALUE = re.compile(r"[ -~]{1,4096}", re.ASCII)
_WORD = re.compile(r"[!-~]{1,200}", re.ASCII)
_FILE = re.compile(r"/(?:proc/sys|sys)(?:/(?!\.{1,2}(?:/|\Z))[!-.0-~]+)+", re.ASCII)
_DROP_IN = re.compile(
    r"/etc/(?:sysctl\.d|modprobe\.d|tmpfiles\.d|udev/rules\.d|security/limits\.d|systemd/system)/"
    r"(?!\.)[A-Za-z0-9._@-]*wireproof[A-Za-z0-9._@-]*",
    re.ASCII,
)
_PROGRAMS = ("ethtool", "ip", "tc")


def wrong_in(host: HostPlan) -> str:
    """Return a sentence for the first thing that wireproof's plans never contain; "" if there is
    none.
    """
    for planned in host.changes:
        if wrong := _wrong_change(planned.change):
            return f"{planned.change.id[:100]!r} of {host.host!r} {wrong}"
    for kept in host.keeps:
        if wrong := _wrong_keep(kept.keep):
            return f"{kept.keep.path[:100]!r} of {host.host!r} {wrong}"
    return ""


def _wrong_change(change: Change) -> str:
    if not _ID.fullmatch(change.id):
        return "has an id with blanks or control characters"
    if not _VALUE.fullmatch(change.value):
        return "has a value that is not 1 to 4096 printable characters"
    if wrong := _wrong_file(change) if change.kind == "file" else _wrong_command(change):
        return wrong
    if change.kind == "command":
        never = refused_command(change)
    else:
        coupled = (refused(path, "0") for path in change.coupled if wrong_target(path))
        never = refused(change.path, change.value) or next(coupled, "")
    return f"is refused: {never}" if never else ""


def _wrong_file(change: Change) -> str:
    are_settings = all(_FILE.fullmatch(path) for path in (change.path, *change.coupled))
    return "" if are_settings else "is not the file of a setting"


def _wrong_command(change: Change) -> str:
    if not (change.read and change.write and change.key):
        return "has an incomplete command"
    known = change.read[0] in _PROGRAMS and change.write[0] in _PROGRAMS
    words = (*change.read, *change.write, change.value)
    if not known or not all(map(_WORD.fullmatch, words)):
        return "is not a command of ethtool, ip or tc"
    return "" if change.value[0] != "-" else "has a value that could be an option"


def _wrong_keep(drop_in: Keep) -> str:
    if not _DROP_IN.fullmatch(drop_in.path):
        return "is not a drop-in file with wireproof's name"
    return "" if is_text(drop_in.text) else "has a text that is too long or has control characters"


_SCHEMA = TunePlan().schema
_VERSION = TunePlan().version


def read_plan(data: bytes, name: str) -> TunePlan:
    """Parse a plan. Raise ``BadInput`` with the mistake. The host checks again what it may be asked
    for.
    """
    try:
        plan = decode_json(data, TunePlan)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{name} is not a plan of `wireproof tune plan -o`: {error}.") from error
    if plan.schema != _SCHEMA or plan.version != _VERSION:
        raise BadInput(
            f"{name} is {plan.schema[:60]} version {plan.version}; {_SCHEMA} version"
            f" {_VERSION} is required: make the plan again."
        )
    names = [host.host for host in plan.hosts]
    if len(set(names)) < len(names):
        raise BadInput(f"{name} has a host twice: make the plan again.")
    for host in plan.hosts:
        if wrong := wrong_in(host):
            raise BadInput(f"{name}: {wrong}: make the plan again.")
    return plan


_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
CONNECTIONS = (
    *(FactRequest(kind="file", path=path, limit_bytes=1 << 20) for path in _TABLES),
    *(FactRequest(kind="file", path=path) for path in ROUTES),
)
_ESTABLISHED_SSH = re.compile(r"^[ \t]*\d+: ([0-9A-F]{8}|[0-9A-F]{32}):0016 \S+ 01 ", re.MULTILINE)


def ssh_addresses(facts: HostFacts) -> set[str]:
    """Return the local address of each open connection to the host's port 22."""
    addresses: set[str] = set()
    for table in _TABLES:
        for digits in _ESTABLISHED_SSH.findall(facts.file(table).text or ""):
            addresses.add(_address(digits))
    return addresses


def _address(digits: str) -> str:
    """Decode an address in the kernel's notation: words of four bytes in little-endian order."""
    raw = bytes.fromhex(digits)
    data = b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4))
    address = ipaddress.ip_address(data)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


def having(facts: HostFacts, addresses: Iterable[str]) -> set[str]:
    """Return the interfaces that have any of the addresses."""
    wanted = set(addresses)
    return {
        nic.name
        for nic in listed_nics(facts)
        if {address.split("/")[0] for address in nic.address} & wanted
    }


_VM = "/proc/sys/vm/"
_GROUPS: tuple[tuple[str, ...], ...] = (
    (f"{_VM}dirty_bytes", f"{_VM}dirty_ratio"),
    (f"{_VM}dirty_background_bytes", f"{_VM}dirty_background_ratio"),
    (f"{_VM}overcommit_kbytes", f"{_VM}overcommit_ratio"),
    (f"{_VM}nr_hugepages", f"{_VM}nr_hugepages_mempolicy"),
    (
        "/proc/sys/kernel/watchdog",
        "/proc/sys/kernel/nmi_watchdog",
        "/proc/sys/kernel/soft_watchdog",
    ),
)
# A name in whole seconds or ticks, and with _ms the same value in milliseconds.
_COARSE = ("gc_min_interval", "base_reachable_time", "retrans_time")


def coupled_with(path: str) -> tuple[str, ...]:
    """Return the files whose values a write to ``path`` may change."""
    for group in _GROUPS:
        if path in group:
            return tuple(other for other in group if other != path)
    coarse = path.removesuffix("_ms")
    if path.startswith("/proc/sys/net/") and coarse.rpartition("/")[2] in _COARSE:
        return (f"{coarse}_ms" if path == coarse else coarse,)
    return ()
