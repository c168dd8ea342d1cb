"""LLDP: read the output of ``lldpctl`` (lldpd 1.0) on several nodes, with ``-f keyvalue`` or as
plain text.

The text must tell which node printed a line, in one of three forms: ``clush -w n[1-4] lldpctl -f
keyvalue`` (like pdsh) puts ``n1: `` before each line, ``clush -b`` puts the names between two
rules, and files can be joined with ``==> n1 <==``. Switches that run lldpd may be among the nodes:
a name that occurs as a neighbour is a switch.
"""

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator

from wireproof.locate.topology.nodes import Builder, expand
from wireproof.model.errors import BadInput
from wireproof.model.located import Fabric

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
    "collect it with `clush -w NODES lldpctl -f keyvalue`, which names the node before each line"
)


@dataclasses.dataclass
class _Neighbour:
    """What a NIC of a node hears: the name and port of the neighbour."""

    line: int
    fields: dict[str, str] = dataclasses.field(default_factory=dict)

    def name(self) -> str:
        return self.fields.get("name") or self.fields.get("mac") or self.fields.get("id", "")

    def port(self) -> str:
        return next(
            (
                self.fields[key]
                for key in ("ifname", "local", "descr", "portmac")
                if key in self.fields
            ),
            "",
        )


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


class _Neighbours:
    """Neighbours by node and NIC, from either form."""

    def __init__(self) -> None:
        self.all: dict[tuple[str, str], _Neighbour] = {}
        self.nic: dict[str, str] = {}  # plain text: the current interface of each node
        self.nameless = 0

    def feed(self, number: int, owner: str, line: str) -> None:
        keyed = _KEY.fullmatch(line)
        if keyed:
            nic, part, field, value = keyed.groups()
            key = "portmac" if (part, field) == ("port", "mac") else field
            if part == "port" or field in ("name", "mac", "id"):
                self._put(number, owner, nic, key, value)
            return
        interface = _INTERFACE.match(line)
        if interface:
            self.nic[owner] = interface.group(1)
        plain = _FIELD.fullmatch(line)
        if plain and owner in self.nic:
            key, value = _plain_field(*plain.groups())
            self._put(number, owner, self.nic[owner], key, value)

    def _put(self, number: int, owner: str, nic: str, key: str, value: str) -> None:
        if not owner:
            self.nameless = self.nameless or number
        neighbour = self.all.setdefault((owner, nic), _Neighbour(number))
        if value.strip():
            neighbour.fields.setdefault(key, value.strip())


def read_lldp(text: str, source: str = "lldpctl") -> Fabric:
    """Return nodes, their NICs and the switch ports that they hear. Raise BadInput if the node that
    printed a line is unknown.
    """
    heard = _Neighbours()
    for number, owner, line in _sections(text):
        heard.feed(number, owner, line)
    if not heard.all:
        raise BadInput(f"{source} names no LLDP neighbour: {COLLECT}.")
    builder = Builder(source)
    if heard.nameless:
        builder.refuse(heard.nameless, f"the node that printed this is unknown; {COLLECT}.")
    _place(builder, heard)
    rails = Counter(node for node, _ in builder.attachments)
    several = sum(count > 1 for count in rails.values())
    if several:
        builder.note(
            f"nodes with LLDP neighbours on several NICs: {several}; the measured NIC decides."
        )
    return builder.fabric()


def _place(builder: Builder, heard: _Neighbours) -> None:
    """Attach nodes to the switches that they hear, and join switches that hear each other."""
    switches = {neighbour.name() for neighbour in heard.all.values()}
    joined: set[frozenset[tuple[str, str]]] = set()
    for (owners, nic), neighbour in heard.all.items():
        if not neighbour.name():
            builder.note(f"line {neighbour.line}: a neighbour without a name is left out.")
            continue
        for owner in expand(owners, builder.where(neighbour.line)):
            if owner not in switches:
                builder.switch(neighbour.name(), neighbour.line)
                builder.attach(owner, neighbour.name(), neighbour.line, nic, neighbour.port())
                continue
            ends = frozenset(((owner, nic), (neighbour.name(), neighbour.port())))
            if ends not in joined and owner != neighbour.name():
                joined.add(ends)
                builder.switch(owner, neighbour.line)
                builder.switch(neighbour.name(), neighbour.line)
                builder.join(owner, neighbour.name(), neighbour.line)
