"""One verdict for programs that let a node in or keep it out: schedulers, monitors, CI."""

from datetime import datetime

import msgspec

from wireproof.model.finding import Proof, Verdict


class NodeVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a result says of one node. ``passing``: results with this node that pass; ``reason`` is
    one sentence.
    """

    node: str
    verdict: Verdict
    reason: str
    proof: Proof = "unproven"
    passing: int = 0


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """``subject``: the node that was asked for, else all nodes in short. ``measured``: when, UTC,
    "" when no result counts; ``age_s`` likewise, below 0 in the
    future. ``max_age_s``: how old it may be. ``source``: the result's folder. ``by``: the
    version that judged.
    """

    verdict: Verdict
    subject: str
    reason: str
    measured: str = ""
    age_s: float | None = None
    max_age_s: float | None = None
    source: str = ""
    by: str = ""
    link: str = ""
    nodes: list[NodeVerdict] = msgspec.field(default_factory=list)


def seconds_of(text: str) -> float | None:
    """Seconds since 1970 of a time as a result states it; None for what is none, or has no zone."""
    try:
        found = datetime.fromisoformat(text)
        return found.timestamp() if found.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None
