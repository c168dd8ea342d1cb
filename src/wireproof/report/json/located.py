"""What was located, as one JSON document: what ``wireproof locate --json`` prints."""

import msgspec

from wireproof.model.finding import Verdict
from wireproof.model.located import ABOUT, Located


class WorstPair(msgspec.Struct, frozen=True, kw_only=True):
    """A pair of nodes: ``value`` is what it reached (bytes per second or ns, as the metric says),
    ``ratio`` that by what both its nodes do elsewhere.
    """

    origin: str
    target: str
    value: float
    ratio: float


class LocateDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What was concluded for each metric. ``worst_pairs``: of a table, those farthest below what
    both their nodes do elsewhere. ``undecided``: sentences about rows that show neither a culprit
    nor that all is well. ``notes``: what was left out.
    """

    located: tuple[Located, ...]
    notes: tuple[str, ...] = ()
    worst_pairs: tuple[WorstPair, ...] = ()
    undecided: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """``fail`` with a culprit, ``pass`` without one where a slow one would have been found."""
        if any(one.blames for one in self.located):
            return "fail"
        blind = any(
            not one.samples or one.missing or not one.detectable <= ABOUT * one.practical
            for one in self.located
        )
        return "inconclusive" if blind or self.undecided else "pass"
