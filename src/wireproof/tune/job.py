"""The work of ``wireproof tune apply``, ``confirm``, ``revert`` and ``status``."""

import datetime
import getpass
import secrets
import socket
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from wireproof.audit.facts import HostFacts
from wireproof.audit.job import catalogue, reader_argv
from wireproof.instrument.plan_text import Collected, collect
from wireproof.launch.schedulers.slurm import CONFIGURATION, slurm_of
from wireproof.model.errors import BadInput, WireproofError
from wireproof.model.plan import FactRequest
from wireproof.model.quantity import counted
from wireproof.model.record import FactFrame
from wireproof.model.tuning import (
    ChangeAnswer,
    ChangeSet,
    HostPlan,
    HostTuned,
    Residue,
    ResidueFound,
    Standing,
    Tuned,
    TunePlan,
)
from wireproof.report.reporter import Reporter
from wireproof.target import Target
from wireproof.tune.boot import files_of, overruled, settings_files, unread
from wireproof.tune.node import (
    JournalPlace,
    apply_sets,
    ask_nodes,
    hosts_of,
    read_files,
)
from wireproof.tune.standing import (
    in_force_first,
    moved,
    places_of,
    residue_of,
    standing_of,
    values_asked,
    waiting,
)


def refusals(
    target: Target, hosts: Sequence[str], environment: Mapping[str, str]
) -> dict[str, str]:
    """Return the reason for each host that must not be changed."""
    if not hosts:
        return {}
    slurm = slurm_of(environment, target.through())
    return slurm.refusals(hosts) if slurm is not None else _configured(target, hosts)


def _configured(target: Target, hosts: Sequence[str]) -> dict[str, str]:
    """Refuse hosts that are configured for Slurm, because no Slurm responds on this machine."""
    if target.lab is not None:
        return {}
    argv_of = reader_argv(target)
    wanted = [FactRequest(kind="file", path=path) for path in CONFIGURATION]
    answers = collect({host: argv_of[host] for host in hosts}, wanted)
    why = (
        "it is configured for Slurm, but Slurm does not respond here, so it is unknown whether a"
        " job uses it"
    )
    return {
        answer.host: why
        for answer in answers
        if any(frame.status == "ok" for frame in answer.frames)
    }


DEFAULT_TIMEOUT_S = 600


def new_id() -> str:
    """Return an ID for a change set: date and time in UTC, and a suffix that distinguishes two in
    the same second.
    """
    return f"{datetime.datetime.now(datetime.UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def may_be_touched(
    plan: TunePlan,
    target: Target,
    environment: Mapping[str, str],
    place: JournalPlace | None = None,
) -> TunePlan:
    """Return the plan with a reason on each host that a scheduler has given to other jobs.

    Raises ``BadInput`` if the plan is for hosts that are not in the target.
    """
    known = set(hosts_of(target))
    strangers = [host.host for host in plan.hosts if host.host not in known]
    if strangers:
        raise BadInput(
            f"the plan is for {strangers[0]!r}, which is not among the given hosts: give the same"
            " hosts as for the plan."
        )
    wanted = [host.host for host in plan.hosts if host.changes or host.keeps or host.firmware]
    machine = place is None or not place.root
    why = refusals(target, wanted, environment) if machine else {}
    hosts = [
        msgspec.structs.replace(host, refused=host.refused or why.get(host.host, ""))
        for host in plan.hosts
    ]
    return msgspec.structs.replace(plan, hosts=hosts)


def apply(
    plan: TunePlan,
    target: Target,
    *,
    name: str = "",
    timeout_s: int = DEFAULT_TIMEOUT_S,
    place: JournalPlace | None = None,
) -> Tuned:
    """Carry out the plan on every host that may be changed and still has the plan's values.

    ``name``: ID of the set, "" for a new ID. The set reverts automatically after ``timeout_s``.
    """
    name = name or new_id()
    wanted = {row.host: row for row in plan.hosts if row.changes or row.keeps or row.refused}
    problems = _problems(target, wanted, place)
    sets = {
        host: _set(row, name, timeout_s) for host, row in wanted.items() if host not in problems
    }
    until = datetime.datetime.now().astimezone() + datetime.timedelta(seconds=timeout_s)
    answered = {answer.host: answer for answer in apply_sets(target, sets, place)} if sets else {}
    hosts = [
        answered.get(host) or HostTuned(host=host, problem=problems[host], status=1)
        for host in wanted
    ]
    armed = any(answer.status == 0 for answer in answered.values())
    shown = f"{until:%Y-%m-%d %H:%M:%S %Z}" if armed else ""
    return Tuned(action="apply", id=name, until=shown, hosts=hosts)


def _problems(
    target: Target, wanted: Mapping[str, HostPlan], place: JournalPlace | None
) -> dict[str, str]:
    """Return the reason why a host is not changed: the plan refuses it, or its values have
    changed.
    """
    refused = {host: row.refused for host, row in wanted.items() if row.refused}
    others = {host: row for host, row in wanted.items() if host not in refused}
    return refused | _moved(target, others, place)


def _set(host: HostPlan, name: str, timeout_s: int) -> ChangeSet:
    return ChangeSet(
        id=name,
        by=who(),
        timeout_s=timeout_s,
        changes=tuple(planned.change for planned in host.changes),
        keeps=tuple(planned.keep for planned in host.keeps),
    )


def who() -> str:
    """Return the user who requested the change, and the host, for the journal."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "unknown"
    text = f"{user}@{socket.gethostname()}"
    return "".join(letter if "!" <= letter <= "~" else "?" for letter in text)[:200]


def _moved(
    target: Target, wanted: Mapping[str, HostPlan], place: JournalPlace | None
) -> dict[str, str]:
    """Return the reason for each host whose values differ from those on which the plan is based."""
    if not wanted:
        return {}
    reasons: dict[str, str] = {}
    asked = {
        host: places_of([row.change for row in plan.changes], [row.keep for row in plan.keeps])
        for host, plan in wanted.items()
    }
    for answer in read_files(target, asked, place).values():
        facts = HostFacts.of(answer.host, answer.frames)
        why = answer.problem if not answer.frames else moved(wanted[answer.host], facts)
        if why:
            reasons[answer.host] = why
    return reasons


def confirm(target: Target, name: str = "", place: JournalPlace | None = None) -> Tuned:
    """Keep the set: write its drop-ins and cancel its timer.

    ``name`` "": the only waiting set, on the hosts that have it. Raises ``BadInput`` if no set or
    several sets are waiting.
    """
    hosts = hosts_of(target)
    if not name:
        name, hosts = waiting(ask_nodes(target, "status", hosts, "", place))
    answers = ask_nodes(target, "confirm", hosts, name, place)
    return Tuned(action="confirm", id=name, hosts=with_overruled(answers, target, place))


def revert(
    target: Target, name: str = "", place: JournalPlace | None = None, *, force: bool = False
) -> Tuned:
    """Restore the old values, byte for byte. ``name`` "": the values of each host's newest set."""
    more = ("--force",) if force else ()
    hosts = ask_nodes(target, "revert", hosts_of(target), name, place, *more)
    return Tuned(action="revert", id=name, hosts=hosts)


def status(target: Target, name: str = "", place: JournalPlace | None = None) -> Tuned:
    """Return the sets in force on each host, when each will be reverted, and the values that have
    changed since. Nothing is changed.
    """
    answers = ask_nodes(target, "status", hosts_of(target), name, place)
    return Tuned(action="status", id=name, hosts=[in_force_first(answer) for answer in answers])


# --- ``wireproof tune verify``: which confirmed changes are still in force, also after a reboot,
# and which file overrides them.


def verify(target: Target, name: str = "", place: JournalPlace | None = None) -> Tuned:
    """Return the confirmed sets on each host with the files that override them, and the sets that
    await confirmation; nothing is changed.

    The status of a host is 1 if one of its values or files is no longer in force.
    """
    answers = [
        _kept(answer) for answer in ask_nodes(target, "status", hosts_of(target), name, place)
    ]
    hosts = [_verified(answer) for answer in with_overruled(answers, target, place)]
    return Tuned(action="verify", id=name, hosts=hosts)


def _kept(host: HostTuned) -> HostTuned:
    sets = [change_set for change_set in host.sets if change_set.state in ("confirmed", "armed")]
    names = {change_set.id for change_set in sets if change_set.state == "confirmed"}
    changes = [change for change in host.changes if change.of in names]
    return msgspec.structs.replace(host, sets=sets, changes=changes)


def _verified(host: HostTuned) -> HostTuned:
    stands = all(change.in_force for change in host.changes)
    return host if stands or host.status else msgspec.structs.replace(host, status=1)


def with_overruled(
    answers: Sequence[HostTuned], target: Target, place: JournalPlace | None = None
) -> list[HostTuned]:
    """Return the answers, each with the file that overrides its drop-in at the next boot."""
    wanted = [
        answer.host
        for answer in answers
        if any(change.state == "kept" for change in answer.changes)
    ]
    read = read_files(target, {host: settings_files() for host in wanted}, place)
    found = {
        answer.host: _overruled(answer.changes, HostFacts.of(answer.host, read[answer.host].frames))
        for answer in answers
        if answer.host in read
    }
    return [
        msgspec.structs.replace(
            answer, changes=[_with(change, found[answer.host]) for change in answer.changes]
        )
        if found.get(answer.host)
        else answer
        for answer in answers
    ]


def _overruled(changes: Iterable[ChangeAnswer], facts: HostFacts) -> Mapping[str, str]:
    """Return, for each of our drop-ins, the lines of other files that override it, or may."""
    files = files_of(facts)
    kept = {change.id: files[change.id] for change in changes if change.id in files}
    return {path: why for path, text in kept.items() if (why := _why(files, facts, {path: text}))}


def _why(files: Mapping[str, str], facts: HostFacts, ours: Mapping[str, str]) -> str:
    lines = [
        f"{line.file} overrides {line.place} with {line.says}"
        for line in overruled(files, ours).values()
    ]
    return "; ".join([*lines, *(["at the next boot"] if lines else []), *unread(facts, ours)])


def _with(change: ChangeAnswer, reasons: Mapping[str, str]) -> ChangeAnswer:
    if change.state != "kept" or change.id not in reasons:
        return change
    return msgspec.structs.replace(change, reason=reasons[change.id])


def residue(target: Target, reporter: Reporter, place: JournalPlace | None = None) -> Residue:
    """Return the files and values that earlier changes have left on the hosts; nothing is changed.

    A host that does not respond is listed as ``unread``.
    """
    hosts = hosts_of(target)
    known = catalogue()
    where = place or JournalPlace()
    if len(hosts) > 1:
        reporter.say(f"reading the settings' files of {counted(len(hosts), 'host')}")
    first = read_files(target, {host: settings_files() for host in hosts}, where)
    asked = {
        host: values_asked(HostFacts.of(host, answer.frames), known)
        for host, answer in first.items()
    }
    second = read_files(target, asked, where)
    states = {answer.host: answer for answer in ask_nodes(target, "status", hosts, "", where)}
    found: list[ResidueFound] = []
    for host in hosts:
        more = second[host].frames if host in second else ()
        found += _of_host(first[host], more, states[host])
    return Residue(hosts=list(hosts), found=found)


def _of_host(answer: Collected, more: Sequence[FactFrame], state: HostTuned) -> list[ResidueFound]:
    if not answer.frames:
        return [
            ResidueFound(host=answer.host, kind="unread", place="the host", message=answer.problem)
        ]
    return residue_of(HostFacts.of(answer.host, (*answer.frames, *more)), state, catalogue())


_MOST_HOSTS = 256
"""Maximum number of hosts whose journals are read, because each host needs a separate process."""


def standing_on(target: Target) -> Standing | None:
    """Return the changes that are now in force according to the journals of the target's hosts;
    None for more than 256 hosts, and for a machine that consists only of files. Errors are stored
    in the result, so that no measurement is lost.
    """
    hosts = hosts_of(target)
    if len(hosts) > _MOST_HOSTS or target.sysfs_root:
        return None
    try:
        found = standing_of(ask_nodes(target, "status", hosts))
    except WireproofError as error:
        found = Standing(hosts=list(hosts), unread={str(error): list(hosts)})
    lab = target.lab.name if target.lab is not None else ""
    return msgspec.structs.replace(found, here=not target.hosts, lab=lab)
