"""The version of this source tree, for the build backend and, as a program, for people and recipes:

    python tools/project_version.py

The rule is ``src/wireproof/version.py``'s, which is loaded by its path: a build has no wireproof
yet, and the standard library alone.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["WrongTag", "dynamic_metadata", "project_version"]

ROOT = Path(__file__).resolve().parents[1]


class WrongTag(Exception):
    """The commit is tagged as a release, and the tree calls itself another."""


def project_version(root: Path = ROOT) -> str:
    """Raises ``WrongTag``."""
    sys.path.append(str(ROOT / "src"))
    rule = runpy.run_path(str(root / "src" / "wireproof" / "version.py"))
    found, planned = str(rule["version_of"](root)), rule["NEXT"]
    if ".dev" not in found and found != planned:
        raise WrongTag(
            f"the commit has the tag v{found}, but NEXT in src/wireproof/version.py is {planned}:"
            " set it, and the recipes in packaging/, before the release is tagged"
        )
    return found


def dynamic_metadata(_settings: Mapping[str, Any], _project: Mapping[str, Any]) -> dict[str, str]:
    return {"version": project_version()}


if __name__ == "__main__":
    print(project_version())
