"""Reads a topology file."""

from __future__ import annotations

from pathlib import Path

from wireproof.model.errors import BadInput
from wireproof.model.topology import Topology, parse_topology

__all__ = ["load_topology"]

_LARGEST = 1 << 20


def load_topology(path: Path) -> Topology:
    """The topology in ``path``; ``BadInput`` names the file, the key and the fix."""
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}): give a topology file, see examples/lab.") from error
    if len(content) > _LARGEST:
        raise BadInput(f"{path}: is larger than 1 MiB: that is no topology.")
    try:
        return parse_topology(content.decode("utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: byte {error.start} is not UTF-8: that is no topology.") from error
