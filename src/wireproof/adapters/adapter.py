"""What every adapter is: one file per tool that knows the tool's output and the tool's options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from wireproof.adapters.page import Page
from wireproof.model.series import Series, Traffic
from wireproof.model.tool import ToolRequest

__all__ = ["Adapter", "Benchmark", "Parsed", "Sign"]


# --- What one benchmark of a tool measures.


@dataclass(frozen=True, slots=True)
class Benchmark:
    """``name`` as the program calls it; ``metric``, ``traffic``, ``formula``, ``directions``,
    ``waits`` and ``window`` as in a Series.
    """

    name: str
    metric: str
    traffic: Traffic
    formula: str
    directions: int = 1
    waits: bool = False
    window: int | None = None

    @property
    def half_round_trip(self) -> bool:
        """The printed time is half of a round trip, not that of a whole operation."""
        return self.metric == "half_round_trip"


@dataclass(frozen=True, slots=True)
class Parsed:
    """``after``: index of the first line that was not used; always above the start."""

    series: list[Series]
    after: int


@dataclass(frozen=True, slots=True)
class Sign:
    """A line in which the regular expression ``pattern`` is found may start a result. ``word`` is
    in every such line: it is looked for first, because a search for a plain word costs next to
    nothing.
    """

    word: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Adapter:
    """``signs`` tell the lines that may start a result of this tool.

    ``parse(page, index)`` reads from that line (and may look back at the lines before it); it never
    raises on any text, never returns a row that the program did not print, and marks a table that
    was cut as incomplete. It stops before a line that starts another result. ``argv`` builds the
    program's command line; it raises BadInput for a benchmark that it does not know. ``csv``: its
    rows are met with commas between the numbers, too, and ``parse`` sees them with blanks.
    """

    name: str
    signs: tuple[Sign, ...]
    parse: Callable[[Page, int], Parsed]
    argv: Callable[[ToolRequest], tuple[str, ...]]
    csv: bool = False
