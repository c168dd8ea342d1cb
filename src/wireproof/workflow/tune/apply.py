"""The work of ``wireproof tune apply``, ``confirm``, ``revert`` and ``status``."""

import datetime
import getpass
import secrets
import socket
from collections.abc import Mapping, Sequence

import msgspec

from wireproof.audit.facts import HostFacts
from wireproof.instrument.facts import Collected, collect
from wireproof.launch.schedulers.slurm_nodes import CONFIGURATION, slurm_of
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
    """Why a host may not be changed, one sentence each; hosts that may be are not in it."""
    if not hosts:
        return {}
    slurm = slurm_of(environment, target.through())
    return slurm.refusals(hosts) if slurm is not None else _configured(target, hosts)


def _configured(target: Target, hosts: Sequence[str]) -> dict[str, str]:
    """No Slurm answers here: hosts that have its configuration are refused."""
    if target.lab is not None:
        return {}
    argv_of = reader_argv(target)
    wanted = [FactRequest(kind="file", path=path) for path in CONFIGURATION]
    answers = collect({host: argv_of[host] for host in hosts}, wanted)
    why = "it is configured for Slurm, which does not answer here and say who has it"
    return {one.host: why for one in answers if any(each.status == "ok" for each in one.frames)}


DEFAULT_TIMEOUT_S = 600


def new_id() -> str:
    """Of a change set: the date and time in UTC, and what keeps two of one second apart."""
    return f"{datetime.datetime.now(datetime.UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def may_be_touched(
    plan: TunePlan,
    target: Target,
    environment: Mapping[str, str],
    place: JournalPlace | None = None,
) -> TunePlan:
    """The plan with the reason on each host that a scheduler gives to others. Raises ``BadInput``
    when the plan is for hosts that are not the target's.
    """
    known = set(hosts_of(target))
    strangers = [one.host for one in plan.hosts if one.host not in known]
    if strangers:
        raise BadInput(
            f"the plan is for {strangers[0]!r}, which is none of the hosts that are given: name the"
            " same hosts as for the plan."
        )
    wanted = [one.host for one in plan.hosts if one.changes or one.keeps or one.firmware]
    machine = place is None or not place.root
    why = refusals(target, wanted, environment) if machine else {}
    hosts = [
        msgspec.structs.replace(one, refused=one.refused or why.get(one.host, ""))
        for one in plan.hosts
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
    """Carry the plan out on every host that may be touched and whose values are still those of the
    plan. ``name``: of the set; "" makes one. The set reverts by itself after ``timeout_s``.
    """
    name = name or new_id()
    wanted = {one.host: one for one in plan.hosts if one.changes or one.keeps or one.refused}
    problems = _problems(target, wanted, place)
    sets = {
        host: _set(one, name, timeout_s) for host, one in wanted.items() if host not in problems
    }
    until = datetime.datetime.now().astimezone() + datetime.timedelta(seconds=timeout_s)
    answered = {one.host: one for one in apply_sets(target, sets, place)} if sets else {}
    hosts = [
        answered.get(host) or HostTuned(host=host, problem=problems[host], status=1)
        for host in wanted
    ]
    armed = any(one.status == 0 for one in answered.values())
    shown = f"{until:%Y-%m-%d %H:%M:%S %Z}" if armed else ""
    return Tuned(action="apply", id=name, until=shown, hosts=hosts)


def _problems(
    target: Target, wanted: Mapping[str, HostPlan], place: JournalPlace | None
) -> dict[str, str]:
    """Why a host is left alone: refused by the plan, or its values have moved."""
    refused = {host: one.refused for host, one in wanted.items() if one.refused}
    others = {host: one for host, one in wanted.items() if host not in refused}
    return refused | _moved(target, others, place)


def _set(one: HostPlan, name: str, timeout_s: int) -> ChangeSet:
    return ChangeSet(
        id=name,
        by=who(),
        timeout_s=timeout_s,
        changes=tuple(each.change for each in one.changes),
        keeps=tuple(each.keep for each in one.keeps),
    )


def who() -> str:
    """For the journal: who asked, from where."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "somebody"
    text = f"{user}@{socket.gethostname()}"
    return "".join(letter if "!" <= letter <= "~" else "?" for letter in text)[:200]


def _moved(
    target: Target, wanted: Mapping[str, HostPlan], place: JournalPlace | None
) -> dict[str, str]:
    """Hosts whose values are not those that the plan was made from, with the sentence."""
    if not wanted:
        return {}
    found: dict[str, str] = {}
    for one in _read_again(target, wanted, place):
        facts = HostFacts.of(one.host, one.frames)
        why = one.problem if not one.frames else moved(wanted[one.host], facts)
        if why:
            found[one.host] = why
    return found


def _read_again(
    target: Target, wanted: Mapping[str, HostPlan], place: JournalPlace | None
) -> list[Collected]:
    """The places of each host's plan; hosts with the same places together."""
    asked = {
        host: places_of([each.change for each in one.changes], [each.keep for each in one.keeps])
        for host, one in wanted.items()
    }
    return list(read_files(target, asked, place).values())


def confirm(target: Target, name: str = "", place: JournalPlace | None = None) -> Tuned:
    """Keep the set: its drop-ins are written and its timer ends. ``name`` "": of the single set
    that waits, on the hosts where it does. Raises ``BadInput`` when none or several wait.
    """
    hosts = hosts_of(target)
    if not name:
        name, hosts = waiting(ask_nodes(target, "status", hosts, "", place))
    answers = ask_nodes(target, "confirm", hosts, name, place)
    return Tuned(action="confirm", id=name, hosts=with_overruled(answers, target, place))


def revert(
    target: Target, name: str = "", place: JournalPlace | None = None, *, force: bool = False
) -> Tuned:
    """Bring the old values back, byte for byte. ``name`` "": of the newest set of each host."""
    more = ("--force",) if force else ()
    hosts = ask_nodes(target, "revert", hosts_of(target), name, place, *more)
    return Tuned(action="revert", id=name, hosts=hosts)


def status(target: Target, name: str = "", place: JournalPlace | None = None) -> Tuned:
    """What is applied where, until when, and what has moved since; nothing is changed."""
    answers = ask_nodes(target, "status", hosts_of(target), name, place)
    return Tuned(action="status", id=name, hosts=[in_force_first(one) for one in answers])
