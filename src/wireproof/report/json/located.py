"""The result of ``wireproof locate --json`` as one JSON document."""

import msgspec

from wireproof.model.finding import Verdict
from wireproof.model.located import ABOUT, Located


class WorstPair(msgspec.Struct, frozen=True, kw_only=True):
    """A pair of nodes. ``value``: what it reached, in bytes/s or ns according to the metric;
    ``ratio``: that value / what both nodes reach with other partners.
    """

    origin: str
    target: str
    value: float
    ratio: float


class LocateDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What ``wireproof locate --json`` prints. ``worst_pairs``: pairs of a table that are farthest
    below what both nodes reach with other partners. ``undecided``: sentences about rows that
    show neither a culprit nor that everything is fine. ``notes``: what was not considered.
    """

    located: tuple[Located, ...]
    notes: tuple[str, ...] = ()
    worst_pairs: tuple[WorstPair, ...] = ()
    undecided: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """``fail`` with a culprit; ``pass`` without a culprit if a slow node would have been found;
        otherwise ``inconclusive``.
        """
        if any(one.blames for one in self.located):
            return "fail"
        blind = any(
            not one.samples or one.missing or not one.detectable <= ABOUT * one.practical
            for one in self.located
        )
        return "inconclusive" if blind or self.undecided else "pass"
