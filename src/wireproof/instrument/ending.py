"""Determine the ending of a run, and describe it in a sentence. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from wireproof.instrument.launcher_messages import scheduler_ended, signal_name
from wireproof.instrument.lost import (
    LARGE_MESSAGES_HANG,
    crashed_ranks,
    ended_ranks,
    lost_ranks,
    named_ranks,
)
from wireproof.model import quantity
from wireproof.model.frames import sealed_points
from wireproof.model.plan import Plan
from wireproof.model.record import Close, EngineError, Frame, Host, Open, PointRecord, Start
from wireproof.model.run import Ended, Missing, MissingCode, missing_code
from wireproof.model.secrets import clean_text

__all__ = ["Ending", "classify", "clean_text", "missing_points", "under_way", "unreachable"]

_SIGNALS = (
    re.compile(r"KILLED BY SIGNAL: (\d{1,9})"),
    re.compile(r"exited on signal (\d{1,9})"),
    re.compile(r"\(signal (\d{1,9})\)"),
    re.compile(r"YOUR APPLICATION TERMINATED WITH THE EXIT STRING: .*\(signal (\d{1,9})\)"),
)
_RANK_HOST = (
    re.compile(r"RANK (\d{1,9}) PID \d+ RUNNING AT (\S+)"),
    re.compile(r"process rank (\d{1,9}) with PID \d+ on node (\S+)"),
)
_DEATH = re.compile(
    r"srun: error|BAD TERMINATION|killed|terminated|segmentation fault|aborted|exit code", re.I
)
_CAUSE = re.compile(
    r"error while loading|cannot open|no such file|not found|permission denied|refused|unable to|"
    r"unreachable|no route to|unrecognized|fatal error|invalid|failed|host key|could not|cannot ",
    re.IGNORECASE,
)
_NO_ROUTE = re.compile(r"tcp/([\w.-]{1,32}) - no route to ([\d.]{7,15}):")
_TALK_LINES = 3
_MOST_NAMED = 3
_MOST_RANKS = 10_000
_NOISE = re.compile(r"^[\s=\-+*#|]*$")


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a run. ``culprit``: the point in progress, if any; ``lost``: a sentence with the
    reason for each lost rank. ``crashed``: each of them ended because of a fault in its process, so
    another rank may be the cause.
    """

    ended: Ended
    reason: str
    culprit: int | None = None
    lost: dict[int, str] = msgspec.field(default_factory=dict)
    crashed: bool = False

    def missing(self, *, reached: bool) -> Missing:
        """Return the reason why a point that was (or was not) in progress has no result."""
        if not self.reason:
            return Missing("no-result", "the engine sent no result for it")
        return Missing(missing_code(self.ended), self.reason, reached)


def _causes_in(talk: bytes) -> str:
    """Return the lines of the output that state a cause, else the last informative lines.

    Launchers add paragraphs after the relevant line, so the first causes are the best.
    """
    lines = [
        line
        for line in talk.splitlines()[-200:]
        if not _NOISE.match(line.decode("utf-8", "replace"))
    ]
    texts = [text for line in lines if (text := clean_text(line, 300))]
    causes = list(dict.fromkeys(text for text in texts if _CAUSE.search(text)))
    return " | ".join(causes[:_TALK_LINES] or texts[-_TALK_LINES:])


def under_way(frames: Sequence[Frame]) -> int | None:
    """Return the point that has started but has no frame yet."""
    started: int | None = None
    for frame in frames:
        if isinstance(frame, Start):
            started = frame.id
        elif isinstance(frame, PointRecord) and frame.id == started:
            started = None
    return started


def _signal_seen(exit_status: int | None, talk: str) -> int | None:
    for pattern in _SIGNALS:
        if found := pattern.search(talk):
            return int(found.group(1))
    if exit_status is not None and exit_status < 0:
        return -exit_status
    if exit_status is not None and 128 < exit_status < 128 + 65:
        return exit_status - 128
    return None


def _lost(number: int, talk: str, frames: Sequence[Frame], what: str = "the launcher") -> str:
    """Return a sentence with the rank and host of a process that was ended by a signal, as far as
    the launcher reported them.

    A launcher always reports a rank's death. If it reported none, the process that we started
    (``what``) was ended.
    """
    name = signal_name(number)
    for pattern in _RANK_HOST:
        found = {int(rank): host for rank, host in pattern.findall(talk)[:_MOST_RANKS]}
        if len(found) > 1:  # a launcher that ends the other ranks of a host reports all of them
            listed = ", ".join(str(rank) for rank in sorted(found)[:_MOST_NAMED]) + (
                ", .." * (len(found) > _MOST_NAMED)
            )
            return f"one of ranks {listed} was killed by {name}, and the launcher ended the others"
        for rank, host in found.items():
            claimed = next(
                (it.host for it in frames if isinstance(it, Host) and it.rank == rank), ""
            )
            return f"rank {rank} on {claimed or host} was killed by {name}"
    if any(pattern.search(talk) for pattern in _SIGNALS) or _DEATH.search(talk):
        return f"a rank was killed by {name}"
    return f"{what} was killed by {name}"


def unreachable(plan: Plan, suspects: Iterable[int] = ()) -> str:
    """Return a list of things to check if ranks on several hosts start but never connect.
    ``suspects``: ranks that others have lost.
    """
    hosts = {rank.host: rank for rank in reversed(plan.ranks)}
    if plan.transport.kind in ("null", "model") or len(hosts) < 2:
        return ""
    names = list(reversed(hosts))
    lost = {rank.host for rank in plan.ranks if rank.index in set(suspects)}
    far = next((name for name in names if name in lost), names[1])
    near = next(name for name in names if name != far)
    return (
        ": the ranks may not reach each other. Candidates: a firewall, an address that two hosts"
        " have, addresses that are translated or lead to another network, or an MTU that only"
        f" small frames pass (on {near} try `ping -M do -s 8972 {hosts[far].address or far}`;"
        " 8972 is an MTU of 9000 less 28)"
    )


def _hint(
    plan: Plan, frames: Sequence[Frame], errors: Sequence[EngineError], culprit: int | None
) -> str:
    """Return possible causes of a broken connection before the first point; "" later."""
    if culprit is not None or sealed_points(frames) or not errors:
        return ""
    return unreachable(plan, named_ranks(errors[0].message))


def _at(culprit: int | None, plan: Plan) -> str:
    point = next((point for point in plan.points if point.id == culprit), None)
    if point is None:
        return " before the first point" if culprit is None else f" at point {culprit}"
    what = f"{point.pattern}, {quantity.size(point.message_bytes)}"
    if len(point.pairs) == 1 and len(plan.ranks) > 2:
        places = {it.index: it.host for it in plan.ranks}
        origin, target = point.pairs[0]
        what += f", {places[origin]} to {places[target]}"
    return f" at point {point.id} ({what})"


def _reported(frames: Sequence[Frame], culprit: int | None) -> list[EngineError]:
    """Return errors that the engine has reported: for the whole run, or for the point
    in progress.
    """
    return [
        it for it in frames if isinstance(it, EngineError) and (it.id is None or it.id == culprit)
    ]


def _sentence(error: EngineError) -> str:
    said = clean_text(error.message.encode(), 600)
    return f"deadline: {said}" if error.code == "deadline" and "deadline" not in said else said


def _by_engine(errors: Sequence[EngineError]) -> tuple[Ended, str] | None:
    """Return the ending according to the engine's errors: the first states the cause, the others
    follow from it.
    """
    for error in errors:
        if "mismatch" in error.code:
            return "mismatch", _sentence(error)
        if error.code == "deadline":
            return "deadline", _sentence(error)
        if not error.code.endswith(_FOLLOWED):
            return "failed", _sentence(error)
    return None


_FOLLOWED = ("-lost", "-gone", "interrupted")
"""Codes with which survivors report the effect of a lost rank; the launcher may know the cause."""


def classify(
    plan: Plan,
    frames: Sequence[Frame],
    talk: bytes,
    exit_status: int | None,
    *,
    timed_out: str = "",
    stopped: Mapping[int, str] | None = None,
) -> Ending:
    """Return the ending of a run, from the frames, the output of the launcher and its exit status.

    ``timed_out``: a sentence about the deadline that passed. ``stopped``: a sentence for each rank
    that gave no sign of life, for which wireproof ended the run. Not for Ctrl-C, a full disk or a
    bad frame: those are handled where they occur.
    """
    ending = _without_names(plan, frames, talk, exit_status, timed_out)
    if ending.ended in ("done", "mismatch"):
        return ending
    if stopped:
        return _lost_to(ending, {**stopped, **ended_ranks(plan, frames, talk, stopped)}, plan)
    if said := scheduler_ended(talk):
        return msgspec.structs.replace(
            ending, ended="interrupted", reason=said + _where(ending.culprit, plan)
        )
    errors = _reported(frames, ending.culprit)
    if any(error.code == LARGE_MESSAGES_HANG for error in errors):  # a path is lost, and no rank
        return msgspec.structs.replace(ending, reason=timed_out)
    if ended := ended_ranks(plan, frames, talk):
        return _lost_to(ending, ended, plan)
    lost = lost_ranks(plan, frames, talk)
    lost |= ended_ranks(plan, frames, talk, lost)
    unnamed = (
        ending.ended == "rank-lost"
        and _signal_seen(exit_status, talk.decode("utf-8", "replace")) is None
    )
    if lost and (unnamed or (ending.ended == "failed" and not errors)):
        # The launcher prints different messages in this case, and its exit status has no meaning.
        hint = _hint(plan, frames, errors, ending.culprit)
        ending = _lost_to(ending, {rank: why + hint for rank, why in lost.items()}, plan)
        lost = ending.lost
    crashed = bool(lost) and set(lost) <= crashed_ranks(plan, frames, talk)
    return msgspec.structs.replace(ending, lost=lost, crashed=crashed)


def _lost_to(ending: Ending, lost: Mapping[int, str], plan: Plan) -> Ending:
    reason = "; ".join(list(lost.values())[:_MOST_NAMED]) + _where(ending.culprit, plan)
    return msgspec.structs.replace(ending, ended="rank-lost", reason=reason, lost=dict(lost))


def _where(culprit: int | None, plan: Plan) -> str:
    return _at(culprit, plan) if culprit is not None else ""


def _without_names(
    plan: Plan, frames: Sequence[Frame], talk: bytes, exit_status: int | None, timed_out: str
) -> Ending:
    """Return the ending from the frames and the exit status alone."""
    culprit = under_way(frames)
    close = next((frame for frame in frames if isinstance(frame, Close)), None)
    if timed_out:
        return _too_late(plan, frames, timed_out, close)
    if close is not None and exit_status == 0:
        return Ending(ended="done", reason="")
    errors = _reported(frames, culprit)
    if close is not None and exit_status == 1 and not errors:
        return Ending(ended="failed", reason=f"{close.failed} of {close.points} points failed")
    what = "the engine" if plan.transport.kind in ("null", "model") else "the launcher"
    hint = _hint(plan, frames, errors, culprit)
    ended, reason = _by_engine(errors) or _by_launcher(
        frames, errors, talk, exit_status, what, hint
    )
    return Ending(ended=ended, reason=reason + _where(culprit, plan), culprit=culprit)


def _too_late(plan: Plan, frames: Sequence[Frame], why: str, close: Close | None) -> Ending:
    """Return the ending of a run whose library does not finish after all data was sent; no data is
    lost.
    """
    sealed = sealed_points(frames)
    if close is not None and close.failed == 0 and {p.id for p in plan.points} <= sealed:
        return Ending(ended="done", reason="")
    culprit = under_way(frames)
    opened = any(isinstance(frame, Open) for frame in frames)
    late: Ended = "deadline" if opened else "not-started"
    where = _at(culprit, plan) if culprit is not None or not sealed else ""
    return Ending(ended=late, reason=why + where, culprit=culprit)


def _by_launcher(
    frames: Sequence[Frame],
    errors: Sequence[EngineError],
    talk: bytes,
    exit_status: int | None,
    what: str,
    hint: str,
) -> tuple[Ended, str]:
    """Return the launcher's report: a signal, or the reason why nothing started. ``hint``: possible
    causes of a broken connection between ranks of which none was killed.
    """
    text = talk.decode("utf-8", "replace")
    number = _signal_seen(exit_status, text)
    if number is not None:
        return "rank-lost", _lost(number, text, frames, what)
    if errors:
        return "rank-lost", _sentence(errors[0]) + hint
    status = f"exit status {exit_status}" if exit_status is not None else "no exit status"
    said = _causes_in(talk)
    if route := _NO_ROUTE.search(text):
        nic, address = route.groups()
        said = f"{nic} has no route to {address} (see `ip route get {address}`): {said}"
    if not any(isinstance(frame, Open) for frame in frames):
        return "not-started", f"the engine did not start ({status}): {said or 'it printed nothing'}"
    return "failed", f"{said or 'the engine printed nothing'} ({status})"


def missing_points(plan: Plan, frames: Sequence[Frame], ending: Ending) -> dict[int, Missing]:
    """Return the reason why each planned point without a frame has no result."""
    sealed = sealed_points(frames)
    own = {
        it.id: Missing(_error_code(it), _sentence(it))
        for it in frames
        if isinstance(it, EngineError) and it.id is not None
    }
    missing: dict[int, Missing] = {}
    for point in plan.points:
        if point.id in sealed:
            continue
        if point.id == ending.culprit and ending.reason:
            missing[point.id] = ending.missing(reached=True)
        else:
            missing[point.id] = own.get(point.id) or ending.missing(reached=False)
    return missing


def _error_code(error: EngineError) -> MissingCode:
    if error.code.endswith(("-lost", "-gone")):
        return "rank-lost"
    return "deadline" if error.code == "deadline" else "failed"
