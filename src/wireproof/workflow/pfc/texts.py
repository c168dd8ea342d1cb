"""Stored texts of ``ethtool`` and its like: one host's commands with what they printed. The texts
are hostile: lines that are no counter are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from wireproof.model.record import Nic

__all__ = ["counters_of", "nic_of", "split"]

_COMMAND = re.compile(
    r"(?:.{0,80}[#$>] *)?((?:ethtool|dcb|mlnx_qos|lldptool)(?: [\w.@:-]{1,64}){1,6})", re.ASCII
)
_SPEED = re.compile(r"^[ \t]*Speed:[ \t]*(\d{1,9})Mb/s", re.MULTILINE | re.ASCII)
_DRIVER = re.compile(r"^driver:[ \t]*([\w.-]{1,32})", re.MULTILINE | re.ASCII)
_LONGEST = 200
_LONGEST_NAME = 64
_MOST_DIGITS = 20


def split(text: str) -> dict[str, str]:
    """A recorded terminal: each command (``$ ethtool -S eth0 | grep prio``) with what follows it;
    a text without one is all under "".
    """
    found: dict[str, list[str]] = {"": []}
    lines = found[""]
    for line in text.splitlines():
        if (command := _command(line)) is not None:
            lines = found.setdefault(command, [])
        else:
            lines.append(line)
    parts = {command: "\n".join(several) for command, several in found.items()}
    return parts if len(parts) == 1 else {name: part for name, part in parts.items() if name}


def _command(line: str) -> str | None:
    """The words of a command that is typed in this line; what a pipe does to its output is no
    matter.
    """
    if len(line) > _LONGEST:
        return None
    found = _COMMAND.fullmatch(line.partition("|")[0].strip())
    return " ".join(found.group(1).split()) if found else None


def counters_of(text: str, nic: str) -> dict[str, int]:
    """Statistics of one interface in the engine's spelling; the first of equal names counts."""
    found: dict[str, int] = {}
    for line in text.splitlines():
        name, colon, value = line[:_LONGEST].rpartition(":")
        name, digits = name.strip(), value.strip()
        if not colon or not 0 < len(name) <= _LONGEST_NAME or len(digits) > _MOST_DIGITS:
            continue
        if digits.isascii() and digits.isdigit() and int(digits) < 1 << 64:
            found.setdefault(f"ethtool/{nic}/{name}", int(digits))
    return found


def nic_of(name: str, texts: Mapping[str, str]) -> Nic:
    """An interface of which texts are all that is known."""
    driver = _DRIVER.search(texts.get(f"ethtool -i {name}", ""))
    speed = _SPEED.search(texts.get(f"ethtool {name}", ""))
    return Nic(
        name=name,
        driver=driver.group(1) if driver else "",
        speed_mbps=int(speed.group(1)) if speed else None,
    )
