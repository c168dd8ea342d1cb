"""The verdict of a stored result for a program that admits or rejects a node.

It fails closed: if there is no result, the result is too old, or the answer does not come in time,
the verdict is ``inconclusive``, with the reason. Nothing is measured and nothing is changed.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from wireproof.files.bounded import answer_aside
from wireproof.files.hostile import remove_file, replace_file
from wireproof.locate.node import joined_nodes, node_verdicts
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.finding import Verdict, worst
from wireproof.model.run import Gate, NodeVerdict, Run, StoredPart, StoredResult, seconds_of
from wireproof.options.hosts import parse_hosts
from wireproof.report.json import json_text
from wireproof.report.names import fold
from wireproof.report.reporter import sentence
from wireproof.store.load import DOCUMENT
from wireproof.store.manifest import is_sealed, listed
from wireproof.store.result import (
    RESULT,
    SKEW_S,
    measured,
    newest_result,
    read_result,
    unfinished_after,
)
from wireproof.version import version

if TYPE_CHECKING:
    from wireproof.measure.result import Result


def gate(
    source: Path,
    nodes: str | None = None,
    *,
    max_age_s: float = 86400.0,
    within_s: float = 50.0,
) -> Gate:
    """Return the verdict within ``within_s`` seconds.

    ``source``: a result, or a folder of results, of which the newest is used. ``nodes``: the nodes
    in question, None for all nodes of the result. ``max_age_s``: the maximum age of a result.
    Raises ``BadInput`` for a node set that cannot be parsed; anything wrong with the result is a
    verdict, not an error.
    """
    wanted = _wanted(nodes)

    def undecided(why: str) -> Gate:
        return Gate(
            verdict="inconclusive",
            subject=fold(wanted) or "no node",
            reason=why,
            max_age_s=max_age_s,
            source=str(source),
            nodes=[NodeVerdict(node=name, verdict="inconclusive", reason=why) for name in wanted],
        )

    def ask() -> bytes:
        try:
            found = _answer(source, wanted, max_age_s)
        except BadInput as error:
            found = undecided(str(error))
        except Exception as error:
            found = undecided(sentence(error))
        return json_text(found).encode()

    try:
        return msgspec.json.decode(answer_aside(ask, within_s), type=Gate)
    except TimeoutError:
        why = f"could not be read within {within_s:g} s"
    except OSError as error:
        why = f"could not be read: {error}"
    return undecided(f"{source} {why}")


def _wanted(nodes: str | None) -> tuple[str, ...]:
    """Return the requested names; ``here`` is this host, by its name without the domain."""
    if nodes is None:
        return ()
    if not nodes.strip():
        raise BadInput("--node is empty: check that the variable in it is set.")
    return (socket.gethostname().partition(".")[0],) if nodes == "here" else parse_hosts(nodes)


def _answer(source: Path, wanted: Sequence[str], max_age_s: float) -> Gate:
    """Return the verdict. Raises ``BadInput`` with the reason if there is no sound result."""
    try:
        newest = newest_result(source, wanted)
    except OSError as error:
        why = f"{error.filename or source} cannot be read: {error.strerror}"
        raise BadInput(why) from error
    if newest is None:
        who = fold(wanted) if wanted else "any node"
        reason = f"{source} has no result for {who}: run `wireproof check --out`"
        if not source.exists():
            reason = f"{source} does not exist: run `wireproof check --out`"
        elif any(source.glob(f"*/{DOCUMENT}")):
            reason = f"{source} has records but no result: its check has not ended"
        raise BadInput(reason)
    place, result = newest
    if place != source and (broken := unfinished_after(source, place, wanted)) is not None:
        raise BadInput(
            f"{broken} is a newer check that did not end: run it again, or remove the folder"
        )
    if is_sealed(place):
        result = read_result(place, listed(place).get(RESULT, "nothing")) or result
    return _fresh(_judged(wanted, place, result, max_age_s), max_age_s)


def _judged(wanted: Sequence[str], place: Path, result: StoredResult, max_age_s: float) -> Gate:
    if not result.parts:
        raise BadInput(f"{place} holds a result without parts")
    if unfounded := _unfounded(result.parts):
        raise BadInput(
            f"{place} was edited or is damaged: none of its records proves the pass of"
            f" {fold(unfounded)}"
        )
    nodes = joined_nodes([part.nodes for part in result.parts])
    if wanted:
        known, why = {row.node: row for row in nodes}, f"it is not in the result {place.name}"
        nodes = [
            known.get(name) or NodeVerdict(node=name, verdict="inconclusive", reason=why)
            for name in wanted
        ]
    whole = worst(part.verdict for part in result.parts)
    gate = _gate(nodes, "pass" if wanted else whole, [part.run for part in result.parts])
    return msgspec.structs.replace(
        gate, max_age_s=max_age_s, source=str(place), by=result.wireproof
    )


def _gate(nodes: list[NodeVerdict], whole: Verdict, runs: Sequence[Run]) -> Gate:
    verdict, subject, reason = _telling(nodes, whole)
    return Gate(
        verdict=verdict,
        subject=subject,
        reason=reason,
        measured=measured(runs),
        by=version(),
        link=next((run.claim.link.name for run in runs if run.claim.link), ""),
        nodes=nodes,
    )


def _unfounded(parts: Sequence[StoredPart]) -> list[str]:
    """Return the nodes that pass in a part although a requirement of every pass is missing: a claim
    about a wire that includes the node, and a result that crossed that wire.
    """
    unfounded: list[str] = []
    for part in parts:
        claim = part.run.claim
        claimed = {rank.host for rank in claim.hosts} if claim.wire and not claim.played else set()
        for row in part.nodes:
            proven = row.node in claimed and row.proof == "on-wire" and row.passing > 0
            if row.verdict == "pass" and not proven:
                unfounded.append(row.node)
    return unfounded


def _telling(nodes: Sequence[NodeVerdict], whole: Verdict) -> tuple[Verdict, str, str]:
    """Return the verdict, the nodes with the first of the worst reasons, and that reason with the
    number of other nodes that do not pass. The verdict is never better than ``whole``.
    """
    verdict = worst(row.verdict for row in nodes)
    everyone = fold(row.node for row in nodes) or "no node"
    if verdict == "pass":
        if whole != "pass":
            return "inconclusive", everyone, "the result as a whole does not pass"
        return (
            verdict,
            everyone,
            "all results of each node pass and crossed the wire",
        )
    first = next((row for row in nodes if row.verdict == verdict), None)
    if first is None:
        return verdict, everyone, "no node took part"
    same = [row.node for row in nodes if (row.verdict, row.reason) == (verdict, first.reason)]
    others = sum(row.verdict != "pass" for row in nodes) - len(same)
    more = f"; {others} more do not pass" if others else ""
    return verdict, fold(same), first.reason + more


def gate_of(result: Result) -> Gate:
    """Return the verdict on a measurement that has just ended."""
    sections = result.sections
    nodes = joined_nodes(
        [node_verdicts(section.run, section.judgement, section.located) for section in sections]
    )
    gate = _gate(nodes, result.verdict, [section.run for section in sections])
    return msgspec.structs.replace(gate, age_s=0.0)


def undecided(why: str) -> Gate:
    """Return the verdict for a measurement that did not take place."""
    return Gate(verdict="inconclusive", subject="no node", reason=why, by=version())


def _fresh(answer: Gate, max_age_s: float) -> Gate:
    """Return the verdict with its age; a result that is too old, or dated in the future, proves
    nothing about the present state.
    """
    when = seconds_of(answer.measured)
    if when is None:
        undated = msgspec.structs.replace(answer, measured="")
        return _no_longer(undated, "the result does not state when it was measured", None)
    age_s = time.time() - when
    if age_s < -SKEW_S:
        return _no_longer(answer, f"the result is from the future ({answer.measured})", age_s)
    if age_s > max_age_s:
        reason = f"the result is older than {max_age_s / 3600:g} h"
        return _no_longer(answer, reason, age_s)
    return msgspec.structs.replace(answer, age_s=max(age_s, 0.0))


def _no_longer(answer: Gate, why: str, age_s: float | None) -> Gate:
    """Turn a pass into inconclusive.

    A node that failed stays failed until a newer result replaces it.
    """
    if answer.verdict == "fail":
        return msgspec.structs.replace(answer, age_s=age_s)
    nodes = [
        msgspec.structs.replace(row, verdict="inconclusive", reason=why)
        if row.verdict == "pass"
        else row
        for row in answer.nodes
    ]
    return msgspec.structs.replace(
        answer, verdict="inconclusive", reason=why, age_s=age_s, nodes=nodes
    )


def put_verdict(page: Path, text: str, within_s: float) -> None:
    """Write the verdict to ``page``, readable by all because a collector may run as another user.

    If that fails, the old verdict is removed so that it cannot be taken for the new verdict. Raises
    ``CouldNotMeasure``.
    """
    try:
        why = answer_aside(lambda: _replaced(page, text), within_s).decode()
    except TimeoutError:
        why = "its file system does not respond"
    except OSError as error:
        why = str(error)
    if why:
        raise CouldNotMeasure(f"{page} cannot be written: {why}.")


def _replaced(page: Path, text: str) -> bytes:
    """Replace the page; return b"", or the reason for a failure and whether the old file was
    removed.
    """
    try:
        replace_file(page, text.encode() + b"\n", mode=0o644)
    except OSError as error:
        why = str(error.strerror)
        with contextlib.suppress(OSError):
            remove_file(page)
            why += "; the old verdict in it is removed"
        return why.encode()
    return b""
