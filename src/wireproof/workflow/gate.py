"""The verdict of a stored result for a program that lets a node in or keeps it out.

It fails closed: without a result, with one that is too old, or when the answer does not come in
time, the verdict is ``inconclusive``, with the reason. Nothing is measured and nothing is changed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import socket
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from wireproof import __version__
from wireproof.model.errors import BadInput
from wireproof.model.finding import Verdict
from wireproof.model.gate import Gate, NodeVerdict, seconds_of
from wireproof.model.run import Run
from wireproof.model.severity import worst
from wireproof.model.stored import StoredResult
from wireproof.report.names import fold
from wireproof.settings.hosts import parse_hosts
from wireproof.store.history import RESULTS
from wireproof.store.result import RESULT, read_result
from wireproof.verdict.node import joined_nodes, node_verdicts
from wireproof.workflow.bug import sentence
from wireproof.workflow.result import Result

__all__ = ["GateSpecification", "gate", "gate_of", "undecided"]

_SKEW_S = 300.0
"""Clocks of one cluster differ by less; a result that is newer than now by more is not believed."""
_MOST_RESULTS = 1000
"""Results of a folder that are looked at, newest first."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class GateSpecification:
    """``source``: a result, or a folder of results, of which the newest counts. ``nodes``: the
    nodes asked for; none: all of the result. ``max_age_s``: how old a result may be.
    ``within_s``: the longest time to the answer.
    """

    source: Path
    nodes: str = ""
    max_age_s: float = 86400.0
    within_s: float = 50.0


def gate(specification: GateSpecification) -> Gate:
    """The verdict, at the latest after ``within_s``. Raises ``BadInput`` for a node set that cannot
    be read; whatever is wrong with the result is a verdict, not an error.
    """
    wanted = _wanted(specification.nodes)
    answers: list[Gate] = []

    def ask() -> None:
        try:
            answers.append(_answer(specification, wanted))
        except Exception as error:
            answers.append(_undecided(specification, wanted, sentence(error)))

    # A hung file system hangs whoever reads it: that is done aside, and not waited for.
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(specification.within_s)
    if answers:
        return answers[0]
    late = f"{specification.source} could not be read within {specification.within_s:g} s"
    return _undecided(specification, wanted, late)


def _wanted(nodes: str) -> tuple[str, ...]:
    """The names asked for; ``here`` is this host, by its name without the domain."""
    if not nodes:
        return ()
    return (socket.gethostname().partition(".")[0],) if nodes == "here" else parse_hosts(nodes)


def _answer(specification: GateSpecification, wanted: Sequence[str]) -> Gate:
    try:
        found = _newest(specification.source, wanted)
    except (BadInput, OSError) as error:
        return _undecided(specification, wanted, str(error))
    if found is None:
        who = fold(wanted) if wanted else "any node"
        reason = f"{specification.source} has no result of {who}: run `wireproof check --out`"
        return _undecided(specification, wanted, reason)
    return _judged(specification, wanted, *found)


def _newest(source: Path, wanted: Sequence[str]) -> tuple[Path, StoredResult] | None:
    """The result, or the newest of a folder of results that has one of the nodes."""
    own = read_result(source)
    if own is not None:
        return source, own
    newest, best = -math.inf, None
    for written, folder in _places(source)[:_MOST_RESULTS]:
        # A file is written after what it tells was measured, and may be copied later: the rest of
        # them, written before the best was measured, are older.
        if written + _SKEW_S < newest:
            break
        found = read_result(folder)
        if found is None or (wanted and not _has(found, wanted)):
            continue
        when = seconds_of(_measured(part.run for part in found.parts))
        if (when if when is not None else written) > newest:
            newest, best = when if when is not None else written, (folder, found)
    return best


def _places(source: Path) -> list[tuple[float, Path]]:
    """The folders of results, those that were written last first. What goes meanwhile is gone.
    ``source`` may be a history, which has them in a folder of its own.
    """
    found = []
    for path in (*source.glob(f"*/{RESULT}"), *source.glob(f"{RESULTS}/*/{RESULT}")):
        with contextlib.suppress(FileNotFoundError):
            found.append((path.lstat().st_mtime, path.parent))
    return sorted(found, reverse=True)


def _measured(runs: Iterable[Run]) -> str:
    """When the first of them was started, or what has no date: evidence is as old as its oldest."""
    return min(
        (run.provenance.started for run in runs),
        key=lambda text: (seconds_of(text) is not None, seconds_of(text) or 0.0),
        default="",
    )


def _has(result: StoredResult, wanted: Sequence[str]) -> bool:
    return any(one.node in wanted for part in result.parts for one in part.nodes)


def _judged(
    specification: GateSpecification, wanted: Sequence[str], place: Path, result: StoredResult
) -> Gate:
    if not result.parts:
        return _undecided(specification, wanted, f"{place} holds a result of nothing")
    nodes = joined_nodes([part.nodes for part in result.parts])
    if wanted:
        known = {one.node: one for one in nodes}
        nodes = [known.get(name) or _not_there(name, place) for name in wanted]
    whole = worst(part.verdict for part in result.parts)
    verdict, subject, reason = _telling(nodes, "pass" if wanted else whole)
    found = Gate(
        verdict=verdict,
        subject=subject,
        reason=reason,
        measured=_measured(part.run for part in result.parts),
        source=str(place),
        by=result.wireproof,
        link=next((part.run.claim.link.name for part in result.parts if part.run.claim.link), ""),
        nodes=nodes,
    )
    return _fresh(found, specification)


def _telling(nodes: Sequence[NodeVerdict], whole: Verdict) -> tuple[Verdict, str, str]:
    """Verdict, whom it is about, and why: those with the first of the gravest reasons, and how many
    others do not pass. ``whole``: the verdict that no node can better.
    """
    verdict = worst(one.verdict for one in nodes)
    everybody = fold(one.node for one in nodes) or "no node"
    if verdict == "pass":
        if whole != "pass":
            return "inconclusive", everybody, "the result as a whole does not pass"
        return (
            verdict,
            everybody,
            "results of each pass and crossed the wire, and none is open",
        )
    first = next((one for one in nodes if one.verdict == verdict), None)
    if first is None:
        return verdict, everybody, "no node took part"
    same = [one.node for one in nodes if (one.verdict, one.reason) == (verdict, first.reason)]
    others = sum(one.verdict != "pass" for one in nodes) - len(same)
    more = f"; {others} more do not pass" if others else ""
    return verdict, fold(same), first.reason + more


def gate_of(result: Result) -> Gate:
    """The verdict of what was just measured."""
    sections = [part.section for part in result.parts]
    nodes = joined_nodes([node_verdicts(one.run, one.judgement, one.located) for one in sections])
    verdict, subject, reason = _telling(nodes, result.verdict)
    return Gate(
        verdict=verdict,
        subject=subject,
        reason=reason,
        measured=_measured(one.run for one in sections),
        age_s=0.0,
        by=__version__,
        link=next((one.run.claim.link.name for one in sections if one.run.claim.link), ""),
        nodes=nodes,
    )


def undecided(why: str) -> Gate:
    """Of a measurement that did not take place."""
    return Gate(verdict="inconclusive", subject="no node", reason=why, by=__version__)


def _not_there(name: str, place: Path) -> NodeVerdict:
    return NodeVerdict(
        node=name, verdict="inconclusive", reason=f"it is not in the result {place.name}"
    )


def _fresh(found: Gate, specification: GateSpecification) -> Gate:
    """The verdict with its age; one that is too old, or from the future, is no evidence of now."""
    when = seconds_of(found.measured)
    if when is None:
        undated = msgspec.structs.replace(found, measured="")
        return _no_longer(undated, "the result does not say when it was measured", None)
    age_s = time.time() - when
    if age_s < -_SKEW_S:
        return _no_longer(found, f"the result is from the future ({found.measured})", age_s)
    if age_s > specification.max_age_s:
        said = f"the result is older than {specification.max_age_s / 3600:g} h"
        return _no_longer(found, said, age_s)
    return msgspec.structs.replace(found, age_s=max(age_s, 0.0))


def _no_longer(found: Gate, why: str, age_s: float | None) -> Gate:
    """A node that failed stays failed until a newer result says otherwise; nothing else holds."""
    if found.verdict == "fail":
        return msgspec.structs.replace(found, age_s=age_s)
    nodes = [
        msgspec.structs.replace(one, verdict="inconclusive", reason=why)
        if one.verdict == "pass"
        else one
        for one in found.nodes
    ]
    return msgspec.structs.replace(
        found, verdict="inconclusive", reason=why, age_s=age_s, nodes=nodes
    )


def _undecided(specification: GateSpecification, wanted: Sequence[str], why: str) -> Gate:
    return Gate(
        verdict="inconclusive",
        subject=fold(wanted) or "no node",
        reason=why,
        source=str(specification.source),
        nodes=[NodeVerdict(node=name, verdict="inconclusive", reason=why) for name in wanted],
    )
