"""A topology of our own, in TOML: for a fabric that no tool describes, or only in part.
docs/topology.md has it whole.

``[[switch]]`` has a ``name`` and ``nodes`` and / or ``switches`` (sets such as ``n[1-16]``, or
lists of them); ``nic`` says which NIC of these nodes hangs there. ``[[cable]]`` says ``between``
which two switches how many (``count``) cables of what ``rate`` run. A switch below another one has
one cable to it, unless a ``[[cable]]`` says otherwise.
"""

import re
from typing import Any

from wireproof.locate.topology.build import Builder
from wireproof.locate.topology.names import expand, short
from wireproof.model.errors import BadInput
from wireproof.model.fabric import Fabric
from wireproof.model.toml import read_toml

_LARGEST = 4 << 20
"""Characters: 10,000 nodes on 500 switches, each named, are less than one million."""
_SWITCH = {"name", "nodes", "switches", "nic"}
_CABLE = {"between", "count", "rate"}
_RATE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)\s*(m|g|t)(?:bit|b)?(?:/s|ps)?", re.IGNORECASE)
_SCALE = {"m": 1e6, "g": 1e9, "t": 1e12}


def read_own(text: str, source: str = "topology.toml") -> Fabric:
    """The fabric of our own TOML form. BadInput names the table and the key that is wrong."""
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
    said: set[frozenset[str]] = set()
    for number, table in enumerate(cables, start=1):
        said.add(_cable(builder, number, table))
    _no_cycle(source, below)
    for name, (number, children) in below.items():
        for child in children:
            _known(builder, child, f"{source}, [[switch]] number {number}")
            if frozenset((child, name)) not in said:
                builder.join(child, name, number)
    return builder.fabric()


def _tables(tables: dict[str, Any], name: str, keys: set[str], source: str) -> list[dict[str, Any]]:
    found = tables.get(name, [])
    if not isinstance(found, list) or not all(isinstance(table, dict) for table in found):
        raise BadInput(f"{source}: write [[{name}]], with two brackets, before each {name}.")
    for number, table in enumerate(found, start=1):
        unknown = sorted(set(table) - keys)
        if unknown:
            where, known = f"{source}, [[{name}]] number {number}", ", ".join(sorted(keys))
            raise BadInput(f"{where} has {short(unknown[0])}: it may have {known}.")
    return found


def _names(table: dict[str, Any], key: str, where: str) -> list[str]:
    """A set of names, or a list of sets."""
    value = table.get(key, [])
    sets = [value] if isinstance(value, str) else value
    if not isinstance(sets, list) or not all(isinstance(each, str) for each in sets):
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
    # one table per rail: a switch may stand in several
    children = below.setdefault(name, (number, []))[1]
    for child in _names(table, "switches", where):
        if child == name:
            raise BadInput(
                f"{where}: switch {short(name)} names itself; name the switches below it."
            )
        children.append(child)


def _cable(builder: Builder, number: int, table: dict[str, Any]) -> frozenset[str]:
    """The two switches that the cable joins."""
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
    """Bits per second; None when none is given."""
    found = _RATE.fullmatch(rate.strip()) if isinstance(rate, str) else None
    if rate is not None and found is None:
        raise BadInput(f'{where}: rate is {short(str(rate))}; write it such as "100gbit".')
    return float(found[1]) * _SCALE[found[2].lower()] if found else None


def _known(builder: Builder, name: str, where: str) -> None:
    if name not in builder.switches:
        raise BadInput(f"{where}: switch {short(name)} is named but no [[switch]] defines it.")


def _no_cycle(source: str, below: dict[str, tuple[int, list[str]]]) -> None:
    """BadInput when a switch is below itself (Kahn: what is left after removing whatever has no
    child left).
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
