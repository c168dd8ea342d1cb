"""Which rules judge, and on what: two versions that call themselves alike can be told apart."""

from __future__ import annotations

import functools
import hashlib
import platform
from collections.abc import Iterator
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable

__all__ = ["platform_name", "program_digest", "rules_digest"]

_RULES = ("model", "physics", "analysis", "locate", "verdict")
"""The packages that make a judgement of records; they are pure."""
_SUFFIXES = (".py", ".toml", ".html", ".css", ".js")


@functools.cache
def rules_digest() -> str:
    """SHA-256 of the modules that judge: equal ones conclude the same of the same records."""
    return _digest(_RULES)


@functools.cache
def program_digest() -> str:
    """SHA-256 of all modules: equal ones also write the same page, on the same platform."""
    return _digest(())


@functools.cache
def platform_name() -> str:
    """What the last digit of a computed number, and the page's text, can depend on."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "jinja2"))
    return f"{python}, {libraries}, {platform.system()} {platform.machine()}"


def _digest(packages: tuple[str, ...]) -> str:
    root = files("wireproof")
    places = [(name, root / name) for name in packages] or [("", root)]
    digest = hashlib.sha256()
    for name, data in sorted(one for place in places for one in _sources(*place)):
        digest.update(f"{name}\0{len(data)}\0".encode())
        digest.update(data)
    return digest.hexdigest()


def _sources(name: str, place: Traversable) -> Iterator[tuple[str, bytes]]:
    for one in place.iterdir():
        inside = f"{name}/{one.name}"
        if one.is_dir():
            yield from _sources(inside, one)
        elif one.name.endswith(_SUFFIXES):
            yield inside, one.read_bytes()
