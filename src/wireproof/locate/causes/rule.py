"""What a cause's rule is: signature of the culprit, signs, confidence, sentence and fix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from wireproof.locate.causes.mend import in_line
from wireproof.locate.causes.signs import AnySign
from wireproof.model.located import Blame, Cause
from wireproof.model.setting import Setting

__all__ = ["Rule", "Shape"]

_NODE = frozenset({"node", "port", "switch"})
_BOTH = frozenset({"goodput", "hrt"})


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of ``when`` must hold. ``confidence`` is that of the cause, 0 to 1, times the factor of
    the culprit's direction; when all of ``surer`` hold as well, it is ``sure``.

    ``setting``: the entry of the catalogue that the cause is about; fix and undo are the entry's.
    Where it is about none, ``no_setting`` says why, and the rule has a ``fix`` of its own.
    """

    code: str
    when: tuple[AnySign, ...]
    confidence: float
    sentence: str
    fix: str = ""
    kinds: frozenset[str] = _NODE
    metrics: frozenset[str] = _BOTH
    directions: dict[Literal["both", "tx", "rx"], float] = msgspec.field(
        default_factory=lambda: {"both": 1.0, "tx": 1.0, "rx": 1.0}
    )
    surer: tuple[AnySign, ...] = ()
    sure: float = 0.95
    setting: str = ""
    no_setting: str = ""

    def factor(self, blame: Blame) -> float:
        """How well the rule fits a culprit's kind and direction; 0 when it does not."""
        if blame.kind not in self.kinds or blame.metric not in self.metrics:
            return 0.0
        return self.directions.get(blame.direction or "both", 0.0)

    def cause(
        self,
        *,
        node: str,
        nic: str,
        confidence: float,
        evidence: list[str],
        settings: Mapping[str, Setting],
    ) -> Cause:
        entry = settings.get(self.setting)
        return Cause(
            code=self.code,
            sentence=self.sentence.format(node=node, nic=nic),
            confidence=confidence,
            fix=self._fix(node, nic, entry),
            undo=entry.fix.undo if entry is not None and entry.fix else "",
            evidence=evidence,
            setting=self.setting,
            expected=entry.effect if entry is not None else None,
        )

    def _fix(self, node: str, nic: str, entry: Setting | None) -> str:
        """The entry's steps; where the catalogue is not at hand, where to find them."""
        if not self.setting:
            return self.fix.format(node=node, nic=nic)
        if entry is None:
            return f"`wireproof explain {self.setting}` says what mends it."
        return in_line(entry, node, {"nic": nic})


@dataclass(frozen=True)
class Shape:
    """A cause that the culprit's own shape shows, without counters. ``seen``: what is seen where
    nothing else is given.
    """

    code: str
    confidence: float
    sentence: str
    fix: str
    seen: str = ""

    def of_shape(self, blame: Blame, evidence: Sequence[str] = ()) -> Cause:
        return Cause(
            code=self.code,
            sentence=self.sentence.format(subject=blame.subject),
            confidence=self.confidence,
            fix=self.fix,
            evidence=list(evidence) or [self.seen],
        )
