"""Where an entry is read on one of a machine's interfaces, ports or files. Pure."""

from __future__ import annotations

import msgspec

from wireproof.audit.machine import Instance
from wireproof.audit.remedy import filled
from wireproof.model.setting import Read

__all__ = ["alike", "argv_of", "part_read", "path_of"]


def argv_of(read: Read, instance: Instance) -> tuple[str, ...]:
    """The command with the instance's names in it."""
    if not instance.places:
        return read.command
    return tuple(filled(word, instance) for word in read.command)


def path_of(read: Read, instance: Instance) -> str:
    """The file; of scope each those that the instance is."""
    if not instance.places:
        return read.file
    places = instance.places
    return places.get("pattern") or places.get("file") or filled(read.file, instance)


def alike(pattern: str, label: str) -> str:
    """``pattern`` with its last open parts as ``label`` names them."""
    names = label.split(" ")
    parts = []
    for part in reversed(pattern.split("/")):
        parts.append(names.pop() if "*" in part and names else part)
    return "/".join(reversed(parts))


def part_read(read: Read, instance: Instance) -> Read:
    """The read with the instance's names in its section."""
    if "{" not in read.section:
        return read
    return msgspec.structs.replace(read, section=filled(read.section, instance))
