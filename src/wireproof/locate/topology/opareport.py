"""Omni-Path: the links that ``opareport -o links`` prints, and any of its reports that lists links
in that form.

Read after the text that opa-fm/opa-ff 10.x writes (header ``Rate NodeGUID Port Type Name``, then
two lines a link, the second beginning with ``<->``). ``-o nodes`` tells no links: it gives no place
to a node, and the reader says so.
"""

from __future__ import annotations

import re
from collections import Counter

from wireproof.locate.topology.build import Builder
from wireproof.locate.topology.ibnetdiscover import host_and_nic
from wireproof.model.errors import BadInput
from wireproof.model.fabric import Fabric

__all__ = ["read_opareport"]

_END = re.compile(
    r"(?:(?P<rate>\d{1,4}(?:\.\d)?)g|(?P<far><->)|\?\?\?g?)\s+0x(?P<guid>[0-9a-fA-F]{1,16})\s+(?P<port>\d{1,4})\s+"
    r"(?P<type>FI|SW|CA|RT)\s*(?P<name>.{0,200})"
)
_End = tuple[str, str, str, str, int]  # type, guid, port, name, line


class _Links:
    def __init__(self, source: str) -> None:
        self.builder = Builder(source)
        self.links: list[tuple[_End, _End, float | None]] = []
        self.names: dict[str, str] = {}

    def read(self, text: str) -> None:
        near: _End | None = None
        rate: float | None = None
        for number, line in enumerate(text.splitlines(), start=1):
            found = _END.match(line.strip())
            if found is None:
                continue  # cable details, headings, rules
            end = (
                found["type"],
                found["guid"].lower(),
                found["port"],
                found["name"].strip(),
                number,
            )
            if found["type"] == "SW":
                self.names[end[1]] = end[3] or end[1]
            if found["far"] is None:
                near, rate = end, float(found["rate"]) * 1e9 if found["rate"] else None
            elif near is not None:
                self.links.append((near, end, rate))
                near = None
        if near is not None:
            self.builder.note(
                f"line {near[4]}: the other end of the last link is missing; the text was cut."
            )

    def switch_names(self) -> dict[str, str]:
        """GUID to name in reports; the GUID's end keeps two switches of one name apart."""
        times = Counter(self.names.values())
        return {
            guid: name if times[name] == 1 else f"{name} ({guid[-6:]})"
            for guid, name in self.names.items()
        }


def read_opareport(text: str, source: str = "opareport") -> Fabric:
    """Hosts and switches of ``opareport -o links``. Links told twice count once."""
    reader = _Links(source)
    reader.read(text)
    if not reader.links:
        raise BadInput(f"{source} lists no links: give the text of `opareport -o links`.")
    switches = reader.switch_names()
    for name in switches.values():
        reader.builder.switch(name, 1)
    seen: set[tuple[str, ...]] = set()
    for near, far, rate in reader.links:
        key = tuple(sorted((f"{near[1]} {near[2]}", f"{far[1]} {far[2]}")))
        if key in seen:
            continue
        seen.add(key)
        if near[0] == far[0] == "SW":
            if near[1] != far[1]:
                reader.builder.join(switches[near[1]], switches[far[1]], near[4], rate)
            continue
        host, switch = (near, far) if far[0] == "SW" else (far, near)
        node, nic = host_and_nic(host[3])
        if switch[0] != "SW" or not node:
            reader.builder.note(
                f"line {host[4]}: a link without a switch or a host's name is left out."
            )
            continue
        reader.builder.attach(node, switches[switch[1]], host[4], nic, switch[2])
    return reader.builder.fabric()
