# pure
"""The texts of catalogues: files beside the code, and files that a site adds.

``catalogue`` reads and checks a site's files once; this module then provides them to all
readers of a catalogue, like the files beside the code.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from importlib.abc import ResourceLoader


def packaged(package: str, name: str) -> str:
    """Return the text of ``name`` beside the code of ``package``, such as ``wireproof.verdict``.

    The package's loader reads it, so this also works from a zip file; importing importlib.resources
    would take 15 ms.
    """
    module = import_module(package)
    loader = cast("ResourceLoader", module.__loader__)
    return loader.get_data(f"{module.__path__[0]}/{name}").decode()


Given = ParamSpec("Given")
Found = TypeVar("Found")

HEADS = (
    *("family", "pauses", "cause", "words", "finding", "link", "source"),
    *("rule", "line", "variable", "command", "library", "module", "folder", "sysctl", "list"),
    "setting",
)
"""The kinds of rows that a site's file may have. Each catalogue reads its kinds and ignores the
others.
"""


class CatalogueFile(NamedTuple):
    """A file of a catalogue, with its name in messages and results."""

    text: str
    name: str
    by_site: bool = False

    def source(self, source: str) -> str:
        """Return the source of a row of this file; for a site's file, with the name of the file."""
        if not self.by_site:
            return source
        return f"{source} ({self.name.replace(chr(92), '/').rpartition('/')[2]})"


_texts: tuple[CatalogueFile, ...] = ()
_studies: tuple[CatalogueFile, ...] = ()


def site_texts() -> tuple[CatalogueFile, ...]:
    """Return the site's files; none before ``use_site``."""
    return _texts


def site_studies() -> tuple[CatalogueFile, ...]:
    """Return the site's files with settings for studies; each file describes one library."""
    return _studies


def use_site(texts: tuple[CatalogueFile, ...], studies: tuple[CatalogueFile, ...] = ()) -> None:
    """From now on, add these files to the catalogues."""
    global _texts, _studies
    _texts, _studies = texts, studies
    for forget in _forget:
        forget()


_forget: list[Callable[[], None]] = []


def of_site(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Cache the result of ``function`` until ``use_site`` changes the files."""
    cached = lru_cache(maxsize=1024)(function)
    _forget.append(cached.cache_clear)
    return cast("Callable[Given, Found]", cached)
