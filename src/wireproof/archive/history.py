"""Query a history: its results, changes over time, the time at which each node was proven, and the
results that can be pruned.
"""

import math
import shutil
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import NormalDist, fmean, stdev
from typing import TYPE_CHECKING

from wireproof.files.held import held_folder, within
from wireproof.model import gathered
from wireproof.model.errors import BadInput, suggestion
from wireproof.model.finding import Verdict
from wireproof.model.history import (
    FEWEST,
    GOOD,
    PRACTICAL,
    Claimed,
    Entry,
    NodeAge,
    Number,
    NumberChange,
    Regression,
    Trend,
)
from wireproof.model.run import seconds_of
from wireproof.options.hosts import parse_hosts
from wireproof.store.history import INDEX, LOG, RESULTS, entries, last_turn, remove_entries
from wireproof.store.result import read_result

if TYPE_CHECKING:
    from wireproof.stats.fit import ChangePoint

_GOOD = 5  # good results of each fingerprint that are never pruned
_LAST = 20
_SKEW_S = 300.0  # difference between the clocks of a cluster
_ALPHA = 0.01
_FLOOR = 0.005  # results vary by at least 0.5 %, even if a few agree by chance
_NEAR = 2  # results around a change that are searched for changed conditions


_Over = tuple[str, str, str]  # node, NICs, link


def found(root: Path, hosts: str = "") -> list[Entry]:
    """Return the entries, oldest first; with ``hosts`` only those in which at least one of these
    hosts took part.
    """
    wanted = set(parse_hosts(hosts)) if hosts else set()
    return [
        entry
        for entry in entries(root)
        if not wanted or wanted & set(entry.imported.hosts if entry.imported else entry.nodes)
    ]


def entry_called(root: Path, name: str) -> Entry:
    """Return a result by its name in the history.

    ``last`` is the newest result, or the newest log if there is no result. Raises ``BadInput`` for
    an unknown name.
    """
    known = {entry.id: entry for entry in entries(root)}
    if name == "last" and known:
        return max(
            known.values(), key=lambda entry: (entry.imported is None, entry.measured, entry.id)
        )
    if name not in known:
        hint = suggestion(name, known, "`wireproof history list` lists them.")
        raise BadInput(f"the history {root} has no result {name[:60]!r}; {hint}")
    return known[name]


_Series = tuple[str, str, int, int]
"""Fingerprint, name, size and window, which identify a series over time."""


_Row = tuple[Entry, Number | Claimed]


def _series(known: Sequence[Entry]) -> dict[_Series, list[_Row]]:
    return gathered(
        ((entry.fingerprint, number.name, number.message_bytes, number.window), (entry, number))
        for entry in known
        for number in (entry.imported.numbers if entry.imported else entry.numbers)
    )


def trends(known: Sequence[Entry], name: str = "", size: int | None = None) -> list[Trend]:
    """Return each number of each fingerprint over time, with its changes; ``name`` and ``size``
    restrict the series.

    A series without a change shows a false change with probability ``_ALPHA``.
    """
    return [
        _trend(rows)
        for (_, called, of, _), rows in sorted(_series(known).items())
        if (not name or called == name) and size in (None, of)
    ]


def _trend(rows: Sequence[_Row]) -> Trend:
    from wireproof.stats.fit import change_points

    newest, number = rows[-1]
    logs = [_performance(row) for _, row in rows]
    points = change_points(logs, alpha=_ALPHA, floor=_FLOOR)
    edges = [0, *[point.index for point in points], len(rows)]
    return Trend(
        name=number.name,
        message_bytes=number.message_bytes,
        unit=number.unit,
        fingerprint=newest.fingerprint,
        hosts=newest.hosts,
        ids=[entry.id for entry, _ in rows],
        measured=[entry.measured for entry, _ in rows],
        values=[row.value for _, row in rows],
        low=[row.low for _, row in rows if isinstance(row, Number)],
        high=[row.high for _, row in rows if isinstance(row, Number)],
        imported=newest.imported is not None,
        changes=[
            _change(rows, logs, point, (edges[at], edges[at + 2]))
            for at, point in enumerate(points)
        ],
    )


def _performance(number: Number | Claimed) -> float:
    """Return the logarithm of the number, negated for a time, so that more is better."""
    return -math.log(number.value) if number.unit == "ns" else math.log(number.value)


def _change(
    rows: Sequence[_Row],
    logs: Sequence[float],
    point: "ChangePoint",
    within: tuple[int, int],
) -> NumberChange:
    before, after = rows[point.index - 1][0], rows[point.index][0]
    ratio = fmean(logs[point.index : within[1]]) - fmean(logs[within[0] : point.index])
    return NumberChange(
        since=after.id,
        measured=after.measured,
        ratio=math.exp(ratio),
        p=point.p,
        few=point.few,
        nodes=_fallen(before, after),
        changed=_changed([entry for entry, _ in rows], point.index, within),
    )


def _fallen(before: Entry, after: Entry) -> list[str]:
    """Return the nodes that passed before and fail after, otherwise those that no longer pass."""
    fallen = {
        node: verdict
        for node, verdict in after.nodes.items()
        if verdict != "pass" and before.nodes.get(node) == "pass"
    }
    failing = [node for node, verdict in fallen.items() if verdict == "fail"]
    return failing or list(fallen)


def _changed(series: Sequence[Entry], at: int, within: tuple[int, int]) -> list[str]:
    """Return the conditions that differ across the change, if both results contain them, and those
    that changed up to two results away, each with the first result that has the new value: the
    position of a change is known only to within two results.
    """
    here, near = [], []
    first, last = max(within[0], at - 1 - _NEAR), min(within[1] - 1, at + _NEAR)
    for before, after in pairwise(series[first : last + 1]):
        if after is series[at]:
            here += _differing(before, after)
        else:
            near += [f"{text} (since {after.id})" for text in _differing(before, after)]
    return here + sorted(near)


def _differing(before: Entry, after: Entry) -> list[str]:
    one, other = before.conditions, after.conditions
    names = sorted(name for name in one.keys() & other.keys() if one[name] != other[name])
    return [f"{name}: {one[name]} -> {other[name]}" for name in names]


def newest_of(known: Sequence[Entry]) -> Entry | None:
    """Return the newest measured result that is not dated in the future, or None.

    Otherwise a result of a host whose clock is ahead would hide all later results.
    """
    measured = (entry for entry in reversed(known) if entry.imported is None)
    return next((entry for entry in measured if age_of(entry.measured) is not None), None)


def regressions(known: Sequence[Entry]) -> list[Regression]:
    """Compare the newest result with the last good results of its fingerprint.

    A number is worse if it lies below the prediction interval for one more good result, and by more
    than the practical threshold. The joint coverage of the intervals of all numbers is 95 %. Return
    nothing if there are fewer than ``GOOD`` good results.
    """
    newest = newest_of(known)
    if newest is None:
        return []
    before = _series(good_before(known))
    rows = []
    for number in newest.numbers:
        key = (newest.fingerprint, number.name, number.message_bytes, number.window)
        past = before.get(key, [])
        if len(past) >= GOOD:
            rows.append((number, [_performance(good) for _, good in past]))
    z = NormalDist().inv_cdf(1.0 - 0.025 / max(1, len(rows)))
    return [_regression(number, past, z) for number, past in rows]


def standing(
    known: Sequence[Entry], found: Sequence[Trend], worse: Sequence[Regression]
) -> Verdict:
    """Return the verdict on the newest result.

    ``fail``: it is worse than the good results before it; if these are too few, it does not pass
    and a number is worse since its last change. ``inconclusive``: there is nothing to compare it
    with, or a number fell before those results and has stayed low.
    """
    newest = newest_of(known)
    if newest is None:
        return "pass" if any(len(trend.values) >= 2 * FEWEST for trend in found) else "inconclusive"
    last = [trend.changes[-1] for trend in found if newest.id in trend.ids and trend.changes]
    fallen = min((change.ratio for change in last), default=1.0) < 1.0 / (1.0 + PRACTICAL)
    if not worse:
        return "fail" if fallen and newest.verdict != "pass" else "inconclusive"
    return "fail" if any(row.worse for row in worse) else "inconclusive" if fallen else "pass"


def since_good(known: Sequence[Entry]) -> tuple[str, list[str]]:
    """Return the last good result before the newest, and the conditions that differ between the
    two.
    """
    newest, good = newest_of(known), good_before(known)
    return (good[-1].id, _differing(good[-1], newest)) if newest and good else ("", [])


def good_before(known: Sequence[Entry]) -> list[Entry]:
    """Return the last good results that the newest can be compared with, oldest first."""
    newest = newest_of(known)
    return [
        entry
        for entry in (known[: known.index(newest)] if newest else ())
        if newest and entry.fingerprint == newest.fingerprint
        if entry.verdict == "pass" and entry.imported is None
    ][-_LAST:]


def _regression(number: Number, past: Sequence[float], z: float) -> Regression:
    """Compare a number with Student's prediction interval for one more value."""
    from wireproof.locate.significance import as_student

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
    """Return the time at which each node last passed, longest ago first.

    ``hosts`` restricts the nodes and adds those without a result. ``by_link`` separates each NIC
    and link, because a proof over one link is not a proof of another.
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
        [*never, *last.values()], key=lambda age: (age.measured, age.node, age.nic, age.link)
    )


def _aged(entry: Entry, over: _Over, verdict: Verdict, last: Mapping[_Over, NodeAge]) -> NodeAge:
    """Return the node's age after ``entry``; a result that does not pass keeps the date of the last
    pass.
    """
    proven = verdict == "pass" and age_of(entry.measured) is not None
    when = entry.measured if proven else last[over].measured if over in last else ""
    node, nic, link = over
    return NodeAge(
        node=node, verdict=verdict, measured=when, age_s=age_of(when), nic=nic, link=link
    )


def age_of(measured: str) -> float | None:
    """Return the seconds since a date; None without a date, or for a date in the future, which
    proves nothing.
    """
    when = seconds_of(measured)
    age_s = time.time() - when if when is not None else -math.inf
    return max(age_s, 0.0) if age_s >= -_SKEW_S else None


def dated_ahead(known: Sequence[Entry]) -> list[str]:
    """Return the results with a date in the future."""
    dated = [entry for entry in known if seconds_of(entry.measured) is not None]
    return [entry.id for entry in dated if age_of(entry.measured) is None]


def least_proven(root: Path, hosts: Sequence[str], count: int) -> tuple[str, ...]:
    """Return the ``count`` hosts of ``hosts`` that were proven longest ago or never, in the order
    of ``hosts``. A host that did not pass is chosen only after the others, so that nodes that are
    down do not block the rest. Without a history, no host counts as proven.
    """
    known = entries(root) if (root / INDEX).is_dir() else []
    tried = {
        node: entry.measured
        for entry in known
        if age_of(entry.measured) is not None
        for node in entry.nodes
    }
    for node in hosts:
        turn = last_turn(root, node)
        if age_of(turn) is not None:
            tried[node] = max(tried.get(node, ""), turn)
    proven = {age.node: age.measured for age in ages(known, hosts)}
    turns = sorted(hosts, key=lambda node: (tried.get(node, ""), proven[node]))
    chosen = set(turns[:count])
    return tuple(name for name in hosts if name in chosen)


def prunable(known: Sequence[Entry], *, days: float, now: float, logs: bool = False) -> list[Entry]:
    """Return results older than ``days``, except those that a comparison needs: the last good
    results of each fingerprint, and the last pass of each node. Logs are included only if ``logs``
    is set, because they may already be old when they are added.
    """
    if not logs:
        known = [entry for entry in known if entry.imported is None]
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
    return [
        entry for entry in known if entry.id not in needed and (now - _when(entry)) > days * 86400
    ]


def _when(entry: Entry) -> float:
    when = seconds_of(entry.measured)
    return math.inf if when is None else when  # a result without a date is never too old


def prune(root: Path, chosen: Sequence[Entry]) -> list[str]:
    """Remove the folders of these results, if wireproof created them, then remove the results from
    the index. Return a sentence for each folder that was not removed. A result whose folder could
    not be removed stays in the index.
    """
    stay, forget = [], []
    for entry in chosen:
        folder = root / RESULTS / entry.id
        try:
            if folder.parent.exists() and not _removed(folder, entry):
                stay.append(f"{folder} was not removed: it is not the folder of a result")
            forget.append(entry.id)
        except OSError as error:
            stay.append(f"{folder} stays: {error.strerror}")
        except BadInput as error:
            stay.append(f"{folder} stays: {error}")
    if forget:
        remove_entries(root, forget)
    return stay


def _removed(folder: Path, entry: Entry) -> bool:
    """Remove the folder of a result if it exists; return False, and remove nothing, if it is not a
    result. The parent folder is held open, because its owner could otherwise replace the folder
    after the inspection.
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
    """Return whether the folder contains a stored result, or only an imported log."""
    if entry.imported is not None:
        return [path.name for path in folder.iterdir()] == [LOG]
    return read_result(folder) is not None
