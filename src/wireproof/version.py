"""The version of wireproof, from the first available source: git's tags in a checkout, the metadata
of the installed package, PKG-INFO in an unpacked sdist, the commit that ``git archive`` wrote into
its archive.

A clean checkout of tag ``v1.2.3`` is 1.2.3. Later commits are development versions of the next
release, 1.2.4.dev5+gabc1234567; uncommitted changes add ``.dirty``. The build loads this module too
(``tools/project_version.py``), so it and its imports use only the standard library.
"""

import functools
import os
import re
import subprocess
from pathlib import Path

from wireproof.files.held import is_anothers
from wireproof.files.programs import by_path

NEXT = "0.1.0"
"""The version of the next release, which its tag must match."""

UNKNOWN = f"{NEXT}.dev0+unknown"
_TAG = re.compile(r"v(\d+)\.(\d+)\.(\d+)")
_DESCRIBED = re.compile(r"(?:(v\d+\.\d+\.\d+)-(\d+)-g)?([0-9a-f]{7,40})(-dirty)?")


@functools.cache
def version() -> str:
    """Return the version of the running code; it is looked up once."""
    root = Path(__file__).resolve().parents[2]
    if _is_source(root):
        return version_of(root)
    return _installed() or UNKNOWN


def version_of(root: Path) -> str:
    """Return the version of a source tree."""
    if (root / ".git").exists() and (described := _git(root, *_DESCRIBE)):
        return from_description(described, _git(root, "rev-list", "--count", "HEAD"))
    return _packed(root) or _archived(root) or UNKNOWN


def from_description(described: str, commits: str = "") -> str:
    """Return the version for the output of ``git describe --long --always --dirty``; without a tag,
    ``commits`` is the number of commits.
    """
    match = _DESCRIBED.fullmatch(described.strip())
    if match is None:
        return UNKNOWN
    tag, since, commit, dirty = match.groups()
    if tag and since == "0" and not dirty:
        return tag.removeprefix("v")
    return f"{_after(tag)}.dev{since or commits or 0}+g{commit}{'.dirty' if dirty else ''}"


_DESCRIBE = (
    *("describe", "--long", "--always", "--dirty", "--tags", "--abbrev=10"),
    *("--match", "v[0-9]*.[0-9]*.[0-9]*"),
)


def _after(tag: str | None) -> str:
    """Return the version after ``tag``: ``NEXT``, or the next patch if ``NEXT`` is released
    already.
    """
    last = _TAG.fullmatch(tag or "")
    if last is None:
        return NEXT
    major, minor, patch = map(int, last.groups())
    ahead = tuple(map(int, NEXT.split("."))) > (major, minor, patch)
    return NEXT if ahead else f"{major}.{minor}.{patch + 1}"


def _is_source(root: Path) -> bool:
    return (root / "pyproject.toml").is_file() and (root / "CMakeLists.txt").is_file()


def _git(root: Path, *words: str) -> str:
    """Return git's output about the tree, or "" if git is missing or fails."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    for name in ("HOME", "XDG_CONFIG_HOME"):  # git's configuration in that folder can name programs
        if is_anothers(Path(environment.get(name, "/"))):
            del environment[name]
    try:
        done = subprocess.run(
            **by_path(["git", "-C", str(root), *words], environment | {"GIT_OPTIONAL_LOCKS": "0"}),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _packed(root: Path) -> str:
    """Return the version of an unpacked sdist, or ""."""
    found = re.search(r"^Version: ([0-9][\w.+!]*)$", _text(root / "PKG-INFO"), re.MULTILINE)
    return found[1] if found else ""


def _archived(root: Path) -> str:
    """Return the version that ``git archive`` wrote into the two lines of its file, or ""."""
    lines = dict(
        line.partition(": ")[::2] for line in _text(root / ".git_archival.txt").splitlines()
    )
    for described in (lines.get("describe", ""), lines.get("commit", "")):
        exact = _TAG.fullmatch(described)
        long = f"{described}-0-g{lines.get('commit', '')}" if exact else described
        if _DESCRIBED.fullmatch(long):
            return from_description(long)
    return ""


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _installed() -> str:
    """Return the version of the distribution that contains this file, or ""."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        found = distribution("wireproof")
        installed = Path(str(found.locate_file("wireproof/version.py")))
        return found.version if installed.samefile(__file__) else ""
    except (PackageNotFoundError, OSError):
        return ""
