"""What ``study`` is asked for, from text."""

from __future__ import annotations

from collections.abc import Sequence

from wireproof.model.errors import BadInput

__all__ = ["names_of", "values_of"]


def names_of(text: str, option: str) -> tuple[str, ...]:
    """``A,B``, each once; () of "". Raises ``BadInput``."""
    names = tuple(part.strip() for part in text.split(",")) if text else ()
    if any(not name for name in names):
        raise BadInput(f"{option}: a name between two commas is empty.")
    return tuple(dict.fromkeys(names))


def values_of(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Of ``NAME=A,B`` each; where a ``|`` stands in the values it parts them. Raises
    ``BadInput``.
    """
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, equals, rest = text.partition("=")
        values = tuple(rest.split("|" if "|" in rest else ","))
        if not equals or not name or not all(values):
            raise BadInput(f"--values: {text[:60]!r} is not NAME=A,B: every value is a text.")
        if name in found:
            raise BadInput(f"--values: {name[:60]} is given twice: give all its values at once.")
        found[name] = values
    return found
