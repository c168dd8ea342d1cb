"""Blames in the form that is reported."""

import dataclasses
from collections.abc import Sequence

from wireproof.locate.criteria import as_slowdown
from wireproof.locate.samples import value_of
from wireproof.model.finding import Both, Link, Node, Port, Route, Subject, Switch
from wireproof.model.located import Blame, BlameKind, Direction, Metric, Stage, name_of

# the most that is claimed of what was measured again alone, and of what was only seen among others
_SURE, _UNSURE = 0.999, 0.95
UNKNOWN_END = "?"
"""The far end of a link of which only the leaf is known."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SlownessEstimate:
    """``slowness`` and its standard ``error``: logarithms against ``expected`` (log slowness);
    ``p``: adjusted for all that was looked at.
    """

    slowness: float
    error: float
    p: float
    expected: float


def kind_of(about: Subject) -> BlameKind:
    """The kind of culprit that ``about`` is."""
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
    """Whether a culprit is ``node`` or a port of it."""
    return isinstance(blame.about, Node | Port) and blame.subject == node


def pair_of(metric: Metric, origin: str, target: str) -> Route | Both:
    """The pair as a culprit: half round trips have no direction."""
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
    """``direction``: of a link or switch; a port has its own. The interval is the estimate -/+ 1.96
    errors.
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
