"""Writes one file that holds wireproof and all it needs, for a head node without network:

    python tools/build_zipapp.py WHEELHOUSE FILE

The wheels of the folder are for this Python and this kind of machine. What the file does when it is
started is in packaging/zipapp. The same wheels give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import sys
import zipfile
from pathlib import Path

__all__ = ["main", "manifest"]

START = Path(__file__).resolve().parents[1] / "packaging" / "zipapp"


def manifest(wheels: list[Path]) -> dict[str, object]:
    """What the file is for, and the SHA-256 of each wheel."""
    (own,) = [path for path in wheels if path.name.startswith("wireproof-")]
    needs = [re.search(r"-manylinux_(\d+)_(\d+)_\w+\.whl$", path.name) for path in wheels]
    return {
        "version": own.name.split("-")[1],
        "python": list(sys.version_info[:2]),
        "machine": platform.machine(),
        "glibc": max([int(one[1]), int(one[2])] for one in needs if one),
        "wheels": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in wheels},
    }


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)  # of 1980: no time of its own
    entry.external_attr = 0o644 << 16
    return entry


def main(arguments: list[str]) -> int:
    house, target = map(Path, arguments)
    wheels = sorted(house.glob("*.whl"))
    text = json.dumps(manifest(wheels), indent=1, sort_keys=True)
    with target.open("wb") as out:
        out.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(out, "w") as archive:
            for source in sorted(START.glob("*.py")):
                archive.writestr(_entry(source.name), source.read_bytes())
            archive.writestr(_entry("manifest.json"), text)
            for wheel in wheels:
                archive.writestr(_entry(f"wheels/{wheel.name}"), wheel.read_bytes())
    target.chmod(0o755)
    print(f"{hashlib.sha256(target.read_bytes()).hexdigest()}  {target.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
