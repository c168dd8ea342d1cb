"""Record when each node last had its turn in a job over a history, because a node that is down
leaves no result.

A file per node contains the time. Its name is a digest, because a host's name may not be a valid
file name.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from wireproof.files.held import held_folder, make_folder
from wireproof.files.hostile import read_bounded, replace_file
from wireproof.model.errors import CouldNotMeasure

TURNS = "turns"
_LARGEST = 64


def take_turns(root: Path, nodes: Iterable[str], when: str) -> None:
    """Record ``when`` for the nodes. Raise ``CouldNotMeasure`` if the history cannot be written."""
    try:
        with held_folder(root, make=0o777):
            make_folder(root / TURNS)
        for node in nodes:
            replace_file(_file(root, node), when.encode())
    except OSError as error:
        raise CouldNotMeasure(f"the history {root} cannot be written: {error.strerror}.") from error


def last_turn(root: Path, node: str) -> str:
    """Return the recorded time; "" if there is none or it cannot be read."""
    try:
        return read_bounded(_file(root, node), _LARGEST, follow=False).decode("ascii", "replace")
    except OSError:
        return ""


def _file(root: Path, node: str) -> Path:
    return root / TURNS / hashlib.sha256(node.encode()).hexdigest()[:32]
