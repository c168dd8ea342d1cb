"""Queue pairs and memory of a job, as ``wireproof plan footprint`` prints them."""

from typing import Literal

import msgspec

from wireproof.model.planning import Bounds

Unit = Literal["rank", "peer rank", "peer node"]
"""What a part exists for: each rank, each remote rank that a rank talks to, or each remote node
that a node talks to.
"""
Basis = Literal["source", "assumed"]
"""``source``: sizes and counts come from the library's source code. ``assumed``: bounds taken from
adapters in use (a work queue entry of 64 to 128 B); a measurement can replace them.
"""


class FormulaSetting(msgspec.Struct, frozen=True, kw_only=True):
    """A variable that the formulas use. ``given``: the user set it; otherwise it has its
    default.
    """

    name: str
    value: int
    given: bool
    meaning: str


class Peers(msgspec.Struct, frozen=True, kw_only=True):
    """Who talks to whom between nodes.

    ``node_pairs``: unordered pairs of nodes that talk; ``most_pairs``: all possible pairs.
    ``rank``: remote ranks of one rank; ``node_ranks``, ``job_ranks``: the same summed over the
    ranks of a node and over all ranks. ``node``: remote nodes of one node.
    """

    rank: Bounds
    node_ranks: Bounds
    job_ranks: Bounds
    node: Bounds
    node_pairs: Bounds
    most_pairs: int
    assumed: str


class Sums(msgspec.Struct, frozen=True, kw_only=True):
    """One quantity per rank, per node and for the whole job. ``node`` includes what the kernel
    allocates.
    """

    rank: Bounds
    node: Bounds
    job: Bounds


class FootprintPart(msgspec.Struct, frozen=True, kw_only=True):
    """One part of the footprint, which exists once for each ``per``, with its QPs and bytes."""

    name: str
    per: Unit
    qps: Bounds
    bytes: Bounds
    formula: str
    basis: Basis
    kind: str = ""


class LimitCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The QP limit of an adapter compared with what one node needs. ``fits``: null if it depends on
    who talks to whom.
    """

    adapter: str
    max_qps: int
    fits: bool | None
    sentence: str
    source: str


class QpReading(msgspec.Struct, frozen=True, kw_only=True):
    """One assumption that makes the formula match the observed number: ``connection`` QPs for each
    pair that talks, and ``pairs`` such pairs.
    """

    connection: int
    pairs: float
    share: float
    whole: bool
    sentence: str


class Observed(msgspec.Struct, frozen=True, kw_only=True):
    """What a real run used, compared with the formula; null: not observed."""

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
    """What ``wireproof plan footprint --json`` prints. ``bytes``: resident memory that the
    transport uses for messages, without the application's memory and what it registers.
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
