"""The texts of catalogues: files beside the code, and those that a site adds.

A site's texts are read and checked once (``workflow.catalogue``) and stand here for all readers
of a catalogue, as the files beside the code do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from importlib.abc import ResourceLoader


def packaged(package: str, name: str) -> str:
    """The text of ``name`` beside the code of ``package``, such as ``wireproof.verdict``.

    By the package's loader, as from a zip file too; importlib.resources costs 15 ms to import.
    """
    module = import_module(package)
    loader = cast("ResourceLoader", module.__loader__)
    return loader.get_data(f"{module.__path__[0]}/{name}").decode()


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
