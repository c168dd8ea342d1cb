"""Attributes of the BIOS in the work of ``wireproof tune``: asked for on each host's BMC, pending
until the host is started anew, journalled here and taken back from here.
"""

import datetime
import functools
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import msgspec

from wireproof.audit.firmware import BIOS, PENDING, REGISTRY, firmware_of
from wireproof.bmc.bios import Bios, find_bios, now_and_pending, set_pending
from wireproof.bmc.collect import texts_of
from wireproof.bmc.session import BmcSession
from wireproof.bmc.talk import BmcFailed
from wireproof.model.bmc import (
    AttributeChange,
    Bmc,
    FirmwareSet,
    FirmwareState,
    PlannedAttribute,
    Raw,
)
from wireproof.model.errors import WireproofError
from wireproof.model.tuning import ChangeAnswer, ChangeState
from wireproof.store.firmware_journal import newest_set, sets_of, write_set
from wireproof.workflow.audit import catalogue

_Item = TypeVar("_Item")
_Done = TypeVar("_Done")
_FANOUT = 16
_PAUSES_S = (0.5, 1.5, 4.0)
_PENDING = "pending: it takes effect after a reboot, which wireproof does not start"


class FirmwareDone(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one host's attributes. ``problem``: why it did not do what was asked."""

    host: str
    changes: list[ChangeAnswer] = msgspec.field(default_factory=list)
    sets: list[FirmwareSet] = msgspec.field(default_factory=list)
    problem: str = ""


def apply_firmware(
    wanted: Mapping[str, Sequence[PlannedAttribute]],
    bmcs: Sequence[Bmc],
    folder: Path,
    *,
    name: str,
    by: str,
) -> list[FirmwareDone]:
    """Ask each BMC for what is wanted of its host at the next reboot. ``folder``: of the journals;
    the old pending values are there, on the disk, before a BMC is changed. All of a host or none.
    """
    known = {bmc.host: bmc for bmc in bmcs}
    since = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%dT%H:%M:%SZ}"

    def one(host: str) -> FirmwareDone:
        if host not in known:
            return FirmwareDone(host=host, problem="no BMC is given for it: give --bmc")
        changes = [
            AttributeChange(
                id=each.id,
                attribute=each.attribute,
                was=each.was,
                old=each.pending,
                wanted=each.wanted,
            )
            for each in wanted[host]
        ]
        made = FirmwareSet(id=name, host=host, by=by, since=since, state="writing", changes=changes)
        return _on(known[host], lambda session: _applied(session, made, folder))

    return _all(one, list(wanted))


def revert_firmware(
    bmcs: Sequence[Bmc], folder: Path, name: str = "", *, force: bool = False
) -> list[FirmwareDone]:
    """Ask each BMC for the pending values of before. ``name`` "": of the newest set of each host.
    A value that somebody else has asked for since is left and named, unless ``force``.
    """

    def one(bmc: Bmc) -> FirmwareDone | None:
        found = newest_set(folder, bmc.host, name)
        if found is None:
            return None
        return _on(bmc, lambda session: _reverted(session, found, folder, force=force))

    return [done for done in _all(one, list(bmcs)) if done is not None]


def firmware_status(bmcs: Sequence[Bmc], folder: Path, name: str = "") -> list[FirmwareDone]:
    """What of the journalled sets is pending, counts, or was changed since. Nothing is changed."""

    def one(bmc: Bmc) -> FirmwareDone | None:
        sets = sets_of(folder, bmc.host, name)
        if not sets:
            return None
        return _on(bmc, lambda session: _standing(session, bmc.host, sets))

    return [done for done in _all(one, list(bmcs)) if done is not None]


def _all(one: Callable[[_Item], _Done], items: Sequence[_Item]) -> list[_Done]:
    with ThreadPoolExecutor(min(_FANOUT, max(1, len(items)))) as pool:
        return list(pool.map(one, items))


def _on(bmc: Bmc, work: Callable[[BmcSession], FirmwareDone]) -> FirmwareDone:
    try:
        with BmcSession(bmc) as session:
            return work(session)
    except WireproofError as error:
        return FirmwareDone(host=bmc.host, problem=str(error))


def _applied(session: BmcSession, made: FirmwareSet, folder: Path) -> FirmwareDone:
    bios = find_bios(session)
    if wrong := _no_setting(bios, made, session.bmc):
        return FirmwareDone(host=made.host, problem=wrong)
    for one in made.changes:
        seen = now_and_pending(bios, one.attribute)
        if seen != (one.was, one.old):
            now = "not there" if seen is None else " and ".join(map(_text, seen))
            return FirmwareDone(
                host=made.host,
                problem=f"{one.id} ({one.attribute}) is another than when the plan was made: {now}",
            )
    write_set(folder, made)
    wanted = {one.attribute: one.wanted for one in made.changes}
    problem = _asked(session, bios, wanted)
    bios = _read_back(session, made.changes, [] if problem else list(wanted.values()))
    if _pending(bios, made.changes) == list(wanted.values()):
        write_set(folder, _in_state(made, "pending"))
        answers = [_answer(one, bios, "applied", _PENDING) for one in made.changes]
        return FirmwareDone(host=made.host, changes=answers)
    return _taken_back(session, bios, made, folder, problem)


def _no_setting(bios: Bios, made: FirmwareSet, bmc: Bmc) -> str:
    """The first change that is no attribute of the setting that it says it is: a plan may be a file
    that somebody else has written, and a BMC has more to change than settings. "" when none is.
    """
    texts = texts_of(bios, bmc.password)
    firmware = firmware_of(*(texts.get(place, "") for place in (BIOS, PENDING, REGISTRY)))
    names_of = _names_of()
    for one in made.changes:
        names = names_of.get(one.id, {})
        found = [each.name for each in firmware.called(names)] if firmware else []
        if found != [one.attribute]:
            return f"{one.attribute!r} is not the one attribute of a setting {one.id!r}"
    return ""


@functools.cache
def _names_of() -> dict[str, dict[str, tuple[str, ...]]]:
    return {name: entry.setting.names for name, entry in catalogue().entries.items()}


def _asked(session: BmcSession, bios: Bios, values: Mapping[str, Raw]) -> str:
    """Why the BMC refused; "" when it did not."""
    try:
        set_pending(session, bios, values)
    except BmcFailed as error:
        return str(error)
    return ""


def _taken_back(
    session: BmcSession, bios: Bios, made: FirmwareSet, folder: Path, problem: str
) -> FirmwareDone:
    """All or nothing: what the BMC has taken of a set that it has not taken whole. Where it took
    the request and does not show all values, it may have all of them: it is asked for the old ones.
    """
    answers = [_answer(one, bios, "refused" if problem else "ignored", "") for one in made.changes]
    old = [one.old for one in made.changes]
    seen = zip(made.changes, _pending(bios, made.changes), strict=True)
    moved = {one.attribute: one.old for one, now in seen if not problem or now != one.old}
    again = _asked(session, bios, moved) if moved else ""
    if moved:
        bios = _read_back(session, made.changes, old)
    back = not again and _pending(bios, made.changes) == old
    write_set(folder, _in_state(made, "reverted" if back else "writing"))
    problem = problem or "the BMC took the request and does not show all of its values as pending"
    after = "the old values were requested again" if moved else "nothing is changed"
    if not back:
        after = f"the old values are not back{f' ({again})' if again else ''}: look at its jobs"
    return FirmwareDone(host=made.host, changes=answers, problem=f"{problem.rstrip('.')}; {after}")


def _read_back(session: BmcSession, changes: Sequence[AttributeChange], wanted: list[Raw]) -> Bios:
    """The BIOS once it shows what is ``wanted`` as pending, or after some seconds: BMCs may take a
    moment. [] : as it is.
    """
    bios = find_bios(session, registry=False)
    for pause_s in _PAUSES_S:
        if not wanted or _pending(bios, changes) == wanted:
            break
        time.sleep(pause_s)
        bios = find_bios(session, registry=False)
    return bios


def _reverted(
    session: BmcSession, found: FirmwareSet, folder: Path, *, force: bool
) -> FirmwareDone:
    bios = find_bios(session, registry=False)
    pending = dict(zip(found.changes, _pending(bios, found.changes), strict=True))
    moved = [one for one, now in pending.items() if now != one.old]
    ours = [one for one in moved if force or pending[one] == one.wanted]
    if ours:
        write_set(folder, _in_state(found, "reverting"))
        set_pending(session, bios, {one.attribute: one.old for one in ours})
        bios = _read_back(session, ours, [one.old for one in ours])
    left = set(moved) - set(ours)
    answers = [_after_revert(one, bios, one in left) for one in found.changes]
    done = all(one.state == "reverted" for one in answers)
    write_set(folder, _in_state(found, "reverted" if done else found.state))
    problem = "" if done else "not all of its pending values are those of before"
    return FirmwareDone(host=found.host, changes=answers, problem=problem)


def _after_revert(one: AttributeChange, bios: Bios, left: bool) -> ChangeAnswer:
    seen = now_and_pending(bios, one.attribute)
    if left:
        return _answer(one, bios, "left", "another value was requested since")
    if seen is None or seen[1] != one.old:
        return _answer(one, bios, "ignored", "the BMC has not taken the old value")
    later = "" if seen[0] == seen[1] else f"{_text(seen[0])} counts until the next reboot"
    return _answer(one, bios, "reverted", later)


def _standing(session: BmcSession, host: str, sets: Sequence[FirmwareSet]) -> FirmwareDone:
    bios = find_bios(session, registry=False)
    answers = [_now(one, bios) for each in sets if each.state != "reverted" for one in each.changes]
    return FirmwareDone(host=host, changes=answers, sets=list(sets))


def _now(one: AttributeChange, bios: Bios) -> ChangeAnswer:
    seen = now_and_pending(bios, one.attribute)
    if seen == (one.wanted, one.wanted):
        return _answer(one, bios, "applied", "it counts")
    if seen is not None and seen[1] == one.wanted:
        return _answer(one, bios, "applied", _PENDING)
    return _answer(one, bios, "left", "another value is pending")


def _pending(bios: Bios, changes: Sequence[AttributeChange]) -> list[Raw | None]:
    seen = [now_and_pending(bios, one.attribute) for one in changes]
    return [None if one is None else one[1] for one in seen]


def _in_state(one: FirmwareSet, state: FirmwareState) -> FirmwareSet:
    return msgspec.structs.replace(one, state=state)


def _answer(one: AttributeChange, bios: Bios, state: ChangeState, reason: str) -> ChangeAnswer:
    seen = now_and_pending(bios, one.attribute)
    return ChangeAnswer(
        id=one.id,
        state=state,
        old=_text(one.old),
        wanted=_text(one.wanted),
        seen="" if seen is None else _text(seen[1]),
        reason=reason,
    )


def _text(value: Raw) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
