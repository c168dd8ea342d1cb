"""What brings a setting of one host in line with its equals, in words. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from wireproof.model.setting import Setting

__all__ = ["in_line"]

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ .,:@+/-]{0,120}", re.ASCII)
"""What no shell reads as anything but words."""


def in_line(setting: Setting, node: str, names: Mapping[str, str], usual: str = "") -> str:
    """The steps of the catalogue's entry, with the value that the others have (``usual``) where it
    is known; ``names``: what stands for ``{nic}`` and the like. Values and names are the hosts':
    what is not plain stands in no command that somebody may copy.
    """
    plain = all(_PLAIN.fullmatch(text) for text in (usual, *names.values()) if text)
    fix, value = setting.fix, (usual if plain else "") or "what the other nodes have"
    if fix is None:
        return f"{node}: compare {setting.id} with the other nodes ({value})."
    if fix.by_hand and not fix.value:
        return f"{node}: {_filled(fix.by_hand, names)}."
    if fix.at_once and usual and plain:
        if fix.command:
            command = _filled(" ".join(fix.command), {**names, "value": usual})
            return f"{node}: {command}, as on the other nodes."
        if place := _place(setting, names):
            return f"{node}: write {usual} to {place}, as on the other nodes."
    return (
        f"{node}: set {setting.id} to {value}"
        f" (`wireproof explain {setting.id}` has the steps and the undo)."
    )


def _place(setting: Setting, names: Mapping[str, str]) -> str:
    """The file that is written; "" where it is not one file."""
    fix = setting.fix
    written = (fix.file,) if fix is not None and fix.file else ()
    read = (one.file for one in setting.reads if one.file.startswith("/"))
    path = _filled(next(iter([*written, *read]), ""), names)
    return "" if "*" in path or "{" in path else path


def _filled(text: str, names: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: names.get(found[1], found[0]), text)
