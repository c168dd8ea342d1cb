"""The wheels of the file become an environment, whole or not at all; then wireproof is started."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import stat
import sys
import tempfile
import venv
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

__all__ = ["CannotUnpack", "environment", "start"]

FOLDER = "WIREPROOF_PYZ_DIR"
SCRIPT = """#!{python}
import sys

from wireproof.cli import main

sys.exit(main())
"""


class CannotUnpack(Exception):
    """One sentence: what was seen and what to do."""


def start(archive: zipfile.ZipFile, manifest: dict[str, Any], arguments: list[str]) -> NoReturn:
    try:
        place = environment(archive, manifest)
    except CannotUnpack as error:
        print(f"wireproof: {error}", file=sys.stderr)
        sys.exit(4)
    os.environ.pop(FOLDER, None)
    python = str(place / "bin" / "python")
    os.execv(python, [python, str(place / "bin" / "wireproof"), *arguments])


def environment(archive: zipfile.ZipFile, manifest: dict[str, Any]) -> Path:
    """The folder with the environment, made now if it is not there. Raises ``CannotUnpack``."""
    parent = _parent()
    digest = hashlib.sha256(archive.read("manifest.json")).hexdigest()[:16]
    try:
        # A link on the way may be exchanged at any time, also while modules are still loaded.
        parent = Path(os.path.realpath(parent))
        parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        place = parent / f"{manifest['version']}-{digest}"
        for above in (parent, *parent.parents):
            _trust_above(above)
        if not place.exists():
            _make(archive, manifest, place)
        _trust(place)
    except OSError as error:
        raise CannotUnpack(
            f"cannot unpack into {parent}: {error.strerror}; name a folder in ${FOLDER}, on a file"
            " system that the nodes see too"
        ) from None
    return place


def _parent() -> Path:
    if given := os.environ.get(FOLDER):
        return Path(given).absolute()
    cache = os.environ.get("XDG_CACHE_HOME", "")
    if not cache and os.path.expanduser("~") == "~":
        raise CannotUnpack(f"you have no home folder; name a folder in ${FOLDER}")
    return Path(cache or os.path.expanduser("~/.cache")) / "wireproof"


def _trust(place: Path) -> None:
    """What is there is run: it must be the user's own or root's."""
    found = place.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in _trusted():
        raise CannotUnpack(f"{place} is someone else's; name another folder in ${FOLDER}")
    if found.st_mode & 0o022:
        raise CannotUnpack(f"others may write to {place}: remove it")
    if os.statvfs(place).f_flag & os.ST_NOEXEC:
        raise CannotUnpack(
            f"programs cannot be run from {place} (noexec); name another folder in ${FOLDER}"
        )


def _trust_above(folder: Path) -> None:
    """Whoever can rename what is in ``folder`` can exchange the environment: with sudo -E, HOME is
    another user's.
    """
    found = folder.stat()
    sticky = found.st_mode & stat.S_ISVTX
    if found.st_uid not in _trusted() or (found.st_mode & 0o022 and not sticky):
        raise CannotUnpack(
            f"another user can change what is in {folder}; name a folder of your own in ${FOLDER}"
        )


def _trusted() -> set[int]:
    """We and root; in a user namespace root outside is the overflow user."""
    trusted = {0, os.geteuid()}
    try:
        whole = Path("/proc/self/uid_map").read_text(encoding="ascii").split()
        if whole != ["0", "0", "4294967295"]:
            trusted.add(int(Path("/proc/sys/kernel/overflowuid").read_text(encoding="ascii")))
    except (OSError, ValueError):
        pass
    return trusted


def _make(archive: zipfile.ZipFile, manifest: dict[str, Any], place: Path) -> None:
    """In a folder beside it, which takes the name when all is there; who comes second uses that of
    the first.
    """
    print(f"wireproof: unpacking into {place}, once", file=sys.stderr)
    before = os.umask(0o022)
    fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=place.parent))
    try:
        fresh.chmod(0o755)
        venv.EnvBuilder(symlinks=True).create(fresh)
        for script in (fresh / "bin").glob("[Aa]ctivate*"):
            script.unlink()  # they name the folder as it is called now
        for name, digest in sorted(manifest["wheels"].items()):
            _unpack(_checked(archive, name, digest), fresh, place)
        script = fresh / "bin" / "wireproof"
        script.write_text(SCRIPT.format(python=place / "bin" / "python"), encoding="utf-8")
        script.chmod(0o755)
        _take_name(fresh, place)
    finally:
        os.umask(before)
        shutil.rmtree(fresh, ignore_errors=True)


def _take_name(fresh: Path, place: Path) -> None:
    """A folder that holds anything cannot be replaced: then another process was first."""
    try:
        fresh.rename(place)
    except OSError:
        if not place.is_dir():
            raise


def _checked(archive: zipfile.ZipFile, name: str, digest: str) -> zipfile.ZipFile:
    try:
        data = archive.read(f"wheels/{name}")
    except (KeyError, zipfile.BadZipFile):
        data = b""
    if hashlib.sha256(data).hexdigest() != digest:
        raise CannotUnpack(f"this file is damaged: {name} has another SHA-256; copy it again")
    return zipfile.ZipFile(io.BytesIO(data))


def _unpack(wheel: zipfile.ZipFile, fresh: Path, place: Path) -> None:
    """As the format of wheels says: NAME.data/KIND/... goes to the folder of its kind."""
    library = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    folders = {"scripts": "bin", "data": "", "headers": "include"}
    for entry in wheel.infolist():
        parts = PurePosixPath(entry.filename).parts
        if entry.is_dir():
            continue
        if entry.filename.startswith("/") or ".." in parts:
            raise CannotUnpack(f"a wheel names a file outside it: {entry.filename!r}")
        kind = parts[1] if parts[0].endswith(".data") else ""
        inside = PurePosixPath(folders.get(kind, library), *parts[2 if kind else 0 :])
        target = fresh / inside
        target.parent.mkdir(parents=True, exist_ok=True)
        data = wheel.read(entry)
        if kind == "scripts" and data.startswith(b"#!python"):
            data = data.replace(b"#!python", os.fsencode(f"#!{place}/bin/python"), 1)
        target.write_bytes(data)
        runs = kind == "scripts" or entry.external_attr >> 16 & 0o111
        target.chmod(0o755 if runs else 0o644)
