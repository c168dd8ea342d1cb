# pure
"""The names and values that lint knows, and the known name that a misspelt name means. The files of
this folder are read on demand.
"""

from collections.abc import Callable
from difflib import get_close_matches
from functools import lru_cache
from typing import Annotated, Literal

import msgspec

from wireproof.model.site import HEADS, CatalogueFile, of_site, packaged, site_texts
from wireproof.model.toml import Row, once, read_rows, read_toml

LONGEST_NAME = 80  # no known name is longer
# number of names per line that are examined; a line with more is not a configuration
MOST_WORDS = 120


class VariableTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Variables of a library. ``names`` are without the prefix, separated by spaces; ``aliases``
    are common wrong names, each with the right variable. ``anywhere``: a word with this prefix is a
    variable wherever it occurs, not only where it gets a value.
    """

    prefix: str
    source: str
    names: str = ""
    aliases: dict[str, str] = {}
    anywhere: bool = True

    @property
    def known(self) -> frozenset[str]:
        """The names, without the prefix."""
        return frozenset(self.names.split())


def _check_range(low: int | None, high: int | None) -> None:
    if low is not None and high is not None and low > high:
        raise ValueError(f"'low' is {low}, which is above 'high'")


class NumberRange(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The allowed numbers: one of ``one_of``, or from ``low`` to ``high``, in steps of
    ``multiple``, possibly a power of two. ``words`` describes the range.
    """

    name: str
    words: str
    low: int | None = None
    high: int | None = None
    one_of: tuple[int, ...] = ()
    multiple: Annotated[int, msgspec.Meta(ge=1)] = 1
    power_of_two: bool = False

    def __post_init__(self) -> None:
        _check_range(self.low, self.high)

    def holds(self, value: int) -> bool:
        """Return whether ``value`` is allowed."""
        if self.one_of:
            return value in self.one_of
        low = value if self.low is None else self.low
        high = value if self.high is None else self.high
        power = not self.power_of_two or (value > 0 and value & (value - 1) == 0)
        return low <= value <= high and value % self.multiple == 0 and power


class Module(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The parameters of a kernel module, and the limits of some of them."""

    name: str
    parameters: str
    limit: tuple[NumberRange, ...] = ()

    @property
    def known(self) -> frozenset[str]:
        """The names of the parameters."""
        return frozenset(self.parameters.split())


class Sysctl(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A setting below /proc/sys: the number of its values and their ranges; ``removed`` states
    since which release the kernel ignores it.
    """

    name: str
    form: Literal["", "integer", "triple"] = ""
    low: int = 0
    high: int = 2**31 - 1
    removed: str = ""

    def __post_init__(self) -> None:
        _check_range(self.low, self.high)


class _Names(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    name: str
    names: str


def _with_site(
    name: str, head: str, kind: type[Row], check: Callable[[Row], object] = lambda _: None
) -> list[Row]:
    """Return the built-in rows of a kind, then those of the site."""
    return [
        row
        for text in (CatalogueFile(packaged(__package__, name), name), *site_texts())
        for row in read_rows(text.text, text.name, head, kind, HEADS, check)
    ]


@of_site
def libraries() -> tuple[VariableTable, ...]:
    """Return all libraries with known variables; a site adds to a library by its prefix."""
    merged: dict[str, VariableTable] = {}
    for row in _with_site("variables.toml", "library", VariableTable):
        old = merged.setdefault(row.prefix, row)
        names, aliases = f"{old.names} {row.names}", old.aliases | row.aliases
        merged[row.prefix] = msgspec.structs.replace(old, names=names, aliases=aliases)
    return tuple(merged.values())


@of_site
def modules() -> dict[str, Module]:
    """Return the kernel modules by their names; a site adds parameters and limits to a module."""
    merged: dict[str, Module] = {}
    for row in _with_site("modules.toml", "module", Module):
        old = merged.get(row.name, Module(name=row.name, parameters=""))
        known, limit = f"{old.parameters} {row.parameters}", row.limit + old.limit
        merged[row.name] = Module(name=row.name, parameters=known, limit=limit)
    return merged


@of_site
def folders() -> dict[str, frozenset[str]]:
    """Return dotted folders below /proc/sys, and the names in them; a site adds names."""
    merged: dict[str, frozenset[str]] = {}
    for row in _with_site("sysctl.toml", "folder", _Names):
        merged[row.name] = merged.get(row.name, frozenset()).union(row.names.split())
    return merged


@of_site
def sysctls() -> dict[str, Sysctl]:
    """Return settings with known values, by their dotted names."""
    known: set[str] = set()
    rows = _with_site("sysctl.toml", "sysctl", Sysctl, lambda row: once(known, row.name, "sysctl"))
    return {row.name: row for row in rows}


def listed(name: str) -> frozenset[str]:
    """Return the list ``name`` of ``words.toml``, with the words of the site."""
    return lists()[name]


@of_site
def lists() -> dict[str, frozenset[str]]:
    """Return all lists by their names; a site adds words (``[[list]]``)."""
    text = packaged(__package__, "words.toml")
    tree = msgspec.convert(read_toml(text, "words.toml"), dict[str, str])
    merged = {name: frozenset(text.split()) for name, text in tree.items()}

    def known(row: _Names) -> None:
        if row.name not in merged:
            raise ValueError(f"'name' is {row.name[:40]!r}; there are {', '.join(merged)}")

    for site in site_texts():
        for row in read_rows(site.text, site.name, "list", _Names, HEADS, known):
            merged[row.name] = merged[row.name].union(row.names.split())
    return merged


@lru_cache(maxsize=8192)
def nearest(
    name: str, known: tuple[str, ...] | frozenset[str], likeness: float = 0.8
) -> str | None:
    """Return the most similar known name (ratio of matching characters, difflib), None if ``name``
    is known or too different.
    """
    if not name or name in known or len(name) > LONGEST_NAME:
        return None
    # A ratio of r needs lengths within a factor of 2/r - 1: most names are skipped without a
    # comparison.
    most = int(len(name) * (2 / likeness - 1))
    least = int(len(name) / (2 / likeness - 1))
    near = [other for other in sorted(known) if least <= len(other) <= most and other[0] in name]
    found = get_close_matches(name, near, n=1, cutoff=likeness)
    return found[0] if found else None


def spelled(name: str, known: frozenset[str], likeness: float) -> str | None:
    """Return the known name that equals ``name`` or resembles it, for example with another case."""
    return name if name in known else nearest(name, known, likeness)
