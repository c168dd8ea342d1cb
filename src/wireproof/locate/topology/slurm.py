"""Slurm: read ``topology.conf`` (plugins topology/tree and topology/block) and ``scontrol show
topology``.

Written after topology.conf(5) of Slurm 22.05 and 24.05. ``LinkSpeed`` has arbitrary units and is
ignored; the number of cables between two switches is not given.
"""

import dataclasses
from collections.abc import Iterator
from typing import NoReturn

from wireproof.locate.topology.build import Builder, expand, short
from wireproof.model.fabric import Fabric

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
            "blocks (topology/block) are taken as leaf switches; how they are joined is not known."
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
    levels = _Heights(builder, lines).all()
    placed: dict[str, int] = {}
    for switch in sorted(lines.values(), key=lambda line: (levels[line.name], line.number)):
        for node in switch.nodes:
            if placed.setdefault(node, levels[switch.name]) == levels[switch.name]:
                # at higher levels scontrol lists the nodes below again
                builder.attach(node, switch.name, switch.number)
        for child in switch.switches:
            builder.join(child, switch.name, switch.number)
    if any(switch.switches for switch in lines.values()):
        builder.note(f"{source} does not say how many cables join two switches.")
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


class _Heights:
    """Compute the level of each switch: 1 without children, else 1 more than the highest child.
    Raise BadInput for a cycle.
    """

    def __init__(self, builder: Builder, lines: dict[str, _SwitchLine]) -> None:
        self.builder, self.lines = builder, lines
        self.levels: dict[str, int] = {}

    def all(self) -> dict[str, int]:
        for start in self.lines:
            self._climb(start)
        return self.levels

    def _climb(self, start: str) -> None:
        """Visit depth first, without recursion: a file may be deeper than Python's stack."""
        path: dict[str, None] = {}
        stack: list[tuple[str, bool]] = [(start, False)]
        while stack:
            name, done = stack.pop()
            children = self.lines[name].switches
            if done:
                del path[name]
                self.levels[name] = 1 + max((self.levels[child] for child in children), default=0)
            elif name in path:
                self._refuse(name, f"switch {short(name)} is below itself; a tree has no cycle.")
            elif name not in self.levels:
                path[name] = None
                stack.append((name, True))
                stack += [(child, False) for child in self._known(name, children)]

    def _known(self, name: str, children: list[str]) -> list[str]:
        for child in children:
            if child not in self.lines:
                self._refuse(name, f"switch {short(child)} is named but no line defines it.")
        return children

    def _refuse(self, name: str, sentence: str) -> NoReturn:
        self.builder.refuse(self.lines[name].number, sentence)
