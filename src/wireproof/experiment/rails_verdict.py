# pure
"""Judge whether several rails carry more than a single rail, and as much as the sum of the single
rails. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from wireproof.experiment.effects import busy, over_rounds
from wireproof.model import quantity
from wireproof.model.claim import Criteria
from wireproof.model.experiment import GainRow, Interval, RailNumber
from wireproof.model.finding import Finding, Route, Verdict, verdict_of, worst
from wireproof.model.quantity import goodput
from wireproof.stats import Floats
from wireproof.verdict.issue import Issue, merge

_ADDS = 1.1  # multiple of one rail's rate: a smaller gain is not worth a second rail
_DOUBLES = 1.5  # multiple of one rail's rate: a single message this fast used several rails
_EVEN = (
    0.07  # relative difference: a value this close to n times the slowest rail means equal shares
)


@dataclass(frozen=True)
class GainJudgement:
    verdict: Verdict
    answer: str
    findings: list[Finding]


def judge_gain(rows: Sequence[GainRow], criteria: Criteria | None = None) -> GainJudgement:
    """Return the verdict, the answer in one sentence and the findings.

    Only the largest messages that the rails should share decide; without them the verdict is
    inconclusive.
    """
    criteria = criteria or Criteria()
    deciding = _deciding(rows)
    # a rail is blamed only for bytes that certainly crossed it, on hosts that kept up with it
    issues = [issue for row in deciding if not _doubt(row) for issue in _issues(row, criteria)]
    verdicts: list[Verdict] = [_verdict(row, criteria) for row in deciding]
    findings = merge(issues)
    verdict = worst([*verdicts, verdict_of(one.severity for one in findings)])
    return GainJudgement(verdict if deciding else "inconclusive", _answer(rows, deciding), findings)


def _deciding(rows: Sequence[GainRow]) -> list[GainRow]:
    """Return for each direction the row with the largest messages that the rails should share."""
    found: dict[tuple[str, str, str], GainRow] = {}
    for row in rows:
        key = row.pattern, row.origin, row.target
        if row.expected and (key not in found or row.message_bytes > found[key].message_bytes):
            found[key] = row
    return list(found.values())


def _doubt(row: GainRow) -> str:
    """Return why the row decides nothing, or "": a path is not proven, or the hosts were busy."""
    if {one.proof for one in (*row.alone, row.together)} != {"on-wire"}:
        return "Not all paths are proven"
    waited = [one.waited for one in row.alone if one.waited is not None]
    why = busy(max(waited, default=None), row.together.waited)
    return f"Nothing is decided: {why}" if why else ""


def _verdict(row: GainRow, criteria: Criteria) -> Verdict:
    if _doubt(row):
        return "inconclusive"
    return "pass" if row.of_sum.least >= criteria.min_efficiency else "inconclusive"


def _issues(row: GainRow, criteria: Criteria) -> list[Issue]:
    route = Route(row.origin, row.target)
    where = f"{row.origin} -> {row.target}, {row.pattern} of {quantity.size(row.message_bytes)}"
    slow = _slow_rail(row, criteria)
    found = [_as_issue("slow-rail", route, f"{where}: {slow[1]}", row, slow[0])] if slow else []
    if row.gain.most < _ADDS:
        text = (
            f"{where}: all rails together carry {_times(row.gain)} the goodput of "
            f"{_best(row).rail} alone"
        )
        found.append(_as_issue("no-rail-gain", route, text + _even(row), row))
    elif row.of_sum.most < criteria.min_efficiency:
        text = (
            f"{where}: all rails together carry {goodput(row.together.goodput.value)},"
            " "
            f"{_percent(row.of_sum)} of the {goodput(_sum(row))} that they carry alone in total"
        )
        found.append(_as_issue("rails-below-sum", route, text + _even(row), row))
    return found


def _as_issue(code: str, route: Route, text: str, row: GainRow, rail: str = "") -> Issue:
    return Issue(
        code,
        "fail",
        route,
        text,
        {
            "gain": row.gain.value,
            "of_sum": row.of_sum.value,
            "together_bytes_per_s": row.together.goodput.value,
            "alone": [f"{one.rail}: {goodput(one.goodput.value)}" for one in row.alone],
            **({"rail": rail} if rail else {}),
        },
        weight=float(row.message_bytes),
    )


def _slow_rail(row: GainRow, criteria: Criteria) -> tuple[str, str] | None:
    """Return a rail that, measured alone, reaches a much smaller share of its limit than the best
    rail.
    """
    shares = [(_share(one, one.goodput.value), one) for one in row.alone]
    if not shares:
        return None
    (low, slow), (high, good) = min(shares, key=itemgetter(0)), max(shares, key=itemgetter(0))
    sure = _share(slow, slow.goodput.most) < criteria.peer_ratio * _share(good, good.goodput.least)
    if low >= criteria.peer_ratio * high or not sure:
        return None
    text = (
        f"the rail {slow.rail} alone carries {goodput(slow.goodput.value)}, but {good.rail} "
        f"carries {goodput(good.goodput.value)}"
    )
    return slow.rail, text


def _share(one: RailNumber, value: float) -> float:
    return value / (one.limit or 1.0)


def _even(row: GainRow) -> str:
    """Return an explanation if the result matches equal shares over rails of different speed, else
    ""."""
    slowest = min(one.goodput.value for one in row.alone)
    even = len(row.alone) * slowest
    if even >= _sum(row) * (1 - _EVEN) or abs(row.together.goodput.value / even - 1) > _EVEN:
        return ""
    return (
        f"; that is {len(row.alone)} x the slowest rail ({goodput(slowest)}): the library uses "
        "equal shares regardless of the rails' speeds"
    )


def _best(row: GainRow) -> RailNumber:
    return max(row.alone, key=lambda one: one.goodput.value)


def _sum(row: GainRow) -> float:
    return sum(one.goodput.value for one in row.alone)


def _times(span: Interval) -> str:
    return span.shown("{:.2f}".format, " times")


def _percent(span: Interval) -> str:
    return span.shown("{:.0%}".format)


def _answer(rows: Sequence[GainRow], deciding: Sequence[GainRow]) -> str:
    if not deciding:
        return "No large one-way messages were measured, so it is unknown whether the rails add up."
    row = min(deciding, key=lambda one: one.of_sum.value)
    limits = "" if row.of_limits is None else f", {row.of_limits:.0%} of the sum of their limits"
    text = (
        f"{len(row.alone)} rails carry {_times(row.gain)} the goodput of the best rail in a "
        f"{row.pattern} of {quantity.size(row.message_bytes)}, {_percent(row.of_sum)} of the sum "
        f"of the single rails{limits}"
    )
    waiting = _largest_waiting(rows)
    if waiting is not None:
        text += f"; a {waiting.pattern} of the same size {_times(waiting.gain)}"
        text += (
            ": it waits for each message, so this is normal"
            if waiting.gain.value < _DOUBLES
            else ": each message is shared"
        )
    doubt = _doubt(row)
    return f"{text}. {doubt}." if doubt else f"{text}."


def _largest_waiting(rows: Sequence[GainRow]) -> GainRow | None:
    waiting = [row for row in rows if not row.expected and row.pattern == "pingpong"]
    return max(waiting, key=lambda row: row.message_bytes, default=None)


# --- Compute the gain and its interval from the rounds. The launches of one round (over each rail
# alone and over all rails) are compared with each other, so that a drift changes no ratio.

Launches = Sequence[Sequence[float]]
"""Times of one operation (ns), one launch for each round."""


def goodput_of(size: int, launches: Launches) -> Interval:
    """Return bytes/s with the interval over the launches.

    Raises ValueError if nothing was timed.
    """
    return over_rounds(_log_rates(size, launches))


def gain_of(size: int, alone: Sequence[Launches], together: Launches) -> tuple[Interval, Interval]:
    """Return (all rails / the best rail alone, all rails / the sum of the single rails)."""
    rates = [_log_rates(size, launches) for launches in alone]
    whole = _log_rates(size, together)
    # choose the best rail once, because the largest of each round would be biased upwards
    best = rates[int(np.argmax([np.median(rate) for rate in rates]))]
    return over_rounds(whole - best), over_rounds(whole - np.log(np.sum(np.exp(rates), axis=0)))


def _log_rates(size: int, launches: Launches) -> Floats:
    return np.log([size / (float(np.median(times)) * 1e-9) for times in launches])
