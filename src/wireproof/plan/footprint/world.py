"""What the parts of every mode depend on."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from wireproof.model.footprint import FootprintPart
from wireproof.model.planning import Bounds

__all__ = ["CQE", "PAGE", "RQE", "SQE", "JobShape", "Mode", "Variable", "pages"]

PAGE = 4096
SQE, RQE, CQE = Bounds(64, 128), Bounds(32, 64), Bounds(32, 128)
"""Bytes of an entry of a send, receive and completion queue, as adapters in use have them."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class JobShape:
    """``mtu``: payload of a packet; ``settings``: every variable of the mode with its value."""

    nodes: int
    ppn: int
    rails: int
    mtu: int
    settings: Mapping[str, int]

    def __getitem__(self, name: str) -> int:
        return self.settings[name]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Variable:
    """A variable of the library: its default and the values that it takes."""

    name: str
    default: int
    low: int
    high: int
    meaning: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mode:
    """One way in which a job's messages travel. ``check`` raises BadInput for settings that the
    library refuses.
    """

    name: str
    title: str
    variables: tuple[Variable, ...]
    parts: Callable[[JobShape], list[FootprintPart]]
    sources: tuple[str, ...]
    validity: tuple[str, ...]
    check: Callable[[JobShape], None] = lambda _world: None


def pages(*queues: Bounds) -> Bounds:
    """Bytes of queues that each start on a page of their own."""
    return Bounds(
        sum(-(-int(queue.low) // PAGE) * PAGE for queue in queues),
        sum(-(-int(queue.high) // PAGE) * PAGE for queue in queues),
    )
