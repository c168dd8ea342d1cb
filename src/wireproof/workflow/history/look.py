"""Asks a history: what is in it, has something changed, who was proven when, what can go."""

import math
import shutil
import time
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from statistics import NormalDist, fmean, stdev

from wireproof.analysis.change_points import FEWEST, ChangePoint, change_points
from wireproof.files.held import held_folder, within
from wireproof.locate.significance import as_student
from wireproof.model.errors import BadInput
from wireproof.model.finding import Verdict
from wireproof.model.gate import seconds_of
from wireproof.model.history import (
    GOOD,
    Claimed,
    Entry,
    NodeAge,
    Number,
    NumberChange,
    Regression,
    Trend,
)
from wireproof.settings.hosts import parse_hosts
from wireproof.store.history import INDEX, LOG, RESULTS, entries, remove_entries
from wireproof.store.result import read_result
from wireproof.store.turns import last_turn
from wireproof.verdict.comparison import PRACTICAL

_GOOD = 5
"""Good results of each fingerprint that are never pruned."""
_LAST = 20
_SKEW_S = 300.0
"""Clocks of one cluster differ by less."""
_ALPHA = 0.01
_FLOOR = 0.005
"""Results vary by half a per cent at least, though few may agree by chance."""
_NEAR = 2
"""Results beside a change that are looked at for what has changed."""


_Over = tuple[str, str, str]
"""Node, NICs, link."""


def found(root: Path, hosts: str = "") -> list[Entry]:
    """The entries, oldest first; with ``hosts``: those in which one of these took part."""
    wanted = set(parse_hosts(hosts)) if hosts else set()
    return [one for one in entries(root) if not wanted or wanted & _hosts(one)]


def _hosts(entry: Entry) -> set[str]:
    return set(entry.imported.hosts if entry.imported else entry.nodes)


def folder_of(root: Path, name: str) -> Path:
    """The folder of a result by its name in the history."""
    return root / RESULTS / entry_called(root, name).id


def entry_called(root: Path, name: str) -> Entry:
    """A result by its name in the history; ``last``: the newest, and of logs only where there is
    nothing else. Raises ``BadInput`` for a name that there is not.
    """
    known = {one.id: one for one in entries(root)}
    if name == "last" and known:
        return max(known.values(), key=lambda one: (one.imported is None, one.measured, one.id))
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else "`wireproof history list` names them."
        raise BadInput(f"the history {root} has no result {name[:60]!r}; {hint}")
    return known[name]


_Series = tuple[str, str, int, int]
"""Fingerprint, name, size and window: what one series over time is of."""


_Row = tuple[Entry, Number | Claimed]


def _series(known: Sequence[Entry]) -> dict[_Series, list[_Row]]:
    series: dict[_Series, list[_Row]] = {}
    for entry in known:
        for number in entry.imported.numbers if entry.imported else entry.numbers:
            key = (entry.fingerprint, number.name, number.message_bytes, number.window)
            series.setdefault(key, []).append((entry, number))
    return series


def trends(known: Sequence[Entry], name: str = "", size: int | None = None) -> list[Trend]:
    """Each number of each fingerprint over time, with its changes. ``name``, ``size``: only these.

    A series that has not changed shows one in ``100 * _ALPHA`` of 100 cases.
    """
    return [
        _trend(rows)
        for (_, called, of, _), rows in sorted(_series(known).items())
        if (not name or called == name) and size in (None, of)
    ]


def _trend(rows: Sequence[_Row]) -> Trend:
    newest, number = rows[-1]
    logs = [_performance(one) for _, one in rows]
    points = change_points(logs, alpha=_ALPHA, floor=_FLOOR)
    edges = [0, *[one.index for one in points], len(rows)]
    return Trend(
        name=number.name,
        message_bytes=number.message_bytes,
        unit=number.unit,
        fingerprint=newest.fingerprint,
        hosts=newest.hosts,
        ids=[entry.id for entry, _ in rows],
        measured=[entry.measured for entry, _ in rows],
        values=[one.value for _, one in rows],
        low=[one.low for _, one in rows if isinstance(one, Number)],
        high=[one.high for _, one in rows if isinstance(one, Number)],
        imported=newest.imported is not None,
        changes=[
            _change(rows, logs, point, (edges[at], edges[at + 2]))
            for at, point in enumerate(points)
        ],
    )


def _performance(one: Number | Claimed) -> float:
    """The log of what is better when it is more."""
    return -math.log(one.value) if one.unit == "ns" else math.log(one.value)


def _change(
    rows: Sequence[_Row],
    logs: Sequence[float],
    point: ChangePoint,
    within: tuple[int, int],
) -> NumberChange:
    after = rows[point.index][0]
    ratio = fmean(logs[point.index : within[1]]) - fmean(logs[within[0] : point.index])
    return NumberChange(
        since=after.id,
        measured=after.measured,
        ratio=math.exp(ratio),
        p=point.p,
        few=point.few,
        nodes=_fallen(rows[point.index - 1][0], after),
        changed=_changed([entry for entry, _ in rows], point.index, within),
    )


def _fallen(before: Entry, after: Entry) -> list[str]:
    """Nodes that passed before and do not pass after."""
    return [
        node
        for node, verdict in after.nodes.items()
        if verdict != "pass" and before.nodes.get(node) == "pass"
    ]


def _changed(found: Sequence[Entry], at: int, within: tuple[int, int]) -> list[str]:
    """Conditions that differ, of those that both results know; of results near the change those
    too, with the result since which: where a series changes is known to a result or two.
    """
    here, near = [], []
    first, last = max(within[0], at - 1 - _NEAR), min(within[1] - 1, at + _NEAR)
    for before, after in pairwise(found[first : last + 1]):
        for name in before.conditions.keys() & after.conditions.keys():
            one, other = before.conditions[name], after.conditions[name]
            if one != other and after is found[at]:
                here.append(f"{name}: {one} -> {other}")
            elif one != other:
                near.append(f"{name}: {one} -> {other} (since {after.id})")
    return sorted(here) + sorted(near)


def newest_of(known: Sequence[Entry]) -> Entry | None:
    """The last one that was measured, and is not from the future: a host's clock that is ahead
    would hide all that come after it. None without any.
    """
    measured = (one for one in reversed(known) if one.imported is None)
    return next((one for one in measured if age_of(one.measured) is not None), None)


def regressions(known: Sequence[Entry]) -> list[Regression]:
    """The newest result against the last good ones of its fingerprint: worse is what lies below the
    interval of one more good result, and by more than the practical threshold. The intervals of all
    numbers together hold 95 %. None with fewer than ``GOOD`` good ones.
    """
    newest = newest_of(known)
    if newest is None:
        return []
    before = _series(_good_before(known, newest))
    rows = []
    for number in newest.numbers:
        key = (newest.fingerprint, number.name, number.message_bytes, number.window)
        past = before.get(key, [])
        if len(past) >= GOOD:
            rows.append((number, [_performance(one) for _, one in past]))
    z = NormalDist().inv_cdf(1.0 - 0.025 / max(1, len(rows)))
    return [_regression(number, past, z) for number, past in rows]


def standing(
    known: Sequence[Entry], found: Sequence[Trend], worse: Sequence[Regression]
) -> Verdict:
    """``fail``: the newest result is worse than good ones before it, or, where these are too few,
    does not pass in a stretch that is worse than the one before; ``inconclusive``: it was held
    against nothing.
    """
    newest = newest_of(known)
    if worse:
        return "fail" if any(one.worse for one in worse) else "pass"
    if newest is None:
        return "pass" if any(len(one.values) >= 2 * FEWEST for one in found) else "inconclusive"
    last = [one.changes[-1] for one in found if newest.id in one.ids and one.changes]
    worst = min((one.ratio for one in last), default=1.0)
    fallen = newest.verdict != "pass" and worst < 1.0 / (1.0 + PRACTICAL)
    return "fail" if fallen else "inconclusive"


def good_results(known: Sequence[Entry]) -> int:
    """How many good results the newest can be held against."""
    newest = newest_of(known)
    return len(_good_before(known, newest)) if newest is not None else 0


def _good_before(known: Sequence[Entry], newest: Entry) -> list[Entry]:
    return [
        one
        for one in known[: known.index(newest)]
        if one.fingerprint == newest.fingerprint and one.verdict == "pass" and one.imported is None
    ][-_LAST:]


def _regression(number: Number, past: Sequence[float], z: float) -> Regression:
    """The prediction interval of one more value, Student's."""
    count, middle = len(past), fmean(past)
    half = as_student(z, count - 1) * stdev(past) * math.sqrt(1 + 1 / count)
    ratio = math.exp(_performance(number) - middle)
    return Regression(
        name=number.name,
        message_bytes=number.message_bytes,
        ratio=ratio,
        low=math.exp(-half),
        high=math.exp(half),
        results=count,
        worse=ratio < min(math.exp(-half), 1 / (1 + PRACTICAL)),
    )


def ages(
    known: Sequence[Entry], hosts: Sequence[str] = (), *, by_link: bool = False
) -> list[NodeAge]:
    """When each node last passed, the longest ago first; ``hosts``: of these, also of those that no
    result has. ``by_link``: over each NIC and link by itself, because a proof over one of them is
    none of another.
    """
    last: dict[_Over, NodeAge] = {}
    wanted = set(hosts)
    for entry in known:
        over = (entry.conditions.get("NIC", ""), entry.link) if by_link else ("", "")
        for node, verdict in entry.nodes.items():
            if not wanted or node in wanted:
                last[node, *over] = _aged(entry, (node, *over), verdict, last)
    seen = {node for node, _, _ in last}
    never = [NodeAge(node=name, verdict="inconclusive") for name in hosts if name not in seen]
    return sorted(
        [*never, *last.values()], key=lambda one: (one.measured, one.node, one.nic, one.link)
    )


def _aged(entry: Entry, over: _Over, verdict: Verdict, last: Mapping[_Over, NodeAge]) -> NodeAge:
    """With what ``entry`` says; one that does not pass leaves the date of the last that did."""
    proven = verdict == "pass" and age_of(entry.measured) is not None
    when = entry.measured if proven else last[over].measured if over in last else ""
    node, nic, link = over
    return NodeAge(
        node=node, verdict=verdict, measured=when, age_s=age_of(when), nic=nic, link=link
    )


def age_of(measured: str) -> float | None:
    """Seconds since then; None for what has no date, or one from the future, which proves nothing
    of now.
    """
    when = seconds_of(measured)
    age_s = time.time() - when if when is not None else -math.inf
    return max(age_s, 0.0) if age_s >= -_SKEW_S else None


def least_proven(root: Path, hosts: Sequence[str], count: int) -> tuple[str, ...]:
    """The ``count`` of ``hosts`` that were proven longest ago, or never, in the order of ``hosts``.
    One that did not pass waits until the others had their turn, so that nodes that are down block
    nobody. A history that is not there yet proves none.
    """
    known = entries(root) if (root / INDEX).is_dir() else []
    tried = {
        node: one.measured
        for one in known
        if age_of(one.measured) is not None
        for node in one.nodes
    }
    for node in hosts:
        turn = last_turn(root, node)
        if age_of(turn) is not None:
            tried[node] = max(tried.get(node, ""), turn)
    proven = {one.node: one.measured for one in ages(known, hosts)}
    turns = sorted(hosts, key=lambda node: (tried.get(node, ""), proven[node]))
    chosen = set(turns[:count])
    return tuple(name for name in hosts if name in chosen)


def prunable(known: Sequence[Entry], *, days: float, now: float, logs: bool = False) -> list[Entry]:
    """Results older than ``days``, but for those that a comparison needs: the last good ones of
    each fingerprint, and the last pass of each node. Logs, which are old when they come, stay
    unless ``logs`` asks for them too.
    """
    if not logs:
        known = [one for one in known if one.imported is None]
    needed: set[str] = set()
    good: dict[str, int] = {}
    proven: set[str] = set()
    for entry in reversed(known):
        passing = {node for node, verdict in entry.nodes.items() if verdict == "pass"}
        passes = entry.verdict == "pass" and entry.imported is None
        if passes and good.get(entry.fingerprint, 0) < _GOOD:
            good[entry.fingerprint] = good.get(entry.fingerprint, 0) + 1
            needed.add(entry.id)
        if passing - proven:
            proven |= passing
            needed.add(entry.id)
    return [one for one in known if one.id not in needed and (now - _when(one)) > days * 86400]


def _when(entry: Entry) -> float:
    when = seconds_of(entry.measured)
    return math.inf if when is None else when  # what has no date is not too old


def prune(root: Path, chosen: Sequence[Entry]) -> list[str]:
    """Remove the folders of these results, where a result of ours has made them, and then forget
    the results; a sentence for each folder that stays. A result whose folder could not be removed
    is not forgotten.
    """
    stay, forget = [], []
    for one in chosen:
        folder = root / RESULTS / one.id
        try:
            if folder.parent.exists() and not _removed(folder, one):
                stay.append(f"{folder} stays: it is no folder of a result")
            forget.append(one.id)
        except OSError as error:
            stay.append(f"{folder} stays: {error.strerror}")
        except BadInput as error:
            stay.append(f"{folder} stays: {error}")
    if forget:
        remove_entries(root, forget)
    return stay


def _removed(folder: Path, entry: Entry) -> bool:
    """Remove the folder of a result if there is one; False, and nothing removed, for what is none.
    What is looked at is what goes: whoever owns the folder above could exchange it in between.
    """
    with held_folder(folder.parent) as results:
        held = folder if results is None else Path(f"/proc/self/fd/{results}") / folder.name
        try:
            if held.is_symlink() or (held.exists() and not _is_ours(held, entry)):
                return False
            if held.exists():
                shutil.rmtree(within(results, folder), dir_fd=results)
        except BadInput as error:
            raise BadInput(str(error).replace(str(held), str(folder))) from error
    return True


def _is_ours(folder: Path, entry: Entry) -> bool:
    """Whether the folder holds what we have put there: a result, or one log and nothing else."""
    if entry.imported is not None:
        return [one.name for one in folder.iterdir()] == [LOG]
    return read_result(folder) is not None
