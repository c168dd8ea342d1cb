# pure
"""InfiniBand, Omni-Path and LLDP: read the output of ``ibnetdiscover`` (also its topology files,
with and without ``-g`` and ``-f``) and the links that ``opareport -o links`` prints.

Based on the section on the topology file in ibnetdiscover(8) of infiniband-diags 2.0 and rdma-core,
and on the output of opa-fm/opa-ff 10.x.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from wireproof.model.errors import BadInput
from wireproof.model.located import Fabric
from wireproof.physics.table import LANE_GBPS
from wireproof.topology.nodes import Builder, expand, short

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
_NIC = re.compile(
    r"(HCA-\d{1,2}|(?:mlx|mthca|qib|ipath|hfi|bnxt_re|irdma|rocep|ibp|ib|hns_|cxgb)\w{0,30}"
    r"(?::\d{1,3})?)"
)


def host_and_nic(description: str) -> tuple[str, str]:
    """Return (node, NIC) of a node description such as ``n1 mlx5_0`` or ``n1 HCA-1``; ("", "") if
    it contains no host.
    """
    words = description.replace("'", " ").split()
    if len(words) == 1 and _NIC.fullmatch(words[0]) is None:
        return words[0], ""
    if len(words) == 2 and _NIC.fullmatch(words[1]):
        return words[0], words[1]
    return "", ""


class _End(NamedTuple):
    """A port of a device: the identity of the device (``S-0002...``, a GUID), the port number, and
    the name of the device if the line of the port contains it.
    """

    device: str
    port: str
    is_switch: bool
    line: int
    name: str = ""


class _Links:
    """Links by their two ports, so that a link that is listed twice counts once."""

    def __init__(self, source: str) -> None:
        self.builder = Builder(source)
        self.names: dict[str, str] = {}  # identity to description
        self.links: dict[frozenset[tuple[str, str]], tuple[_End, _End, float | None]] = {}

    def add(self, near: _End, far: _End, rate: float | None) -> None:
        ports = frozenset(((near.device, near.port), (far.device, far.port)))
        self.links.setdefault(ports, (near, far, rate))

    def of_hosts(self, switches: Mapping[str, str]) -> Iterator[tuple[_End, _End]]:
        """Join the switches, and yield the two ends of every other link, the switch last."""
        for name in switches.values():
            self.builder.switch(name, 1)
        for near, far, rate in self.links.values():
            if not (near.is_switch and far.is_switch):
                yield (near, far) if far.is_switch else (far, near)
            elif near.device != far.device:  # a loopback plug does not join two switches
                self.builder.join(switches[near.device], switches[far.device], near.line, rate)


def _told_apart(names: Mapping[str, str]) -> dict[str, str]:
    """Map each switch's identity to its name in reports, which includes the end of the identity if
    two switches share the name.
    """
    times = Counter(names.values())
    return {
        identity: name if times[name] == 1 else f"{name} ({identity[-6:]})"
        for identity, name in names.items()
    }


def _discovered(text: str, source: str) -> _Links:
    """Return the blocks of ``ibnetdiscover``, one for each device, with a line for each port."""
    found, device = _Links(source), ""
    for number, line in enumerate(map(str.strip, text.splitlines()), start=1):
        if block := _BLOCK.match(line):
            device = block.group(2)
            found.names[device] = block.group(3) or found.names.get(device, "")
        elif (port := _PORT.match(line)) and device:
            _add_port(found, number, device, *port.groups(default=""))
    return found


def _add_port(
    found: _Links, number: int, device: str, own: str, other: str, other_port: str, comment: str
) -> None:
    quoted = _QUOTED.search(comment)
    if not found.names.get(other):
        found.names[other] = quoted.group(1) if quoted else ""
    speed = _SPEED.search(comment)
    rate = int(speed[1]) * LANE_GBPS[speed[2].lower()] * 1e9 if speed else None
    near, far = (
        _End(one, port, one.startswith("S"), number)
        for one, port in ((device, own), (other, other_port))
    )
    found.add(near, far, rate)


def _plain(description: str) -> str:
    """Return the switch name within its description: ``MF0;leaf1:MSB7800/U1`` is leaf1."""
    parts = re.fullmatch(r"MF\d{1,2};([^:;]{1,100}):(.{0,100})", description)
    if parts is None:
        return description.strip()
    # a line card or spine card inside a director
    part = re.search(r"/([LS]\d{1,3})(?:/|$)", parts.group(2))
    return parts.group(1) + (f"/{part.group(1)}" if part else "")


def read_ibnetdiscover(text: str, source: str = "ibnetdiscover") -> Fabric:
    """Return the hosts and switches of ``ibnetdiscover``. Adapters whose description contains no
    host are left out with a note. Each link is listed twice, once by each end; both entries are
    used, so that a truncated file still yields what it contains.
    """
    reader = _discovered(text, source)
    switches = _told_apart(
        {
            identity: _plain(described) or identity
            for identity, described in reader.names.items()
            if identity.startswith("S")
        }
    )
    builder = reader.builder
    nameless = 0
    for host, switch in reader.of_hosts(switches):
        description = reader.names.get(host.device, "")
        if not switch.is_switch or not host.device.startswith("H"):
            builder.note(f"line {host.line}: a link without a switch, or of a router, is left out.")
        elif not _attach(builder, host, description, switches[switch.device], switch.port):
            nameless += "Aggregation" not in description
    if nameless:
        builder.note(
            f"adapters left out because their description contains no host name: {nameless}; set "
            "their node description."
        )
    return builder.fabric()


def _attach(builder: Builder, host: _End, description: str, switch: str, port: str) -> bool:
    """Attach the host in a description; return False if it contains no host."""
    node, nic = host_and_nic(description)
    if node:
        nic = _distinct(builder, node, nic, switch, host.device)
        builder.attach(node, switch, host.line, nic, port)
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


_END = re.compile(
    r"(?:(?P<rate>\d{1,4}(?:\.\d)?)g|(?P<far><->)|\?\?\?g?)\s+0x(?P<guid>[0-9a-fA-F]{1,16})\s+"
    r"(?P<port>\d{1,4})\s+(?P<type>FI|SW|CA|RT)\s*(?P<name>.{0,200})"
)


def _reported(text: str, source: str) -> _Links:
    """Return the links of ``opareport -o links``: two lines each, the second begins with
    ``<->``.
    """
    found = _Links(source)
    near: _End | None = None
    rate: float | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        fields = _END.match(line.strip())
        if fields is None:
            continue  # cable details, headings, rules
        guid, name = fields["guid"].lower(), fields["name"].strip()
        end = _End(guid, fields["port"], fields["type"] == "SW", number, name)
        if end.is_switch:
            found.names[guid] = name or guid
        if fields["far"] is None:
            near, rate = end, float(fields["rate"]) * 1e9 if fields["rate"] else None
        elif near is not None:
            found.add(near, end, rate)
            near = None
    if near is not None:
        found.builder.note(
            f"line {near.line}: the other end of the last link is missing: the text was cut off."
        )
    return found


def read_opareport(text: str, source: str = "opareport") -> Fabric:
    """Return the hosts and switches of ``opareport -o links``. ``-o nodes`` lists no links, so no
    node has a place, and the reader reports that.
    """
    reader = _reported(text, source)
    if not reader.links:
        raise BadInput(f"{source} lists no links: give the text of `opareport -o links`.")
    builder, switches = reader.builder, _told_apart(reader.names)
    for host, switch in reader.of_hosts(switches):
        node, nic = host_and_nic(host.name)
        if not switch.is_switch or not node:
            builder.note(f"line {host.line}: a link without a switch or a host's name is left out.")
        else:
            builder.attach(node, switches[switch.device], host.line, nic, switch.port)
    return builder.fabric()


# --- LLDP: reads the output of ``lldpctl`` (lldpd 1.0) on several nodes, with ``-f keyvalue`` or as
# plain text. The text must show which node printed a line: ``clush -w n[1-4] lldpctl -f keyvalue``
# (like pdsh) puts ``n1: `` before each line, ``clush -b`` puts the names between two rules, and
# files can be joined with ``==> n1 <==``. Switches that run lldpd may be among the nodes: a name
# that occurs as a neighbour is a switch.


_KEY = re.compile(r"lldp\.(.{1,64}?)\.(chassis|port)\.([a-z-]{1,32})(?:\.[a-z-]{1,32})?=(.{0,255})")
_INTERFACE = re.compile(r"Interface:\s{1,20}([^,\s]{1,64})")
_FIELD = re.compile(r"(ChassisID|SysName|PortID|PortDescr):\s{1,40}(.{1,255})")
_RULE = re.compile(r"-{10,}")
_JOINED = re.compile(r"(?:==>|={2,})\s{1,4}(?:node\s{1,4})?([^\s=<]{1,255})\s{1,4}(?:<==|={2,})")
_PREFIXED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,254}): ?(.*)")
_OWN_WORDS = {
    "Interface",
    "Chassis",
    "ChassisID",
    "SysName",
    "SysDescr",
    "Port",
    "PortID",
    "PortDescr",
    "TTL",
    "MgmtIP",
}
COLLECT = (
    "collect it with `clush -w NODES lldpctl -f keyvalue`, which puts the node before each line"
)


class _Neighbour(NamedTuple):
    """The neighbour of a node's NIC. ``fields``: what the text says about it, by key."""

    line: int
    fields: dict[str, str]

    def first(self, *keys: str) -> str:
        return next((self.fields[key] for key in keys if key in self.fields), "")


_NAME, _PORT_NAME = ("name", "mac", "id"), ("ifname", "local", "descr", "portmac")


def _sections(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line number, node that printed the line or "", line)."""
    owner, rules = "", 0
    lines = text.splitlines()
    for number, raw in enumerate(lines, start=1):
        line = raw.strip()
        joined = _JOINED.fullmatch(line)
        if joined:
            owner, rules = joined.group(1), 0
        elif _RULE.fullmatch(line):
            rules += 1
        elif (
            rules
            and number < len(lines)
            and _RULE.fullmatch(lines[number].strip())
            and " " not in line
        ):
            owner = line
        else:
            rules = 0
            prefixed = _PREFIXED.fullmatch(line)
            if prefixed and prefixed.group(1) not in _OWN_WORDS:
                yield number, prefixed.group(1), prefixed.group(2).strip()
            else:
                yield number, owner, line


_PLAIN = {"SysName": "name", "PortDescr": "descr"}
_PORT_ID = {"ifname": "ifname", "local": "local", "mac": "portmac"}


def _plain_field(word: str, value: str) -> tuple[str, str]:
    """Return (key, value) of a line of the plain form."""
    if word in _PLAIN:
        return _PLAIN[word], value
    kind, _, rest = value.strip().partition(" ")
    return _PORT_ID.get(kind, "local") if word == "PortID" else "mac", rest or kind


def _said(text: str) -> Iterator[tuple[int, str, str, str, str]]:
    """Yield (line number, node, NIC, key, value) of either form."""
    nics: dict[str, str] = {}  # plain text: the current interface of each node
    for number, owner, line in _sections(text):
        if keyed := _KEY.fullmatch(line):
            nic, part, field, value = keyed.groups()
            if part == "port" or field in _NAME:
                key = "portmac" if (part, field) == ("port", "mac") else field
                yield number, owner, nic, key, value
            continue
        if interface := _INTERFACE.match(line):
            nics[owner] = interface.group(1)
        if (plain := _FIELD.fullmatch(line)) and owner in nics:
            yield number, owner, nics[owner], *_plain_field(*plain.groups())


def read_lldp(text: str, source: str = "lldpctl") -> Fabric:
    """Return nodes, their NICs and the switch ports that they are connected to. Raise BadInput if
    the node that printed a line is unknown.
    """
    builder = Builder(source)
    heard: dict[tuple[str, str], _Neighbour] = {}
    for number, owner, nic, key, value in _said(text):
        if not owner:
            builder.refuse(number, f"the node that printed this is unknown; {COLLECT}.")
        neighbour = heard.setdefault((owner, nic), _Neighbour(number, {}))
        if value.strip():
            neighbour.fields.setdefault(key, value.strip())
    if not heard:
        raise BadInput(f"{source} lists no LLDP neighbour: {COLLECT}.")
    _place(builder, heard)
    rails = Counter(node for node, _ in builder.attachments)
    several = sum(count > 1 for count in rails.values())
    if several:
        builder.note(
            f"nodes with LLDP neighbours on several NICs: {several}; the measured NIC decides."
        )
    return builder.fabric()


def _place(builder: Builder, heard: Mapping[tuple[str, str], _Neighbour]) -> None:
    """Attach nodes to their neighbouring switches, and join switches that are neighbours of each
    other."""
    switches = {neighbour.first(*_NAME) for neighbour in heard.values()}
    joined: set[frozenset[tuple[str, str]]] = set()
    for (owners, nic), neighbour in heard.items():
        if not neighbour.first(*_NAME):
            builder.note(f"line {neighbour.line}: a neighbour without a name is left out.")
            continue
        for owner in expand(owners, builder.where(neighbour.line)):
            if owner not in switches:
                builder.switch(neighbour.first(*_NAME), neighbour.line)
                builder.attach(
                    owner,
                    neighbour.first(*_NAME),
                    neighbour.line,
                    nic,
                    neighbour.first(*_PORT_NAME),
                )
                continue
            ends = frozenset(
                ((owner, nic), (neighbour.first(*_NAME), neighbour.first(*_PORT_NAME)))
            )
            if ends not in joined and owner != neighbour.first(*_NAME):
                joined.add(ends)
                builder.switch(owner, neighbour.line)
                builder.switch(neighbour.first(*_NAME), neighbour.line)
                builder.join(owner, neighbour.first(*_NAME), neighbour.line)
