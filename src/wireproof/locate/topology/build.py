"""Collect what a file contains, line by line, into a checked Fabric. Every error names the line."""

import dataclasses
from collections import deque
from typing import NoReturn

from wireproof.locate.topology.names import MOST_NAMES, short
from wireproof.model.errors import BadInput
from wireproof.model.fabric import Attachment, Cable, Fabric

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
    """Collect attachments and cables; ``fabric`` checks them and computes the levels."""

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
            self.refuse(line, f"{what} is not a name; name the node or switch.")
        return name

    def switch(self, name: str, line: int) -> None:
        """Register a switch, with the line that first names it."""
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
            advice = "name it once" if nic else "name it once, or name the NIC of each rail"
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
            self.refuse(line, f"switch {short(one)} is joined to itself; name the other switch.")
        key = (one, other) if (other, one) not in self.cables else (other, one)
        self.cables.setdefault(key, []).extend([rate] * count)

    def note(self, sentence: str) -> None:
        if sentence not in self.notes and len(self.notes) < 50:
            self.notes.append(sentence)

    def fabric(self, levels: dict[str, int] | None = None) -> Fabric:
        """Return the Fabric; raise BadInput if no node has a place. ``levels``: levels that the
        source gives.
        """
        if not self.attachments:
            raise BadInput(
                f"{self.source} names no node on any switch: give the topology of the nodes to"
                " measure."
            )
        levels = levels if levels is not None else self._levels()
        beyond = sorted(set(self.switches) - set(levels))
        if beyond:
            names = ", ".join(map(short, beyond[:3])) + (" ..." if len(beyond) > 3 else "")
            self.note(
                "switches left out because they are joined to no switch with nodes:"
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
