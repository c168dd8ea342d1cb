"""Refuses a folder that is not what was sealed; each file is named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wireproof.model.errors import BadInput
from wireproof.store.manifest import differences

__all__ = ["refuse_altered", "told"]

_MOST = 10
"""Differences that are named one by one."""


def refuse_altered(folder: Path) -> None:
    """Raises ``BadInput`` when ``folder`` has no manifest, or is otherwise than it says: each file
    is named.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder: give a dossier's, unpacked.")
    found = differences(folder)
    if found:
        raise BadInput(
            f"{folder} is not what was sealed: {told([one.said for one in found])}. No verdict is"
            " given."
        )


def told(sentences: Sequence[str]) -> str:
    more = len(sentences) - _MOST
    return "; ".join(sentences[:_MOST]) + (f"; and {more} more" if more > 0 else "")
