"""What an experiment would start (``--dry-run``), and its state while it runs: stored in the folder
of its result after every round, so that ``--resume`` continues it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from wireproof.files.hostile import read_bounded, replace_file
from wireproof.launch.command import shell_line
from wireproof.launch.registry import LaunchCommand
from wireproof.measure.resume import result_folder
from wireproof.measure.session import Storage
from wireproof.model import quantity
from wireproof.model.errors import BadInput, CouldNotMeasure, decode_json, reading, writing
from wireproof.model.experiment import BegunExperiment, ExperimentPlan, PlannedArm
from wireproof.report.document import Document, Raw
from wireproof.report.names import clean
from wireproof.report.reporter import Reporter

BEGUN = "begun.json"
_LARGEST = 64 << 20

B = TypeVar("B", bound=BegunExperiment)


@contextlib.contextmanager
def keeper_for(
    storage: Storage, name: str, reporter: Reporter, kind: type[B]
) -> Iterator[Keeper[B]]:
    """Yield the keeper of an experiment whose result is all that is stored, in the folder of
    ``storage``. Raises ``BadInput`` if the folder is not empty, unless the experiment is resumed.
    """
    if not storage.kept:
        yield Keeper(None, kind)
        return
    with result_folder(storage, name, reporter) as folder:
        yield Keeper(folder, kind)


class Keeper(Generic[B]):
    """Stores an experiment in ``folder``; if it is None, nothing is stored.

    ``kind``: the type of what is stored while the experiment runs.
    """

    def __init__(self, folder: Path | None, kind: type[B]) -> None:
        self.folder, self._kind = folder, kind

    def begun(self, asked: dict[str, str]) -> B | None:
        """Return a stored experiment to resume, or None.

        ``asked``: the options that must be the same. Raises ``BadInput`` if it is damaged, or was
        started with other options.
        """
        if self.folder is None or not (self.folder / BEGUN).exists():
            return None
        with reading(self.folder / BEGUN):
            data = read_bounded(self.folder / BEGUN, _LARGEST, follow=False)
            stored = decode_json(data, self._kind)
        for part, value in asked.items():
            before = stored.asked.get(part, "")
            if before != value:
                raise BadInput(
                    f"the experiment in {self.folder} was started with {part} {before[:200]!r},"
                    f" not {value[:200]!r}: give the same, or another --out."
                )
        if not stored.sound:
            raise BadInput(f"{self.folder / BEGUN} is damaged: it has impossible trials.")
        return stored

    def keep(self, document: msgspec.Struct, name: str = BEGUN) -> None:
        """Store a document in the folder. Raises ``CouldNotMeasure`` if it cannot be written."""
        if self.folder is not None:
            with writing(self.folder / name, CouldNotMeasure):
                replace_file(self.folder / name, msgspec.json.encode(document) + b"\n")


# --- What an experiment would start.


def planned_arm(title: str, *commands: LaunchCommand) -> PlannedArm:
    """Return the launches of one trial as shell commands."""
    lines = [shell_line(command.argv, command.environment) for command in commands]
    return PlannedArm(title=title, commands=lines)


def plan_document(plan: ExperimentPlan) -> Document:
    """Return the first trial of each arm as shell commands."""
    rounds = "as many rounds as the answer needs and the time allows"
    if plan.rounds is not None:
        rounds = quantity.counted(plan.rounds, "round")
    lines = [f"# {rounds}, in random order, seed {plan.seed}; the first trial of each kind:"]
    lines += [f"# {clean(note)}" for note in plan.notes]
    for arm in plan.arms:
        lines += [f"# {clean(arm.title)}", *arm.commands]
    return Document("What the experiment would start", "", (Raw(tuple(lines)),))
