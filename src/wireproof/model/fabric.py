"""The fabric as its description gives it: the switch that each node connects to, and the links
between switches.
"""

import msgspec


class Attachment(msgspec.Struct, frozen=True, kw_only=True):
    """A NIC of a node and the switch port that it connects to. ``nic`` and ``port``: "" if the
    source does not give them.
    """

    node: str
    switch: str
    nic: str = ""
    port: str = ""


class Cable(msgspec.Struct, frozen=True, kw_only=True):
    """``count`` parallel links between two switches. ``rate_bits_per_s``: rate of one link, None if
    unknown.
    """

    one: str
    other: str
    count: int = 1
    rate_bits_per_s: float | None = None


class Fabric(msgspec.Struct, frozen=True, kw_only=True):
    """Switches, nodes and links.

    ``levels``: level of each switch: 1 for a leaf (a switch with nodes), 2 and higher for switches
    that connect leaves. ``source``: the file or command; ``notes``: what its reader had to assume,
    one sentence each.
    """

    attachments: tuple[Attachment, ...]
    levels: dict[str, int]
    cables: tuple[Cable, ...] = ()
    source: str = ""
    notes: tuple[str, ...] = ()

    def leaf_of(self, node: str, nic: str = "") -> str:
        """Return the switch that ``node`` connects to (through ``nic``, if given); "" if the fabric
        does not have the node.
        """
        attached = [link for link in self.attachments if link.node == node]
        by_nic = [link for link in attached if nic and link.nic == nic]
        return next((link.switch for link in [*by_nic, *attached]), "")
