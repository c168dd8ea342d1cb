# pure
"""Targets that a change must never affect, from the rows of which the node's guard is also built
(``allowed.def``), and the interfaces with connections that must not break. A plan refuses the same
changes as ``apply``, with the same words. Pure.

The guard, ``engine/node/tune/allowed.cpp``, makes the final decision: it also follows links.
"""

import ipaddress
import re
from collections.abc import Iterable, Sequence
from functools import cache

import msgspec

from wireproof.audit.facts import HostFacts
from wireproof.audit.interfaces import ROUTES, listed_nics
from wireproof.model import gathered
from wireproof.model.errors import BadInput, decode_json
from wireproof.model.plan import FactRequest
from wireproof.model.site import packaged
from wireproof.model.tuning import Change, HostPlan, Keep, TunePlan
from wireproof.tune.settings_files import is_text

_ROW = re.compile(r'TUNE_(\w+)\((?:(\w+), )?"((?:[^"\\]|\\.)+)"\)', re.ASCII)
_IPV6 = "/proc/sys/net/ipv6/conf/"
_LEAST_MTU = 1280
_PTRACE, _LOCKED = "/proc/sys/kernel/yama/ptrace_scope", 3
"""Yama locks its largest value (Documentation/admin-guide/LSM/Yama.rst)."""
_NUMBER = re.compile(r"\s*\+?(0[xX][0-9a-fA-F]{1,16}|0[0-7]{0,21}|[1-9]\d{0,18})", re.ASCII)
_WORD = re.compile(r"[!-~]{1,200}", re.ASCII)
_ARGUMENT, _DEVICE = "(?!-)[!-~]{1,200}", "(?!-)[!-~]{1,15}"
"""Words that are no options: ``-batch`` reads more commands from a file."""
_DEV = r"(?: dev(?= |\Z))?+"
_SHOWS = (
    rf"ethtool <ETHTOOL_SHOWS> {_ARGUMENT}|ip(?: -[do])* link show{_DEV} {_DEVICE}"
    rf"|tc(?: -d)? (?:qdisc|class) show dev {_DEVICE}(?: {_ARGUMENT})*"
)
_SETS = (
    rf"ethtool <ETHTOOL_SETS> {_ARGUMENT}(?: {_ARGUMENT})+"
    rf"|ip link set{_DEV} {_DEVICE} <LINK_ATTRIBUTE> \{{value\}}"
    rf"|tc (?:qdisc|class) <TC_VERB> dev {_DEVICE}(?: {_ARGUMENT})*"
)
"""The commands that show a setting, and those that set it."""


@cache
def _rows() -> dict[str, tuple[str, ...]]:
    """Return the words of each list."""
    found = (_ROW.fullmatch(line) for line in packaged(__package__, "allowed.def").splitlines())
    rows = gathered((row[1], row[3]) for row in found if row and not row[2])
    return {name: tuple(words) for name, words in rows.items()}


@cache
def _why(name: str) -> str:
    """Return the end of a sentence that begins with a path or a command."""
    found = map(_ROW.fullmatch, packaged(__package__, "allowed.def").splitlines())
    return next(row[3].replace('\\"', '"') for row in found if row and row[2] == name)


def wrong_target(path: str) -> str:
    """Return the reason why nothing is ever written to ``path``, as the end of a sentence that
    begins with it; "" if writing is allowed.
    """
    if not path.startswith(("/proc/sys/", "/sys/")):
        return _why("not_below")
    for never in _rows()["NEVER"]:
        if path == never or (never.endswith("/") and path.startswith(never)):
            return _why("no_setting")
    named = path.startswith("/sys/") and path.rpartition("/")[2] in _rows()["NEVER_NAMED"]
    return _why("takes_device") if named else ""


def lossy(path: str, value: str) -> str:
    """Return the reason why writing ``value`` to ``path`` could not be fully undone, as the end of
    a sentence that begins with the path; "" if it could.
    """
    if path in _rows()["OF_ALL"]:
        return _why("of_all")
    if path == _PTRACE and _number(value) >= _LOCKED:
        return _why("locks")
    folder, _, name = path.rpartition("/")
    sleeps = path.startswith("/sys/") and folder.endswith("/power") and name in ("control", "level")
    if sleeps and value != "on":
        return _why("may_sleep")
    if path.startswith(_IPV6) and not path.startswith(f"{_IPV6}default/"):
        if name == "addr_gen_mode":
            return _why("adds_ipv6")
        if name in ("disable_ipv6", "forwarding") and value != "0":
            return _why("removes_ipv6")
    return _low_mtu(value) if name == "mtu" else ""


def _low_mtu(value: str) -> str:
    return _why("low_mtu") if 0 <= _number(value) < _LEAST_MTU else ""


def _number(value: str) -> int:
    """Return the number at the beginning of ``value``, in any base, as the guard parses it; -1 if
    there is none.
    """
    found = _NUMBER.match(value)
    if found is None:
        return -1
    digits, octal = found[1], re.fullmatch("0[0-7]+", found[1])
    return int(digits, 8 if octal else 0)


def refused(path: str, value: str) -> str:
    """Return the sentence with which ``apply`` refuses to write ``value`` to ``path``; "" if it
    writes it.
    """
    why = wrong_target(path) or lossy(path, value)
    return f'"{path[:200]}" {why}' if why else ""


def refused_command(change: Change) -> str:
    """Return the sentence with which ``apply`` refuses a change by commands; "" if it runs them."""
    if not _has_form(change.read, _SHOWS):
        return f'"{" ".join(change.read)[:200]}" {_why("no_show")}'
    line = f'"{" ".join(change.write)[:200]}"'
    if not _has_form(change.write, _SETS):
        return f"{line} {_why('no_set')}"
    if not any("{value}" in word for word in change.write):
        return f"{line} {_why('no_value')}"
    return refused_value(change.write, change.value)


def refused_value(argv: Sequence[str], value: str) -> str:
    """Return the sentence with which ``apply`` refuses the value of a command; "" if it accepts the
    value.
    """
    low = argv[0] == "ip" and argv[-2] == "mtu" and _low_mtu(value)
    return f'"{" ".join(argv)[:200]}" {low}' if low else ""


def _has_form(argv: Sequence[str], form: str) -> bool:
    """Return whether the command has this form, with a list of ``allowed.def`` for each NAME in
    angle brackets. No word of it contains a space.
    """
    lists = {name: "|".join(map(re.escape, words)) for name, words in _rows().items()}
    pattern = re.sub(r"<(\w+)>", lambda match: f"(?:{lists[match[1]]})", form)
    return re.fullmatch(pattern, " ".join(argv), re.ASCII) is not None


# --- Read a plan file that ``tune plan -o`` wrote; its contents are not trusted. Pure.

_ID = re.compile(r"[!-~]{1,200}", re.ASCII)
_VALUE = re.compile(r"[ -~]{1,4096}", re.ASCII)
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
        return "has an id with spaces or control characters"
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
    return (
        ""
        if is_text(drop_in.text)
        else ("has a text that is too long or contains control characters")
    )


_SCHEMA = TunePlan().schema
_VERSION = TunePlan().version


def read_plan(data: bytes, name: str) -> TunePlan:
    """Parse a plan. Raise ``BadInput`` with the mistake. The host checks again whether each change
    is allowed.
    """
    try:
        plan = decode_json(data, TunePlan)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{name} is not a plan of `wireproof tune plan -o`: {error}.") from error
    if plan.schema != _SCHEMA or plan.version != _VERSION:
        raise BadInput(
            f"{name} is {plan.schema[:60]} version {plan.version}; {_SCHEMA} version {_VERSION}"
            " is required: create the plan again."
        )
    names = [host.host for host in plan.hosts]
    if len(set(names)) < len(names):
        raise BadInput(f"{name} contains a host twice: create the plan again.")
    for host in plan.hosts:
        if wrong := wrong_in(host):
            raise BadInput(f"{name}: {wrong}: create the plan again.")
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
# A name in whole seconds or ticks, and the name with _ms for the same value in milliseconds.
_COARSE = ("gc_min_interval", "base_reachable_time", "retrans_time")


def coupled_with(path: str) -> tuple[str, ...]:
    """Return the other files whose values may change with a write to ``path``."""
    for group in _GROUPS:
        if path in group:
            return tuple(other for other in group if other != path)
    if device := re.fullmatch(r"/sys/class/net/([^/]+)/mtu", path):
        return (f"{_IPV6}{device[1]}/mtu",)  # follows the link's (addrconf_notify)
    coarse = path.removesuffix("_ms")
    if path.startswith("/proc/sys/net/") and coarse.rpartition("/")[2] in _COARSE:
        return (f"{coarse}_ms" if path == coarse else coarse,)
    return ()
