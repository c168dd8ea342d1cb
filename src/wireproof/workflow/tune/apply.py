"""The work of ``wireproof tune apply``, ``confirm``, ``revert`` and ``status``."""

import datetime
import getpass
import secrets
import socket
from collections.abc import Mapping, Sequence

import msgspec

from wireproof.audit.facts import HostFacts
from wireproof.instrument.facts import Collected, collect
from wireproof.launch.schedulers.slurm import CONFIGURATION, slurm_of
from wireproof.model.errors import BadInput
from wireproof.model.plan import FactRequest
from wireproof.model.tuning import ChangeSet, HostPlan, HostTuned, Tuned, TunePlan
from wireproof.tune.standing import in_force_first, moved, places_of, waiting
from wireproof.workflow.audit import reader_argv
from wireproof.workflow.target.target import Target
from wireproof.workflow.tune.node import (
    JournalPlace,
    apply_sets,
    ask_nodes,
    hosts_of,
    read_files,
)
from wireproof.workflow.tune.verify import with_overruled


def refusals(
    target: Target, hosts: Sequence[str], environment: Mapping[str, str]
) -> dict[str, str]:
    """Return the reason for each host that may not be changed."""
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
    why = "it is configured for Slurm, which does not respond here to tell whose job has it"
    return {
        answer.host: why
        for answer in answers
        if any(frame.status == "ok" for frame in answer.frames)
    }


DEFAULT_TIMEOUT_S = 600


def new_id() -> str:
    """Return an ID for a change set: date and time in UTC, and a suffix that separates two in the
    same second.
    """
    return f"{datetime.datetime.now(datetime.UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def may_be_touched(
    plan: TunePlan,
    target: Target,
    environment: Mapping[str, str],
    place: JournalPlace | None = None,
) -> TunePlan:
    """Return the plan with the reason on each host that a scheduler has given to others.

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

    ``name``: ID of the set, "" for a new ID. The set reverts by itself after ``timeout_s``.
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
    """Return why a host is left alone: the plan refuses it, or its values have changed."""
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
    """Return who asked, from where, for the journal."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "somebody"
    text = f"{user}@{socket.gethostname()}"
    return "".join(letter if "!" <= letter <= "~" else "?" for letter in text)[:200]


def _moved(
    target: Target, wanted: Mapping[str, HostPlan], place: JournalPlace | None
) -> dict[str, str]:
    """Return the reason for each host whose values differ from those that the plan was made
    from.
    """
    if not wanted:
        return {}
    reasons: dict[str, str] = {}
    for answer in _read_again(target, wanted, place):
        facts = HostFacts.of(answer.host, answer.frames)
        why = answer.problem if not answer.frames else moved(wanted[answer.host], facts)
        if why:
            reasons[answer.host] = why
    return reasons


def _read_again(
    target: Target, wanted: Mapping[str, HostPlan], place: JournalPlace | None
) -> list[Collected]:
    """Read the places of each host's plan; hosts with the same places are read together."""
    asked = {
        host: places_of([row.change for row in plan.changes], [row.keep for row in plan.keeps])
        for host, plan in wanted.items()
    }
    return list(read_files(target, asked, place).values())


def confirm(target: Target, name: str = "", place: JournalPlace | None = None) -> Tuned:
    """Keep the set: its drop-ins are written and its timer is cancelled.

    ``name`` "": the only waiting set, on the hosts that have it. Raises ``BadInput`` if none or
    several wait.
    """
    hosts = hosts_of(target)
    if not name:
        name, hosts = waiting(ask_nodes(target, "status", hosts, "", place))
    answers = ask_nodes(target, "confirm", hosts, name, place)
    return Tuned(action="confirm", id=name, hosts=with_overruled(answers, target, place))


def revert(
    target: Target, name: str = "", place: JournalPlace | None = None, *, force: bool = False
) -> Tuned:
    """Restore the old values, byte for byte. ``name`` "": those of the newest set of each host."""
    more = ("--force",) if force else ()
    hosts = ask_nodes(target, "revert", hosts_of(target), name, place, *more)
    return Tuned(action="revert", id=name, hosts=hosts)


def status(target: Target, name: str = "", place: JournalPlace | None = None) -> Tuned:
    """Return what is applied where, until when, and what has changed since; nothing is changed."""
    answers = ask_nodes(target, "status", hosts_of(target), name, place)
    return Tuned(action="status", id=name, hosts=[in_force_first(answer) for answer in answers])
