"""Which wireproof this is, by the first of: git's tags in a checkout, the metadata of the installed
package, PKG-INFO in an unpacked sdist, the commit that ``git archive`` wrote into its archive.

``v1.2.3`` clean is 1.2.3. Later commits are development versions of what comes next,
1.2.4.dev5+gabc1234567; changes that are not committed add ``.dirty``. Also loaded by the build
(``tools/project_version.py``): standard library only, in what it imports too.
"""

import functools
import os
import re
import subprocess
from pathlib import Path

from wireproof.files.programs import by_path

NEXT = "0.1.0"
"""The release that is worked on: its tag must be this one."""

UNKNOWN = f"{NEXT}.dev0+unknown"
_TAG = re.compile(r"v(\d+)\.(\d+)\.(\d+)")
_DESCRIBED = re.compile(r"(?:(v\d+\.\d+\.\d+)-(\d+)-g)?([0-9a-f]{7,40})(-dirty)?")


@functools.cache
def version() -> str:
    """Of the code that runs; looked up once, when it is first asked for."""
    root = Path(__file__).resolve().parents[2]
    if _is_source(root):
        return version_of(root)
    return _installed() or UNKNOWN


def version_of(root: Path) -> str:
    """Of a source tree."""
    if (root / ".git").exists() and (described := _git(root, *_DESCRIBE)):
        return from_description(described, _git(root, "rev-list", "--count", "HEAD"))
    return _packed(root) or _archived(root) or UNKNOWN


def from_description(described: str, commits: str = "") -> str:
    """``git describe --long --always --dirty`` as a version; without a tag ``commits`` counts
    what led here.
    """
    found = _DESCRIBED.fullmatch(described.strip())
    if found is None:
        return UNKNOWN
    tag, since, commit, dirty = found.groups()
    if tag and since == "0" and not dirty:
        return tag.removeprefix("v")
    return f"{_after(tag)}.dev{since or commits or 0}+g{commit}{'.dirty' if dirty else ''}"


_DESCRIBE = (
    *("describe", "--long", "--always", "--dirty", "--tags", "--abbrev=10"),
    *("--match", "v[0-9]*.[0-9]*.[0-9]*"),
)


def _after(tag: str | None) -> str:
    """What is worked on after ``tag``: ``NEXT``, or a patch where that is released already."""
    last = _TAG.fullmatch(tag or "")
    if last is None:
        return NEXT
    major, minor, patch = map(int, last.groups())
    ahead = tuple(map(int, NEXT.split("."))) > (major, minor, patch)
    return NEXT if ahead else f"{major}.{minor}.{patch + 1}"


def _is_source(root: Path) -> bool:
    return (root / "pyproject.toml").is_file() and (root / "CMakeLists.txt").is_file()


def _git(root: Path, *words: str) -> str:
    """What git says of the tree; "" where there is no git, or it refuses."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            **by_path(["git", "-C", str(root), *words], own | {"GIT_OPTIONAL_LOCKS": "0"}),
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
    """Of an unpacked sdist."""
    found = re.search(r"^Version: ([0-9][\w.+!]*)$", _text(root / "PKG-INFO"), re.MULTILINE)
    return found[1] if found else ""


def _archived(root: Path) -> str:
    """Of what ``git archive`` wrote: it fills the two lines of this file."""
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
    """Of the distribution that this very file belongs to, and no other of that name."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        found = distribution("wireproof")
        own = Path(str(found.locate_file("wireproof/version.py")))
        return found.version if own.samefile(__file__) else ""
    except (PackageNotFoundError, OSError):
        return ""
