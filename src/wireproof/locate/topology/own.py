"""Wireproof's own topology format, in TOML, for a fabric that no tool describes, or only in part.
docs/topology.md specifies it.

``[[switch]]`` has a ``name`` and ``nodes`` and / or ``switches`` (sets such as ``n[1-16]``, or
lists of them); ``nic`` names the NIC by which these nodes are attached. ``[[cable]]`` names two
switches in ``between``, with the number (``count``) and the ``rate`` of the cables. A switch below
another switch has one cable to it, unless a ``[[cable]]`` overrides that.
"""

import re
from typing import Any

from wireproof.locate.topology.build import Builder, expand, short
from wireproof.model.errors import BadInput
from wireproof.model.fabric import Fabric
from wireproof.model.toml import read_toml

_LARGEST = 4 << 20
"""Characters: 10,000 named nodes on 500 switches need less than one million."""
_SWITCH = {"name", "nodes", "switches", "nic"}
_CABLE = {"between", "count", "rate"}
_RATE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)\s*(m|g|t)(?:bit|b)?(?:/s|ps)?", re.IGNORECASE)
_SCALE = {"m": 1e6, "g": 1e9, "t": 1e12}


def read_own(text: str, source: str = "topology.toml") -> Fabric:
    """Return the fabric of wireproof's TOML format. Raise BadInput with the wrong table and key."""
    tables = read_toml(text, short(source, 200), largest=_LARGEST)
    unknown = sorted(set(tables) - {"switch", "cable"})
    if unknown:
        raise BadInput(f"{source} has {short(unknown[0])}: it may hold [[switch]] and [[cable]].")
    switches = _tables(tables, "switch", _SWITCH, source)
    cables = _tables(tables, "cable", _CABLE, source)
    builder = Builder(source)
    below: dict[str, tuple[int, list[str]]] = {}
    for number, table in enumerate(switches, start=1):
        _switch(builder, number, table, below)
    joined: set[frozenset[str]] = set()
    for number, table in enumerate(cables, start=1):
        joined.add(_cable(builder, number, table))
    _no_cycle(source, below)
    for name, (number, children) in below.items():
        for child in children:
            _known(builder, child, f"{source}, [[switch]] number {number}")
            if frozenset((child, name)) not in joined:
                builder.join(child, name, number)
    return builder.fabric()


def _tables(tables: dict[str, Any], name: str, keys: set[str], source: str) -> list[dict[str, Any]]:
    rows = tables.get(name, [])
    if not isinstance(rows, list) or not all(isinstance(table, dict) for table in rows):
        raise BadInput(f"{source}: write [[{name}]], with two brackets, before each {name}.")
    for number, table in enumerate(rows, start=1):
        unknown = sorted(set(table) - keys)
        if unknown:
            where, known = f"{source}, [[{name}]] number {number}", ", ".join(sorted(keys))
            raise BadInput(f"{where} has {short(unknown[0])}: it may have {known}.")
    return rows


def _names(table: dict[str, Any], key: str, where: str) -> list[str]:
    """Return the names of a set, or of a list of sets."""
    value = table.get(key, [])
    sets = [value] if isinstance(value, str) else value
    if not isinstance(sets, list) or not all(isinstance(item, str) for item in sets):
        raise BadInput(f'{where}: {key} must be a set of names such as "n[1-4]" or a list of them.')
    return expand(",".join(sets), f"{where}, {key}")


def _switch(
    builder: Builder, number: int, table: dict[str, Any], below: dict[str, tuple[int, list[str]]]
) -> None:
    where = f"{builder.source}, [[switch]] number {number}"
    name, nic = table.get("name"), table.get("nic", "")
    if not isinstance(name, str) or not isinstance(nic, str):
        raise BadInput(f"{where}: name and nic must be text, and every switch has a name.")
    builder.switch(name, number)
    for node in _names(table, "nodes", where):
        builder.attach(node, name, number, nic)
    # a switch may have several tables, one per rail
    children = below.setdefault(name, (number, []))[1]
    for child in _names(table, "switches", where):
        if child == name:
            raise BadInput(
                f"{where}: switch {short(name)} names itself; name the switches below it."
            )
        children.append(child)


def _cable(builder: Builder, number: int, table: dict[str, Any]) -> frozenset[str]:
    """Add the cables and return the two switches that they join."""
    where = f"{builder.source}, [[cable]] number {number}"
    one, other = _two_ends(table.get("between"), where)
    count = table.get("count", 1)
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= 10_000:
        raise BadInput(f"{where}: count is {short(str(count))}; it must be from 1 to 10000.")
    rate = _rate(table.get("rate"), where)
    for end in (one, other):
        _known(builder, end, where)
    builder.join(one, other, number, rate, count)
    return frozenset((one, other))


def _two_ends(between: object, where: str) -> tuple[str, str]:
    if isinstance(between, list) and len(between) == 2:
        one, other = between
        if isinstance(one, str) and isinstance(other, str):
            return one, other
    raise BadInput(f'{where}: between must name two switches, such as ["leaf1", "spine1"].')


def _rate(rate: object, where: str) -> float | None:
    """Return bits per second; None if no rate is given."""
    parsed = _RATE.fullmatch(rate.strip()) if isinstance(rate, str) else None
    if rate is not None and parsed is None:
        raise BadInput(f'{where}: rate is {short(str(rate))}; write it such as "100gbit".')
    return float(parsed[1]) * _SCALE[parsed[2].lower()] if parsed else None


def _known(builder: Builder, name: str, where: str) -> None:
    if name not in builder.switches:
        raise BadInput(f"{where}: switch {short(name)} is named but no [[switch]] defines it.")


def _no_cycle(source: str, below: dict[str, tuple[int, list[str]]]) -> None:
    """Raise BadInput if a switch is below itself (Kahn: switches that remain after removing those
    without children).
    """
    above: dict[str, list[str]] = {}
    left = {name: len(children) for name, (_, children) in below.items()}
    for name, (_, children) in below.items():
        for child in children:
            above.setdefault(child, []).append(name)
    ready = [name for name in {*above, *left} if not left.get(name)]
    while ready:
        for parent in above.get(ready.pop(), []):
            left[parent] -= 1
            if not left[parent]:
                ready.append(parent)
    stuck = [name for name, count in left.items() if count]
    if stuck:
        where = f"{source}, [[switch]] number {below[stuck[0]][0]}"
        raise BadInput(f"{where}: switch {short(stuck[0])} is below itself.")
