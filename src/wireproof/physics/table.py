"""The constants that limits are computed from, each with its source; a user may override any of
them.

Keys are dotted (``floor.tcp``). ``literature`` marks a value from papers, data sheets and practice
instead of a standard's arithmetic: a number that contradicts such a constant only slightly is a
doubt, not a disproof.
"""

import difflib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

import msgspec

from wireproof.model.errors import BadInput
from wireproof.model.site import packaged
from wireproof.model.toml import read_toml


class PhysicsError(BadInput, ValueError):
    """An error in one sentence that names what was seen and what to write instead."""


class Constant(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A number with its unit and source."""

    value: int | float
    unit: str
    source: str
    literature: bool = False


Table = Mapping[str, Constant]

_FILE = "constants.toml"


@lru_cache(maxsize=1)
def default_table() -> Table:
    """Return the built-in constants, read-only."""
    leaves = _leaves(read_toml(packaged("wireproof.physics", _FILE), _FILE), "")
    return MappingProxyType({key: msgspec.convert(value, Constant) for key, value in leaves})


_LARGEST = 1e30
"""No constant here is larger; the comparison also rejects nan and integers that exceed a float."""


def override(table: Table, toml_text: str) -> Table:
    """Return a copy of ``table`` with the constants that a TOML text sets.

    ``[floor]`` then ``tcp = 6000`` or ``tcp = {value = 6000, source = "measured here"}``. Units
    stay those of the table. Raises PhysicsError for text that is not TOML, an unknown constant, or
    a value that is not a finite number >= 0.
    """
    try:
        tree = read_toml(toml_text, "limits file")
    except BadInput as error:
        raise PhysicsError(str(error)) from error
    changed = dict(table)
    for key, value in _leaves(tree, ""):
        changed[key] = _replaced(table, key, value)
    return MappingProxyType(changed)


def changed_constants(table: Table | None) -> dict[str, float]:
    """Return the values of ``table`` that differ from the built-in ones, by key."""
    default = default_table()
    return {
        key: constant.value
        for key, constant in (table or {}).items()
        if constant != default.get(key)
    }


def with_constants(values: Mapping[str, float]) -> Table | None:
    """Return the built-in table with these values from ``changed_constants``; None without any.

    Raises PhysicsError as ``override`` does.
    """
    default = default_table()
    changed = {key: _replaced(default, key, value) for key, value in values.items()}
    return MappingProxyType({**default, **changed}) if changed else None


def _leaves(tree: Mapping[str, object], prefix: str) -> Iterator[tuple[str, object]]:
    for name, value in tree.items():
        key = f"{prefix}{name}"
        if isinstance(value, dict) and "value" not in value:
            yield from _leaves(value, f"{key}.")
        else:
            yield key, value


def _replaced(table: Table, key: str, value: object) -> Constant:
    if key not in table:
        near = difflib.get_close_matches(key, table, n=3, cutoff=0.5)
        hint = f"; nearest: {', '.join(near)}" if near else ""
        raise PhysicsError(f"limits file sets unknown constant {key!r}{hint}")
    source = "user's limits file"
    if isinstance(value, dict):
        extra = sorted(set(value) - {"value", "source"})
        if extra:
            raise PhysicsError(
                f"limits file: {key!r} has unknown field {extra[0]!r}; use value and source"
            )
        source, value = str(value.get("source", source)), value["value"]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= _LARGEST:
        raise PhysicsError(
            f"limits file: {key!r} must be a finite number >= 0 in {table[key].unit}, not {value!r}"
        )
    # A value from the user is no longer literature: it is as certain as the arithmetic.
    return Constant(value=float(value), unit=table[key].unit, source=source, literature=False)
