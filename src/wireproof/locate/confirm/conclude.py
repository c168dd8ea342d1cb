"""From suspects to culprits: the confirm stage's samples, taken alone against known-good
partners.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from wireproof.locate.blame import UNKNOWN_END, blame_of, pair_of
from wireproof.locate.confirm.alone import Alone, Finding, alone, look, look_at_pairs
from wireproof.locate.criteria import Criteria, as_log, as_slowdown
from wireproof.locate.routes.search import whole_leaves
from wireproof.locate.samples import Samples
from wireproof.locate.screen.suspects import Suspect, is_sure, screened_blame
from wireproof.locate.screen.sweep import Screened, least_found, path_blames
from wireproof.locate.slowness import check, value_of
from wireproof.locate.tiers import tiers_of
from wireproof.model.fabric import Fabric
from wireproof.model.located import Blame, Contention, Direction, Located, Metric
from wireproof.model.subject import Link, Node, Port, Subject, Switch

__all__ = ["conclude"]

_NOT_AGAIN = "not measured again alone: seen in the screen only"
_NOT_NOW = "alone, later, it is not slow all the time: it comes and goes, or other traffic passed through its port"
_PASSING = 0.8  # what is over was not measured alone while it lasted
# a direction with less than a quarter of the other's slowdown is not what is wrong
_WITH_THE_OTHER = 0.25
_LISTED = 8
_OTHER = {"tx": "rx", "rx": "tx"}
_WORTH_A_WORD = 0.3  # the tail of the noise seldom reaches that far
_ALIKE, _APART = 0.25, 0.02  # two slowdowns of one cause: relative, and what noise adds
# a pair whose one slow sample was chance has no such slowdown when it is measured again
_SAME = 0.5


def conclude(
    screened: Screened,
    confirm: Samples | None,
    fabric: Fabric | None = None,
    criteria: Criteria | None = None,
) -> Located:
    """Exact blame. Without ``confirm`` the screen's own conclusion stands, and nothing is called
    confirmed.

    A suspect is guilty when it is slow alone with known-good partners: both directions make the
    node guilty, one the port; slow on one kind of path only is the path's fault, with one partner
    only the pair's; fast alone clears it, and what was slow among others was contention. Samples
    between good nodes in ``confirm`` (controls) say what is expected now; without them the screen's
    values are. Raises ValueError when ``confirm`` is of another metric.
    """
    criteria = criteria or screened.criteria
    located = screened.located
    if confirm is None or len(confirm) == 0 or screened.effects is None:
        return _unconfirmed(
            located, [*screened.suspects, *(one for one in screened.pairs if _matters(one))]
        )
    if confirm.metric != located.metric:
        raise ValueError(
            f"the screen measured {located.metric} and the confirm stage {confirm.metric}"
        )
    check(confirm)
    view = _view(screened, confirm, criteria)
    outcome = _Outcome()
    _of_nodes(screened, view, criteria, outcome)
    _of_pairs(screened, view, outcome)
    blames = whole_leaves(_distinct(outcome.blames), screened.fabric, screened.samples.nodes)
    blames = _without_explained(screened, [*blames, *path_blames(screened, blames)])
    notes = (
        [*located.notes, f"{_some(located.metric, outcome.left)}: {_NOT_AGAIN}"]
        if outcome.left
        else located.notes
    )
    return msgspec.structs.replace(
        located,
        blames=_ordered(blames),
        cleared=[str(one) for one in outcome.cleared],
        acquitted=outcome.cleared,
        contention=outcome.contention,
        notes=notes,
        detectable=least_found(screened, again=True),
    )


@dataclasses.dataclass
class _Outcome:
    """``left``: suspects that were not measured again (in the direction that was slow)."""

    blames: list[Blame] = dataclasses.field(default_factory=list)
    cleared: list[Subject] = dataclasses.field(default_factory=list)
    contention: list[Contention] = dataclasses.field(default_factory=list)
    left: list[Suspect] = dataclasses.field(default_factory=list)


def _of_nodes(screened: Screened, view: Alone, criteria: Criteria, outcome: _Outcome) -> None:
    """What becomes of the suspected nodes and ports."""
    located = screened.located
    ways = {"tx", "rx"} if located.metric == "goodput" else {""}
    findings = look(view, {one.nodes[0] for one in screened.suspects})
    for suspect in screened.suspects:
        own = [one for one in findings if one.node == suspect.nodes[0]]
        guilty = _guilty(located.metric, own, screened)
        outcome.blames += [_when(one, suspect) for one in guilty]
        if guilty:
            continue
        if is_sure(suspect, criteria.alpha):
            outcome.blames.append(_passing(screened, suspect))
            continue
        if ({suspect.direction} if suspect.direction else ways) <= {one.direction for one in own}:
            outcome.cleared.append(suspect.about(located.metric))
            outcome.contention += _contention(located.metric, suspect, own, criteria)
        else:
            outcome.left.append(suspect)
            outcome.blames += [
                _again(one)
                for one in located.blames
                if suspect.nodes[0] in one.nodes and one.kind != "link"
            ]


def _when(blame: Blame, suspect: Suspect) -> Blame:
    """A culprit with the time in which it was slow, where it was not slow all the time."""
    if not suspect.moment or blame.kind not in ("node", "port"):
        return blame
    return msgspec.structs.replace(blame, evidence=[suspect.moment, *blame.evidence])


def _passing(screened: Screened, suspect: Suspect) -> Blame:
    """What was slow for a part of the time, and is not now: a fault that comes and goes, or
    somebody else's traffic.
    """
    blame = screened_blame(screened.samples, suspect)
    return msgspec.structs.replace(
        blame, confidence=min(_PASSING, blame.confidence), evidence=[suspect.moment, _NOT_NOW]
    )


def _of_pairs(screened: Screened, view: Alone, outcome: _Outcome) -> None:
    """What becomes of the suspected pairs: to be blamed they have to be slow again, in most of
    their samples.
    """
    metric = screened.located.metric
    ends = {
        (one.node, one.direction): one
        for one in look(view, {name for pair in _routes(screened) for name in pair})
    }
    for suspect, finding in _pairs(screened, view):
        if finding is None:
            outcome.left += [suspect] if _matters(suspect) else []
            continue
        least = _SAME * as_log(metric, suspect.slowdown)
        if finding.shape != "all" or min(finding.slowness, 2.0 * finding.partners[0].early) < least:
            outcome.cleared.append(suspect.about(metric))
        elif not _explained(finding, outcome.blames):
            outcome.blames.append(_pair_or_end(metric, finding, ends))


def _pair_or_end(
    metric: Metric, finding: Finding, ends: Mapping[tuple[str, Direction], Finding]
) -> Blame:
    """The pair, unless one of its ends is as slow with others now: it was fast with them in the
    screen, before.
    """
    a, b = finding.node, finding.partners[0].name
    told = 0
    both: tuple[tuple[str, Direction, str], ...] = ((a, "tx", b), (b, "rx", a))
    for node, way, other in both if metric == "goodput" else ():
        end = ends.get((node, way))
        others = [one.slowness for one in end.partners if one.name != other] if end else []
        told += bool(others)
        if end and others and float(np.median(others)) >= _SAME * finding.slowness:
            return blame_of(
                Port(node, way),
                metric,
                finding.estimate,
                stage="confirmed",
                nodes=[node],
                evidence=[
                    _sentence(metric, end),
                    f"fast with others before, now as slow with them as with {other}",
                ],
            )
    pair = _pair(metric, finding)
    if told == 2 or metric != "goodput":
        return pair
    evidence = [*pair.evidence, "whether its ends are slow with others now was not measured"]
    return msgspec.structs.replace(
        pair, confidence=min(_PASSING, pair.confidence), evidence=evidence
    )


def _view(screened: Screened, confirm: Samples, criteria: Criteria) -> Alone:
    """The confirm stage's samples with what is expected of them."""
    index = {name: number for number, name in enumerate(screened.samples.nodes)}
    place = np.asarray([index.get(name, -1) for name in confirm.nodes], dtype=np.int64)
    leaf = np.where(place >= 0, screened.places.leaf[place], -1).astype(np.int32)
    tier, tiers = tiers_of(confirm, dataclasses.replace(screened.places, leaf=leaf))
    kind = np.where(place >= 0, screened.kinds.kind[place], 0).astype(np.int32)
    assert screened.effects is not None  # noqa: S101 - conclude has looked
    return alone(
        confirm,
        _controls(screened, confirm),
        tier,
        tiers,
        np.maximum(kind[confirm.origin], kind[confirm.target]),
        screened.levels,
        screened.level_errors,
        screened.sharp,
        screened.effects.noise,
        screened.effects.spread,
        as_log(confirm.metric, criteria.practical(confirm.metric)),
        criteria.alpha,
        _unexplained(screened),
    )


def _unexplained(screened: Screened) -> NDArray[np.float64]:
    """Log slowness of the screen's samples beyond what is expected of them, sorted."""
    logs = np.log(screened.expected) - np.log(screened.samples.value)
    return np.sort(logs if screened.samples.metric == "goodput" else -logs)


def _controls(screened: Screened, confirm: Samples) -> NDArray[np.bool_]:
    """Samples between ports that the screen found good: they say what is expected now. The clean
    direction of a suspect counts, for it was as good as any.
    """
    good = {(name, way) for name in screened.good for way in ("tx", "rx")}
    good |= {(one.nodes[0], _OTHER[one.direction]) for one in screened.suspects if one.lone}
    routes = {frozenset(pair) for pair in _routes(screened)}
    found = [
        (confirm.nodes[a], "tx") in good
        and (confirm.nodes[b], "rx") in good
        and frozenset((confirm.nodes[a], confirm.nodes[b])) not in routes
        for a, b in zip(confirm.origin.tolist(), confirm.target.tolist(), strict=True)
    ]
    return np.asarray(found, dtype=np.bool_)


def _routes(screened: Screened) -> list[tuple[str, str]]:
    return [(one.nodes[0], one.nodes[1]) for one in screened.pairs]


def _pairs(screened: Screened, view: Alone) -> Iterator[tuple[Suspect, Finding | None]]:
    """Each suspected pair with what it measured alone, None when it did not."""
    found = {
        (one.node, one.partners[0].name): one for one in look_at_pairs(view, _routes(screened))
    }
    for suspect in screened.pairs:
        yield suspect, found.get((suspect.nodes[0], suspect.nodes[1]))


def _explained(finding: Finding, blames: Sequence[Blame]) -> bool:
    """Whether one of the pair's own ports is slow anyway."""
    ends = ((finding.node, "rx"), (finding.partners[0].name, "tx"))
    return any(
        _is_of(one, name) and one.direction != innocent for one in blames for name, innocent in ends
    )


def _is_of(blame: Blame, node: str) -> bool:
    """Whether a culprit is ``node`` or a port of it."""
    return isinstance(blame.about, Node | Port) and blame.subject == node


def _unconfirmed(located: Located, suspects: Sequence[Suspect]) -> Located:
    if not suspects:
        return located
    note = f"{_some(located.metric, suspects)}: {_NOT_AGAIN}"
    return msgspec.structs.replace(
        located, blames=[_again(one) for one in located.blames], notes=[*located.notes, note]
    )


def _matters(pair: Suspect) -> bool:
    """Whether a pair that was slow once is worth a word although nobody measured it again."""
    return pair.slowdown >= _WORTH_A_WORD


def _some(metric: Metric, suspects: Sequence[Suspect]) -> str:
    """Names of the first suspects, and how many there are beyond."""
    more = f" and {len(suspects) - _LISTED} more" if len(suspects) > _LISTED else ""
    return ", ".join(str(one.about(metric)) for one in suspects[:_LISTED]) + more


def _again(blame: Blame) -> Blame:
    return msgspec.structs.replace(blame, evidence=[*blame.evidence, _NOT_AGAIN])


def _guilty(metric: Metric, findings: Sequence[Finding], screened: Screened) -> list[Blame]:
    """The blames of one suspect's findings: its node, its port, a path, a pair."""
    slow = [one for one in findings if one.shape == "all"]
    most = max((one.slowness for one in slow), default=0.0)
    slow = [one for one in slow if one.slowness >= _WITH_THE_OTHER * most]
    found: list[Blame] = []
    for node in sorted({one.node for one in slow}):
        own = [one for one in slow if one.node == node]
        worst = max(own, key=lambda one: one.slowness)
        whole = len(own) == 2 or metric == "hrt"
        found.append(
            blame_of(
                Node(node) if whole else Port(node, worst.direction),
                metric,
                worst.estimate,
                stage="confirmed",
                nodes=[node],
                evidence=[_sentence(metric, one) for one in findings if one.node == node],
            )
        )
    for one in findings:
        if one.shape == "path":
            found.append(_path(metric, one, screened))
        elif one.shape == "partner" and not found:
            found.append(_pair(metric, one))
    return found


def _path(metric: Metric, one: Finding, screened: Screened) -> Blame:
    """Slow on one kind of path only: it lies behind the node's own port."""
    kinds = sorted({partner.tier for partner in one.slow})
    number = screened.samples.nodes.index(one.node)
    leaf = int(screened.places.leaf[number])
    switch = screened.places.leaves[leaf] if leaf >= 0 else one.node
    return blame_of(
        Link(switch, UNKNOWN_END),
        metric,
        one.estimate,
        direction=one.direction,
        stage="confirmed",
        nodes=[one.node],
        evidence=[
            f"{one.node} is slow {' and '.join(kinds)} only, and fast elsewhere",
            _sentence(metric, one),
        ],
    )


def _pair(metric: Metric, one: Finding) -> Blame:
    other = one.slow[0].name
    a, b = (other, one.node) if one.direction == "rx" else (one.node, other)
    return blame_of(
        pair_of(metric, a, b),
        metric,
        one.estimate,
        stage="confirmed",
        nodes=[a, b],
        evidence=[_sentence(metric, one)],
    )


def _sentence(metric: Metric, one: Finding) -> str:
    """Such as ``alone, tx: 20.1 % slower to n4, 19.8 % slower to n7``."""
    word = {"tx": "to", "rx": "from", "": "with"}[one.direction]
    parts = [
        f"{_percent(metric, partner.slowness)} {word} {partner.name}"
        for partner in one.partners[:6]
    ]
    return f"alone{', ' + one.direction if one.direction else ''}: {', '.join(parts)}"


def _percent(metric: Metric, slowness: float) -> str:
    share = 100.0 * as_slowdown(metric, slowness)
    return f"{abs(share):.1f} % {'slower' if share >= 0.0 else 'faster'}"


def _contention(
    metric: Metric, suspect: Suspect, findings: Sequence[Finding], criteria: Criteria
) -> list[Contention]:
    """A suspect that was slow beyond doubt among others, and is fast alone."""
    own = [one for one in findings if suspect.direction in ("", one.direction)]
    if suspect.p > criteria.alpha or not own or any(one.shape != "fast" for one in own):
        return []
    worst = max(own, key=lambda one: one.slowness)
    loaded = value_of(metric, suspect.expected + as_log(metric, suspect.slowdown))
    alone = value_of(metric, worst.expected + worst.slowness)
    subject = suspect.about(metric)
    sentence = (
        f"{subject} was {_percent(metric, as_log(metric, suspect.slowdown))} while others measured, and alone it is "
        f"{_percent(metric, worst.slowness)} than expected: contention, no fault of its own"
    )
    return [
        Contention(
            subject=str(subject), about=subject, loaded=loaded, alone=alone, sentence=sentence
        )
    ]


def _distinct(blames: Sequence[Blame]) -> list[Blame]:
    """One of each culprit; the nodes that a path slows are joined."""
    found: dict[tuple[Subject | None, str], Blame] = {}
    for one in blames:
        key = (one.about, one.direction)
        before = found.get(key)
        if before is None:
            found[key] = one
            continue
        nodes = list(dict.fromkeys([*before.nodes, *one.nodes]))
        better = max(before, one, key=lambda blame: (blame.stage == "confirmed", blame.confidence))
        evidence = list(dict.fromkeys([*before.evidence, *one.evidence]))
        found[key] = msgspec.structs.replace(better, nodes=nodes, evidence=evidence)
    return list(found.values())


def _without_explained(screened: Screened, blames: Sequence[Blame]) -> list[Blame]:
    """``blames`` without pairs that a blamed leaf or one of its links explains."""
    number = {name: index for index, name in enumerate(screened.samples.nodes)}
    named = {name for one in blames for name in _switches(one)}

    def explained(one: Blame) -> bool:
        leaves = {
            int(screened.places.leaf[number[name]]) for name in one.nodes if name in number
        } - {-1}
        return len(leaves) > 1 and any(screened.places.leaves[leaf] in named for leaf in leaves)

    leaves = screened.places.leaves
    named_leaves = [_with_path(one, blames, leaves) if _is_named(one) else one for one in blames]
    return [
        one
        for one in named_leaves
        if not (one.kind == "pair" and (explained(one) or _is_of_an_end(one, blames)))
        and not (_is_unnamed(one) and any(_covers(other, one, leaves) for other in blames))
    ]


def _switches(blame: Blame) -> tuple[str, ...]:
    """The switches that a link or switch names."""
    match blame.about:
        case Link(near=near, far=far):
            return near, far
        case Switch(name=name):
            return (name,)
    return ()


def _is_of_an_end(pair: Blame, blames: Sequence[Blame]) -> bool:
    """Whether a pair is slow because one of its ends is, by its own port's blame, at least about as
    slow.
    """
    ways = ("tx", "rx") if pair.metric == "goodput" else ("", "")
    return any(
        _is_of(one, name)
        and one.direction in ("", way)
        and pair.slowdown <= one.slowdown * (1.0 + _ALIKE) + _APART
        for one in blames
        for name, way in zip(pair.nodes, ways, strict=False)
    )


def _with_path(named: Blame, blames: Sequence[Blame], leaves: Sequence[str]) -> Blame:
    """A link or switch of the screen, confirmed by the paths through it that were slow alone
    too.
    """
    paths = [
        one
        for one in blames
        if _is_unnamed(one) and _covers(named, one, leaves) and one.stage == "confirmed"
    ]
    if not paths:
        return named
    evidence = list(
        dict.fromkeys([*named.evidence, *(line for one in paths for line in one.evidence)])
    )
    confidence = max(named.confidence, *(one.confidence for one in paths))
    return msgspec.structs.replace(
        named, stage="confirmed", evidence=evidence, confidence=confidence
    )


def _is_named(blame: Blame) -> bool:
    return isinstance(blame.about, Link | Switch) and not _is_unnamed(blame)


def _is_unnamed(blame: Blame) -> bool:
    return isinstance(blame.about, Link) and blame.about.far == UNKNOWN_END


def _covers(named: Blame, path: Blame, leaves: Sequence[str]) -> bool:
    """Whether a link or switch that is named explains a path that could not be named. One above the
    leaves explains what is about as slow on any leaf.
    """
    if not _is_named(named) or not isinstance(path.about, Link):
        return False
    alike = named.direction in ("", path.direction)
    near, *others = _switches(named)
    if not others and near not in leaves:
        return alike and abs(named.slowdown - path.slowdown) <= _ALIKE * named.slowdown + _APART
    leaf = path.about.near
    # What leaves the near end reaches the far one.
    return (leaf == near and alike) or (
        leaf in others and named.direction in ("", _OTHER.get(path.direction, ""))
    )


def _ordered(blames: Sequence[Blame]) -> list[Blame]:
    """Confirmed first, then the slowest."""
    return sorted(
        _distinct(blames), key=lambda one: (one.stage != "confirmed", -one.slowdown, one.subject)
    )
