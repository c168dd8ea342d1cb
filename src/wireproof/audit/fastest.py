"""How fast a link could be: by what it supports, what its other end offers, and what the links
beside it do. Pure. The texts are hostile: what is not understood is UNKNOWN.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from wireproof.audit.expression import UNKNOWN, Value
from wireproof.audit.facts import HostFacts

__all__ = ["add_sisters", "modes_of", "port_info", "signalled"]

_MODES = r"^[ \t]*{}:((?:\s+\d+base\S+)+)"
_SUPPORTED = re.compile(_MODES.format("Supported link modes"), re.MULTILINE)
_OFFERED = re.compile(_MODES.format("Link partner advertised link modes"), re.MULTILINE)
_LANES = re.compile(r"^LinkWidthSupported:\.*(.+)$", re.MULTILINE)
_SIGNALS = re.compile(r"^LinkSpeed(?:Ext)?Supported2?:\.*(.+)$", re.MULTILINE)


def modes_of(facts: HostFacts, nic: str) -> dict[str, Value]:
    """Gb/s of the fastest link mode that the interface supports, and of the fastest that both ends
    offer, as ``ethtool NIC`` prints them.
    """
    text = facts.command(("ethtool", nic)).text
    supported, offered = _modes(text) if text else (UNKNOWN, UNKNOWN)
    return {"nic.most": supported, "nic.offered": offered}


@functools.lru_cache(maxsize=256)
def _modes(text: str) -> tuple[Value, Value]:
    supported = _rates(_SUPPORTED, text)
    both = supported & _rates(_OFFERED, text)
    return max(supported, default=UNKNOWN), max(both, default=UNKNOWN)


def _rates(heading: re.Pattern[str], text: str) -> set[float]:
    """Gb/s of the modes below a heading: 10000baseT/Full is 10."""
    found = heading.search(text)
    modes = re.findall(r"\s(\d{1,7})base", found[1]) if found else []
    return {int(mode) / 1000 for mode in modes}


def port_info(device: str, port: str) -> tuple[str, ...]:
    """What the port says of itself, from the port itself."""
    return ("ibportstate", "-C", device, "-P", port, "-D", "0", port)


def signalled(facts: HostFacts, device: str, port: str) -> Value:
    """Gb/s that the InfiniBand port's lanes can signal, encoding included."""
    text = facts.command(port_info(device, port)).text or ""
    lanes, signals = _LANES.search(text), " ".join(_SIGNALS.findall(text))
    widths = [int(width) for width in re.findall(r"\b(\d{1,2})X", lanes[1])] if lanes else []
    speeds = [float(speed) for speed in re.findall(r"\b(\d{1,4}(?:\.\d{1,6})?) Gbps", signals)]
    return max(widths) * max(speeds) if widths and speeds else UNKNOWN


def add_sisters(all_names: Sequence[dict[str, Value]], scope: str, like: Sequence[str]) -> None:
    """Add ``SCOPE.sisters`` to the names of each instance: the fastest rate of those whose values
    of ``like`` are the same.
    """
    fastest: dict[str, float] = {}
    for names in all_names:
        rate, key = names[f"{scope}.rate"], repr([names[name] for name in like])
        if isinstance(rate, (int, float)):
            fastest[key] = max(rate, fastest.get(key, 0.0))
    for names in all_names:
        key = repr([names[name] for name in like])
        names[f"{scope}.sisters"] = fastest.get(key, UNKNOWN)
