"""The work of ``wireproof tune plan``: audit, and the changes that mend what fails; and of ``tune
export``: a plan as files of other tools.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import socket
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from wireproof.audit.catalogue import Catalogue
from wireproof.audit.facts import HostFacts
from wireproof.audit.interfaces import default_interfaces, with_lower
from wireproof.audit.machine import Machine, machine_of
from wireproof.files.hostile import open_regular, replace_file
from wireproof.instrument.facts import Collected
from wireproof.launch.here import is_here
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.plan import FactRequest
from wireproof.model.record import FactFrame
from wireproof.model.setting import Profile
from wireproof.model.tuning import HostPlan, TunePlan
from wireproof.settings.bmc import BmcOptions, bmcs_of
from wireproof.settings.hosts import fold_hosts
from wireproof.settings.options import Options
from wireproof.store.snapshot import is_snapshot
from wireproof.tune.bios import firmware_wishes, with_attributes
from wireproof.tune.carrying import CONNECTIONS, coupled_with, having, ssh_addresses
from wireproof.tune.export import FORMS, ansible
from wireproof.tune.named import Named, named_all, nowhere
from wireproof.tune.plan import Allowed, host_plan, of_lab
from wireproof.tune.read import read_plan
from wireproof.tune.settings_files import files_of, overruled, settings_files, unread
from wireproof.tune.wishes import DROP_INS, Wish, requests_of, wishes_of
from wireproof.workflow.audit import (
    catalogue,
    facts_of_source,
    facts_of_target,
)
from wireproof.workflow.firmware import with_firmware
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.target.resolve import resolve_target
from wireproof.workflow.target.target import Target, this_machine
from wireproof.workflow.tune.node import JournalPlace, hosts_of, read_files


def carrying(
    target: Target, host: str, facts: HostFacts, environment: Mapping[str, str]
) -> frozenset[str] | None:
    """Names of the interfaces, with all that they stand on; None where they are not known.

    A lab's node is reached without any of its interfaces. Of this machine it is those of open ssh
    connections and of the default route: sudo forgets by which of them somebody is logged in.
    """
    if target.lab is not None:
        return frozenset()
    sessions = ssh_addresses(facts)
    if not target.hosts or is_here(host):
        words = environment.get("SSH_CONNECTION", "").split()
        found = having(facts, sessions | set(words[2:3])) | default_interfaces(facts)
        return with_lower(facts, found)
    reached = having(facts, _addresses(host))
    if not reached:
        return None
    return with_lower(facts, reached | having(facts, sessions))


def _addresses(host: str) -> list[str]:
    with contextlib.suppress(OSError, UnicodeError):
        return [str(one[4][0]) for one in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
    return []


_LARGEST_PLAN = 64 << 20
_OSTREE = FactRequest(kind="file", path="/run/ostree-booted")


@dataclass(frozen=True)
class PlanSpecification:
    """``asked``: settings by name, some with a value; none: all that fail. ``source``: a snapshot,
    a folder with a host's files, or a sosreport, in place of the target's hosts. ``root``: files of
    this machine are read and changed below this folder. ``skip``: settings that are left out.
    """

    target: Options = field(default_factory=lambda: Options(alone=True))
    profile: Profile = "throughput"
    asked: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    source: Path | None = None
    root: Path | None = None
    allow_link_down: bool = False
    bmc: BmcOptions = field(default_factory=BmcOptions)


def target_of(specification: PlanSpecification, environment: Mapping[str, str]) -> Target:
    """The hosts; with ``root`` this machine alone."""
    if specification.root is not None:
        return this_machine()
    return resolve_target(specification.target, environment)


def plan(
    specification: PlanSpecification, reporter: Reporter, environment: Mapping[str, str]
) -> TunePlan:
    """The changes of every host. Raises ``BadInput`` for a name that is no setting, and
    ``CouldNotMeasure`` when no host answers.
    """
    known = catalogue()
    asked = named_all(specification.asked, known)
    skipped = {known.get(name).setting.id for name in specification.skip}

    def wishes_on(machine: Machine) -> list[Wish]:
        found = wishes_of(machine, known, specification.profile, asked)
        return [wish for wish in found if wish.entry.setting.id not in skipped]

    hosts = _Hosts(specification, known, reporter, environment)
    answers = hosts.read()
    if not any(one.frames for one in answers):
        raise CouldNotMeasure(f"no host gave its settings: {answers[0].problem}.")
    machines = {one.host: _machine(one) for one in answers}
    wishes = {host: wishes_on(machine) for host, machine in machines.items()}
    answers = hosts.read_more(answers, wishes, asked)
    made = [_host(one, wishes[one.host], asked, hosts) for one in answers]
    if wrong := nowhere([_machine(one) for one in answers if one.frames], known, asked):
        raise BadInput(wrong)
    return TunePlan(profile=specification.profile, made=_now(), hosts=made)


def load_plan(path: Path) -> TunePlan:
    """A plan that ``tune plan -o`` has written. ``BadInput`` when it is none."""
    try:
        with open_regular(path) as file:
            data = file.read(_LARGEST_PLAN)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    return read_plan(data, str(path))


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _machine(answer: Collected) -> Machine:
    return machine_of(HostFacts.of(answer.host, answer.frames))


def _host(
    answer: Collected, wishes: Sequence[Wish], asked: Sequence[Named], hosts: _Hosts
) -> HostPlan:
    if not answer.frames:
        return HostPlan(host=answer.host, refused=answer.problem)
    machine = _machine(answer)
    made = host_plan(machine, wishes, asked, hosts.allowed(answer.host, machine.facts))
    if hosts.target is not None and hosts.target.lab is not None:
        return of_lab(made)
    made = _with_overruled(made, machine.facts)
    named = [one for one in asked if one.name]
    if asked and not named:
        return made
    profile = hosts.specification.profile
    return with_attributes(made, firmware_wishes(machine, hosts.known, profile, named))


def _with_overruled(made: HostPlan, facts: HostFacts) -> HostPlan:
    """With a note for each value of its drop-ins that another file overrules."""
    ours = {one.keep.path: one.keep.text for one in made.keeps}
    notes = [
        f"{one.place}: {one.file} says {one.says} and overrules ours at the next boot"
        for one in overruled(files_of(facts), ours).values()
    ]
    return msgspec.structs.replace(made, notes=[*made.notes, *notes, *unread(facts, ours)])


class _Hosts:
    """Where the facts come from: the target's hosts, or a source."""

    def __init__(
        self,
        specification: PlanSpecification,
        known: Catalogue,
        reporter: Reporter,
        environment: Mapping[str, str],
    ) -> None:
        self.specification, self.known = specification, known
        self.reporter, self.environment = reporter, environment
        self.source = specification.source or specification.root
        self.target = target_of(specification, environment) if self.source is None else None

    def read(self) -> list[Collected]:
        """With what the BMCs say of the firmware, where they are given."""
        found, bmc = self._read(), self.specification.bmc
        if not bmc.sources:
            return found
        if self.specification.source is not None:
            raise BadInput("--from has the firmware's settings of its time: leave out --bmc.")
        return with_firmware(found, bmcs_of(bmc, [one.host for one in found]), self.reporter)

    def _read(self) -> list[Collected]:
        if self.target is None:
            assert self.source is not None  # noqa: S101 - one of the two
            found = facts_of_source(self.source, self.known)
            here = self.specification.root is not None
            return [dataclasses.replace(one, host=_here()) for one in found] if here else found
        return facts_of_target(self.target, self.known, self.reporter, self.environment)

    def read_more(
        self,
        answers: Sequence[Collected],
        wishes: Mapping[str, Sequence[Wish]],
        asked: Sequence[Named],
    ) -> list[Collected]:
        """What the wishes need besides."""
        more_asked = CONNECTIONS if self.specification.allow_link_down else ()
        rest = (*self._files(asked), _OSTREE, *settings_files(), *more_asked)
        wanted = {
            one.host: (*requests_of(wishes[one.host]), *rest) for one in answers if one.frames
        }
        if self.source is not None and is_snapshot(self.source):
            more = {host: Collected(host, _not_there()) for host in wanted}
        else:
            place = JournalPlace(root=str(self.source or ""))
            more = read_files(self.target or this_machine(), wanted, place)
        return [
            dataclasses.replace(one, frames=(*one.frames, *more[one.host].frames))
            if one.host in more
            else one
            for one in answers
        ]

    def _files(self, asked: Sequence[Named]) -> Iterator[FactRequest]:
        """What names are planned for, and what the kernel changes with it."""
        for path in (each.path for each in asked if each.path):
            yield FactRequest(kind="file", path=path)
            yield from (FactRequest(kind="file", path=other) for other in coupled_with(path))

    def allowed(self, host: str, facts: HostFacts) -> Allowed:
        if not self.specification.allow_link_down:
            return Allowed()
        if self.target is None:
            return Allowed(link_down=True)
        named = carrying(self.target, host, facts, self.environment)
        return Allowed(link_down=True, carrying=named)


def _here() -> str:
    return hosts_of(this_machine())[0]


def _not_there() -> Sequence[FactFrame]:
    """A snapshot says nothing of our drop-ins: it is planned as if none were there, and `tune
    apply` finds out.
    """
    return tuple(
        FactFrame(rank=0, kind="file", status="missing", path=path, text="") for path in DROP_INS
    )


def save_plan(made: TunePlan, path: Path) -> None:
    """The plan as a file, whole or not at all. Raises ``BadInput`` when it cannot be written."""
    data = msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n"
    try:
        replace_file(path, data)
    except OSError as error:
        raise BadInput(f"the plan cannot be written to {path}: {error.strerror}.") from error


def export(plan: TunePlan, form: str) -> dict[str, str]:
    """Host set to text; all hosts in one text for ``ansible``. Raises ``BadInput`` where there is
    nothing to write, or several kinds of hosts in a form for one.
    """
    groups = _groups(plan.hosts)
    if not groups:
        raise BadInput("nothing is to be changed: there is nothing to export.")
    if form == "ansible":
        hosts = fold_hosts([host for _, names in groups for host in names])
        return {hosts: ansible(groups, plan.profile)}
    if len(groups) > 1:
        sets = "; ".join(fold_hosts(names) for _, names in groups[:4])
        raise BadInput(
            f"the hosts have {len(groups)} different plans ({sets}): export those of one with"
            " --hosts, or all as ansible."
        )
    (one, names) = groups[0]
    return {fold_hosts(names): FORMS[form](one, names, plan.profile)}


def _groups(hosts: Sequence[HostPlan]) -> list[tuple[HostPlan, list[str]]]:
    """Hosts with the same changes together; old values may differ."""
    found: dict[str, list[HostPlan]] = defaultdict(list)
    for one in hosts:
        if one.changes or one.keeps:
            changes = [each.change for each in one.changes]
            keeps = [each.keep for each in one.keeps]
            found[repr((changes, keeps, one.by_hand))].append(one)
    return [(group[0], [one.host for one in group]) for group in found.values()]
