"""What a lab's own wire says of a measurement: whether it kept the rates that it stands for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from wireproof.model.record import EngineError

if TYPE_CHECKING:
    from wireproof.lab.cluster import Lab

__all__ = ["wire_observer"]


def wire_observer(lab: Lab | None) -> Callable[[], Sequence[EngineError]]:
    """Compares the wire's counters from now on; the result names what it lost when it fell
    behind.
    """
    if lab is None or (before := lab.wire_status()) is None:
        return tuple
    from wireproof.lab.wire import fallen_behind

    def observe() -> Sequence[EngineError]:
        said = fallen_behind(before, lab.wire_status())
        return (EngineError(code="wire-late", message=said),) if said else ()

    return observe
