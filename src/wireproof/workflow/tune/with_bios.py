"""What became of the BIOS beside what became of the running systems, in one document."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from wireproof.model.bmc import FirmwareSet
from wireproof.model.tuning import HostTuned, SetAnswer, SetState, Tuned, TunePlan
from wireproof.settings.bmc import BmcOptions, bmcs_of
from wireproof.store.firmware_journal import newest_set, sets_of
from wireproof.workflow.tune.apply import who
from wireproof.workflow.tune.bios import (
    FirmwareDone,
    apply_firmware,
    firmware_status,
    revert_firmware,
)


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
