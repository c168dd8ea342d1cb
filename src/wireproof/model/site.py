"""What a site adds to the catalogues: rows of its files, beside those that come with wireproof.

The texts are read and checked once (``workflow.catalogue``) and stand here for all readers of a
catalogue, as the files beside the code do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, ParamSpec, TypeVar, cast

__all__ = ["HEADS", "CatalogueFile", "of_site", "site_studies", "site_texts", "use_site"]

Given = ParamSpec("Given")
Found = TypeVar("Found")

HEADS = (
    *("family", "pauses", "cause", "words", "finding", "link", "source"),
    *("rule", "line", "variable", "command", "library", "module"),
)
"""What the rows of a site's file may be: each is read by its catalogue, which leaves the others."""


class CatalogueFile(NamedTuple):
    """A file of a catalogue, with the name that messages and results give it."""

    text: str
    name: str
    by_site: bool = False

    def source(self, source: str) -> str:
        """Where a row of this file is from: of a site's file, the file too."""
        if not self.by_site:
            return source
        return f"{source} ({self.name.replace(chr(92), '/').rpartition('/')[2]})"


_texts: tuple[CatalogueFile, ...] = ()
_studies: tuple[CatalogueFile, ...] = ()


def site_texts() -> tuple[CatalogueFile, ...]:
    """The site's files; none before ``use_site``."""
    return _texts


def site_studies() -> tuple[CatalogueFile, ...]:
    """The site's files of knobs, each of which is a study."""
    return _studies


def use_site(texts: tuple[CatalogueFile, ...], studies: tuple[CatalogueFile, ...] = ()) -> None:
    """From now on these files add to the catalogues."""
    global _texts, _studies
    _texts, _studies = texts, studies
    for forget in _forget:
        forget()


_forget: list[Callable[[], None]] = []


def of_site(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Remember what ``function`` returns until the site's files are others."""
    cached = lru_cache(maxsize=1024)(function)
    _forget.append(cached.cache_clear)
    return cast("Callable[Given, Found]", cached)
