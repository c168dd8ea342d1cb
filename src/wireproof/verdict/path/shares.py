"""What share each rail is due, and whether the shares that were seen are those. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from wireproof.model.claim import Criteria, LinkClaim
from wireproof.model.finding import Striping

__all__ = ["due_shares", "state_of"]


def due_shares(link: LinkClaim | None, count: int) -> list[float]:
    """The share of each rail by its line rate; equal ones where no rates are known."""
    rates = link.shares if link is not None and len(link.shares) == count else (1.0,) * count
    whole = sum(rates)
    return [rate / whole for rate in rates]


def state_of(seen: Sequence[float | None], due: Sequence[float], criteria: Criteria) -> Striping:
    """How the rails shared the bytes, by the shares that were ``seen`` and are ``due``."""
    known = [(share, wanted) for share, wanted in zip(seen, due, strict=True) if share is not None]
    if len(known) < len(seen):
        return "unknown"
    if sum(share >= criteria.stray_share * wanted for share, wanted in known) == 1:
        return "one-rail"
    tolerance = criteria.rail_tolerance
    even = all(abs(share / wanted - 1) <= tolerance for share, wanted in known)
    return "striped" if even else "unequal"
