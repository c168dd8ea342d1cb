"""The fabric as somebody describes it: which switch each node connects to, and how the switches are
joined.
"""

import msgspec


class Attachment(msgspec.Struct, frozen=True, kw_only=True):
    """One NIC of one node on one port of a switch. ``nic`` and ``port`` are "" where the source
    does not say.
    """

    node: str
    switch: str
    nic: str = ""
    port: str = ""


class Cable(msgspec.Struct, frozen=True, kw_only=True):
    """``count`` parallel links between two switches; ``rate_bits_per_s`` of one of them, None when
    unknown.
    """

    one: str
    other: str
    count: int = 1
    rate_bits_per_s: float | None = None


class Fabric(msgspec.Struct, frozen=True, kw_only=True):
    """``levels``: switch to its level, 1 for a leaf (a switch with nodes), 2 and up for what joins
    leaves.

    ``source`` names the file or command; ``notes`` are what its reader had to assume, one sentence
    each.
    """

    attachments: tuple[Attachment, ...]
    levels: dict[str, int]
    cables: tuple[Cable, ...] = ()
    source: str = ""
    notes: tuple[str, ...] = ()

    def leaf_of(self, node: str, nic: str = "") -> str:
        """The switch that ``node`` (by ``nic``, if given) hangs on; "" when the fabric does not
        know the node.
        """
        own = [one for one in self.attachments if one.node == node]
        return next(
            (one.switch for one in own if nic and one.nic == nic), own[0].switch if own else ""
        )
