"""How rails shared the bytes, in one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from wireproof.model import quantity
from wireproof.model.finding import Judgement, PairVerdict
from wireproof.report.names import clean

__all__ = ["rails_sentence"]

_SAID = {
    "striped": "each its share",
    "one-rail": "one carried all",
    "unequal": "not their shares",
    "unknown": "what each carried is not known",
}
_WORST = ("one-rail", "unequal", "unknown", "striped")


def rails_sentence(judgement: Judgement) -> str:
    """``hsn0 50 %, hsn1 50 %, each its share at 4 MiB (shared from 1 MiB on)``; "" without."""
    streams = [one for one in judgement.pairs if one.striping and one.unit == "bytes_per_s"]
    if not streams:
        return ""
    by_size: dict[int, list[PairVerdict]] = {}
    for one in streams:
        by_size.setdefault(one.message_bytes, []).append(one)
    sizes = sorted(by_size)
    largest = by_size[sizes[-1]]
    text = f"{_listed(largest)}, {_SAID[_worst(largest)]} at {quantity.size(sizes[-1])}"
    shared = _shared_from(sizes, by_size)
    later = f" (shared from {quantity.size(shared)} on)" if shared not in (None, sizes[0]) else ""
    return text + (later if shared is not None else "")


def _worst(pairs: Iterable[PairVerdict]) -> str:
    states = {one.striping for one in pairs}
    return next(state for state in _WORST if state in states)


def _shared_from(sizes: Sequence[int], by_size: dict[int, list[PairVerdict]]) -> int | None:
    """The smallest size from which on every result is shared."""
    found = None
    for size in reversed(sizes):
        if _worst(by_size[size]) != "striped":
            break
        found = size
    return found


def _listed(pairs: Sequence[PairVerdict]) -> str:
    shares: dict[str, list[float]] = {}
    for one in pairs:
        for rail in one.rails:
            shares.setdefault(rail.rail, []).extend([rail.share] if rail.share is not None else [])
    each = [
        f"{clean(name, 40)} {quantity.percent(median(seen)) if seen else 'unknown'}"
        for name, seen in shares.items()
    ]
    return ", ".join(each)
