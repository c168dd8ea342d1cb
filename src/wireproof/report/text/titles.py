"""A catalogue as a list: each name with its title."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["title_lines"]


def title_lines(titles: Mapping[str, str]) -> list[str]:
    """One line for each name, the titles below each other."""
    width = max(map(len, titles), default=0)
    return [f"{name:{width}}  {title}" for name, title in titles.items()]
