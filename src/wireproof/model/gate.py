"""A verdict for programs that admit or exclude nodes: schedulers, monitors, CI."""

from datetime import datetime

import msgspec

from wireproof.model.finding import Proof, Verdict


class NodeVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a result says about one node. ``passing``: number of results with this node that pass;
    ``reason``: one sentence.
    """

    node: str
    verdict: Verdict
    reason: str
    proof: Proof = "unproven"
    passing: int = 0


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on a node or on all nodes.

    ``subject``: the node in question, or all nodes folded. ``measured``: time of the measurement,
    UTC, "" if no result counts; ``age_s``: its age, negative if it lies in the future.
    ``max_age_s``: the highest age that is accepted. ``source``: the folder of the result. ``by``:
    the version that judged.
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
    """Return a result's time in seconds since 1970; None if it is not a time or has no time
    zone.
    """
    try:
        found = datetime.fromisoformat(text)
        return found.timestamp() if found.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None
