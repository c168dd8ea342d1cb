"""The facts in a host's root folder, as archives store them: files, output of commands that
replaces that of other commands, and facts that are unknown because no archive stores them.
"""

import dataclasses
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from wireproof.audit.archive import text_of
from wireproof.audit.catalogue import Catalogue, requests, requests_of_instances
from wireproof.audit.facts import UNKEPT, WHOSE, HostFacts, matches_any
from wireproof.audit.interfaces import IP_ADDRESS, IP_ROUTE, driver_of
from wireproof.audit.machine import machine_of
from wireproof.audit.pci import LSPCI, adapters_of
from wireproof.audit.printed import (
    OF_ARCHIVES,
    perfquery_of,
    printed_of,
    queries_of,
)
from wireproof.audit.printed_texts import file_called
from wireproof.audit.values import AFFINITIES, folded, vectors_in, vectors_of
from wireproof.files.hostile import open_regular
from wireproof.instrument.plan_text import Collected, without_secrets
from wireproof.model.plan import FactRequest
from wireproof.model.record import FactFrame

# --- The output of a program, derived from the output of another (systemctl, df, chronyc,
# mlnx_qos).

_UNIT = re.compile(r"^[ \t*\u25cf\u25cb\u00d7]*(\S+\.service)[ \t]+(.+)$", re.MULTILINE)
_LEAP = re.compile(r"^Leap status[ \t]*: (\w+)", re.MULTILINE)
_MLNX_ON = re.compile(r"^[ \t]*enabled:?((?:[ \t]+[01]){8})[ \t]*$", re.MULTILINE)
_SWITCH = {"0": "off", "1": "on"}
_ALL_UNITS = re.compile(r"^\d{1,6} (?:loaded units|unit files) listed\.", re.MULTILINE)


def told_elsewhere(argv: Sequence[str], texts: Mapping[str, str]) -> str:
    """Return the output that the command ``argv`` would have printed on the host of an archive; ""
    if it cannot be derived from the archive's other outputs (``texts``, by file name).
    """
    match list(argv):
        case ["systemctl", "is-active", unit]:
            return _column(_listed(texts, "list-units"), unit, 1, "inactive")
        case ["systemctl", "is-enabled", unit]:
            template = re.sub(r"@[^.]+", "@", unit)
            return _column(_listed(texts, "list-unit-files"), template, 0, "not-found")
        case ["systemctl", "show", "-p", name, unit]:
            shown = "\n".join(_shown_of(texts, unit))
            return _row(rf"^{re.escape(name)}=.*$", shown)
        case ["timedatectl", *show]:
            return _by_chrony(texts, alone=not show)
        case ["dcb", "pfc", "show", "dev", nic]:
            return _by_mlnx_qos(texts, nic)
        case ["df", "-Pk", folder]:
            text = "\n".join(_named(texts, "df_-al.*"))
            return _row(rf"^\S+(?:[ \t]+\S+){{4}}[ \t]+{re.escape(folder)}$", text)
    return ""


def _row(pattern: str, text: str) -> str:
    row = re.search(pattern, text, re.MULTILINE)
    return f"{row[0]}\n" if row else ""


def _by_chrony(texts: Mapping[str, str], *, alone: bool) -> str:
    """Return chrony's state as a line of timedatectl. Unless chrony's output is ``alone``, return
    it only if chrony follows no server; otherwise the output of timedatectl itself is used.
    """
    leaps = _LEAP.findall("".join(_named(texts, r"chronyc(?:_-\w)*_tracking")))
    follows = leaps[:1] == ["Normal"]
    known = leaps and (alone or not follows)
    return f"System clock synchronized: {'yes' if follows else 'no'}\n" if known else ""


def _by_mlnx_qos(texts: Mapping[str, str], nic: str) -> str:
    rows = _MLNX_ON.findall("".join(_named(texts, rf"mlnx_qos_-i_{re.escape(nic)}")))
    flags = enumerate(rows[0].split() if rows else ())
    states = " ".join(f"{number}:{_SWITCH[flag]}" for number, flag in flags)
    return f"prio-pfc {states}\n" if states else ""


def _named(texts: Mapping[str, str], name: str) -> list[str]:
    """Return the texts of files whose names match ``name``."""
    return [text for called, text in sorted(texts.items()) if re.fullmatch(name, called)]


def _listed(texts: Mapping[str, str], what: str) -> str:
    """Return all lines that systemctl printed about services, except lists of failed units or of
    other types.
    """
    options = "(?:_--all|_--no-pager|_--full)*"
    return "\n\n".join(_named(texts, rf"systemctl[\w.-]*_{what}(?:_service)?{options}"))


def _shown_of(texts: Mapping[str, str], unit: str) -> Iterator[str]:
    """Yield the blocks of ``systemctl show`` about the unit: those with its name, and those without
    a name in a text that is called after it.
    """
    called = re.escape(unit.removesuffix(".service"))
    for name, text in sorted(texts.items()):
        if not re.fullmatch(r"systemctl[\w.-]*_show(?:_[\w.@-]*)?", name):
            continue
        after = re.search(rf"_{called}(?:\.service)?(?:_|$)", name)
        for block in text.split("\n\n"):
            names = re.findall(r"^Id=(.+)$", block, re.MULTILINE)
            if unit in names or (after and not names):
                yield block


def _column(listing: str, unit: str, column: int, without: str) -> str:
    """Return a word of the unit's row. ``without``: the result if a complete list lacks
    the unit.
    """
    rows: dict[str, str] = dict(_UNIT.findall(listing))
    words = rows.get(unit, "").split()
    if len(words) > column:
        return words[column]
    return without if unit not in rows and _ALL_UNITS.search(listing) else ""


# --- All facts of a host.


def facts_kept(
    folder: Path, known: Catalogue, read: Callable[[Sequence[FactRequest]], Collected]
) -> Collected:
    """Return the facts that the root folder of a host contains. ``read``: reads files there as the
    engine does on a machine.
    """
    wanted = requests(known)
    found = read([request for request in wanted if request.kind != "command"])
    first = (
        *_with_limits(folder, as_kept(folder, with_sysctls(folder, found.frames))),
        *command_facts(folder, _of_archives(*_of_host(folder))),
    )
    machine = machine_of(HostFacts.of(found.host, first))
    nics = [nic.label for nic in machine.nics]
    ports = [(port.places["device"], port.places["port"]) for port in machine.rdma]
    printed = _of_archives(
        *(argv for nic in nics for argv in printed_of(nic)),
        *(perfquery_of(*port) for port in ports),
        *(argv for _, pci in adapters_of(machine.facts) if pci for argv in queries_of(pci)),
    )
    named = requests_of_instances(known, (*machine.nics, *machine.rdma))
    asked = (*wanted, *named, *printed)
    addresses = {**dict.fromkeys(nics, ""), **dict(adapters_of(machine.facts))}
    irqs = interrupt_facts(folder, addresses)
    frames = (*first, *irqs, *command_facts(folder, asked))
    return dataclasses.replace(found, frames=folded(frames, nics))


def _of_host(folder: Path) -> list[tuple[str, ...]]:
    """Return the commands whose output lists the interfaces and ports of an archive's host."""
    named = sorted(folder.glob("sos_commands/*/ethtool_-i_*"))
    drivers = [driver_of(file.name.removeprefix("ethtool_-i_")) for file in named]
    return [LSPCI, IP_ADDRESS, IP_ROUTE, *OF_ARCHIVES, *drivers]


def _of_archives(*commands: tuple[str, ...]) -> tuple[FactRequest, ...]:
    """Return requests that only archives need; on a live host the engine reads these facts
    itself."""
    return tuple(FactRequest(kind="command", argv=argv) for argv in commands)


def host_of(folder: Path) -> str:
    """Return the host's name from its files, else the folder's name."""
    for place in ("etc/hostname", "proc/sys/kernel/hostname"):
        try:
            with open_regular(folder / place, follow=False) as file:
                words = file.read(256).decode("ascii", "replace").split()
        except OSError:
            continue
        if words:
            return words[0]
    return folder.name


_MOST_INTERRUPTS = 20_000
_ALSO = {
    "cpupower_frequency-info": ("cpupower_-c_all_frequency-info",),
    "ip_-d_address": ("ip_address", "ip_addr"),
    "ip_route_show_table_all": ("ip_route", "ip_route_show"),
    "sestatus": ("sestatus_-v", "sestatus_-b"),
    "lspci_-nnvv": ("lspci_-nnvvv", "lspci_-vvnn", "lspci_-nnv", "lspci_-nnvvk", "lspci_-vvv"),
}
"""Other commands in archives that print the same facts."""
_TELL_OF_OTHERS = ("systemctl", "df_-al", "chronyc", "mlnx_qos")


def command_facts(root: Path, requests: Sequence[FactRequest]) -> list[FactFrame]:
    """Return the output of commands, as a sosreport stores it:
    ``sos_commands/*/ethtool_-g_eth0``.
    """
    kept = {file.name: file for file in sorted(root.glob("sos_commands/*/*"))}
    others = {
        name: text_of(file) or "" for name, file in kept.items() if name.startswith(_TELL_OF_OTHERS)
    }
    frames = []
    for request in requests:
        if request.kind != "command":
            continue
        name = file_called(request.argv)
        names = (name, *_ALSO.get(name, ()), name.removesuffix(".service"))
        file = next((kept[also] for also in names if also in kept), None)
        text = text_of(file) if file is not None else told_elsewhere(request.argv, others) or None
        frames.append(without_secrets(_frame_of(request.argv, text)))
    return frames


_ERROR = re.compile(r"(operation not supported)|command not found", re.IGNORECASE)
_MOST_ERROR = 300


def _frame_of(argv: Sequence[str], text: str | None) -> FactFrame:
    """Return the output of a command as a live host would return it: archives store errors as
    output.
    """
    words = list(argv)
    error = _ERROR.search(text) if text and len(text) < _MOST_ERROR else None
    if error and error[1]:
        why = error[1].capitalize()
        return FactFrame(rank=0, kind="command", argv=words, status="failed", reason=why)
    if text is None or error:
        return FactFrame(rank=0, kind="command", argv=words, status="missing", reason=UNKEPT)
    return FactFrame(rank=0, kind="command", argv=words, status="ok", text=text)


def interrupt_facts(root: Path, addresses: Mapping[str, str]) -> list[FactFrame]:
    """Return the output that the commands of `audit.values` would print, from /proc/irq and
    /proc/interrupts. ``addresses``: PCI addresses of the interfaces, "" if unknown.
    """
    lists = sorted(root.glob("proc/irq/*/*affinity_list"))[:_MOST_INTERRUPTS]
    lines = (f"/{file.relative_to(root)}:{(text_of(file) or '').strip()}\n" for file in lists)
    table = text_of(root / "proc/interrupts") or ""
    printed = {
        vectors_of(nic): vectors_in(table, (nic, address)) for nic, address in addresses.items()
    }
    printed[AFFINITIES] = "".join(lines)
    return [
        FactFrame(rank=0, kind="command", argv=list(argv), status="ok", text=text)
        for argv, text in printed.items()
        if text
    ]


def with_sysctls(root: Path, frames: Iterable[FactFrame]) -> tuple[FactFrame, ...]:
    """Return ``frames`` with the files below /proc/sys that an archive stores only in the output of
    ``sysctl -a``.
    """
    values = _sysctls(root)
    return tuple(new for frame in frames for new in _of_sysctl(frame, values))


def _sysctls(root: Path) -> dict[str, str]:
    """Return the values of ``sysctl -a`` by their paths below /proc/sys."""
    values: dict[str, str] = {}
    for file in sorted(root.glob("sos_commands/*/sysctl_-a*")):
        for line in (text_of(file) or "").splitlines():
            name, equals, value = line.partition(" = ")
            if equals:
                values.setdefault(name.strip().translate(_AS_PATH), value)
    return values


EVERYWHERE = (
    *("fs/file-max", "kernel/hostname", "kernel/osrelease", "kernel/pid_max", "kernel/threads-max"),
    *("net/core/rmem_max", "net/core/somaxconn", "net/ipv4/ip_forward", "net/ipv4/tcp_sack"),
    *("net/ipv4/tcp_wmem", "vm/overcommit_memory", "vm/swappiness", "vm/vfs_cache_pressure"),
)
"""Files from different parts of /proc/sys that exist in every Linux since 3.10: if they are missing
from a list or folder, it was shortened.
"""


def _has_all_sysctls(root: Path) -> bool:
    """Return whether the archive's list of sysctls is complete, so that a missing sysctl does not
    exist on the host.
    """
    listed, folder = _sysctls(root), root / "proc/sys"
    return all(name in listed or (folder / name).is_file() for name in EVERYWHERE)


_WHOLE = "/sys/devices/system/cpu"
"""The folder that sos copies completely (its plugin processor); of the folder of NUMA nodes it
copies only some files of each node."""
_MODULES = "/sys/module/"


def as_kept(root: Path, frames: Iterable[FactFrame]) -> tuple[FactFrame, ...]:
    """Return ``frames`` of a sosreport, or of a folder without interfaces, with missing files
    marked as unknown unless the whole folder is stored. A folder with all of /sys is treated like
    the host.
    """
    frames = tuple(frames)
    if not (root / "sos_commands").is_dir() and (root / "sys/class/net").is_dir():
        return frames
    loaded = {
        line.split(" ", 1)[0]
        for frame in frames
        if frame.path == "/proc/modules" and frame.kind == "file"
        for line in frame.text.splitlines()
    }
    sysctls = _has_all_sysctls(root)
    return tuple(
        msgspec.structs.replace(frame, status="failed", reason=UNKEPT)
        if _is_missing(frame) and not _is_known_missing(frame.path, root, loaded, sysctls=sysctls)
        else frame
        for frame in frames
    )


def _is_missing(frame: FactFrame) -> bool:
    empty = frame.kind == "glob" and frame.status == "ok" and not frame.text.strip()
    return frame.kind != "command" and (frame.status == "missing" or empty)


def _is_known_missing(path: str, root: Path, loaded: Collection[str], *, sysctls: bool) -> bool:
    """``sysctls``: the archive shows all files of /proc/sys."""
    if path.startswith(_MODULES):
        return _lacks_module(path, root, loaded)
    if path.startswith(_SYSCTLS):
        return sysctls
    return path.startswith(f"{_WHOLE}/") and (root / _WHOLE[1:]).is_dir()


def _lacks_module(path: str, root: Path, loaded: Collection[str]) -> bool:
    """Return whether the module is not loaded: sos copies the parameters of all modules. A
    supportconfig leaves out those that are part of the kernel, which are not loaded either.
    """
    name = path.removeprefix(_MODULES).partition("/")[0]
    folder = root / "sys/module"
    if not folder.is_dir() or "*" in name:
        return False
    if (folder / name / "parameters").is_dir():
        return True
    if not loaded or name in loaded or (folder / name).exists():
        return False
    return path.endswith("/initstate") or any(one.name not in loaded for one in folder.iterdir())


_LIMITS = "/proc/self/limits"
_OF_LIMITS = {
    "memlock": ("Max locked memory", 1024), "nofile": ("Max open files", 1),
    "nproc": ("Max processes", 1), "stack": ("Max stack size", 1024),
}  # fmt: skip
"""Rows of /proc/self/limits, and the unit of their values in limits.conf (limits.conf(5))."""
_LIMIT = re.compile(r"^[ \t]*(?!root\b|#)(\S+)[ \t]+(?:soft|-)[ \t]+(\w+)[ \t]+(\S+)", re.MULTILINE)
_UNLIMITED = ("unlimited", "infinity", "-1")


def _with_limits(root: Path, frames: tuple[FactFrame, ...]) -> tuple[FactFrame, ...]:
    """Return ``frames`` with the limits of a login, if the archive has no process's limits."""
    rows = "".join(_limits_of_login(root))
    if not rows or all(frame.path != _LIMITS or frame.status == "ok" for frame in frames):
        return frames
    of_login = FactFrame(rank=0, kind="file", status="ok", path=WHOSE, text="a login (limits.conf)")
    new = (_said(frame, rows) if frame.path == _LIMITS else frame for frame in frames)
    return (*new, of_login)


def _limits_of_login(root: Path) -> Iterator[str]:
    """Yield the rows of limits that limits.conf sets for all users. A limit that differs between
    users is omitted.
    """
    files = [root / "etc/security/limits.conf", *sorted(root.glob("etc/security/limits.d/*.conf"))]
    found: dict[str, dict[str, str]] = {}
    for domain, item, value in _LIMIT.findall("\n".join(text_of(file) or "" for file in files)):
        found.setdefault(item, {})[domain] = "unlimited" if value in _UNLIMITED else value
    for item, (name, unit) in _OF_LIMITS.items():
        values = found.get(item, {})
        value = values.get("*", "")
        if len(set(values.values())) == 1 and re.fullmatch(r"unlimited|[0-9]{1,12}", value):
            yield f"{name:26}{int(value) * unit if value != 'unlimited' else value}\n"


_AS_PATH = str.maketrans("./", "/.")
"""``net.ipv4.conf.eth0/7.mtu`` is net/ipv4/conf/eth0.7/mtu (sysctl.d(5))."""
_SYSCTLS = "/proc/sys/"


def _of_sysctl(frame: FactFrame, values: Mapping[str, str]) -> Iterator[FactFrame]:
    """Yield the frame, or its replacement from the values of ``sysctl -a``: for a pattern, its list
    and its files.
    """
    if not frame.path.startswith(_SYSCTLS) or not _is_missing(frame):
        yield frame
        return
    names = [frame.path.removeprefix(_SYSCTLS)]
    if frame.kind == "glob":
        names = [name for name in values if matches_any(names, name)]
        listing = "".join(f"{_SYSCTLS}{name}\n" for name in names)
        yield _said(frame, listing) if names else frame
    elif names[0] not in values:
        yield frame
        return
    for name in names:
        file = FactFrame(rank=0, kind="file", status="ok", path=f"{_SYSCTLS}{name}")
        yield without_secrets(_said(file, f"{values[name]}\n"))


def _said(frame: FactFrame, text: str) -> FactFrame:
    return msgspec.structs.replace(frame, status="ok", text=text, reason="")
