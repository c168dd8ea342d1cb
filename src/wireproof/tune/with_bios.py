"""BIOS attributes in ``wireproof tune``: set through each host's BMC, pending until the next
reboot, journalled and reverted on this machine. Their outcome is part of the document about the
running systems.
"""

import datetime
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import msgspec

from wireproof.audit.firmware import BIOS, PENDING, REGISTRY, firmware_of, written
from wireproof.audit.job import catalogue
from wireproof.bmc import (
    Bios,
    find_bios,
    newest_set,
    now_and_pending,
    set_pending,
    sets_of,
    texts_of,
    write_set,
)
from wireproof.bmc.session import BmcSession
from wireproof.bmc.talk import BmcFailed
from wireproof.model.errors import WireproofError
from wireproof.model.tuning import (
    AttributeChange,
    Bmc,
    ChangeAnswer,
    ChangeState,
    FirmwareSet,
    FirmwareState,
    HostTuned,
    PlannedAttribute,
    Raw,
    SetAnswer,
    SetState,
    Tuned,
    TunePlan,
)
from wireproof.options.bmc import BmcOptions, bmcs_of
from wireproof.tune.job import who

_Item = TypeVar("_Item")
_Done = TypeVar("_Done")
_FANOUT = 16
_PAUSES_S = (0.5, 1.5, 4.0)
_PENDING = "pending: it takes effect after a reboot, which wireproof does not trigger"
_REQUESTED = "its BIOS values were requested: `wireproof tune revert` withdraws the request"


def apply_firmware(
    wanted: Mapping[str, Sequence[PlannedAttribute]],
    bmcs: Sequence[Bmc],
    folder: Path,
    *,
    name: str,
    by: str,
) -> list[HostTuned]:
    """Request each host's attributes from its BMC for the next reboot, all or none.

    Before a BMC is changed, the old pending values are written to the journals in ``folder``.
    """
    known = {bmc.host: bmc for bmc in bmcs}
    since = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%dT%H:%M:%SZ}"

    def ask(host: str) -> HostTuned:
        if host not in known:
            return HostTuned(host=host, problem="it has no BMC: give --bmc")
        changes = [
            AttributeChange(
                id=planned.id,
                attribute=planned.attribute,
                was=planned.was,
                old=planned.pending,
                wanted=planned.wanted,
            )
            for planned in wanted[host]
        ]
        number = 1 + max((one.number for one in sets_of(folder, host)), default=0)
        made = FirmwareSet(
            id=name, host=host, by=by, since=since, number=number, state="writing", changes=changes
        )
        return _on(known[host], lambda session: _applied(session, made, folder))

    return _all(ask, list(wanted))


def revert_firmware(
    bmcs: Sequence[Bmc], folder: Path, name: str = "", *, force: bool = False
) -> list[HostTuned]:
    """Request the earlier pending values from each BMC.

    ``name`` "": the values of each host's newest set. Values that someone else has requested since
    are kept and reported unless ``force`` is set.
    """

    def ask(bmc: Bmc) -> HostTuned | None:
        journalled = newest_set(folder, bmc.host, name)
        if journalled is None:
            return None
        return _on(bmc, lambda session: _reverted(session, journalled, folder, force=force))

    return [done for done in _all(ask, list(bmcs)) if done is not None]


def firmware_status(bmcs: Sequence[Bmc], folder: Path, name: str = "") -> list[HostTuned]:
    """Return the journalled values that are pending, in force, or changed since; change nothing."""

    def ask(bmc: Bmc) -> HostTuned | None:
        sets = sets_of(folder, bmc.host, name)
        if not sets:
            return None
        return _on(bmc, lambda session: _standing(session, bmc.host, sets))

    return [done for done in _all(ask, list(bmcs)) if done is not None]


def _all(ask: Callable[[_Item], _Done], items: Sequence[_Item]) -> list[_Done]:
    with ThreadPoolExecutor(min(_FANOUT, max(1, len(items)))) as pool:
        return list(pool.map(ask, items))


def _on(bmc: Bmc, work: Callable[[BmcSession], HostTuned]) -> HostTuned:
    try:
        with BmcSession(bmc) as session:
            return work(session)
    except WireproofError as error:
        return HostTuned(host=bmc.host, problem=str(error))


def _applied(session: BmcSession, made: FirmwareSet, folder: Path) -> HostTuned:
    bios = find_bios(session)
    if wrong := _no_setting(bios, made, session.bmc):
        return HostTuned(host=made.host, problem=wrong)
    for change in made.changes:
        seen = now_and_pending(bios, change.attribute)
        if seen != (change.was, change.old):
            now = "not there" if seen is None else " and ".join(map(written, seen))
            return HostTuned(
                host=made.host,
                problem=(
                    f"{change.id} ({change.attribute}) has changed since the plan was made: {now}"
                ),
            )
    write_set(folder, made, "nothing was changed")
    wanted = {change.attribute: change.wanted for change in made.changes}
    problem = _asked(session, bios, wanted)
    bios = _read_back(session, made.changes, [] if problem else list(wanted.values()))
    if _pending(bios, made.changes) == list(wanted.values()):
        write_set(folder, _in_state(made, "pending"), _REQUESTED)
        answers = [_answer(change, bios, "applied", _PENDING) for change in made.changes]
        return HostTuned(host=made.host, changes=answers)
    return _taken_back(session, bios, made, folder, problem)


def _no_setting(bios: Bios, made: FirmwareSet, bmc: Bmc) -> str:
    """Return the reason to refuse the first change whose attribute does not belong to its setting,
    or "".

    Someone else may have written the plan file, and a BMC can change more than settings.
    """
    texts = texts_of(bios, bmc.password)
    firmware = firmware_of(*(texts.get(place, "") for place in (BIOS, PENDING, REGISTRY)))
    names_of = {name: entry.setting.names for name, entry in catalogue().entries.items()}
    for change in made.changes:
        names = names_of.get(change.id, {})
        called = [attribute.name for attribute in firmware.called(names)] if firmware else []
        if called != [change.attribute]:
            return f"{change.attribute!r} is not the only attribute of the setting {change.id!r}"
    return ""


def _asked(session: BmcSession, bios: Bios, values: Mapping[str, Raw]) -> str:
    """Request the values; return the reason why the BMC refused, or ""."""
    try:
        set_pending(session, bios, values)
    except BmcFailed as error:
        return str(error)
    return ""


def _taken_back(
    session: BmcSession, bios: Bios, made: FirmwareSet, folder: Path, problem: str
) -> HostTuned:
    """Undo a set that the BMC has accepted only in part.

    If the BMC accepted the request but does not show all values, it may have stored all of them, so
    the old values are requested for all.
    """
    state: ChangeState = "refused" if problem else "ignored"
    answers = [_answer(change, bios, state, "") for change in made.changes]
    old = [change.old for change in made.changes]
    seen = zip(made.changes, _pending(bios, made.changes), strict=True)
    moved = {
        change.attribute: change.old for change, now in seen if not problem or now != change.old
    }
    again = _asked(session, bios, moved) if moved else ""
    if moved:
        bios = _read_back(session, made.changes, old)
    back = not again and _pending(bios, made.changes) == old
    left = (_REQUESTED, "the old values were requested again")[back]
    write_set(folder, _in_state(made, "reverted" if back else "writing"), left)
    problem = problem or "the BMC accepted the request but does not show all values as pending"
    after = "the old values were requested again" if moved else "nothing is changed"
    if not back:
        after = f"the old values are not restored{f' ({again})' if again else ''}: check its jobs"
    return HostTuned(host=made.host, changes=answers, problem=f"{problem.rstrip('.')}; {after}")


def _read_back(session: BmcSession, changes: Sequence[AttributeChange], wanted: list[Raw]) -> Bios:
    """Read the BIOS, again after pauses until ``wanted`` is pending; once if it is empty."""
    bios = find_bios(session, registry=False)
    for pause_s in _PAUSES_S:
        if not wanted or _pending(bios, changes) == wanted:
            break
        time.sleep(pause_s)
        bios = find_bios(session, registry=False)
    return bios


def _reverted(
    session: BmcSession, journalled: FirmwareSet, folder: Path, *, force: bool
) -> HostTuned:
    bios = find_bios(session, registry=False)
    pending = dict(zip(journalled.changes, _pending(bios, journalled.changes), strict=True))
    moved = [change for change, now in pending.items() if now != change.old]
    ours = [change for change in moved if force or pending[change] == change.wanted]
    if ours:
        write_set(folder, _in_state(journalled, "reverting"), "nothing was changed")
        set_pending(session, bios, {change.attribute: change.old for change in ours})
        bios = _read_back(session, ours, [change.old for change in ours])
    left = set(moved) - set(ours)
    answers = [_after_revert(change, bios, change in left) for change in journalled.changes]
    done = all(answer.state == "reverted" for answer in answers)
    problem = "" if done else "not all of its pending values are restored"
    now = problem or "its pending values are restored"
    write_set(folder, _in_state(journalled, "reverted" if done else journalled.state), now)
    return HostTuned(host=journalled.host, changes=answers, problem=problem)


def _after_revert(change: AttributeChange, bios: Bios, left: bool) -> ChangeAnswer:
    seen = now_and_pending(bios, change.attribute)
    if left:
        return _answer(change, bios, "left", "another value was requested since")
    if seen is None or seen[1] != change.old:
        return _answer(change, bios, "ignored", "the BMC has not accepted the old value")
    later = "" if seen[0] == seen[1] else f"{written(seen[0])} is in force until the next reboot"
    return _answer(change, bios, "reverted", later)


def _standing(session: BmcSession, host: str, sets: Sequence[FirmwareSet]) -> HostTuned:
    bios = find_bios(session, registry=False)
    answers = [
        _now(change, bios)
        for journalled in sets
        if journalled.state != "reverted"
        for change in journalled.changes
    ]
    return HostTuned(host=host, changes=answers)


def _now(change: AttributeChange, bios: Bios) -> ChangeAnswer:
    seen = now_and_pending(bios, change.attribute)
    if seen == (change.wanted, change.wanted):
        return _answer(change, bios, "applied", "it is in force")
    if seen is not None and seen[1] == change.wanted:
        return _answer(change, bios, "applied", _PENDING)
    return _answer(change, bios, "left", "another value is pending")


def _pending(bios: Bios, changes: Sequence[AttributeChange]) -> list[Raw | None]:
    seen = [now_and_pending(bios, change.attribute) for change in changes]
    return [None if values is None else values[1] for values in seen]


def _in_state(journalled: FirmwareSet, state: FirmwareState) -> FirmwareSet:
    return msgspec.structs.replace(journalled, state=state)


def _answer(change: AttributeChange, bios: Bios, state: ChangeState, reason: str) -> ChangeAnswer:
    seen = now_and_pending(bios, change.attribute)
    return ChangeAnswer(
        id=change.id,
        state=state,
        old=written(change.old),
        wanted=written(change.wanted),
        seen="" if seen is None else written(seen[1]),
        reason=reason,
    )


def journals(environment: Mapping[str, str]) -> Path:
    """Return the folder of the journals of firmware changes: below ``XDG_STATE_HOME``, else in
    ``~/.local/state``, or in ``/var/lib`` for a user without a home.
    """
    given, home = (environment.get(name, "") for name in ("XDG_STATE_HOME", "HOME"))
    default = Path(home) / ".local" / "state" if home.startswith("/") else Path("/var/lib")
    state = Path(given) if given.startswith("/") else default
    return state / "wireproof" / "firmware"


def and_firmware(done: Tuned, plan: TunePlan, options: BmcOptions, folder: Path) -> Tuned:
    """Add the changes of the BMCs to ``done``, the outcome on the running systems.

    Only the BMCs of hosts that may be changed, and whose other changes succeeded, are contacted.
    """
    wanted = {host.host: host.firmware for host in plan.hosts if host.firmware}
    problems = _problems(done, plan)
    asked = {host: changes for host, changes in wanted.items() if host not in problems}
    bmcs = bmcs_of(options, tuple(asked)) if asked and options.sources else []
    made = apply_firmware(asked, bmcs, folder, name=done.id, by=who())
    made += [HostTuned(host=host, problem=why) for host, why in problems.items()]
    sets = {
        made_set.host: [made_set] for host in asked for made_set in sets_of(folder, host, done.id)
    }
    return _joined(done, made, sets)


def _problems(done: Tuned, plan: TunePlan) -> dict[str, str]:
    """Return the hosts whose BMC must not be contacted, with the reason."""
    planned = [host for host in plan.hosts if host.firmware]
    failed = {host.host for host in done.hosts if host.status or host.problem}
    why = {host.host: "its BIOS settings are not read" for host in planned if host.host in failed}
    return why | {host.host: host.refused for host in planned if host.refused}


def and_reverted(
    done: Tuned,
    hosts: Sequence[str],
    options: BmcOptions,
    folder: Path,
    *,
    name: str = "",
    force: bool = False,
) -> Tuned:
    """Revert the pending values of the hosts' BMCs and add the outcome to ``done``, that of the
    running systems.
    """
    open_sets = {host: newest for host in hosts if (newest := newest_set(folder, host, name))}
    if open_sets and not options.sources:
        why = "its BMC has values of set {}: give --bmc to withdraw them"
        left = [
            HostTuned(host=host, problem=why.format(newest.id))
            for host, newest in open_sets.items()
        ]
        return _joined(done, left, {})
    bmcs = bmcs_of(options, tuple(open_sets)) if open_sets else []
    made = revert_firmware(bmcs, folder, name, force=force)
    sets = {host: sets_of(folder, host, newest.id) for host, newest in open_sets.items()}
    return _joined(done, made, sets)


def and_standing(
    done: Tuned, hosts: Sequence[str], options: BmcOptions, folder: Path, *, name: str = ""
) -> Tuned:
    """Add the values that are pending on the hosts' BMCs to ``done``, the status of the running
    systems. Without a BMC only the journals are shown.
    """
    sets = {host: found for host in hosts if (found := sets_of(folder, host, name))}
    made: Iterable[HostTuned] = [HostTuned(host=host) for host in sets]
    if options.sources:
        made = firmware_status(bmcs_of(options, tuple(sets)) if sets else [], folder, name)
    return _found(_joined(done, made, sets), name)


def _found(done: Tuned, name: str) -> Tuned:
    """Report a set that no host has as an error on every host."""
    if not name or any(host.sets or host.problem for host in done.hosts):
        return done
    why = f"there is no set {name}"
    hosts = [msgspec.structs.replace(host, problem=why, status=2) for host in done.hosts]
    return msgspec.structs.replace(done, hosts=hosts)


def _joined(
    done: Tuned, made: Iterable[HostTuned], sets: Mapping[str, Sequence[FirmwareSet]]
) -> Tuned:
    hosts = {host.host: host for host in done.hosts}
    for outcome in made:
        old = hosts.get(outcome.host) or HostTuned(host=outcome.host)
        hosts[outcome.host] = msgspec.structs.replace(
            old,
            sets=[*old.sets, *map(_set, sets.get(outcome.host, ()))],
            changes=[*old.changes, *outcome.changes],
            problem="; ".join(text for text in (old.problem, outcome.problem) if text),
            status=max(old.status, 1 if outcome.problem else 0),
        )
    return msgspec.structs.replace(done, hosts=list(hosts.values()))


def _set(journalled: FirmwareSet) -> SetAnswer:
    state: SetState = "reverted" if journalled.state == "reverted" else "pending"
    broken = journalled.state in ("writing", "reverting")
    reason = "it was interrupted: `wireproof tune revert` undoes it" if broken else ""
    return SetAnswer(
        id=journalled.id, state=state, by=journalled.by, since=journalled.since, reason=reason
    )
