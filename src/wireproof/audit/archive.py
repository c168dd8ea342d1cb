"""Read a host's files from a folder, a sosreport or a supportconfig, or the output of its commands
from a folder of texts, for ``audit --from``.
"""

import contextlib
import errno
import lzma
import os
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Self, cast

from wireproof.audit.facts import first_match
from wireproof.audit.printed_texts import (
    COMMANDS,
    holds_places,
    places,
    places_by_host,
)
from wireproof.files.bounded import Unpacked
from wireproof.files.held import temporary_folder
from wireproof.files.hostile import open_regular, read_bounded
from wireproof.model.errors import BadInput

# --- Read a supportconfig archive of SUSE and lay it out like a sosreport.

NAMES = ("scc_", "nts_")
"""Prefix of the name of the archive's folder (supportutils 3 and before)."""
_WITNESSES = ("basic-environment.txt", "supportconfig.txt")
_SECTION = re.compile(
    r"^#==\[ (Command|Configuration File) \]=+#\n# ([^\n]{1,300})\n", re.MULTILINE
)
_ANY_SECTION = re.compile(r"^#==\[ ", re.MULTILINE)
_LARGEST_PART = 64 << 20
_MOST_SECTIONS = 20_000
_LONGEST_PATH = 200
_ROOTS = ("etc", "proc", "sys")
_ASIDE = ("--no-pager", "2>/dev/null")
"""Words of a command that do not change its output."""
_HOST = re.compile(r"^(?:scc|nts)_(.+)_\d{6}_\d{4}$")


def is_supportconfig(folder: Path) -> bool:
    """Return whether ``folder`` holds the texts of a supportconfig."""
    return any((folder / name).is_file() for name in _WITNESSES)


def lay_out(source: Path, folder: Path) -> None:
    """Write the sections of ``source`` below ``folder``: files of /etc, /proc and /sys at their
    paths, and output of commands under the name that sos gives the command. If several texts have
    the same name, the longest is kept. Raises ``BadInput`` above 20,000 texts, because each becomes
    a file.
    """
    for number, (place, body) in enumerate(_all_places(source)):
        if number >= _MOST_SECTIONS:
            raise BadInput(
                f"{source} has more than {_MOST_SECTIONS} sections, which no supportconfig has."
            )
        _write(folder / place, body)
    if host := _HOST.match(source.name):
        _write(folder / "etc/hostname", f"{host[1]}\n")


def _all_places(source: Path) -> Iterator[tuple[PurePosixPath, str]]:
    for text in sorted(source.glob("*.txt")):
        try:
            content = read_bounded(text, _LARGEST_PART, follow=False)
        except OSError as error:
            if error.errno == errno.EFBIG:
                raise BadInput(
                    f"{text.name} in {source} is larger than {_LARGEST_PART >> 20} MiB: shorten it,"
                    " or give the supportconfig without it."
                ) from error
            continue
        yield from _places(content.decode("utf-8", "replace"))


def _places(content: str) -> Iterator[tuple[PurePosixPath, str]]:
    """Yield the path of each section below a root, with its text."""
    for head in _SECTION.finditer(content):
        after = _ANY_SECTION.search(content, head.end())
        body = content[head.end() : after.start() if after else len(content)].rstrip() + "\n"
        if head[1] == "Configuration File":
            if place := _file(head[2]):
                yield place, body
                yield from _of_bond(place, body)
        else:
            yield from _of_command(head[2], body)


_PARAMETER = re.compile(r"^/(sys/module/\w{1,60}/parameters/\w{1,60})=(.*)$", re.MULTILINE)
_MODULE = re.compile(r"^(?!Module )(\w{1,60}) ", re.MULTILINE)


def _of_command(subject: str, body: str) -> Iterator[tuple[PurePosixPath, str]]:
    """Yield the output of a command, the parameters of a module from its modinfo section, and an
    entry for each module in a list of modules.
    """
    program, *words = subject.partition(" | ")[0].split() or [""]
    words = [PurePosixPath(program).name, *(word for word in words if word not in _ASIDE)]
    if words[0] == "cat" and len(words) == 2:
        if place := _file(words[1]):
            yield place, body
        return
    if words[0] == "modinfo":
        yield from ((PurePosixPath(path), f"{text}\n") for path, text in _PARAMETER.findall(body))
    listed = words in (["sort", "/proc/modules"], ["lsmod"])
    for name, text in _of_modules(body) if listed else places(" ".join(words), body):
        yield PurePosixPath(name), text


def _of_modules(body: str) -> Iterator[tuple[str, str]]:
    yield "proc/modules", body
    for module in _MODULE.findall(body):
        yield f"sys/module/{module}/initstate", "live\n"


_MODES = {
    "round-robin": "balance-rr 0", "active-backup": "active-backup 1", "(xor)": "balance-xor 2",
    "broadcast": "broadcast 3", "802.3ad": "802.3ad 4", "transmit load": "balance-tlb 5",
    "adaptive load": "balance-alb 6",
}  # fmt: skip
"""Modes of a bond by their names in /proc/net/bonding (linux: bond_main.c, bond_mode_name)."""
_IN_BOND = {
    "mode": r"^Bonding Mode: (.*)$", "xmit_hash_policy": r"^Transmit Hash Policy: (\S+)",
    "miimon": r"^MII Polling Interval \(ms\): (\d+)$",
    "arp_interval": r"^ARP Polling Interval \(ms\): (\d+)",
}  # fmt: skip
_MEMBER = re.compile(r"^Slave Interface: ([\w.:-]{1,15})\nMII Status: (\w+)$", re.MULTILINE)


def _of_bond(place: PurePosixPath, body: str) -> Iterator[tuple[PurePosixPath, str]]:
    """Yield the files of /sys whose content /proc/net/bonding shows."""
    if place.parent != PurePosixPath("proc/net/bonding"):
        return
    folder = PurePosixPath("sys/class/net")
    for name, pattern in _IN_BOND.items():
        text = first_match(pattern, body) or ("0" if name == "arp_interval" else "")
        if name == "mode":
            text = next((mode for words, mode in _MODES.items() if words in text), "")
        if text:
            yield folder / place.name / "bonding" / name, f"{text}\n"
    for member, state in _MEMBER.findall(body):
        yield folder / member / "bonding_slave/mii_status", f"{state}\n"


def _file(subject: str) -> PurePosixPath | None:
    """Return the path of a section like ``/etc/sysctl.conf``; None for ``/etc/x - File not found``
    and for files that are not read.
    """
    path, _, remark = subject.partition(" ")
    parts = PurePosixPath(path).parts
    within = len(parts) > 2 and parts[0] == "/" and parts[1] in _ROOTS and ".." not in parts
    fits = all(map(_is_name, parts))
    return PurePosixPath(*parts[1:]) if within and fits and not remark else None


def _is_name(text: str) -> bool:
    """Return whether the text can be the name of a file."""
    return len(os.fsencode(text)) <= _LONGEST_PATH and "\0" not in text


def _write(path: Path, text: str) -> None:
    """Write into a folder that this process has just created, unless a longer file exists."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "wb") as file:
            content = text.encode()
            if len(content) > os.fstat(file.fileno()).st_size:
                file.truncate(0)
                file.write(content)
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        return


# --- Archives and folders.

_LARGEST_ARCHIVE = 4 << 30
_LARGEST_UNPACKED = 16 << 30
"""Includes members that are not read, because skipping them also requires decompressing them."""
_MOST_HEADERS = 1000
"""Maximum number of global headers: each member with headers gets a copy of them."""
_MOST_MEMBERS = 1_000_000
_MOST_FILES = 100_000
"""Limit on the number of unpacked files."""
_LARGEST_HEADER = 1 << 15
_LARGEST_HEADERS = 16 << 20
"""Limit on the size of a member's headers for names and attributes, which tarfile parses word by
word.
"""
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
_DAMAGE = (
    *(tarfile.TarError, zlib.error, lzma.LZMAError),
    *(OSError, EOFError, ValueError, RecursionError, OverflowError),
)
"""Errors of tarfile and the decompressors for a damaged, hostile or missing archive."""
_ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz")


@contextlib.contextmanager
def opened(source: Path, host: str = "") -> Iterator[Path]:
    """Yield the folder called ``host`` from `opened_all`, or else the first folder."""
    with opened_all(source) as roots:
        yield next((root for root in roots if root.name == host), roots[0])


@contextlib.contextmanager
def opened_all(source: Path) -> Iterator[list[Path]]:
    """Yield the folder that holds the host's /proc, /sys and /etc: ``source`` itself, or the
    unpacked archive, which is removed after the block. Texts of several hosts become one folder for
    each host. Raises ``BadInput`` if ``source`` is neither a folder nor an archive.
    """
    if source.is_dir():
        with _as_roots(source, source) as roots:
            yield roots
        return
    if not source.name.endswith(_ARCHIVES):
        raise BadInput(
            f"{source} is not a folder, a snapshot of wireproof or an archive"
            f" ({', '.join(_ARCHIVES)}): unpack any other archive, and give the folder."
        )
    with temporary_folder("wireproof-archive-") as scratch:
        _unpack(source, Path(scratch))
        with _as_roots(Path(scratch), source) as roots:
            yield roots


@contextlib.contextmanager
def _as_roots(folder: Path, source: Path) -> Iterator[list[Path]]:
    """Yield ``folder`` or the host's folder in it; a supportconfig and texts of commands are laid
    out in a temporary folder. ``source``: the name for errors.
    """
    inside = [path for path in sorted(folder.iterdir()) if path.is_dir()]
    found = next((path for path in (folder, *inside) if is_supportconfig(path)), None)
    whole = found is None and any(map(_is_root, (folder, *inside)))
    hosts = {} if found or whole else places_by_host(_texts_of(folder, source))
    if found is None and not hosts:
        yield [_root(folder, source)]
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
            if len(places) > _MOST_SECTIONS:
                raise BadInput(f"{source} has more than {_MOST_SECTIONS} texts for a host.")
            _write_all(root, places)
        yield roots


def _write_all(root: Path, places: Mapping[str, str]) -> None:
    (root / COMMANDS).mkdir(parents=True)
    for place, text in places.items():
        _write(root / place, text)


def _texts_of(folder: Path, source: Path) -> Iterator[tuple[str, str]]:
    """Yield the files of ``folder`` that may be the output of commands, by name. Raises
    ``BadInput`` above 256 MiB, or 4 MiB for a file: its end would be missing without notice.
    """
    total = 0
    for file in sorted(folder.iterdir())[:_MOST_FILES]:
        text = text_of(file) if file.is_file() else None
        if text is not None and holds_places(file.name, text):
            if file.stat().st_size > _LARGEST_TEXT:
                raise BadInput(f"{file} is larger than {_LARGEST_TEXT >> 20} MiB: shorten it.")
            total += len(text)
            if total > _LARGEST_TEXTS:
                raise BadInput(f"the texts of commands in {source} are larger than 256 MiB.")
            yield file.name, text


def _root(folder: Path, source: Path) -> Path:
    """Return ``folder``, or the folder inside it if it has only one host, as in archives."""
    if _is_root(folder):
        return folder
    inside = [path for path in sorted(folder.iterdir()) if path.is_dir() and _is_root(path)]
    if len(inside) > 1:
        named = ", ".join(path.name for path in inside[:3])
        raise BadInput(
            f"{source} holds {len(inside)} hosts ({named} ...): give the folder of one of them."
        )
    if inside:
        return inside[0]
    raise BadInput(
        f"{source} has no proc, sys or etc, and no text named after a command (sysctl_-a.txt): give"
        " a host's root folder, a sosreport or a folder of texts."
    )


def _is_root(folder: Path) -> bool:
    return any((folder / name).is_dir() for name in ("proc", "sys", "etc"))


def _unpack(source: Path, folder: Path) -> None:
    """Unpack only files that are read, and no links, devices or paths out of the folder. All
    members are counted before the first is written, because files cost more time than their
    headers.
    """
    try:
        with open_regular(source) as file:
            for _ in _members(file, source):
                pass
            file.seek(0)
            for archive, member in _members(file, source):
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
    """Limits the bytes that tarfile reads. tarfile calls this for each header, recursively if a
    header describes the next, and keeps all headers in memory; it does not limit the map of a
    sparse file.
    """

    _within = 0

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type == tarfile.GNUTYPE_SPARSE:
            raise tarfile.ReadError(_SPARSE)
        if self.type in _HEADERS:
            archive.fileobj.headers += self.size  # type: ignore[attr-defined]
            headers: int = archive.fileobj.headers  # type: ignore[attr-defined]
            if self.size > _LARGEST_HEADER or headers > _LARGEST_HEADERS:
                raise tarfile.ReadError("the headers of its members are too large")
        return super()._proc_member(archive)  # type: ignore[misc, no-any-return]

    def _proc_gnusparse_10(self, *_: object) -> None:
        raise tarfile.ReadError(_SPARSE)

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        if _Member._within >= _MOST_WITHIN:
            raise tarfile.ReadError(f"a member has more than {_MOST_WITHIN} header records")
        _Member._within += 1
        try:
            return super().fromtarfile(archive)
        finally:
            _Member._within -= 1


def _members(file: BinaryIO, source: Path) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """Yield wanted members one by one, without collecting them as tarfile does."""
    files = total = 0
    stream = cast("BinaryIO", Unpacked(file, _LARGEST_UNPACKED))
    with tarfile.open(fileobj=stream, mode="r:", tarinfo=_Member) as archive:
        for _ in range(_MOST_MEMBERS):
            member = archive.next()
            archive.members = []  # type: ignore[attr-defined]
            if member is None:
                return
            if len(archive.pax_headers) > _MOST_HEADERS:
                raise BadInput(
                    f"{source} has more than {_MOST_HEADERS} headers for all its members."
                )
            if member.isreg() and _is_wanted(member.name):
                files, total = files + 1, total + member.size
                if files > _MOST_FILES:
                    raise BadInput(
                        f"{source} has more than {_MOST_FILES} files, which no sosreport has."
                    )
                if total > _LARGEST_ARCHIVE:
                    raise BadInput(f"{source} unpacks to more than 4 GiB: that is too large.")
                yield archive, member
    raise BadInput(f"{source} has more than {_MOST_MEMBERS} members, which no sosreport has.")


def _is_wanted(name: str) -> bool:
    """Return whether a member is read. Files that hold secrets are not even unpacked."""
    if len(name) > _LONGEST_NAME:
        return False
    parts = Path(name).parts
    texts = len(parts) == 2 and parts[0].startswith(NAMES) and parts[1].endswith(".txt")
    wanted = any(part in _WANTED for part in parts[:2]) or parts[-3:] == _RELEASE or texts
    return wanted and not _SECRETS.intersection(parts)


def text_of(file: Path) -> str | None:
    try:
        with open_regular(file, follow=False) as opened_file:
            return opened_file.read(_LARGEST_TEXT).decode("utf-8", "replace")
    except OSError:
        return None
