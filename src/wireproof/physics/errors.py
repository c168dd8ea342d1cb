"""The one error of this package: a claim or a table that cannot be understood."""

from __future__ import annotations

from wireproof.model.errors import BadInput

__all__ = ["PhysicsError"]


class PhysicsError(BadInput, ValueError):
    """One sentence that names what was seen and what to write instead."""
