"""Read a host's files from a folder, a sosreport or a supportconfig, or what its commands printed
from a folder of texts, for ``audit --from``.
"""

import contextlib
import lzma
import re
import tarfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Self, cast

import msgspec

from wireproof.audit.facts import UNKEPT, matches_any
from wireproof.audit.printed import told_elsewhere
from wireproof.audit.values import AFFINITIES, vectors_in, vectors_of
from wireproof.files.bounded import Unpacked
from wireproof.files.held import temporary_folder
from wireproof.files.hostile import open_regular
from wireproof.instrument.plan_text import without_secrets
from wireproof.model.errors import BadInput
from wireproof.model.plan import FactRequest
from wireproof.model.record import FactFrame
from wireproof.workflow.printed_texts import (
    COMMANDS,
    file_called,
    holds_places,
    places_by_host,
)
from wireproof.workflow.supportconfig import NAMES, is_supportconfig, lay_out

_LARGEST_ARCHIVE = 4 << 30
_LARGEST_UNPACKED = 16 << 30
"""Includes members that are not read: skipping them requires decompressing them, too."""
_MOST_HEADERS = 1000
"""Maximum number of global headers: each member with headers gets a copy of them."""
_MOST_MEMBERS = 1_000_000
_MOST_FILES = 100_000
"""Most files that are unpacked."""
_LARGEST_HEADER = 1 << 15
_LARGEST_HEADERS = 16 << 20
"""Bytes of all headers with names and attributes of a member, which tarfile parses word by word."""
_LONGEST_NAME = 4095
_WANTED = ("etc", "proc", "sys", "sos_commands", "uname", "lspci", "environment")
_RELEASE = ("usr", "lib", "os-release")
"""The target of the link /etc/os-release: links are not unpacked."""
_SECRETS = frozenset(
    (
        *("environ", "shadow", "shadow-", "gshadow", "gshadow-", "munge", "ssh", "pki", "ssl"),
        *("krb5.keytab", "private", "secrets", "slurmdbd.conf", ".ssh", ".netrc", ".aws"),
    )
)
_LARGEST_TEXT = 4 << 20
_LARGEST_TEXTS = 256 << 20
_MOST_WITHIN = 8
_MOST_INTERRUPTS = 20_000
_DAMAGE = (
    *(tarfile.TarError, zlib.error, lzma.LZMAError),
    *(OSError, EOFError, ValueError, RecursionError, OverflowError),
)
"""Errors of tarfile and the decompressors for a damaged, hostile or missing archive."""
_ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz")


@contextlib.contextmanager
def opened(source: Path, host: str = "") -> Iterator[Path]:
    """Yield the folder of `opened_all` that is called ``host``, else the first."""
    with opened_all(source) as roots:
        yield next((root for root in roots if root.name == host), roots[0])


@contextlib.contextmanager
def opened_all(source: Path) -> Iterator[list[Path]]:
    """Yield the folder that holds the host's /proc, /sys and /etc: ``source`` itself, or the
    unpacked archive, which is removed after the block. Texts of several hosts give a folder each.
    Raises ``BadInput`` if it is neither.
    """
    if source.is_dir():
        with _as_roots(source) as roots:
            yield roots
        return
    if not source.name.endswith(_ARCHIVES):
        raise BadInput(
            f"{source} is not a folder, a snapshot of wireproof or an archive"
            f" ({', '.join(_ARCHIVES)})."
        )
    with temporary_folder("wireproof-archive-") as scratch:
        _unpack(source, Path(scratch))
        with _as_roots(Path(scratch)) as roots:
            yield roots


@contextlib.contextmanager
def _as_roots(folder: Path) -> Iterator[list[Path]]:
    """Yield ``folder`` or the host's folder in it; a supportconfig and texts of commands are laid
    out in a temporary folder.
    """
    inside = [path for path in sorted(folder.iterdir()) if path.is_dir()]
    found = next((path for path in (folder, *inside) if is_supportconfig(path)), None)
    whole = found is None and any(map(_is_root, (folder, *inside)))
    hosts = {} if found or whole else places_by_host(_texts_of(folder))
    if found is None and not hosts:
        yield [_root(folder)]
        return
    with temporary_folder("wireproof-archive-") as scratch:
        if found is not None:
            root = Path(scratch) / found.absolute().name
            (root / COMMANDS).mkdir(parents=True)
            lay_out(found, root)
            yield [root]
            return
        roots = [Path(scratch) / (host or folder.absolute().name) for host in hosts]
        for root, places in zip(roots, hosts.values(), strict=True):
            (root / COMMANDS).mkdir(parents=True)
            for place, text in places.items():
                (root / place).parent.mkdir(parents=True, exist_ok=True)
                (root / place).write_text(text, encoding="utf-8")
        yield roots


def _texts_of(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the files of ``folder`` that may be texts of commands, by name. Raises ``BadInput``
    above 256 MiB.
    """
    total = 0
    for file in sorted(folder.iterdir())[:_MOST_FILES]:
        text = _text(file) if file.is_file() else None
        if text is not None and holds_places(file.name, text):
            total += len(text)
            if total > _LARGEST_TEXTS:
                raise BadInput(f"{folder} has more than 256 MiB of texts of commands.")
            yield file.name, text


def _root(folder: Path) -> Path:
    """Return ``folder``, or the only host's folder in it, as archives have it."""
    if _is_root(folder):
        return folder
    inside = [path for path in sorted(folder.iterdir()) if path.is_dir() and _is_root(path)]
    if len(inside) > 1:
        named = ", ".join(path.name for path in inside[:3])
        raise BadInput(
            f"{folder} holds {len(inside)} hosts ({named} ...): give the folder of one of them."
        )
    if inside:
        return inside[0]
    raise BadInput(
        f"{folder} has no proc, sys or etc, and no text named after a command (sysctl_-a.txt): give"
        " a host's root folder, a sosreport or a folder of texts."
    )


def _is_root(folder: Path) -> bool:
    return any((folder / name).is_dir() for name in ("proc", "sys", "etc"))


def _unpack(source: Path, folder: Path) -> None:
    """Unpack only files that are read: no link, device or path that leads elsewhere."""
    total = 0
    try:
        with open_regular(source) as file:
            stream = cast("BinaryIO", Unpacked(file, _LARGEST_UNPACKED))
            with tarfile.open(fileobj=stream, mode="r:", tarinfo=_Member) as archive:
                for member in _members(archive, source):
                    total += member.size
                    if total > _LARGEST_ARCHIVE:
                        raise BadInput(f"{source} unpacks to more than 4 GiB: that is too large.")
                    archive.extract(member, folder, filter="data")
    except _DAMAGE as error:
        first, _, more = str(error).partition("\n")  # one line for each compression that was tried
        why = "it is not a tar archive, or is truncated" if more or not first else first
        raise BadInput(f"{source} cannot be read as an archive: {why.rstrip('.')}.") from error


_SPARSE = "it has a sparse file"
_HEADERS = (
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
)


class _Member(tarfile.TarInfo):
    """Bounds what tarfile reads.

    tarfile calls this for each header, recursively if a header belongs to the next, and holds all
    of them until the last; it does not bound the map of a sparse file.
    """

    _within = 0

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type == tarfile.GNUTYPE_SPARSE:
            raise tarfile.ReadError(_SPARSE)
        if self.type in _HEADERS:
            archive.fileobj.headers += self.size  # type: ignore[attr-defined]
            headers: int = archive.fileobj.headers  # type: ignore[attr-defined]
            if self.size > _LARGEST_HEADER or headers > _LARGEST_HEADERS:
                raise tarfile.ReadError("its members have too large headers")
        return super()._proc_member(archive)  # type: ignore[misc, no-any-return]

    def _proc_gnusparse_10(self, *_: object) -> None:
        raise tarfile.ReadError(_SPARSE)

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        if _Member._within >= _MOST_WITHIN:
            raise tarfile.ReadError(f"a member has more than {_MOST_WITHIN} headers")
        _Member._within += 1
        try:
            return super().fromtarfile(archive)
        finally:
            _Member._within -= 1


def _members(archive: tarfile.TarFile, source: Path) -> Iterator[tarfile.TarInfo]:
    """Yield the members that are read one by one, without keeping them as tarfile does."""
    files = 0
    for _ in range(_MOST_MEMBERS):
        member = archive.next()
        archive.members = []  # type: ignore[attr-defined]
        if member is None:
            return
        if len(archive.pax_headers) > _MOST_HEADERS:
            raise BadInput(f"{source} has more than {_MOST_HEADERS} headers for all its members.")
        if member.isreg() and _is_wanted(member.name):
            files += 1
            if files > _MOST_FILES:
                raise BadInput(
                    f"{source} has more than {_MOST_FILES} files, which no sosreport has."
                )
            yield member
    raise BadInput(f"{source} has more than {_MOST_MEMBERS} members, which no sosreport has.")


def _is_wanted(name: str) -> bool:
    """Return whether a member is read. Files that hold secrets are not even unpacked."""
    if len(name) > _LONGEST_NAME:
        return False
    parts = Path(name).parts
    texts = len(parts) == 2 and parts[0].startswith(NAMES) and parts[1].endswith(".txt")
    wanted = any(part in _WANTED for part in parts[:2]) or parts[-3:] == _RELEASE or texts
    return wanted and not _SECRETS.intersection(parts)


_ALSO = {
    "ip_-d_address": ("ip_address", "ip_addr"),
    "ip_route_show_table_all": ("ip_route", "ip_route_show"),
    "sestatus": ("sestatus_-v", "sestatus_-b"),
    "lspci_-nnvv": ("lspci_-nnvvv", "lspci_-vvnn", "lspci_-nnv", "lspci_-nnvvk", "lspci_-vvv"),
}
"""Other commands in archives that print the same facts."""
_TELL_OF_OTHERS = ("systemctl", "df_-al")


def command_facts(root: Path, requests: Sequence[FactRequest]) -> list[FactFrame]:
    """Return what commands printed, as a sosreport stores it: ``sos_commands/*/ethtool_-
    g_eth0``.
    """
    kept = {file.name: file for file in sorted(root.glob("sos_commands/*/*"))}
    others = {
        name: _text(file) or "" for name, file in kept.items() if name.startswith(_TELL_OF_OTHERS)
    }
    frames = []
    for request in requests:
        if request.kind != "command":
            continue
        name = file_called(request.argv)
        file = next((kept[also] for also in (name, *_ALSO.get(name, ())) if also in kept), None)
        text = _text(file) if file is not None else told_elsewhere(request.argv, others) or None
        frames.append(without_secrets(_frame_of(request.argv, text)))
    return frames


_ERROR = re.compile(r"(operation not supported)|command not found", re.IGNORECASE)
_MOST_ERROR = 300


def _frame_of(argv: Sequence[str], text: str | None) -> FactFrame:
    """Return the output of a command as a host would give it: archives keep errors as output."""
    words = list(argv)
    error = _ERROR.search(text) if text and len(text) < _MOST_ERROR else None
    if error and error[1]:
        why = error[1].capitalize()
        return FactFrame(rank=0, kind="command", argv=words, status="failed", reason=why)
    if text is None or error:
        return FactFrame(rank=0, kind="command", argv=words, status="missing", reason=UNKEPT)
    return FactFrame(rank=0, kind="command", argv=words, status="ok", text=text)


def interrupt_facts(root: Path, addresses: Mapping[str, str]) -> list[FactFrame]:
    """Return what the commands of `audit.values` would print, from /proc/irq and
    /proc/interrupts. ``addresses``: of the interfaces on PCI, "" if unknown.
    """
    lists = sorted(root.glob("proc/irq/*/*affinity_list"))[:_MOST_INTERRUPTS]
    lines = (f"/{file.relative_to(root)}:{(_text(file) or '').strip()}\n" for file in lists)
    table = _text(root / "proc/interrupts") or ""
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
        for line in (_text(file) or "").splitlines():
            name, equals, value = line.partition(" = ")
            if equals:
                values.setdefault(name.strip().translate(_AS_PATH), value)
    return values


EVERYWHERE = (
    *("fs/file-max", "kernel/hostname", "kernel/osrelease", "kernel/pid_max", "kernel/threads-max"),
    *("net/core/rmem_max", "net/core/somaxconn", "net/ipv4/ip_forward", "net/ipv4/tcp_sack"),
    *("net/ipv4/tcp_wmem", "vm/overcommit_memory", "vm/swappiness", "vm/vfs_cache_pressure"),
)
"""Files that every Linux since 3.10 has, from all over /proc/sys: a list without them, or a folder,
was shortened.
"""


def _has_all_sysctls(root: Path) -> bool:
    """Return whether a sysctl that the archive does not show does not exist on the host."""
    listed, folder = _sysctls(root), root / "proc/sys"
    return all(name in listed or (folder / name).is_file() for name in EVERYWHERE)


_WHOLE = "/sys/devices/system/cpu"
"""The folder that sos copies completely (its plugin processor); of that of the NUMA nodes it copies
some files of each node."""
_MODULES = "/sys/module/"


def as_kept(root: Path, frames: Iterable[FactFrame]) -> tuple[FactFrame, ...]:
    """Return ``frames`` of a sosreport, or of a folder without interfaces, with missing files
    marked as unknown unless the whole folder is stored. A folder with all of /sys counts like the
    host.
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


_AS_PATH = str.maketrans("./", "/.")
"""``net.ipv4.conf.eth0/7.mtu`` is net/ipv4/conf/eth0.7/mtu (sysctl.d(5))."""
_SYSCTLS = "/proc/sys/"


def _of_sysctl(frame: FactFrame, values: Mapping[str, str]) -> Iterator[FactFrame]:
    """Yield the frame, or what the values of ``sysctl -a`` give instead: for a pattern its list and
    its files.
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


def _text(file: Path) -> str | None:
    try:
        with open_regular(file, follow=False) as opened_file:
            return opened_file.read(_LARGEST_TEXT).decode("utf-8", "replace")
    except OSError:
        return None
