"""A study under way and its result, in the folder that was asked for."""

from __future__ import annotations

from pathlib import Path

import msgspec

from wireproof.files.hostile import read_bounded, replace_file
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.json_reader import decode_json
from wireproof.model.study import Begun, Study

__all__ = ["Keeper"]

BEGUN, RESULT = "begun.json", "study.json"
_LARGEST = 64 << 20


class Keeper:
    """``folder`` None: nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def begun(self, asked: dict[str, str]) -> Begun | None:
        """What is there to go on with; None without. Raises ``BadInput`` when it is damaged, or was
        asked for otherwise.
        """
        if self.folder is None or not (self.folder / BEGUN).exists():
            return None
        try:
            data = read_bounded(self.folder / BEGUN, _LARGEST, follow=False)
            found = decode_json(data, Begun)
        except OSError as error:
            raise BadInput(f"{self.folder / BEGUN} cannot be read: {error.strerror}.") from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadInput(f"{self.folder / BEGUN} is no study under way: {error}.") from error
        for part, value in asked.items():
            if found.asked.get(part) != value:
                raise BadInput(
                    f"the study in {self.folder} was begun with {part}"
                    f" {found.asked.get(part, '')[:200]!r}, not {value[:200]!r}: give the same, or"
                    " another --out."
                )
        _sound(found, self.folder)
        return found

    def keep(self, begun: Begun) -> None:
        """What has been measured so far. Raises ``CouldNotMeasure`` when the disk takes it not."""
        self._write(BEGUN, begun)

    def result(self, study: Study) -> None:
        """The study as it is printed with ``--json``."""
        self._write(RESULT, study)

    def _write(self, name: str, document: Begun | Study) -> None:
        if self.folder is None:
            return
        try:
            replace_file(self.folder / name, msgspec.json.encode(document) + b"\n")
        except OSError as error:
            raise CouldNotMeasure(
                f"{self.folder / name} cannot be written: {error.strerror}."
            ) from error


def _sound(found: Begun, folder: Path) -> None:
    """Raise ``BadInput`` for numbers that no study of ours has."""
    known = range(len(found.configurations))
    good = (
        found.rounds >= 0
        and all(number in known and number for number in found.probes)
        and all(
            run.configuration in known and all(0 < n < float("inf") for n in run.numbers.values())
            for run in found.runs
        )
    )
    if not good:
        raise BadInput(f"{folder / BEGUN} is damaged: it has runs that cannot be.")
