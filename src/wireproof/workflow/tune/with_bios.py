"""Attributes of the BIOS in the work of ``wireproof tune``: asked for on each host's BMC, pending
until the host is started anew, journalled here and taken back from here. What became of them stands
in one document beside what became of the running systems.
"""

import datetime
import functools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from wireproof.model.tuning import (
    ChangeAnswer,
    ChangeState,
    HostTuned,
    SetAnswer,
    SetState,
    Tuned,
    TunePlan,
)
from wireproof.settings.bmc import BmcOptions, bmcs_of
from wireproof.store.firmware_journal import newest_set, sets_of, write_set
from wireproof.workflow.audit import catalogue
from wireproof.workflow.tune.apply import who

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


def journals(environment: Mapping[str, str]) -> Path:
    """The folder of the journals of firmware changes: below ``XDG_STATE_HOME``, else in
    ``~/.local/state``; ``/var/lib`` for a user without a home.
    """
    given, home = (environment.get(name, "") for name in ("XDG_STATE_HOME", "HOME"))
    own = Path(home) / ".local" / "state" if home.startswith("/") else Path("/var/lib")
    state = Path(given) if given.startswith("/") else own
    return state / "wireproof" / "firmware"


def and_firmware(done: Tuned, plan: TunePlan, options: BmcOptions, folder: Path) -> Tuned:
    """``done``: of the running systems. Then the BMCs are asked: of those hosts that may be touched
    and whose own changes were made.
    """
    wanted = {one.host: one.firmware for one in plan.hosts if one.firmware}
    problems = _problems(done, plan)
    asked = {host: changes for host, changes in wanted.items() if host not in problems}
    bmcs = bmcs_of(options, tuple(asked)) if asked and options.sources else []
    made = apply_firmware(asked, bmcs, folder, name=done.id, by=who())
    made += [FirmwareDone(host=host, problem=why) for host, why in problems.items()]
    sets = {one.host: [one] for host in asked for one in sets_of(folder, host, done.id)}
    return _joined(done, made, sets)


def _problems(done: Tuned, plan: TunePlan) -> dict[str, str]:
    """Hosts whose BMC is not to be asked, and why."""
    planned = [one for one in plan.hosts if one.firmware]
    failed = {one.host for one in done.hosts if one.status or one.problem}
    why = {one.host: "its BIOS settings are not read" for one in planned if one.host in failed}
    return why | {one.host: one.refused for one in planned if one.refused}


def and_reverted(
    done: Tuned,
    hosts: Sequence[str],
    options: BmcOptions,
    folder: Path,
    *,
    name: str = "",
    force: bool = False,
) -> Tuned:
    """``done``: of the running systems; with the pending values of the hosts' BMCs taken back."""
    open_sets = {host: one for host in hosts if (one := newest_set(folder, host, name))}
    if open_sets and not options.sources:
        return _joined(done, [_no_bmc(host, one) for host, one in open_sets.items()], {})
    bmcs = bmcs_of(options, tuple(open_sets)) if open_sets else []
    made = revert_firmware(bmcs, folder, name, force=force)
    sets = {host: sets_of(folder, host, one.id) for host, one in open_sets.items()}
    return _joined(done, made, sets)


def and_standing(
    done: Tuned, hosts: Sequence[str], options: BmcOptions, folder: Path, *, name: str = ""
) -> Tuned:
    """``done``: of the running systems; with what is pending on the hosts' BMCs. Without a BMC the
    journals alone are shown.
    """
    sets = {host: found for host in hosts if (found := sets_of(folder, host, name))}
    made: Iterable[FirmwareDone] = [FirmwareDone(host=host) for host in sets]
    if options.sources:
        made = firmware_status(bmcs_of(options, tuple(sets)) if sets else [], folder, name)
    return _found(_joined(done, made, sets), name)


def _found(done: Tuned, name: str) -> Tuned:
    """A set that no host has is a wrong name."""
    if not name or any(one.sets or one.problem for one in done.hosts):
        return done
    why = f"there is no set {name}"
    hosts = [msgspec.structs.replace(one, problem=why, status=2) for one in done.hosts]
    return msgspec.structs.replace(done, hosts=hosts)


def _no_bmc(host: str, one: FirmwareSet) -> FirmwareDone:
    why = f"its BMC has values of set {one.id}: give --bmc to take them back"
    return FirmwareDone(host=host, problem=why)


def _joined(
    done: Tuned, made: Iterable[FirmwareDone], sets: Mapping[str, Sequence[FirmwareSet]]
) -> Tuned:
    hosts = {one.host: one for one in done.hosts}
    for one in made:
        old = hosts.get(one.host) or HostTuned(host=one.host)
        hosts[one.host] = msgspec.structs.replace(
            old,
            sets=[*old.sets, *map(_set, sets.get(one.host, ()))],
            changes=[*old.changes, *one.changes],
            problem="; ".join(text for text in (old.problem, one.problem) if text),
            status=max(old.status, 1 if one.problem else 0),
        )
    return msgspec.structs.replace(done, hosts=list(hosts.values()))


def _set(one: FirmwareSet) -> SetAnswer:
    state: SetState = "reverted" if one.state == "reverted" else "pending"
    broken = one.state in ("writing", "reverting")
    reason = "it was interrupted: `wireproof tune revert` undoes it" if broken else ""
    return SetAnswer(id=one.id, state=state, by=one.by, since=one.since, reason=reason)
