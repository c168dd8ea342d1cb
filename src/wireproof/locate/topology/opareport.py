"""Omni-Path: read the links that ``opareport -o links`` prints, and other reports that list links
in that form.

Written after the output of opa-fm/opa-ff 10.x: header ``Rate NodeGUID Port Type Name``, then two
lines per link, the second starting with ``<->``. ``-o nodes`` lists no links, so it places no node,
and the reader reports that.
"""

import re
from collections import Counter
from typing import NamedTuple

from wireproof.locate.topology.build import Builder
from wireproof.locate.topology.ibnetdiscover import host_and_nic
from wireproof.model.errors import BadInput
from wireproof.model.fabric import Fabric

_END = re.compile(
    r"(?:(?P<rate>\d{1,4}(?:\.\d)?)g|(?P<far><->)|\?\?\?g?)\s+0x(?P<guid>[0-9a-fA-F]{1,16})\s+"
    r"(?P<port>\d{1,4})\s+(?P<type>FI|SW|CA|RT)\s*(?P<name>.{0,200})"
)


class _LinkEnd(NamedTuple):
    kind: str
    guid: str
    port: str
    name: str
    line: int


class _Links:
    def __init__(self, source: str) -> None:
        self.builder = Builder(source)
        self.links: list[tuple[_LinkEnd, _LinkEnd, float | None]] = []
        self.names: dict[str, str] = {}

    def read(self, text: str) -> None:
        near: _LinkEnd | None = None
        rate: float | None = None
        for number, line in enumerate(text.splitlines(), start=1):
            fields = _END.match(line.strip())
            if fields is None:
                continue  # cable details, headings, rules
            guid, name = fields["guid"].lower(), fields["name"].strip()
            end = _LinkEnd(fields["type"], guid, fields["port"], name, number)
            if end.kind == "SW":
                self.names[guid] = name or guid
            if fields["far"] is None:
                near, rate = end, float(fields["rate"]) * 1e9 if fields["rate"] else None
            elif near is not None:
                self.links.append((near, end, rate))
                near = None
        if near is not None:
            self.builder.note(
                f"line {near.line}: the other end of the last link is missing; the text was cut."
            )

    def switch_names(self) -> dict[str, str]:
        """Map each GUID to the name in reports; if two switches share a name, add the end of the
        GUID.
        """
        times = Counter(self.names.values())
        return {
            guid: name if times[name] == 1 else f"{name} ({guid[-6:]})"
            for guid, name in self.names.items()
        }


def read_opareport(text: str, source: str = "opareport") -> Fabric:
    """Return the hosts and switches of ``opareport -o links``. A link that is listed twice counts
    once.
    """
    reader = _Links(source)
    reader.read(text)
    if not reader.links:
        raise BadInput(f"{source} lists no links: give the text of `opareport -o links`.")
    switches = reader.switch_names()
    for name in switches.values():
        reader.builder.switch(name, 1)
    seen: set[frozenset[tuple[str, str]]] = set()
    for near, far, rate in reader.links:
        key = frozenset(((near.guid, near.port), (far.guid, far.port)))
        if key in seen:
            continue
        seen.add(key)
        if near.kind == far.kind == "SW":
            if near.guid != far.guid:
                reader.builder.join(switches[near.guid], switches[far.guid], near.line, rate)
            continue
        host, switch = (near, far) if far.kind == "SW" else (far, near)
        node, nic = host_and_nic(host.name)
        if switch.kind != "SW" or not node:
            reader.builder.note(
                f"line {host.line}: a link without a switch or a host's name is left out."
            )
            continue
        reader.builder.attach(node, switches[switch.guid], host.line, nic, switch.port)
    return reader.builder.fabric()
