"""How a run ended, and the one sentence that says so. Pure."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence

import msgspec

from wireproof.model.document import Ended
from wireproof.model.plan import Plan
from wireproof.model.record import Close, EngineError, Frame, Host, Open, PointRecord, Start

__all__ = ["Ending", "classify", "clean_text", "missing_points", "under_way"]

_ESCAPES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[@-Z\\-_])")
_SIGNALS = (
    re.compile(r"KILLED BY SIGNAL: (\d+)"),
    re.compile(r"exited on signal (\d+)"),
    re.compile(r"\(signal (\d+)\)"),
    re.compile(r"YOUR APPLICATION TERMINATED WITH THE EXIT STRING: .*\(signal (\d+)\)"),
)
_RANK_HOST = (
    re.compile(r"RANK (\d+) PID \d+ RUNNING AT (\S+)"),
    re.compile(r"process rank (\d+) with PID \d+ on node (\S+)"),
)
_TALK_LINES = 3
_NOISE = re.compile(r"^[\s=\-+*#|]*$")


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """``culprit`` is the point that was under way, if one was."""

    ended: Ended
    reason: str
    culprit: int | None = None


def clean_text(data: bytes, limit: int = 400) -> str:
    """Talk made safe to print: terminal escapes and control characters away, one line, bounded."""
    text = _ESCAPES.sub("", data.decode("utf-8", "replace"))
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(text.split())[:limit]


def _last_words(talk: bytes) -> str:
    """The last lines of talk that say something."""
    lines = [line for line in talk.splitlines()[-200:] if not _NOISE.match(line.decode("utf-8", "replace"))]
    return " | ".join(text for line in lines[-_TALK_LINES:] if (text := clean_text(line, 300)))


def under_way(frames: Sequence[Frame]) -> int | None:
    """The point that has started and has no frame."""
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


def _lost(number: int, talk: str, frames: Sequence[Frame]) -> str:
    """Names rank and host of a process that a signal has ended, as far as the launcher said."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    for pattern in _RANK_HOST:
        if found := pattern.search(talk):
            rank = int(found.group(1))
            claimed = next((it.host for it in frames if isinstance(it, Host) and it.rank == rank), "")
            return f"rank {rank} on {claimed or found.group(2)} was ended by {name}"
    return f"a rank was ended by {name}"


def _at(culprit: int | None, plan: Plan) -> str:
    point = next((point for point in plan.points if point.id == culprit), None)
    if point is None:
        return " before the first point" if culprit is None else f" at point {culprit}"
    return f" at point {point.id} ({point.pattern}, {point.message_bytes} B)"


_OPENING = {
    "mismatch": "mismatch",
    "library-mismatch": "mismatch",
    "deadline": "deadline",
}


def _by_engine_error(error: EngineError, where: str) -> Ending | None:
    """An error of the whole run that the engine has told itself (``id`` absent)."""
    message = clean_text(error.message.encode(), 600)
    for code, ended in _OPENING.items():
        if code in error.code:
            return Ending(ended="mismatch" if ended == "mismatch" else "deadline", reason=f"{message}{where}")
    return None


def classify(
    plan: Plan, frames: Sequence[Frame], talk: bytes, exit_status: int | None, *, timed_out: str = ""
) -> Ending:
    """What happened, from the frames, the launcher's talk and its exit status.

    ``timed_out``: our own deadline passed; the sentence says which. Not for Ctrl-C, a full disk or a bad frame:
    those are known where they happen.
    """
    culprit = under_way(frames)
    close = next((frame for frame in frames if isinstance(frame, Close)), None)
    opened = any(isinstance(frame, Open) for frame in frames)
    whole = [frame for frame in frames if isinstance(frame, EngineError) and frame.id is None]
    where = _at(culprit, plan) if opened and culprit is not None else ""
    text = talk.decode("utf-8", "replace")
    if timed_out:
        return Ending(
            ended="deadline" if opened else "not-started", reason=timed_out + _at(culprit, plan), culprit=culprit
        )
    if close is not None and exit_status == 0:
        return Ending(ended="done", reason="")
    for error in whole:
        if ending := _by_engine_error(error, where):
            return msgspec.structs.replace(ending, culprit=culprit)
    if close is not None and exit_status == 1 and not whole:
        return Ending(ended="failed", reason=f"{close.failed} of {close.points} points failed")
    number = _signal_seen(exit_status, text)
    if number is not None and not whole:
        return Ending(ended="rank-lost", reason=_lost(number, text, frames) + where, culprit=culprit)
    said = clean_text(whole[-1].message.encode(), 600) if whole else _last_words(talk)
    status = f"exit status {exit_status}" if exit_status is not None else "no exit status"
    if not opened and not whole:
        return Ending(ended="not-started", reason=f"the engine did not start ({status}): {said or 'it said nothing'}")
    return Ending(ended="failed", reason=f"{said or 'the engine said nothing'} ({status}){where}", culprit=culprit)


def missing_points(plan: Plan, frames: Sequence[Frame], ending: Ending) -> dict[int, str]:
    """Why each planned point without a frame has none."""
    sealed = {frame.id for frame in frames if isinstance(frame, PointRecord)}
    told = {
        it.id: clean_text(it.message.encode()) for it in frames if isinstance(it, EngineError) and it.id is not None
    }
    missing: dict[int, str] = {}
    for point in plan.points:
        if point.id in sealed:
            continue
        if point.id in told:
            missing[point.id] = told[point.id]
        elif point.id == ending.culprit:
            missing[point.id] = ending.reason
        else:
            missing[point.id] = f"not reached: {ending.reason}" if ending.reason else "the engine sent no result for it"
    return missing
