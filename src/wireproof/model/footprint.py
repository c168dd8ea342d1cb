"""Queue pairs and memory of a job, as ``wireproof plan footprint`` gives them."""

from typing import Literal

import msgspec

from wireproof.model.planning import Bounds

Unit = Literal["rank", "peer rank", "peer node"]
"""What a part is there once for: each rank, each remote rank that a rank talks to, or each remote
node that a node talks to.
"""
Basis = Literal["source", "assumed"]
"""``source``: sizes and counts that the library's source gives. ``assumed``: between sizes that
adapters in use have (a work queue entry of 64 to 128 B); measure to replace it.
"""


class FormulaSetting(msgspec.Struct, frozen=True, kw_only=True):
    """A variable that the formulas use; ``given``: by the user, else it is the default."""

    name: str
    value: int
    given: bool
    meaning: str


class Peers(msgspec.Struct, frozen=True, kw_only=True):
    """Who talks to whom across nodes. ``node_pairs``: unordered pairs of nodes; ``most_pairs``: all
    that there are. ``rank``, ``node_ranks``: remote ranks of one rank, and summed over a node's
    ranks; ``job_ranks``: summed over all ranks. ``node``: remote nodes of one node.
    """

    rank: Bounds
    node_ranks: Bounds
    job_ranks: Bounds
    node: Bounds
    node_pairs: Bounds
    most_pairs: int
    assumed: str


class Sums(msgspec.Struct, frozen=True, kw_only=True):
    """One quantity for one rank, one node and the whole job. A kernel's share is in ``node``."""

    rank: Bounds
    node: Bounds
    job: Bounds


class FootprintPart(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of thing that is there ``per`` unit: so many QPs, so many bytes."""

    name: str
    per: Unit
    qps: Bounds
    bytes: Bounds
    formula: str
    basis: Basis
    kind: str = ""


class LimitCheck(msgspec.Struct, frozen=True, kw_only=True):
    """An adapter's limit of QPs against what one node needs. ``fits`` None: it depends on who
    talks to whom.
    """

    adapter: str
    max_qps: int
    fits: bool | None
    sentence: str
    source: str


class QpReading(msgspec.Struct, frozen=True, kw_only=True):
    """One assumption under which a number that was seen is what the formula gives: ``connection``
    QPs per pair that talks, and so many pairs.
    """

    connection: int
    pairs: float
    share: float
    whole: bool
    sentence: str


class Observed(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen in a real run beside the formula; None: it was not seen."""

    what: str
    qps: int
    by_kind: dict[str, int]
    processes: int | None
    registered_bytes: int | None
    inside: bool
    sentences: list[str]
    readings: list[QpReading]
    job_qps: float | None


class Footprint(msgspec.Struct, frozen=True, kw_only=True):
    """What ``wireproof plan footprint --json`` prints. Bytes are resident memory for messages, of
    the transport alone: neither the application's nor what it registers.
    """

    mode: str
    nodes: int
    ppn: int
    rails: int
    mtu_bytes: int
    peers: Peers
    qps: Sums
    bytes: Sums
    parts: list[FootprintPart]
    settings: list[FormulaSetting]
    limits: list[LimitCheck]
    observed: list[Observed]
    sources: list[str]
    validity: list[str]
