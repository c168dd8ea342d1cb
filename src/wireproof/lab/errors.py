"""What goes wrong in a lab, as one sentence with the next action."""

from __future__ import annotations

from wireproof.model.errors import WireproofError

__all__ = ["LabError"]


class LabError(WireproofError):
    """The machine refused, or the lab is not what it should be."""
