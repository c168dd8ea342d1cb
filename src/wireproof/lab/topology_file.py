"""Reads a topology file."""

from __future__ import annotations

from pathlib import Path

from wireproof.files.hostile import read_bounded
from wireproof.model.errors import BadInput
from wireproof.model.toml import LARGEST
from wireproof.model.topology import Topology
from wireproof.model.topology_toml import parse_topology

__all__ = ["load_topology"]


def load_topology(path: Path) -> Topology:
    """The topology in ``path``; ``BadInput`` names the file, the key and the fix."""
    try:
        content = read_bounded(path, LARGEST)
    except OSError as error:
        raise BadInput(
            f"{path}: cannot be read ({error.strerror}): give a topology file, see examples/lab."
        ) from error
    try:
        return parse_topology(content.decode("utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: byte {error.start} is not UTF-8: that is no topology.") from error
