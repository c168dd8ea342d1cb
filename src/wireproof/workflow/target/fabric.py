"""The fabric that a target hangs on: from a file, or from the scheduler that knows it."""

from __future__ import annotations

from pathlib import Path

from wireproof.files.hostile import read_bounded
from wireproof.locate.topology import against, read_topology
from wireproof.model.errors import BadInput
from wireproof.model.fabric import Fabric
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.target.target import Target

__all__ = ["fabric_for", "read_fabric"]

LARGEST_FILE = 256 << 20


def read_fabric(path: Path) -> Fabric:
    """The fabric that a file describes; ``BadInput`` names the file and what is wrong in it."""
    try:
        text = read_bounded(path, LARGEST_FILE).decode("utf-8", "replace")
    except OSError as error:
        raise BadInput(f"the topology {path} cannot be read: {error.strerror}.") from error
    return read_topology(text, str(path))


def fabric_for(path: Path | None, target: Target, reporter: Reporter) -> Fabric | None:
    """The fabric of the target's hosts; None when nobody described it. Says what had to be left
    out.
    """
    fabric = read_fabric(path) if path is not None else _fabric_of_slurm(target, reporter)
    if fabric is None:
        return None
    fabric, notes = against(fabric, target.hosts, target.nics[0] if target.nics else "")
    for note in (*fabric.notes, *notes):
        reporter.say(note)
    return fabric


def _fabric_of_slurm(target: Target, reporter: Reporter) -> Fabric | None:
    """What Slurm knows of the switches above its nodes; None without a Slurm job or a topology."""
    if target.allocation is None or target.allocation.scheduler != "slurm":
        return None
    from wireproof.launch.schedulers.slurm_job import topology_text

    text = topology_text(target.through())
    if not text.strip():
        return None
    try:
        return read_topology(text, "scontrol show topology")
    except BadInput as error:
        # nobody asked for it: a check without a topology is better than none
        reporter.warn(f"{str(error).rstrip('.')}; the check goes on without a topology")
        return None
