"""Where an entry is read on one of a machine's interfaces, ports or files. Pure."""

from __future__ import annotations

from wireproof.audit.machine import Instance
from wireproof.audit.remedy import filled
from wireproof.model.setting import Read

__all__ = ["argv_of", "path_of"]


def argv_of(read: Read, instance: Instance) -> tuple[str, ...]:
    """The command with the instance's names in it."""
    if not instance.places:
        return read.command
    return tuple(filled(word, instance) for word in read.command)


def path_of(read: Read, instance: Instance) -> str:
    """The file; of scope each the one that the instance is."""
    if not instance.places:
        return read.file
    return instance.places.get("file") or filled(read.file, instance)
