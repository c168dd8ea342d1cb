"""What ``wireproof lab`` does, without its words: the CLI parses, calls these and prints."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from wireproof.lab.cluster import DownResult, down, find_labs, open_lab, up
from wireproof.lab.state import LabStatus
from wireproof.lab.topology_file import load_topology
from wireproof.model.errors import BadInput

__all__ = ["DEFAULT_NAME", "exec_in", "lab_down", "lab_exec_argv", "lab_status", "lab_up"]

DEFAULT_NAME = "lab"


def lab_up(topology_file: Path, name: str = DEFAULT_NAME) -> LabStatus:
    """Build a lab that stays; its status with nodes and addresses."""
    return up(load_topology(topology_file), name).status()


def lab_status(name: str = "") -> list[LabStatus]:
    """All labs of this user, or the one that is named (``BadInput`` when there is none of that name)."""
    labs = find_labs()
    if not name:
        return labs
    found = [status for status in labs if status.name == name]
    if not found:
        known = ", ".join(status.name for status in labs) or "none"
        raise BadInput(f"there is no lab {name!r}: there is {known}.")
    return found


def lab_exec_argv(name: str, node: str, argv: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """argv and additional environment that run ``argv`` in a node; ``WIREPROOF_LAB_STATE`` makes the agent work inside."""
    if not argv:
        raise BadInput("no command was given: wireproof lab exec NODE -- COMMAND...")
    lab = open_lab(name)
    return lab.exec_argv(node, argv), lab.agent_environment()


def exec_in(name: str, node: str, argv: Sequence[str]) -> None:
    """Become the command in the node; does not return. The terminal, signals and exit status are then the command's."""
    full, environment = lab_exec_argv(name, node, argv)
    os.execve(full[0], full, {**os.environ, **environment})  # noqa: S606  no shell: that is the point


def lab_down(name: str = DEFAULT_NAME) -> DownResult:
    """Remove a lab, or what a crash has left of it."""
    return down(name)
