# pure
"""Load the constants from which limits are computed and the links that ``--link`` accepts, each
with its source; a user may override any constant.

Keys are dotted (``floor.tcp``). ``literature`` marks a value from papers, data sheets and practice
instead of a standard's arithmetic: a number that contradicts this kind of constant only slightly is
inconclusive, not a failure.
"""

import difflib
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Annotated

import msgspec

from wireproof.model.claim import LinkClaim, Protocol
from wireproof.model.errors import BadInput
from wireproof.model.site import HEADS, CatalogueFile, of_site, packaged, site_texts
from wireproof.model.toml import line_at, once, read_rows, read_toml


class PhysicsError(BadInput, ValueError):
    """An error in one sentence: the input that was found, and what to write instead."""


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
"""Larger than any constant here; the comparison also rejects nan and integers that exceed a float.
"""


def override(table: Table, toml_text: str, file: str = "limits file") -> Table:
    """Return a copy of ``table`` with the constants that the TOML text of ``file`` sets.

    ``[floor]`` then ``tcp = 6000`` or ``tcp = {value = 6000, source = "measured here"}``. Units
    stay those of the table. Raises PhysicsError for text that is not TOML, an unknown constant, or
    a value that is not a finite number >= 0.
    """
    try:
        tree = read_toml(toml_text, file)
    except BadInput as error:
        raise PhysicsError(str(error)) from error
    changed = dict(table)
    for key, value in _leaves(tree, ""):
        try:
            changed[key] = _replaced(table, key, value)
        except PhysicsError as error:
            line = line_at(toml_text, [(part, None) for part in key.split(".")])
            raise PhysicsError(f"{file}, line {line}: {error}") from error
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
        raise PhysicsError(f"unknown constant {key[:60]!r}{hint}.")
    source = "user's limits file"
    if isinstance(value, dict):
        extra = sorted(set(value) - {"value", "source"})
        if extra:
            raise PhysicsError(
                f"{key!r} has the unknown field {extra[0][:60]!r}; use value and source."
            )
        source, value = str(value.get("source", source)), value["value"]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= _LARGEST:
        raise PhysicsError(
            f"{key!r} must be a finite number >= 0 in {table[key].unit}, not {value!r:.60}."
        )
    # A value from the user does not count as literature, but as certain.
    return Constant(value=float(value), unit=table[key].unit, source=source, literature=False)


# --- Names of links, with the line rate after encoding.

_USUAL = ("1gbe", "10gbe", "edr", "opa100")

LANE_GBPS = {
    "sdr": 2.0,
    "ddr": 4.0,
    "qdr": 8.0,
    "fdr10": 10.0,
    "fdr": 14.0625 * 64 / 66,
    "edr": 25.0,
    "hdr": 50.0,
    "ndr": 100.0,
    "xdr": 200.0,
}
"""Data rate of one lane in Gb/s, by InfiniBand generation: after 8b/10b (to QDR), 64b/66b (FDR10 to
EDR), 256b/257b and FEC (from HDR). IBTA volume 2.
"""

_BY_RATE = (
    "hdr",
    "ndr",
    "xdr",
)  # their names include the rate, because ports with two lanes are common


def infiniband_name(generation: str, lanes: int) -> str:
    """Return ``edr`` and ``hdr200`` for four lanes, ``hdr100`` for two, ``edr-1x`` after a bad
    cable.
    """
    if generation in _BY_RATE and lanes in (2, 4):
        return f"{generation}{LANE_GBPS[generation] * lanes:g}"
    return generation if lanes == 4 else f"{generation}-{lanes}x"


class _Link(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A link of ``links.toml`` or of a site. ``gbps``: the line rate of one rail after encoding."""

    name: str
    protocol: Protocol
    source: str
    gbps: Annotated[float, msgspec.Meta(gt=0, le=1e6)] | None = None
    aliases: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field, names in (("name", (self.name,)), ("aliases", self.aliases)):
            if wrong := [name for name in names if not _NAME.fullmatch(name)]:
                raise ValueError(
                    f"{field!r} is {wrong[0][:40]!r}: use at most 40 lower-case letters, digits, ."
                    " and -"
                )


_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,39}")


@of_site
def _links() -> dict[str, _Link]:
    """Return the links by name and alias, the built-in links before the site's."""
    links: dict[str, _Link] = {}
    names: set[str] = set()
    builtin = CatalogueFile(packaged("wireproof.physics", "links.toml"), "links.toml")
    for file in (builtin, *site_texts()):
        for link in read_rows(file.text, file.name, "link", _Link, HEADS, partial(_new, names)):
            stated = msgspec.structs.replace(link, source=file.source(link.source))
            links |= dict.fromkeys((link.name, *link.aliases), stated)
    return links


def _new(names: set[str], link: _Link) -> None:
    if len({link.name, *link.aliases}) <= len(link.aliases):
        raise ValueError("'aliases' lists a name twice")
    for name in (link.name, *link.aliases):
        once(names, name, "link")


def link_names() -> tuple[str, ...]:
    """Return every canonical name, in the order of families and rates."""
    return tuple(name for name, link in _links().items() if name == link.name)


def is_link(name: str) -> bool:
    """Return whether ``link_from_name`` knows the name."""
    return name.strip().lower() in _links()


def link_from_name(
    name: str, *, mtu: int | None = None, pcie: str = "", source: str = ""
) -> LinkClaim:
    """Return the claim of a link's name: ``10gbe``, ``roce25``, ``edr``, ``hdr200``, ``opa100``,
    ``shm``.

    The MTU stays unknown unless given. Raises PhysicsError with the nearest names for an unknown
    name.
    """
    key = name.strip().lower().replace(" ", "").removeprefix("ib-").removeprefix("infiniband-")
    link = _links().get(key)
    if link is None:
        near = difflib.get_close_matches(key, _links(), n=3, cutoff=0.5) or _USUAL
        raise PhysicsError(
            f"unknown link {name!r}; did you mean {', '.join(near)}? `wireproof explain --links`"
            " lists all"
        )
    return LinkClaim(
        kind=link.name,
        protocol=link.protocol,
        rate_bits_per_s=None if link.gbps is None else link.gbps * 1e9,
        mtu=mtu,
        pcie=pcie,
        source=source or link.source,
    )
