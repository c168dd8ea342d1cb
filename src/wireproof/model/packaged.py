"""The program's data files: parts of it as its code is, and so constants that pure code may use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from importlib.abc import ResourceLoader

__all__ = ["packaged"]


def packaged(package: str, name: str) -> str:
    """The text of ``name`` beside the code of ``package``, such as ``wireproof.verdict``.

    By the package's loader, as from a zip file too; importlib.resources costs 15 ms to import.
    """
    module = import_module(package)
    loader = cast("ResourceLoader", module.__loader__)
    return loader.get_data(f"{module.__path__[0]}/{name}").decode()
