"""The statistics of one job under judgement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from wireproof.analysis.psm3 import by_host, counted
from wireproof.model.finding import Node, Subject, Whole
from wireproof.model.psm3 import Counted, CountedHost, Statistics

__all__ = ["StatisticsJob", "listed"]

_SHOWN = 5


@dataclass(frozen=True)
class StatisticsJob:
    """``wire``: True where a wire is claimed, False where memory is, None where nothing is.
    ``pauses``: pause and PFC counters that rose at the ports of these hosts, None when nobody
    looked.
    """

    files: Sequence[Statistics]
    wire: bool | None = None
    pauses: Mapping[str, int] | None = None
    whole: Whole = field(default_factory=lambda: Whole("statistics"))

    @cached_property
    def processes(self) -> list[Counted]:
        return [counted(one) for one in self.files]

    @cached_property
    def hosts(self) -> list[CountedHost]:
        return by_host(self.processes)

    @property
    def hal(self) -> str:
        """``verbs`` or ``sockets``; "" where the files do not say it, or not the same."""
        found = {one.identity.hal for one in self.files}
        return found.pop() if len(found) == 1 else ""

    def setting(self, one: Statistics, name: str) -> str:
        """The last value that the file states, "" when it states none."""
        return next((found.value for found in reversed(one.settings) if found.name == name), "")

    def node(self, host: str) -> Subject:
        return Node(host) if host else self.whole


def listed(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
