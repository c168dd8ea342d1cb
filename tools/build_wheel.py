"""Builds the sdist, and from it the wheel, so that the same commit gives the same bytes in any
folder and at any time, and gives the wheel the tag that it has earned:

    python tools/build_wheel.py [FOLDER]

Time stamps are the commit's (or $SOURCE_DATE_EPOCH). The wheel is for every Linux whose glibc has
the symbols that its programs ask for, if they need no library but glibc's and an MPI's. The
packages build and wheel must be installed; readelf comes with the compiler.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

__all__ = ["NotPortable", "glibc_of", "main"]

ROOT = Path(__file__).resolve().parents[1]
OLDEST = (2, 17)  # manylinux2014: nothing older runs a Python that we run on
OF_GLIBC = re.compile(r"lib(c|m|dl|pthread|rt)\.so\.\d+|ld-linux[\w-]*\.so\.\d+")
OF_MPI = re.compile(r"libmpi(_abi)?\.so\.\d+")


class NotPortable(Exception):
    """A program needs a library that not every Linux has."""


def glibc_of(programs: Iterable[Path]) -> tuple[int, int]:
    """The oldest glibc that has all symbols; raises ``NotPortable``."""
    newest = OLDEST
    for program in programs:
        text = _run("readelf", "--wide", "--dynamic", "--version-info", str(program))
        for library in re.findall(r"\(NEEDED\).*\[(.+)\]", text):
            if not OF_GLIBC.fullmatch(library) and not OF_MPI.fullmatch(library):
                raise NotPortable(f"{program.name} needs {library}")
        found = re.findall(r"Name: GLIBC_(\d+)\.(\d+)", text)
        newest = max([newest, *((int(major), int(minor)) for major, minor in found)])
    return newest


def _run(*command: str) -> str:
    environment = os.environ | {"LC_ALL": "C"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"wheel: {command[0]} ended with status {done.returncode}: {' '.join(command)}")
    return done.stdout


def _moment() -> str:
    """The commit's time; without git, as in an sdist, one and the same."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return given
    if not (ROOT / ".git").exists():
        return "1767225600"
    return _run("git", "-C", str(ROOT), "log", "-1", "--format=%ct").strip()


def _tagged(wheel: Path) -> Path:
    """The wheel under the tag of the oldest glibc that will do."""
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        programs = [name for name in archive.namelist() if name.startswith("wireproof/bin/")]
        try:
            major, minor = glibc_of(Path(archive.extract(name, folder)) for name in programs)
        except NotPortable as error:
            print(f"wheel: for this kind of system alone: {error}", file=sys.stderr)
            return wheel
    machine = wheel.stem.rpartition("-")[2].removeprefix("linux_")
    tag = f"manylinux_{major}_{minor}_{machine}"
    name = _run(
        *(sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", tag, str(wheel))
    )
    return wheel.with_name(name.split()[-1])


def main(arguments: list[str]) -> int:
    out = Path(arguments[0] if arguments else ROOT / "dist").absolute()
    out.mkdir(parents=True, exist_ok=True)
    os.environ["SOURCE_DATE_EPOCH"] = _moment()
    os.umask(0o022)
    with tempfile.TemporaryDirectory(dir=out) as folder:
        _run(sys.executable, "-m", "build", "--outdir", folder, str(ROOT))
        (sdist,) = Path(folder).glob("*.tar.gz")
        (wheel,) = Path(folder).glob("*.whl")
        for old in out.glob(f"{wheel.name.rpartition('-')[0]}-*.whl"):
            old.unlink()  # of this version there is one, whatever its tag was
        for made in (sdist, _tagged(wheel)):
            kept = made.replace(out / made.name)
            print(f"{hashlib.sha256(kept.read_bytes()).hexdigest()}  {kept.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
