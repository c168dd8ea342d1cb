"""InfiniBand: read the output of ``ibnetdiscover`` (also its topology files, with and without
``-g`` and ``-f``).

Written after the section on the topology file in ibnetdiscover(8) of infiniband-diags 2.0 and
rdma-core. Each link is listed twice, once by each end; both entries are used, so that a truncated
file still yields what it contains.
"""

import re
from typing import NamedTuple

from wireproof.locate.topology.build import Builder
from wireproof.locate.topology.names import short
from wireproof.model.fabric import Fabric

_BLOCK = re.compile(
    r'(Switch|Ca|Rt)\s+\d{1,4}\s+"([SHR]-[0-9a-fA-F]{1,16})"[^#\n]{0,80}(?:#\s*"([^"\n]{0,200})")?'
)
_PORT = re.compile(
    r"\[(\d{1,4})\](?:\([0-9a-fA-F]{1,16}\))?(?:\[ext \d{1,4}\])?\s+"
    r'"([SHR]-[0-9a-fA-F]{1,16})"\[(\d{1,4})\](?:\([0-9a-fA-F]{1,16}\))?[^#\n]{0,80}'
    r"(?:#(.{0,400}))?"
)
_QUOTED = re.compile(r'"([^"\n]{0,200})"')
_SPEED = re.compile(r"\b(1|2|4|8|12)x(SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR)\b")
# Data rate of one lane in Gbit/s after the encoding (InfiniBand architecture specification volume
# 2).
_LANE = {
    "SDR": 2.0,
    "DDR": 4.0,
    "QDR": 8.0,
    "FDR10": 10.0,
    "FDR": 13.64,
    "EDR": 25.0,
    "HDR": 50.0,
    "NDR": 100.0,
    "XDR": 200.0,
}
_NIC = re.compile(
    r"(HCA-\d{1,2}|(?:mlx|mthca|qib|ipath|hfi|bnxt_re|irdma|rocep|ibp|ib|hns_|cxgb)\w{0,30}"
    r"(?::\d{1,3})?)"
)


def host_and_nic(description: str) -> tuple[str, str]:
    """Return (node, NIC) of a node description such as ``n1 mlx5_0`` or ``n1 HCA-1``; ("", "") if
    it names no host.
    """
    words = description.replace("'", " ").split()
    if len(words) == 1 and _NIC.fullmatch(words[0]) is None:
        return words[0], ""
    if len(words) == 2 and _NIC.fullmatch(words[1]):
        return words[0], words[1]
    return "", ""


class _End(NamedTuple):
    """A port of a device: the identity of the device (``S-0002...``) and the port number."""

    device: str
    port: str

    @property
    def is_switch(self) -> bool:
        return self.device.startswith("S")


class _Cabling(NamedTuple):
    one: _End
    other: _End
    rate: float | None
    line: int


class _Reader:
    def __init__(self, source: str) -> None:
        self.builder = Builder(source)
        self.names: dict[str, str] = {}  # identity to description
        self.links: dict[frozenset[_End], _Cabling] = {}
        self.current = ""

    def feed(self, number: int, line: str) -> None:
        block = _BLOCK.match(line)
        if block:
            self.current = block.group(2)
            self.names.setdefault(self.current, "")
            if block.group(3):
                self.names[self.current] = block.group(3)
            return
        port = _PORT.match(line)
        if port and self.current:
            self._port(number, *port.groups(default=""))

    def _port(self, number: int, own_port: str, other: str, other_port: str, comment: str) -> None:
        quoted = _QUOTED.search(comment)
        if not self.names.get(other):
            self.names[other] = quoted.group(1) if quoted else ""
        speed = _SPEED.search(comment)
        rate = int(speed.group(1)) * _LANE[speed.group(2)] * 1e9 if speed else None
        near, far = _End(self.current, own_port), _End(other, other_port)
        self.links.setdefault(frozenset((near, far)), _Cabling(near, far, rate, number))

    def switch_names(self) -> dict[str, str]:
        """Map each identity to the name in reports: the description (``MF0;leaf1:IS5030/U1`` is
        leaf1), plus the end of the identity if two switches share a description.
        """
        plain = {
            identity: _plain(text) or identity
            for identity, text in self.names.items()
            if identity.startswith("S")
        }
        seen: dict[str, int] = {}
        for name in plain.values():
            seen[name] = seen.get(name, 0) + 1
        return {
            identity: name if seen[name] == 1 else f"{name} ({identity[-6:]})"
            for identity, name in plain.items()
        }


def _plain(description: str) -> str:
    """Return the switch name within its description: ``MF0;leaf1:MSB7800/U1`` is leaf1."""
    parts = re.fullmatch(r"MF\d{1,2};([^:;]{1,100}):(.{0,100})", description)
    if parts is None:
        return description.strip()
    # a line card or spine card inside a director
    part = re.search(r"/([LS]\d{1,3})(?:/|$)", parts.group(2))
    return parts.group(1) + (f"/{part.group(1)}" if part else "")


def read_ibnetdiscover(text: str, source: str = "ibnetdiscover") -> Fabric:
    """Return the hosts and switches of ``ibnetdiscover``. Adapters whose description names no host
    are left out with a note.
    """
    reader = _Reader(source)
    for number, line in enumerate(text.splitlines(), start=1):
        reader.feed(number, line.strip())
    builder = reader.builder
    switches = reader.switch_names()
    for name in switches.values():
        builder.switch(name, 1)
    nameless = 0
    for link in reader.links.values():
        near, other = link.one, link.other
        if near.is_switch and other.is_switch:
            if near.device != other.device:  # a loopback plug does not join two switches
                builder.join(switches[near.device], switches[other.device], link.line, link.rate)
            continue
        host, switch = (near, other) if other.is_switch else (other, near)
        description = reader.names.get(host.device, "")
        if not switch.is_switch or not host.device.startswith("H"):
            builder.note(f"line {link.line}: a link without a switch, or of a router, is left out.")
        elif not _attach(
            builder, link.line, host, description, switches[switch.device], switch.port
        ):
            nameless += "Aggregation" not in description
    if nameless:
        builder.note(
            f"adapters left out because their description names no host: {nameless}; set their node"
            " description."
        )
    return builder.fabric()


def _attach(
    builder: Builder, line: int, host: _End, description: str, switch: str, port: str
) -> bool:
    """Attach the host that a description names; return False if it names none."""
    node, nic = host_and_nic(description)
    if node:
        nic = _distinct(builder, node, nic, switch, host.device)
        builder.attach(node, switch, line, nic, port)
    return bool(node)


def _distinct(builder: Builder, node: str, nic: str, switch: str, host: str) -> str:
    """Return the NIC name; if a node has two NICs of the same name (or none) on two switches, add
    the end of their identity.
    """
    known = builder.attachments.get((node, nic))
    if known is None or known.switch == switch:
        return nic
    called = short(nic) or "nothing"
    builder.note(
        f"node {short(node)} has two adapters called {called}: they are named with their GUIDs."
    )
    return f"{nic or 'guid'} ({host[-6:]})"
