"""Judge results: proof of the path, plausibility and verdict, each with a code of the closed
catalogue. Pure.

``judge`` needs numpy, but the judgement of external results does not: each name is imported when it
is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wireproof.verdict.catalogue import CATALOGUE, CatalogueEntry
    from wireproof.verdict.issue import overall
    from wireproof.verdict.run.judge import judge

__all__ = ["CATALOGUE", "CatalogueEntry", "judge", "overall"]

_HOME = {
    "CATALOGUE": "catalogue",
    "CatalogueEntry": "catalogue",
    "judge": "run.judge",
    "overall": "issue",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
