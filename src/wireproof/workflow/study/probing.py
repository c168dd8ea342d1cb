"""Starts with one value each, to hear what the library makes of it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from wireproof.model.errors import CouldNotMeasure
from wireproof.model.record import Host
from wireproof.model.study import Configuration, Knob, Library, Probe
from wireproof.study.honoured import spelling
from wireproof.study.readback import Said, complaint, readbacks
from wireproof.workflow.study.launching import COUNTS, Launcher
from wireproof.workflow.study.reading import heard

__all__ = ["Prober"]


class Prober:
    """``folder``: for the logs, which go with it."""

    def __init__(self, launcher: Launcher, library: Library, folder: Path) -> None:
        self._launcher, self._library, self._folder = launcher, library, folder

    def base(self) -> list[Host]:
        """The hosts of a start without any value. Raises ``CouldNotMeasure`` when there is none."""
        hosts, text, failed, _ = self._start(Configuration())
        if failed:
            why = complaint(text, self._library)
            more = f" ({why})" if why else ""
            raise CouldNotMeasure(
                f"no run of {self._library.title} starts without any of the values: {failed}{more}"
            )
        return hosts

    def probe(self, one: Configuration, knob: Knob) -> Probe:
        """What the library says when it is asked for one value."""
        _, text, failed, folder = self._start(one)
        said = heard(text, self._library, folder / COUNTS)
        if failed:
            return Probe(
                failed=complaint(text, self._library) or failed,
                readbacks=readbacks(said, knob, one),
                controls=self._controls(one, knob),
            )
        return Probe(readbacks=readbacks(said, knob, one), listed=self._listed(said))

    def _listed(self, said: Said) -> list[str] | None:
        lines = said.get(self._library.listing, ())
        return sorted({name for _, name, _ in lines}) if lines else None

    def _controls(self, one: Configuration, knob: Knob) -> dict[str, str]:
        """Other spellings of a refused value, and why each did not start."""
        found: dict[str, str] = {}
        for control in knob.control:
            other = spelling(control, one.value)
            if not other or other == one.value:
                continue
            variables = {**one.variables, knob.name: other}
            _, text, failed, _ = self._start(
                Configuration(knob=knob.name, value=other, variables=variables)
            )
            found[other] = (complaint(text, self._library) or failed) if failed else ""
        return found

    def _start(self, one: Configuration) -> tuple[list[Host], str, str, Path]:
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        return *self._launcher.probe(one.variables, self._library.asks, folder), folder
