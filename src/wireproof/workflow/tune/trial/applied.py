"""The value under trial, put where the workload finds it, and taken away at the end."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

from wireproof.model.trial import Knob
from wireproof.workflow.tune.trial.specification import Variables

__all__ = ["Applied", "InEnvironment"]


class Applied(Protocol):
    """A context manager: leaving it brings the old value back, unless ``keep`` was called."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def put(self, value: int) -> Variables:
        """Value number ``value`` is in force now, in runs with these variables. Raises
        ``CouldNotMeasure`` when that cannot be.
        """

    def keep(self, value: int) -> str:
        """The value stays; what the user has to do, in a sentence."""


class InEnvironment:
    """A variable of the runs: nothing outside them is changed."""

    def __init__(self, knob: Knob) -> None:
        self._knob = knob

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """There is nothing to take away."""

    def put(self, value: int) -> Variables:
        return {self._knob.name: self._knob.values[value]}

    def keep(self, value: int) -> str:
        text = self._knob.values[value]
        do = f"unset {self._knob.name}" if text is None else f"export {self._knob.shown(value)}"
        return f"a variable lasts as long as its process: put `{do}` into the job script"
