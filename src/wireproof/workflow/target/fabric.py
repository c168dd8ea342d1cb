"""The fabric that connects a target's hosts: read from a file or from the scheduler."""

from pathlib import Path

from wireproof.files.hostile import read_bounded
from wireproof.model.claim import first_rail
from wireproof.model.errors import BadInput
from wireproof.model.fabric import Fabric
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.target.target import Target

LARGEST_FILE = 256 << 20


def read_fabric(path: Path) -> Fabric:
    """Read the fabric that a file describes.

    Raises ``BadInput`` with the file and what is wrong in it.
    """
    try:
        text = read_bounded(path, LARGEST_FILE).decode("utf-8", "replace")
    except OSError as error:
        raise BadInput(f"the topology {path} cannot be read: {error.strerror}.") from error
    from wireproof.locate.topology import read_topology

    return read_topology(text, str(path))


def fabric_for(path: Path | None, target: Target, reporter: Reporter) -> Fabric | None:
    """Return the fabric of the target's hosts, or None without a description; report what had to be
    left out.
    """
    fabric = read_fabric(path) if path is not None else _fabric_of_scheduler(target, reporter)
    if fabric is None:
        return None
    from wireproof.locate.topology import against

    fabric, notes = against(fabric, target.hosts, first_rail(target.nics[0]) if target.nics else "")
    for note in (*fabric.notes, *notes):
        reporter.say(note)
    return fabric


def _fabric_of_scheduler(target: Target, reporter: Reporter) -> Fabric | None:
    """Return the switches above a job's nodes as its scheduler knows them, or None."""
    if target.scheduler is None or target.scheduler.queries is None:
        return None
    queries = target.scheduler.queries()
    text = queries.topology(target.through())
    if not text.strip():
        return None
    from wireproof.locate.topology import read_topology

    try:
        return read_topology(text, queries.topology_command)
    except BadInput as error:
        # The user did not ask for it: a check without a topology is better than no check.
        reporter.warn(f"{str(error).rstrip('.')}; the check continues without a topology")
        return None
