# pure
"""Turn suspects into culprits with the samples of the confirm stage, which measures each suspect
alone against known-good partners.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np

from wireproof.locate.blame import (
    UNKNOWN_END,
    blame_of,
    distinct,
    is_of_node,
    ordered,
    pair_of,
    without_explained,
)
from wireproof.locate.confirm.expected import Alone, alone
from wireproof.locate.confirm.recheck import Recheck, compared, recheck_nodes, recheck_pairs
from wireproof.locate.routes.crossing import whole_leaves
from wireproof.locate.samples import Samples, check, value_of
from wireproof.locate.screen.screened import (
    Screened,
    Suspect,
    is_sure,
    least_found,
    path_blames,
    screened_blame,
)
from wireproof.locate.significance import LocateCriteria, as_slowdown
from wireproof.model.finding import Direction, Link, Node, Port, Subject
from wireproof.model.located import Blame, Contention, Located, Metric
from wireproof.model.quantity import first_few

_NOT_AGAIN = "not measured again alone: seen in the screen only"
_NOT_NOW = (
    "when measured alone later, it is not always slow: the fault is intermittent, or other traffic "
    "used its port"
)
_ENDS_UNKNOWN = "its ends were not measured again with other partners"
_PASSING = 0.8  # highest confidence of a fault that ended before it could be measured alone
# a direction with less than a quarter of the other's slowdown is not blamed
_WITH_THE_OTHER = 0.25
_LISTED = 8
_WORTH_A_NOTE = 0.3  # slowdown that the tail of the noise seldom reaches
# if a pair's sample was slow by chance, the pair does not reach this share of the slowdown again
_SAME = 0.5


def conclude(screened: Screened, confirm: Samples | None) -> Located:
    """Return the blames that the confirm stage supports. Without ``confirm``, the screen's
    conclusion stands and nothing counts as confirmed.

    A suspect is a culprit if it is slow alone with known-good partners: the node if both directions
    are slow, its port if one direction is. If a node is slow only on one kind of path, the path is
    blamed; if only with one partner, the pair. A suspect that is fast alone is cleared, and its
    slowness under load was contention. Samples between good nodes in ``confirm`` (controls) provide
    the value to expect now; without them the screen's values are used. Raises ValueError if
    ``confirm`` measured another metric.
    """
    located = screened.located
    if confirm is None or len(confirm) == 0 or screened.effects is None:
        return _unconfirmed(screened)
    if confirm.metric != located.metric:
        raise ValueError(
            f"the screen measured {located.metric}, but the confirm stage measured {confirm.metric}"
        )
    check(confirm)
    view = alone(screened, confirm, screened.criteria)
    outcome = _Outcome()
    _conclude_nodes(screened, view, outcome)
    _conclude_pairs(screened, view, outcome)
    blames = whole_leaves(distinct(outcome.blames), screened.fabric, screened.samples.nodes)
    places = screened.places
    blames = without_explained(
        [*blames, *path_blames(screened, blames)],
        screened.samples.nodes,
        places.leaf,
        places.leaves,
    )
    return msgspec.structs.replace(
        located,
        blames=ordered(blames),
        cleared=[str(subject) for subject in outcome.cleared],
        acquitted=outcome.cleared,
        contention=outcome.contention,
        notes=[*located.notes, *_left_note(located.metric, outcome.left)],
        detectable=least_found(screened, again=True),
    )


@dataclasses.dataclass
class _Outcome:
    """The results for the suspects so far. ``left``: suspects that were not measured again in the
    slow direction.
    """

    blames: list[Blame] = dataclasses.field(default_factory=list)
    cleared: list[Subject] = dataclasses.field(default_factory=list)
    contention: list[Contention] = dataclasses.field(default_factory=list)
    left: list[Suspect] = dataclasses.field(default_factory=list)


def _unconfirmed(screened: Screened) -> Located:
    """Return the screen's conclusion, with a note that nothing was measured again."""
    located = screened.located
    pairs = [pair for pair in screened.pairs if _matters(located.metric, pair)]
    left = [*screened.suspects, *pairs]
    if not left:
        return located
    return msgspec.structs.replace(
        located,
        blames=[_not_again(item) for item in located.blames],
        notes=[*located.notes, *_left_note(located.metric, left)],
    )


def _not_again(blame: Blame) -> Blame:
    return msgspec.structs.replace(blame, evidence=[*blame.evidence, _NOT_AGAIN])


def _matters(metric: Metric, pair: Suspect) -> bool:
    """Return whether a pair that was slow once deserves a note although it was not
    measured again.
    """
    return as_slowdown(metric, pair.slowness) >= _WORTH_A_NOTE


def _left_note(metric: Metric, left: Sequence[Suspect]) -> list[str]:
    """List the first suspects that were not measured again and count the rest."""
    if not left:
        return []
    return [f"{first_few([str(one.about(metric)) for one in left], _LISTED)}: {_NOT_AGAIN}"]


# --- nodes and ports


def _conclude_nodes(screened: Screened, view: Alone, outcome: _Outcome) -> None:
    metric = screened.located.metric
    rechecks = recheck_nodes(view, {item.nodes[0] for item in screened.suspects})
    for suspect in screened.suspects:
        rechecked = [item for item in rechecks if item.node == suspect.nodes[0]]
        guilty = _guilty(metric, rechecked, screened)
        if guilty:
            outcome.blames += [_with_moment(item, suspect) for item in guilty]
        elif is_sure(suspect, screened.criteria.alpha):
            outcome.blames.append(_passing(screened, suspect))
        elif _was_measured(metric, suspect, rechecked):
            outcome.cleared.append(suspect.about(metric))
            outcome.contention += _contention(metric, suspect, rechecked, screened.criteria)
        else:
            outcome.left.append(suspect)
            outcome.blames += _as_screened(screened, suspect)


def _as_screened(screened: Screened, suspect: Suspect) -> list[Blame]:
    """Return the screen's blames for a node that was not measured again."""
    node = suspect.nodes[0]
    blames = [
        blame for blame in screened.located.blames if node in blame.nodes and blame.kind != "link"
    ]
    return [_not_again(blame) for blame in blames]


def _was_measured(metric: Metric, suspect: Suspect, rechecks: Sequence[Recheck]) -> bool:
    """Return whether a suspect was measured alone in every suspected direction."""
    every = {"tx", "rx"} if metric == "goodput" else {""}
    wanted = {suspect.direction} if suspect.direction else every
    return wanted <= {recheck.direction for recheck in rechecks}


def _with_moment(blame: Blame, suspect: Suspect) -> Blame:
    """Add the time in which a culprit was slow, unless it was always slow."""
    if not suspect.moment or not isinstance(blame.about, Node | Port):
        return blame
    return msgspec.structs.replace(blame, evidence=[suspect.moment, *blame.evidence])


def _passing(screened: Screened, suspect: Suspect) -> Blame:
    """Blame a suspect that was slow for some of the time and is not slow now: an intermittent
    fault, or traffic of another job.
    """
    blame = screened_blame(screened.samples, suspect)
    return msgspec.structs.replace(
        blame, confidence=min(_PASSING, blame.confidence), evidence=[suspect.moment, _NOT_NOW]
    )


def _guilty(metric: Metric, rechecks: Sequence[Recheck], screened: Screened) -> list[Blame]:
    """Return the blames of one suspect (node, port, path or pair) from its ``rechecks``."""
    slow = [recheck for recheck in rechecks if recheck.shape == "all"]
    most = max((recheck.slowness for recheck in slow), default=0.0)
    slow = [recheck for recheck in slow if recheck.slowness >= _WITH_THE_OTHER * most]
    blames = [_node_or_port(metric, slow, rechecks)] if slow else []
    for recheck in rechecks:
        if recheck.shape == "path":
            blames.append(_path(metric, recheck, screened))
        elif recheck.shape == "partner" and not blames:
            blames.append(_pair(metric, recheck))
    return blames


def _node_or_port(metric: Metric, slow: Sequence[Recheck], every: Sequence[Recheck]) -> Blame:
    """Blame the node if both directions are slow, else the port."""
    worst = max(slow, key=lambda one: one.slowness)
    whole = len(slow) == 2 or metric == "hrt"
    return blame_of(
        Node(worst.node) if whole else Port(worst.node, worst.direction),
        metric,
        worst,
        stage="confirmed",
        nodes=[worst.node],
        evidence=[one.sentence(metric) for one in every],
    )


def _path(metric: Metric, recheck: Recheck, screened: Screened) -> Blame:
    """Blame the path behind the node's port: slow on one kind of path only."""
    kinds = sorted({partner.tier for partner in recheck.slow})
    leaf = int(screened.places.leaf[screened.samples.nodes.index(recheck.node)])
    switch = screened.places.leaves[leaf] if leaf >= 0 else recheck.node
    return blame_of(
        Link(switch, UNKNOWN_END),
        metric,
        recheck,
        direction=recheck.direction,
        stage="confirmed",
        nodes=[recheck.node],
        evidence=[
            f"{recheck.node} is slow {' and '.join(kinds)} only, and fast elsewhere",
            recheck.sentence(metric),
        ],
    )


def _pair(metric: Metric, recheck: Recheck) -> Blame:
    other = recheck.slow[0].name
    a, b = (other, recheck.node) if recheck.direction == "rx" else (recheck.node, other)
    return blame_of(
        pair_of(metric, a, b),
        metric,
        recheck,
        stage="confirmed",
        nodes=[a, b],
        evidence=[recheck.sentence(metric)],
    )


def _contention(
    metric: Metric, suspect: Suspect, rechecks: Sequence[Recheck], criteria: LocateCriteria
) -> list[Contention]:
    """Report contention if a suspect was certainly slow under load and is fast alone."""
    relevant = [recheck for recheck in rechecks if suspect.direction in ("", recheck.direction)]
    if (
        suspect.p > criteria.alpha
        or not relevant
        or any(recheck.shape != "fast" for recheck in relevant)
    ):
        return []
    worst = max(relevant, key=lambda recheck: recheck.slowness)
    about = suspect.about(metric)
    return [
        Contention(
            subject=str(about),
            about=about,
            loaded=value_of(metric, suspect.expected + suspect.slowness),
            alone=value_of(metric, worst.expected + worst.slowness),
            sentence=f"{about} was {compared(metric, suspect.slowness)} while others measured,"
            " and alone it is"
            f" {compared(metric, worst.slowness)} than expected: contention, not a fault",
        )
    ]


# --- pairs


def _conclude_pairs(screened: Screened, view: Alone, outcome: _Outcome) -> None:
    """Decide on the suspected pairs: to be blamed, most of a pair's samples must be slow again."""
    metric = screened.located.metric
    nodes = {name for pair in screened.pairs for name in pair.nodes}
    ends = {(end.node, end.direction): end for end in recheck_nodes(view, nodes)}
    for suspect, recheck in _rechecked_pairs(screened, view):
        if recheck is None:
            outcome.left += [suspect] if _matters(metric, suspect) else []
        elif recheck.shape != "all" or recheck.reached_early < _SAME * suspect.slowness:
            outcome.cleared.append(suspect.about(metric))
        elif not _is_of_a_port(recheck, outcome.blames):
            outcome.blames.append(_pair_or_end(metric, recheck, ends))


def _rechecked_pairs(screened: Screened, view: Alone) -> Iterator[tuple[Suspect, Recheck | None]]:
    """Yield each suspected pair with its recheck, or None if it was not measured again."""
    routes = [(item.nodes[0], item.nodes[1]) for item in screened.pairs]
    by_route = {(item.node, item.partners[0].name): item for item in recheck_pairs(view, routes)}
    for suspect, route in zip(screened.pairs, routes, strict=True):
        yield suspect, by_route.get(route)


def _is_of_a_port(pair: Recheck, blames: Sequence[Blame]) -> bool:
    """Return whether one of the pair's ports is blamed anyway."""
    ends = ((pair.node, "rx"), (pair.partners[0].name, "tx"))
    return any(
        is_of_node(blame, name) and blame.direction != innocent
        for blame in blames
        for name, innocent in ends
    )


def _pair_or_end(
    metric: Metric, recheck: Recheck, ends: Mapping[tuple[str, Direction], Recheck]
) -> Blame:
    """Blame the pair, unless one of its ends, which was fast with others in the screen, is now
    equally slow with them. ``ends``: rechecks of nodes by direction.
    """
    pair = _pair(metric, recheck)
    if metric != "goodput":
        return pair
    origin, target = recheck.node, recheck.partners[0].name
    known = [
        (end, other, slowness)
        for end, other in ((ends.get((origin, "tx")), target), (ends.get((target, "rx")), origin))
        if end
        and (slowness := [partner.slowness for partner in end.partners if partner.name != other])
    ]
    for end, other, slowness in known:
        if float(np.median(slowness)) >= _SAME * recheck.slowness:
            return _end_of_pair(metric, recheck, end, other)
    if len(known) == 2:
        return pair
    return msgspec.structs.replace(
        pair,
        confidence=min(_PASSING, pair.confidence),
        evidence=[*pair.evidence, _ENDS_UNKNOWN],
    )


def _end_of_pair(metric: Metric, pair: Recheck, end: Recheck, other: str) -> Blame:
    """Blame the port at ``end`` of a pair with ``other``, with the slowness of the pair."""
    return blame_of(
        Port(end.node, end.direction),
        metric,
        pair,
        stage="confirmed",
        nodes=[end.node],
        evidence=[
            end.sentence(metric),
            f"fast with other partners before, and now as slow with them as with {other}",
        ],
    )
