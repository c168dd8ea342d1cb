"""A host's files from a folder or a sosreport archive: what ``audit --from`` reads."""

from __future__ import annotations

import contextlib
import lzma
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from wireproof.files.hostile import open_regular
from wireproof.instrument.facts import without_secrets
from wireproof.model.errors import BadInput
from wireproof.model.plan import FactRequest
from wireproof.model.record import FactFrame

__all__ = ["command_facts", "opened"]

_LARGEST_ARCHIVE = 4 << 30
_MOST_MEMBERS = 1_000_000
_WANTED = ("etc", "proc", "sys", "sos_commands", "uname", "lspci", "environment")
_RELEASE = ("usr", "lib", "os-release")
"""What /etc/os-release links to: links are not unpacked."""
_SECRETS = frozenset(
    (
        *("environ", "shadow", "shadow-", "gshadow", "gshadow-", "munge", "ssh", "pki", "ssl"),
        *("krb5.keytab", "private", "secrets", "slurmdbd.conf", ".ssh", ".netrc", ".aws"),
    )
)
_LARGEST_TEXT = 4 << 20
_ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")


@contextlib.contextmanager
def opened(source: Path) -> Iterator[Path]:
    """The folder that holds the host's /proc, /sys and /etc: ``source`` itself, or what the archive
    unpacks to, which is gone after the block. ``BadInput`` when it is neither.
    """
    if source.is_dir():
        yield _root(source)
        return
    if not source.name.endswith(_ARCHIVES):
        raise BadInput(
            f"{source} is no folder, no snapshot of wireproof and no archive"
            f" ({', '.join(_ARCHIVES)})."
        )
    with tempfile.TemporaryDirectory(prefix="wireproof-archive-") as scratch:
        _unpack(source, Path(scratch))
        yield _root(Path(scratch))


def _root(folder: Path) -> Path:
    """``folder``, or the only host's folder in it, as archives have it."""
    if _is_root(folder):
        return folder
    inside = [each for each in sorted(folder.iterdir()) if each.is_dir() and _is_root(each)]
    if len(inside) > 1:
        named = ", ".join(each.name for each in inside[:3])
        raise BadInput(
            f"{folder} holds {len(inside)} hosts ({named} ...): give the folder of one of them."
        )
    if inside:
        return inside[0]
    raise BadInput(f"{folder} has no proc, sys or etc: give a host's root folder or a sosreport.")


def _is_root(folder: Path) -> bool:
    return any((folder / name).is_dir() for name in ("proc", "sys", "etc"))


def _unpack(source: Path, folder: Path) -> None:
    """Only files of the parts that are read; no link, device or path that leads elsewhere."""
    total = 0
    try:
        with open_regular(source) as file, tarfile.open(fileobj=file, mode="r:*") as archive:
            for number, member in enumerate(archive):
                if number >= _MOST_MEMBERS:
                    raise BadInput(f"{source} has more than a million members: no sosreport has.")
                if not member.isreg() or not _is_wanted(member.name):
                    continue
                total += member.size
                if total > _LARGEST_ARCHIVE:
                    raise BadInput(f"{source} unpacks to more than 4 GiB: that is too large.")
                archive.extract(member, folder, filter="data")
    except (tarfile.TarError, OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        said, _, more = str(error).partition("\n")  # one line for each form that was tried
        why = "it is no tar archive, or cut off" if more or not said else said
        raise BadInput(f"{source} cannot be read as an archive: {why.rstrip('.')}.") from error


def _is_wanted(name: str) -> bool:
    """Of the parts that are read, but for what holds secrets: that is not even unpacked."""
    parts = Path(name).parts
    wanted = any(part in _WANTED for part in parts[:2]) or parts[-3:] == _RELEASE
    return wanted and not _SECRETS.intersection(parts)


def command_facts(root: Path, requests: Sequence[FactRequest]) -> list[FactFrame]:
    """What commands printed, as a sosreport keeps it: ``sos_commands/*/ethtool_-g_eth0``."""
    kept = {each.name: each for each in sorted(root.glob("sos_commands/*/*"))}
    found = []
    for request in requests:
        if request.kind != "command":
            continue
        name = "_".join(word.replace("/", ".") for word in request.argv)
        file = kept.get(name)
        text = _text(file) if file is not None else None
        frame = FactFrame(
            rank=0,
            kind="command",
            argv=list(request.argv),
            status="missing" if text is None else "ok",
            text=text or "",
            reason="" if text is not None else "is not in the archive",
        )
        found.append(without_secrets(frame))
    return found


def _text(file: Path) -> str | None:
    try:
        with open_regular(file, follow=False) as opened_file:
            return opened_file.read(_LARGEST_TEXT).decode("utf-8", "replace")
    except OSError:
        return None
