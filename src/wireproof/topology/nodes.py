# pure
"""Look up the nodes of a fabric: the leaf of each, the up-links of each leaf, and the measured
nodes that are unknown, have no place, or are attached by several NICs.
"""

import dataclasses
import itertools
import math
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import NoReturn

import msgspec

from wireproof.model import gathered
from wireproof.model.errors import BadInput
from wireproof.model.located import Attachment, Cable, Fabric


def uplinks(fabric: Fabric) -> dict[str, list[str]]:
    """Map each leaf to the switch at the far end of each of its up-links; parallel cables are
    listed separately.
    """
    far_ends: dict[str, list[str]] = {attachment.switch: [] for attachment in fabric.attachments}
    for cable in fabric.cables:
        for low, high in ((cable.one, cable.other), (cable.other, cable.one)):
            if low in far_ends and fabric.levels.get(high, 0) > fabric.levels.get(low, 0):
                far_ends[low] += [high] * min(cable.count, 10_000)
    return far_ends


def positions(fabric: Fabric) -> dict[str, int]:
    """Map each node to its position on its leaf, from 0: by port if all ports of the leaf are
    numbers, else in listed order.
    """
    first: dict[str, tuple[str, str]] = {}
    for attachment in fabric.attachments:
        first.setdefault(attachment.node, (attachment.switch, attachment.port))
    members = gathered((switch, (node, port)) for node, (switch, port) in first.items())
    places: dict[str, int] = {}
    for on_leaf in members.values():
        if all(port.isdecimal() and len(port) < 10 for _, port in on_leaf):
            on_leaf.sort(key=lambda item: int(item[1]))
        places |= {node: index for index, (node, _) in enumerate(on_leaf)}
    return places


_SEVERAL = "attached to several switches: the first is used; name the measured NIC."


def against(fabric: Fabric, nodes: Sequence[str], nic: str = "") -> tuple[Fabric, list[str]]:
    """Return the part of ``fabric`` that contains ``nodes``, under the names used there, and
    sentences about mismatches.

    A name with and without its domain is the same node, unless that is ambiguous. ``nic``: the
    measured NIC (port numbers are ignored: ``mlx5_0:1`` is ``mlx5_0``). If the fabric lists this
    NIC for a node, the node's other NICs are dropped, so that `Fabric.leaves` applies to the
    measured NIC. All switches, cables and notes of the reader are kept.
    """
    own, foreign = _by_node(fabric, nodes)
    every = dict.fromkeys(nodes)
    placed = {node: _measured(own[node], nic) for node in every if node in own}
    kept = [attachment for attachments in placed.values() for attachment in attachments]
    homeless = [node for node in every if node not in own]
    split = [node for node in own if len({attachment.switch for attachment in placed[node]}) > 1]
    notes = [
        f"{_listed(names, *verbs)} {rest}"
        for names, verbs, rest in (
            (foreign, ("is", "are"), f"in {fabric.source} but not measured here."),
            (homeless, ("has", "have"), f"no place in {fabric.source}: their leaf is unknown."),
            (split, ("is", "are"), _SEVERAL),
        )
        if names
    ]
    levels = fabric.levels if kept else {}
    return msgspec.structs.replace(fabric, attachments=tuple(kept), levels=levels), notes


def _by_node(fabric: Fabric, nodes: Iterable[str]) -> tuple[dict[str, list[Attachment]], list[str]]:
    """Return (attachments of each node under the name used here; names of nodes that are not
    measured)."""
    wanted = _names(nodes)
    attached: dict[str, list[Attachment]] = {}
    foreign: list[str] = []
    for attachment in fabric.attachments:
        node = wanted.get(attachment.node) or wanted.get(attachment.node.split(".", 1)[0], "")
        if node:
            attached.setdefault(node, []).append(msgspec.structs.replace(attachment, node=node))
        else:
            foreign.append(attachment.node)
    return attached, foreign


def leaf_numbers(fabric: Fabric | None, nodes: Sequence[str]) -> list[int]:
    """Number the leaf of each of ``nodes`` from 0, in order of first appearance; -1 for nodes
    without a place.
    """
    first = fabric.leaves if fabric else {}
    numbers: dict[str, int] = {}
    return [
        numbers.setdefault(first[node], len(numbers)) if node in first else -1 for node in nodes
    ]


def _names(nodes: Iterable[str]) -> dict[str, str]:
    """Map every name under which a node may be known to the node: its full name, and its short name
    if only one node has it.
    """
    unique = dict.fromkeys(nodes)
    stems = Counter(node.split(".", 1)[0] for node in unique)
    known = {node.split(".", 1)[0]: node for node in unique if stems[node.split(".", 1)[0]] == 1}
    return known | {node: node for node in unique}


def _measured(attachments: list[Attachment], nic: str) -> list[Attachment]:
    wanted = nic.split(":", 1)[0]
    chosen = [
        attachment
        for attachment in attachments
        if wanted and attachment.nic.split(":", 1)[0] == wanted
    ]
    return chosen or attachments


def _listed(names: Sequence[str], one: str, several: str) -> str:
    """Return ``n1, n2`` or ``12 nodes (n1, n2, n3, ...)`` with the matching verb."""
    unique = list(dict.fromkeys(names))
    shown = ", ".join(short(name) for name in unique[:3])
    if len(unique) > 3:
        return f"{len(unique)} nodes ({shown}, ...) {several}"
    return f"{shown} {one if len(unique) == 1 else several}"


# --- Build a checked Fabric from the lines of a file. Every error contains the line number. Sets of
# names as schedulers write them (``tux[0-3,12]``, ``rack[1-2]n[01-36]``) are counted before they
# are expanded.


MOST_NAMES = 200_000
"""More nodes or switches than any machine has. A larger set is a typo (``n[0-9999999]``) and is
refused before it is expanded.
"""
_ITEM = re.compile(r"[^\s\[\],]*(?:\[[0-9,-]{1,20000}\][^\s\[\],]*){0,4}")
_PART = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


def short(text: str, most: int = 60) -> str:
    """Return the beginning of ``text`` for an error message, with unprintable characters
    escaped.
    """
    return ascii(text[:most])[1:-1] + ("..." if len(text) > most else "")


def _items(text: str, where: str) -> Iterator[str]:
    """Split at commas outside brackets."""
    depth = start = 0
    for index, letter in enumerate(text):
        if letter == "[":
            depth += 1
        elif letter == "]":
            depth -= 1
        if depth not in (0, 1):
            raise BadInput(
                f"{where}: the brackets of {short(text)} do not match; write sets like n[1-4,7]."
            )
        if letter == "," and depth == 0:
            yield text[start:index]
            start = index + 1
    if depth:
        raise BadInput(
            f"{where}: the brackets of {short(text)} do not match; write sets like n[1-4,7]."
        )
    yield text[start:]


def _ranges(item: str, where: str) -> list[list[tuple[str, int]]]:
    """Return (first number as written, count) for each part of each bracket."""
    brackets: list[list[tuple[str, int]]] = []
    for inside in re.findall(r"\[([^\]]*)\]", item):
        parts: list[tuple[str, int]] = []
        for part in inside.split(","):
            parsed = _PART.fullmatch(part)
            if parsed is None or int(parsed.group(2) or parsed.group(1)) < int(parsed.group(1)):
                raise BadInput(
                    f"{where}: {short(item)} is not a set of names; write sets like n[1-4,7]."
                )
            parts.append(
                (
                    parsed.group(1),
                    int(parsed.group(2) or parsed.group(1)) - int(parsed.group(1)) + 1,
                )
            )
        brackets.append(parts)
    return brackets


def expand(text: str, where: str) -> list[str]:
    """Return the names of ``text`` in order, without repeats. Raise BadInput, starting with
    ``where``, if it is not a set of names.
    """
    total = 0
    planned: list[tuple[str, list[list[tuple[str, int]]]]] = []
    for item in filter(None, map(str.strip, _items(text.strip(), where))):
        if _ITEM.fullmatch(item) is None or len(item) > 40_000 or not item.isprintable():
            raise BadInput(
                f"{where}: {short(item)} is not a set of names; write sets like n[1-4,7]."
            )
        brackets = _ranges(item, where)
        total += math.prod(sum(count for _, count in parts) for parts in brackets)
        if total > MOST_NAMES:
            raise BadInput(
                f"{where}: {short(text)} expands to more than {MOST_NAMES} names; give a smaller"
                " set."
            )
        planned.append((item, brackets))
    names = (name for item, brackets in planned for name in _written(item, brackets))
    return list(dict.fromkeys(names))


def _written(item: str, brackets: list[list[tuple[str, int]]]) -> Iterator[str]:
    """Yield every name of one item; numbers keep the width of the first number of their range."""
    between = re.split(r"\[[^\]]*\]", item)
    numbers = [
        [f"{int(first) + step:0{len(first)}d}" for first, count in parts for step in range(count)]
        for parts in brackets
    ]
    for chosen in itertools.product(*numbers):
        yield between[0] + "".join(
            number + text for number, text in zip(chosen, between[1:], strict=True)
        )


LONGEST_TEXT = 256 << 20
"""Characters: ibnetdiscover writes about 100 for each end of a link."""
_MOST_SWITCHES = 50_000
_LONGEST_NAME = 255


def readable(text: str, source: str) -> None:
    """Raise BadInput for text that cannot be a topology: empty, binary, or too long."""
    if not text.strip():
        raise BadInput(f"{source} is empty: give the topology of the fabric, or leave it out.")
    if len(text) > LONGEST_TEXT:
        raise BadInput(
            f"{source} has {len(text)} characters: give a topology of at most {LONGEST_TEXT}."
        )
    head = text[:65536]
    if (
        "\0" in head
        or sum(not (letter.isprintable() or letter.isspace()) for letter in head) > len(head) // 20
    ):
        raise BadInput(
            f"{source} is binary: give the topology as text (see the documentation page `topology`"
            " for the formats)."
        )


@dataclasses.dataclass
class Builder:
    """Collects attachments and cables; ``fabric`` checks them and computes the levels."""

    source: str
    lines: dict[tuple[str, str], int] = dataclasses.field(default_factory=dict)
    attachments: dict[tuple[str, str], Attachment] = dataclasses.field(default_factory=dict)
    cables: dict[tuple[str, str], list[float | None]] = dataclasses.field(default_factory=dict)
    switches: dict[str, int] = dataclasses.field(default_factory=dict)
    notes: list[str] = dataclasses.field(default_factory=list)

    def where(self, line: int) -> str:
        return f"{self.source}, line {line}"

    def refuse(self, line: int, sentence: str) -> NoReturn:
        raise BadInput(f"{self.where(line)}: {sentence}")

    def check_name(self, name: str, line: int) -> str:
        """Return ``name``; raise BadInput if it is empty, too long or not printable."""
        if not name or len(name) > _LONGEST_NAME or not name.isprintable():
            what = short(name) or "nothing"
            self.refuse(line, f"{what} is not a name; give the name of the node or switch.")
        return name

    def switch(self, name: str, line: int) -> None:
        """Register a switch, with the line of its first occurrence."""
        self.switches.setdefault(self.check_name(name, line), line)
        if len(self.switches) > _MOST_SWITCHES:
            self.refuse(line, f"more than {_MOST_SWITCHES} switches; give a smaller fabric.")

    def attach(self, node: str, switch: str, line: int, nic: str = "", port: str = "") -> None:
        """Attach a NIC of a node to a switch. Refuse the same NIC on two switches, and two NICs
        without a name.
        """
        self.check_name(node, line)
        known = self.attachments.get((node, nic))
        if known is not None and known.switch != switch:
            what = f"node {short(node)}" + (f" by {short(nic)}" if nic else "")
            before = f"by line {self.lines[node, nic]}, on {short(known.switch)}"
            advice = "list it once" if nic else "list it once, or give the NIC of each rail"
            self.refuse(line, f"{what} is connected to {short(switch)} and, {before}; {advice}.")
        if known is None:
            self.lines[node, nic] = line
            self.attachments[node, nic] = Attachment(node=node, switch=switch, nic=nic, port=port)
            if len(self.attachments) > MOST_NAMES:
                self.refuse(line, f"more than {MOST_NAMES} nodes; give a smaller fabric.")

    def join(
        self, one: str, other: str, line: int, rate: float | None = None, count: int = 1
    ) -> None:
        """Add ``count`` cables between two switches."""
        if one == other:
            self.refuse(line, f"switch {short(one)} is joined to itself; give the other switch.")
        key = (one, other) if (other, one) not in self.cables else (other, one)
        self.cables.setdefault(key, []).extend([rate] * count)

    def note(self, sentence: str) -> None:
        if sentence not in self.notes and len(self.notes) < 50:
            self.notes.append(sentence)

    def fabric(self, levels: dict[str, int] | None = None) -> Fabric:
        """Return the Fabric; raise BadInput if no node has a place. ``levels``: levels from the
        source.
        """
        if not self.attachments:
            raise BadInput(
                f"{self.source} lists no node on any switch: give the topology of the nodes to"
                " measure."
            )
        levels = levels if levels is not None else self._levels()
        beyond = sorted(set(self.switches) - set(levels))
        if beyond:
            names = ", ".join(map(short, beyond[:3])) + (" ..." if len(beyond) > 3 else "")
            self.note(
                "switches left out because they connect to no switch with nodes:"
                f" {len(beyond)} ({names})."
            )
        cables = [
            Cable(one=low, other=other, count=len(rates), rate_bits_per_s=_slowest(rates))
            for (low, other), rates in self.cables.items()
            if low in levels and other in levels
        ]
        return Fabric(
            attachments=tuple(self.attachments.values()),
            levels=levels,
            cables=tuple(cables),
            source=self.source,
            notes=tuple(self.notes),
        )

    def _levels(self) -> dict[str, int]:
        """Return 1 for a switch with nodes, else 1 more than the nearest such switch (breadth
        first).
        """
        near: dict[str, list[str]] = {}
        for low, other in self.cables:
            near.setdefault(low, []).append(other)
            near.setdefault(other, []).append(low)
        levels = dict.fromkeys((attachment.switch for attachment in self.attachments.values()), 1)
        waiting = deque(levels)
        while waiting:
            switch = waiting.popleft()
            for other in near.get(switch, []):
                if other not in levels:
                    levels[other] = levels[switch] + 1
                    waiting.append(other)
        return levels


def _slowest(rates: list[float | None]) -> float | None:
    known = [rate for rate in rates if rate is not None]
    return min(known) if known else None
