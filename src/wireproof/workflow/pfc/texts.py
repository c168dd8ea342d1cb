"""Stored texts of ``ethtool`` and its like: one host's commands with what they printed. The texts
are hostile: lines that are no counter are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from wireproof.model.record import Nic

__all__ = ["counters_of", "nic_of", "split"]

_COMMAND = re.compile(
    r"^[^\n]{0,80}?[#$>]?\s*((?:ethtool|dcb|mlnx_qos|lldptool)(?: [\w.@:-]{1,64}){1,6})\s*$",
    re.MULTILINE,
)
_STATISTIC = re.compile(r"^\s*(\S[^\n]{0,63}?)\s*:\s*(\d{1,20})\s*$", re.MULTILINE)
_SPEED = re.compile(r"^\s*Speed:\s*(\d{1,9})Mb/s", re.MULTILINE)
_DRIVER = re.compile(r"^driver:\s*(\S{1,32})\s*$", re.MULTILINE)
_HEAD = "NIC statistics:"


def split(text: str) -> dict[str, str]:
    """A recorded terminal: each command (``$ ethtool -S eth0 | grep prio``) with what follows it;
    a text without one is all under "".
    """
    marks = [(one.start(), one.end(), one.group(1)) for one in _marks(text)]
    if not marks:
        return {"": text}
    ends = [start for start, _, _ in marks[1:]] + [len(text)]
    found: dict[str, str] = {}
    for (_, begin, name), end in zip(marks, ends, strict=True):
        found.setdefault(" ".join(name.split()), text[begin:end])
    return found


def _marks(text: str) -> list[re.Match[str]]:
    """Lines that are commands; what a pipe does to the output is no matter."""
    plain = re.sub(r"\s*\|[^\n]*", lambda one: " " * len(one.group()), text)
    return list(_COMMAND.finditer(plain))


def counters_of(text: str, nic: str) -> dict[str, int]:
    """Statistics of one interface in the engine's spelling; the first of equal names counts."""
    found: dict[str, int] = {}
    for one in _STATISTIC.finditer(text):
        value = int(one.group(2))
        if value < 1 << 64 and one.group(1) != _HEAD.rstrip(":"):
            found.setdefault(f"ethtool/{nic}/{one.group(1)}", value)
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
