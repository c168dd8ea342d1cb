"""Where the system's tools are."""

from __future__ import annotations

from wireproof.files.programs import find_program

__all__ = ["find_tool"]


def find_tool(name: str) -> str | None:
    """``ip`` and ``tc`` are in /usr/sbin, which is not on every user's PATH."""
    return find_program(name, system=True)
