"""What a finding is about: typed, so that nothing has to be read back out of a sentence.

``str()`` of each is the text that people read and that stands as ``subject`` in JSON.
"""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["Both", "Direction", "Link", "Node", "Port", "Route", "Subject", "Switch", "Whole"]

Direction = Literal["", "tx", "rx"]
"""As the node sees it: ``tx`` leaves it, ``rx`` reaches it; "" for both."""


class _Subject(msgspec.Struct, frozen=True, tag_field="kind"):
    pass


class Whole(_Subject, frozen=True, tag="run"):
    """The run, the log or the section as a whole; ``name`` is how it is called."""

    name: str = "run"

    def __str__(self) -> str:
        return self.name


class Node(_Subject, frozen=True, tag="node"):
    name: str

    def __str__(self) -> str:
        return self.name


class Port(_Subject, frozen=True, tag="port"):
    """A port of a node, in one direction or in both; ``nic`` where it has more than one."""

    node: str
    direction: Direction = ""
    nic: str = ""

    def __str__(self) -> str:
        return " ".join(part for part in (self.node, self.nic, self.direction) if part)


class Route(_Subject, frozen=True, tag="route"):
    """From one node to another."""

    origin: str
    target: str

    def __str__(self) -> str:
        return f"{self.origin} -> {self.target}"

    @property
    def back(self) -> Route:
        return Route(self.target, self.origin)


class Both(_Subject, frozen=True, tag="pair"):
    """Two nodes, in both directions."""

    one: str
    other: str

    def __str__(self) -> str:
        return f"{self.one} <-> {self.other}"


class Link(_Subject, frozen=True, tag="link"):
    """A cable between a switch and a node or another switch; the direction is as the nodes see it
    that reach the rest through it.
    """

    near: str
    far: str
    direction: Direction = ""

    def __str__(self) -> str:
        return f"{self.near} - {self.far} {self.direction}".strip()


class Switch(_Subject, frozen=True, tag="switch"):
    """The direction is as its nodes see it: ``tx`` leaves them through it."""

    name: str
    direction: Direction = ""

    def __str__(self) -> str:
        return f"{self.name} {self.direction}".strip()


Subject = Whole | Node | Port | Route | Both | Link | Switch
