# pure
"""Read topologies: convert text to a `wireproof.model.located.Fabric`. docs/topology.md shows each
format.
"""

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

from wireproof.model.errors import BadInput
from wireproof.model.located import Fabric
from wireproof.model.toml import read_toml
from wireproof.topology.infiniband import (
    COLLECT,
    read_ibnetdiscover,
    read_lldp,
    read_opareport,
)
from wireproof.topology.nodes import Builder, against, expand, leaf_numbers, readable, short

__all__ = [
    "FORMS",
    "against",
    "leaf_numbers",
    "read_ibnetdiscover",
    "read_lldp",
    "read_opareport",
    "read_own",
    "read_slurm",
    "read_topology",
]


# --- Trees of switches that an administrator writes: wireproof's TOML, for a fabric that no tool
# describes, or only in part, and Slurm's ``topology.conf``.


def _heights(below: Mapping[str, Sequence[str]], where: Callable[[str], str]) -> dict[str, int]:
    """Map each switch to 1 if no switch is below it, else to 1 more than the highest switch below
    it.

    Raise BadInput, starting with ``where`` of a switch, if that switch is below itself.
    """
    levels: dict[str, int] = {}
    try:
        for name in TopologicalSorter(below).static_order():
            levels[name] = 1 + max((levels[child] for child in below.get(name, ())), default=0)
    except CycleError as error:
        name = error.args[1][0]
        raise BadInput(f"{where(name)}: switch {short(name)} is below itself.") from None
    return levels


# --- Wireproof's format. ``[[switch]]`` has a ``name`` and ``nodes`` and / or ``switches`` (sets
# such as ``n[1-16]``, or lists of them); ``nic`` is the NIC by which these nodes are attached.
# ``[[cable]]`` lists two switches in ``between``, with the number (``count``) and the ``rate`` of
# the cables. A switch below another switch has one cable to it, unless a ``[[cable]]`` overrides
# that.

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
        raise BadInput(
            f"{source} has {short(unknown[0])}: only [[switch]] and [[cable]] are allowed."
        )
    switches = _tables(tables, "switch", _SWITCH, source)
    cables = _tables(tables, "cable", _CABLE, source)
    builder = Builder(source)
    below: dict[str, tuple[int, list[str]]] = {}
    for number, table in enumerate(switches, start=1):
        _switch(builder, number, table, below)
    joined: set[frozenset[str]] = set()
    for number, table in enumerate(cables, start=1):
        joined.add(_cable(builder, number, table))
    _heights(
        {name: children for name, (_, children) in below.items()},
        lambda name: f"{source}, [[switch]] number {below[name][0]}",
    )
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
            raise BadInput(f"{where} has {short(unknown[0])}: allowed are {known}.")
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
                f"{where}: switch {short(name)} lists itself; list the switches below it."
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
    raise BadInput(f'{where}: between must list two switches, such as ["leaf1", "spine1"].')


def _rate(rate: object, where: str) -> float | None:
    """Return bits per second; None if no rate is given."""
    parsed = _RATE.fullmatch(rate.strip()) if isinstance(rate, str) else None
    if rate is not None and parsed is None:
        raise BadInput(f'{where}: rate is {short(str(rate))}; write it such as "100gbit".')
    return float(parsed[1]) * _SCALE[parsed[2].lower()] if parsed else None


def _known(builder: Builder, name: str, where: str) -> None:
    if name not in builder.switches:
        raise BadInput(f"{where}: switch {short(name)} is used, but no [[switch]] defines it.")


# --- Slurm: ``topology.conf`` (plugins topology/tree and topology/block) and ``scontrol show
# topology``, after topology.conf(5) of Slurm 22.05 and 24.05. ``LinkSpeed`` has arbitrary units and
# is ignored; the number of cables between two switches is not given.

_MOST_NAMED = 1_000_000  # scontrol lists each node again at each level


@dataclasses.dataclass
class _SwitchLine:
    number: int
    name: str
    nodes: list[str]
    switches: list[str]


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield (number of the first line, text) with comments removed and continuation lines (ending
    in a backslash) joined.
    """
    start, gathered = 0, ""
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.split("#", 1)[0].rstrip()
        start = start or number
        if line.endswith("\\"):
            gathered += line[:-1] + " "
            continue
        if (gathered + line).strip():
            yield start, (gathered + line).strip()
        start, gathered = 0, ""
    if gathered.strip():
        yield start, gathered.strip()


def _parse(builder: Builder, number: int, line: str) -> _SwitchLine | None:
    where = builder.where(number)
    words = dict.fromkeys(("switchname", "blockname", "switches", "nodes"), "")
    for word in line.split():
        key, equals, value = word.partition("=")
        if key.lower() in words and equals:
            words[key.lower()] = value.strip('"')
    if words["blockname"]:
        builder.note(
            "blocks (topology/block) count as leaf switches; the connections between them "
            "are unknown."
        )
    name = words["switchname"] or words["blockname"]
    if not name:
        first = line.partition("=")[0].strip().lower().partition(" ")[0]
        if first == "include":
            builder.note(f"line {number} includes another file, which is not read.")
        elif first not in ("blocksizes", "blocksize"):
            builder.refuse(
                number,
                f"{short(line)} is not understood; lines of topology.conf begin with SwitchName=.",
            )
        return None
    return _SwitchLine(
        number, name, expand(words["nodes"], where), expand(words["switches"], where)
    )


def read_slurm(text: str, source: str = "topology.conf") -> Fabric:
    """Return the tree of switches of a topology.conf, or of the output of ``scontrol show
    topology``.

    Raises BadInput with the line for a duplicate switch, a child that no line defines, a cycle, or
    a node on two leaves.
    """
    builder = Builder(source)
    lines = _switch_lines(builder, text)
    for line in lines.values():
        for child in line.switches:
            if child not in lines:
                builder.refuse(
                    line.number, f"switch {short(child)} is used, but no line defines it."
                )
    levels = _heights(
        {line.name: line.switches for line in lines.values()},
        lambda name: builder.where(lines[name].number),
    )
    placed: dict[str, int] = {}
    for switch in sorted(lines.values(), key=lambda line: (levels[line.name], line.number)):
        for node in switch.nodes:
            if placed.setdefault(node, levels[switch.name]) == levels[switch.name]:
                # at higher levels scontrol lists the nodes below again
                builder.attach(node, switch.name, switch.number)
        for child in switch.switches:
            builder.join(child, switch.name, switch.number)
    if any(switch.switches for switch in lines.values()):
        builder.note(f"{source} does not contain the number of cables between two switches.")
    return builder.fabric(levels)


def _switch_lines(builder: Builder, text: str) -> dict[str, _SwitchLine]:
    """Map each switch to the line that defines it."""
    lines: dict[str, _SwitchLine] = {}
    names = 0
    for number, line in _logical_lines(text):
        parsed = _parse(builder, number, line)
        if parsed is None:
            continue
        builder.switch(parsed.name, number)
        if parsed.name in lines:
            before = lines[parsed.name].number
            builder.refuse(
                number, f"switch {short(parsed.name)} is defined twice (see line {before})."
            )
        lines[parsed.name] = parsed
        names += len(parsed.nodes) + len(parsed.switches)
        if names > _MOST_NAMED:
            builder.refuse(number, f"more than {_MOST_NAMED} names; give a smaller fabric.")
    return lines


FORMS = (
    "Slurm's topology.conf or `scontrol show topology`, ibnetdiscover, `opareport -o links`,"
    " lldpctl of several nodes, or TOML with [[switch]]"
)
_SIGNS = (
    (re.compile(r"^\s{0,20}\[\[\s?(?:switch|cable)\s?\]\]", re.MULTILINE), read_own),
    (
        re.compile(r'^(?:Switch|Ca|Rt)\s{1,8}\d{1,4}\s{1,8}"[SHR]-[0-9a-fA-F]', re.MULTILINE),
        read_ibnetdiscover,
    ),
    (
        re.compile(r"^\s{0,8}(?:<->|\d{1,4}g)\s{1,8}0x[0-9a-fA-F]{8,16}\s", re.MULTILINE),
        read_opareport,
    ),
    (
        re.compile(
            r"^.{0,255}?\blldp\..{1,64}?\.(?:chassis|port)\."
            r"|^.{0,255}?\bInterface:\s.{1,64}, via: ",
            re.M,
        ),
        read_lldp,
    ),
    (
        re.compile(r"^\s{0,20}(?:SwitchName|BlockName)\s{0,4}=", re.MULTILINE | re.IGNORECASE),
        read_slurm,
    ),
)
_REFUSED = (
    (
        re.compile(r"^(?:- )?topology:", re.MULTILINE),
        "is Slurm's YAML: give the output of `scontrol show topology`",
    ),
    (
        re.compile(r"^NodeGUID\s{1,20}Type\s{1,8}Name|Node Type Brief Summary", re.M),
        "has nodes without links: give `opareport -o links`",
    ),
    (re.compile(r"LLDP neighbors:"), f"lists no LLDP neighbour: {COLLECT}"),
)


def read_topology(text: str, source: str) -> Fabric:
    """Return the fabric that ``text`` describes, whichever tool wrote it. ``source``: name of the
    text in error messages.

    Raises BadInput with one sentence and the line if the text is empty, binary, unknown or
    contradictory.
    """
    readable(text, source)
    text = text.removeprefix("\ufeff")
    head = text[: 4 << 20]
    for sign, read in _SIGNS:
        if sign.search(head):
            return read(text, source)
    for sign, sentence in _REFUSED:
        if sign.search(head):
            raise BadInput(f"{source} {sentence}.")
    raise BadInput(f"{source} is not a known topology format: give {FORMS}.")
