"""Paths as Python programs give them: a ``Path`` or its text."""

from __future__ import annotations

from pathlib import Path

__all__ = ["as_path"]


def as_path(given: Path | str | None) -> Path | None:
    """The path, None if none was given."""
    return None if given is None else Path(given)
