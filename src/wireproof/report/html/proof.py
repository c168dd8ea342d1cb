"""The proof of the path: bytes due and bytes seen of each port and direction, and where they were
counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wireproof.model import quantity
from wireproof.model.ledger import LEVELS as ORDER
from wireproof.model.ledger import Level
from wireproof.report.answers import LEVELS, seen_of
from wireproof.report.flows import SMALL_BYTES, Flow
from wireproof.report.html.grids import GridCell, number
from wireproof.report.names import clean

__all__ = ["Proof", "ProofRow", "proof_of"]

MOST_ROWS = 400


@dataclass(frozen=True)
class ProofRow:
    """``cells``: due, seen and their ratio, which are numbers. ``width`` and ``mark`` of its bar
    are per cent; ``silent``: bytes that were due were not seen. ``words``: what is odd, or "".
    """

    host: str
    nic: str
    direction: str
    level: str
    quality: str
    cells: list[GridCell]
    claimed: bool
    width: str
    mark: str | None
    silent: bool
    words: str


@dataclass(frozen=True)
class Proof:
    """``levels``: what the levels that occur mean."""

    rows: list[ProofRow]
    note: str
    levels: list[tuple[Level, str]]


def proof_of(found: Sequence[Flow]) -> Proof:
    """Bars on one common scale; of very many rows those whose seen and expected bytes differ
    most.
    """
    note = (
        f"Sums over the points with messages of {quantity.size(SMALL_BYTES)} and more, idle "
        "background subtracted. Headers and acknowledgements make the bar a little longer than the "
        "mark."
    )
    shown = found
    if len(found) > MOST_ROWS:
        worst = sorted(found, key=_least_alike)
        chosen = {id(flow) for flow in worst[:MOST_ROWS]}
        shown = [flow for flow in found if id(flow) in chosen]
        note += f" The {MOST_ROWS} of {len(found)} where seen and expected differ most are shown."
    lengths = [max(flow.expected_bytes, flow.seen_bytes or 0.0) for flow in shown]
    top = max(lengths, default=0.0) or 1.0
    known = {flow.level for flow in shown if flow.seen_bytes is not None}
    levels = [(level, LEVELS[level]) for level in ORDER if level in known]
    return Proof([_row(flow, top) for flow in shown], note, levels)


def _least_alike(flow: Flow) -> float:
    """Sorts what was not seen first; no counter at all before everything else."""
    if flow.seen_bytes is None:
        return float("-inf")
    return -abs(flow.seen_bytes - flow.expected_bytes)


def _row(flow: Flow, top: float) -> ProofRow:
    seen, due = flow.seen_bytes, flow.expected_bytes
    if seen is None:
        words, silent = "no counter could be read", True
    elif not flow.claimed:
        words, silent = f"{quantity.volume(seen)} seen, none expected", False
    else:
        silent = due > 0 and seen < 0.5 * due
        words = seen_of(seen, due) if silent else ""
    width = 0.0 if seen is None else 100 * seen / top
    return ProofRow(
        clean(flow.host, 80),
        clean(flow.nic, 40),
        "out" if flow.direction == "tx" else "in",
        flow.level if seen is not None else "none",
        flow.quality,
        _numbers(flow),
        flow.claimed,
        f"{width:.2f}",
        f"{100 * due / top:.2f}" if flow.claimed and due > 0 else None,
        silent,
        words,
    )


def _numbers(flow: Flow) -> list[GridCell]:
    seen, due = flow.seen_bytes, flow.expected_bytes
    ratio = seen / due if seen is not None and due > 0 else None
    return [
        number(due, quantity.volume(due), 12),
        number(seen, quantity.volume(seen), 12),
        number(ratio, quantity.percent(ratio)),
    ]
