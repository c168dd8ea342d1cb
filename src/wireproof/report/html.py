"""The report page: one self-contained HTML file that needs no network and allows none."""

from __future__ import annotations

from pathlib import Path

from wireproof.report.section import Section

__all__ = ["render", "write"]


def render(sections: list[Section], title: str) -> str:
    """One page for several runs, each a :class:`Section`; the page's verdict is the worst of them."""
    raise NotImplementedError


def write(path: Path, html: str) -> Path:
    """Write ``html`` to ``path`` atomically; OSError leaves the old file, or none, and nothing half-written."""
    raise NotImplementedError
