"""Build blames in the form that reports use."""

import dataclasses
from collections.abc import Sequence

from wireproof.locate.samples import value_of
from wireproof.locate.significance import as_slowdown
from wireproof.model.finding import Both, Link, Node, Port, Route, Subject, Switch
from wireproof.model.located import Blame, BlameKind, Direction, Metric, Stage, name_of

# highest confidence of a culprit that was confirmed alone, and of a culprit seen only in the screen
_SURE, _UNSURE = 0.999, 0.95
UNKNOWN_END = "?"
"""The far end of a link if only its leaf switch is known."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SlownessEstimate:
    """``slowness`` and its standard ``error`` are natural logarithms relative to ``expected`` (a
    log slowness). ``p`` is adjusted for the number of hypotheses tested.
    """

    slowness: float
    error: float
    p: float
    expected: float


def kind_of(about: Subject) -> BlameKind:
    """Return the kind of culprit that ``about`` is. Raise ValueError for a subject that cannot be a
    culprit.
    """
    match about:
        case Node():
            return "node"
        case Port():
            return "port"
        case Link():
            return "link"
        case Switch():
            return "switch"
        case Route() | Both():
            return "pair"
    raise ValueError(f"{about} is no culprit")


def is_of_node(blame: Blame, node: str) -> bool:
    """Return whether the culprit is ``node`` or one of its ports."""
    return isinstance(blame.about, Node | Port) and blame.subject == node


def pair_of(metric: Metric, origin: str, target: str) -> Route | Both:
    """Return the pair as a culprit: a route for goodput, both directions for half round trips."""
    return Route(origin, target) if metric == "goodput" else Both(origin, target)


def blame_of(
    about: Subject,
    metric: Metric,
    estimate: SlownessEstimate,
    *,
    stage: Stage,
    nodes: Sequence[str],
    evidence: Sequence[str] = (),
    direction: Direction = "",
) -> Blame:
    """Build a blame from an estimate. The interval is the estimate +/- 1.96 standard errors.

    ``direction`` applies to links and switches; a port has its own direction.
    """
    slowness, error = estimate.slowness, estimate.error
    most = _SURE if stage == "confirmed" else _UNSURE
    return Blame(
        kind=kind_of(about),
        subject=name_of(about),
        about=about,
        direction=about.direction if isinstance(about, Port) else direction,
        metric=metric,
        slowdown=as_slowdown(metric, slowness),
        low=as_slowdown(metric, slowness - 1.96 * error),
        high=as_slowdown(metric, slowness + 1.96 * error),
        confidence=max(0.0, min(most, 1.0 - estimate.p)),
        stage=stage,
        value=value_of(metric, estimate.expected + slowness),
        expected=value_of(metric, estimate.expected),
        nodes=list(nodes),
        evidence=list(evidence),
    )
