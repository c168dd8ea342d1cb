"""The work of ``wireproof tune plan``: an audit, and the changes that correct failing settings.
Also ``tune export``, which writes a plan as files of other tools.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from wireproof.audit.catalogue import Catalogue
from wireproof.audit.facts import HostFacts
from wireproof.audit.interfaces import default_interfaces, with_lower
from wireproof.audit.job import (
    catalogue,
    facts_of_source,
    facts_of_target,
)
from wireproof.audit.job_facts import with_firmware
from wireproof.audit.machine import Machine, machine_of
from wireproof.files.hostile import read_bounded, replace_file
from wireproof.instrument.plan_text import Collected
from wireproof.launch.here import is_here
from wireproof.model import gathered
from wireproof.model.errors import BadInput, CouldNotMeasure, reading, writing
from wireproof.model.plan import FactRequest
from wireproof.model.record import FactFrame
from wireproof.model.setting import Profile
from wireproof.model.tuning import HostPlan, TunePlan
from wireproof.options.bmc import BmcOptions, bmcs_of
from wireproof.options.hosts import fold_hosts
from wireproof.options.table import Options
from wireproof.report.reporter import Reporter
from wireproof.store.snapshot import is_snapshot
from wireproof.target import Target, this_machine
from wireproof.target.resolve import resolve_target
from wireproof.tune import Allowed, host_plan, of_lab
from wireproof.tune.allowed import CONNECTIONS, coupled_with, having, read_plan, ssh_addresses
from wireproof.tune.boot import files_of, overruled, settings_files, unread
from wireproof.tune.export import FORMS, ansible
from wireproof.tune.node import JournalPlace, hosts_of, read_files
from wireproof.tune.wishes import (
    DROP_INS,
    Named,
    Wish,
    firmware_wishes,
    named_all,
    nowhere,
    requests_of,
    wishes_of,
    with_attributes,
)


def carrying(
    target: Target, host: str, facts: HostFacts, environment: Mapping[str, str]
) -> frozenset[str] | None:
    """Return the interfaces that carry the connection to the host, and all interfaces below them;
    None if they are unknown.

    No interface of a lab's node carries the connection. On this machine they are the interfaces of
    open ssh connections and of the default route, because sudo hides the connection through which
    the user is logged in.
    """
    if target.lab is not None:
        return frozenset()
    sessions = ssh_addresses(facts)
    if not target.hosts or is_here(host):
        words = environment.get("SSH_CONNECTION", "").split()
        names = having(facts, sessions | set(words[2:3])) | default_interfaces(facts)
        return with_lower(facts, names)
    reached = having(facts, _addresses(host))
    if not reached:
        return None
    return with_lower(facts, reached | having(facts, sessions))


def _addresses(host: str) -> list[str]:
    with contextlib.suppress(OSError, UnicodeError):
        return [str(row[4][0]) for row in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
    return []


_LARGEST_PLAN = 64 << 20
_OSTREE = FactRequest(kind="file", path="/run/ostree-booted")


@dataclass(frozen=True)
class PlanSpecification:
    """``asked``: settings by name, some with a value; default: all settings that fail.

    ``source``: a snapshot, a folder with a host's files, or a sosreport, instead of the target's
    hosts. ``root``: files of this machine are read and changed below this folder. ``skip``:
    settings to leave out.
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
    """Return the target; with ``root``, this machine alone."""
    if specification.root is not None:
        return this_machine()
    return resolve_target(specification.target, environment)


def plan(
    specification: PlanSpecification, reporter: Reporter, environment: Mapping[str, str]
) -> TunePlan:
    """Return the changes of every host.

    Raises ``BadInput`` for an unknown setting, and ``CouldNotMeasure`` if no host responds.
    """
    known = catalogue()
    asked = named_all(specification.asked, known)
    skipped = {known.get(name).setting.id for name in specification.skip}

    def wishes_on(machine: Machine) -> list[Wish]:
        wishes = wishes_of(machine, known, specification.profile, asked)
        return [wish for wish in wishes if wish.entry.setting.id not in skipped]

    hosts = _Hosts(specification, known, reporter, environment)
    answers = hosts.read()
    if not any(answer.frames for answer in answers):
        raise CouldNotMeasure(f"no host's settings could be read: {answers[0].problem}.")
    machines = {answer.host: _machine(answer) for answer in answers}
    wishes = {host: wishes_on(machine) for host, machine in machines.items()}
    answers = hosts.read_more(answers, wishes, asked)
    made = [_host(answer, wishes[answer.host], asked, hosts) for answer in answers]
    if wrong := nowhere([_machine(answer) for answer in answers if answer.frames], known, asked):
        raise BadInput(wrong)
    return TunePlan(
        profile=specification.profile,
        made=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        hosts=made,
    )


def load_plan(path: Path) -> TunePlan:
    """Load a plan that ``tune plan -o`` has written. Raises ``BadInput`` if it is not a plan."""
    with reading(path):
        data = read_bounded(path, _LARGEST_PLAN)
    return read_plan(data, str(path))


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
    named = [setting for setting in asked if setting.name]
    if asked and not named:
        return made
    profile = hosts.specification.profile
    return with_attributes(made, firmware_wishes(machine, hosts.known, profile, named))


def _with_overruled(made: HostPlan, facts: HostFacts) -> HostPlan:
    """Add a note for each value of our drop-ins that another file overrides."""
    ours = {planned.keep.path: planned.keep.text for planned in made.keeps}
    notes = [
        f"{line.place}: {line.file} sets {line.says} and overrides ours at the next boot"
        for line in overruled(files_of(facts), ours).values()
    ]
    return msgspec.structs.replace(made, notes=[*made.notes, *notes, *unread(facts, ours)])


class _Hosts:
    """The source of the facts: the target's hosts, or a snapshot or folder."""

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
        """Read the facts, with the firmware's settings from the BMCs if any are given."""
        answers, bmc = self._read(), self.specification.bmc
        if not bmc.sources:
            return answers
        if self.specification.source is not None:
            raise BadInput(
                "--from already contains the firmware's settings from that time: leave out --bmc."
            )
        return with_firmware(
            answers, bmcs_of(bmc, [answer.host for answer in answers]), self.reporter
        )

    def _read(self) -> list[Collected]:
        if self.target is None:
            assert self.source is not None  # noqa: S101 - one of the two
            facts = facts_of_source(self.source, self.known)
            if self.specification.root is None:
                return facts
            host = hosts_of(this_machine())[0]
            return [dataclasses.replace(answer, host=host) for answer in facts]
        return facts_of_target(self.target, self.known, self.reporter, self.environment)

    def read_more(
        self,
        answers: Sequence[Collected],
        wishes: Mapping[str, Sequence[Wish]],
        asked: Sequence[Named],
    ) -> list[Collected]:
        """Read the additional files that the requested settings need."""
        more_asked = CONNECTIONS if self.specification.allow_link_down else ()
        rest = (*self._files(asked), _OSTREE, *settings_files(), *more_asked)
        wanted = {
            answer.host: (*requests_of(wishes[answer.host]), *rest)
            for answer in answers
            if answer.frames
        }
        if self.source is not None and is_snapshot(self.source):
            # A snapshot does not contain our drop-ins: the plan assumes that there are none, and
            # `tune apply` checks.
            absent = tuple(
                FactFrame(rank=0, kind="file", status="missing", path=path, text="")
                for path in DROP_INS
            )
            more = {host: Collected(host, absent) for host in wanted}
        else:
            place = JournalPlace(root=str(self.source or ""))
            more = read_files(self.target or this_machine(), wanted, place)
        return [
            dataclasses.replace(answer, frames=(*answer.frames, *more[answer.host].frames))
            if answer.host in more
            else answer
            for answer in answers
        ]

    def _files(self, asked: Sequence[Named]) -> Iterator[FactRequest]:
        """Yield the files that are planned by name, and the files that the kernel changes with
        them.
        """
        for path in (setting.path for setting in asked if setting.path):
            yield FactRequest(kind="file", path=path)
            yield from (FactRequest(kind="file", path=other) for other in coupled_with(path))

    def allowed(self, host: str, facts: HostFacts) -> Allowed:
        if not self.specification.allow_link_down:
            return Allowed()
        if self.target is None:
            return Allowed(link_down=True)
        named = carrying(self.target, host, facts, self.environment)
        return Allowed(link_down=True, carrying=named)


def save_plan(made: TunePlan, path: Path) -> None:
    """Write the plan to a file, completely or not at all.

    Raises ``BadInput`` if it cannot be written.
    """
    data = msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n"
    with writing(f"the plan {path}"):
        replace_file(path, data)


def export(plan: TunePlan, form: str) -> dict[str, str]:
    """Return the text for each set of hosts; one text for all hosts for ``ansible``.

    Raises ``BadInput`` if there is nothing to write, or if the hosts have different plans but the
    form supports only one.
    """
    groups = _groups(plan.hosts)
    if not groups:
        raise BadInput("the plan changes nothing, so there is nothing to export.")
    if form == "ansible":
        hosts = fold_hosts([host for _, names in groups for host in names])
        return {hosts: ansible(groups, plan.profile)}
    if len(groups) > 1:
        sets = "; ".join(fold_hosts(names) for _, names in groups[:4])
        raise BadInput(
            f"the hosts have {len(groups)} different plans ({sets}): export one of them with"
            " --hosts, or all of them as ansible."
        )
    (first, names) = groups[0]
    return {fold_hosts(names): FORMS[form](first, names, plan.profile)}


def _groups(hosts: Sequence[HostPlan]) -> list[tuple[HostPlan, list[str]]]:
    """Group hosts with the same changes; their old values may differ."""
    groups = gathered((repr(_done(host)), host) for host in hosts if host.changes or host.keeps)
    return [(group[0], [host.host for host in group]) for group in groups.values()]


def _done(host: HostPlan) -> object:
    changes = [planned.change for planned in host.changes]
    return changes, [planned.keep for planned in host.keeps], host.by_hand
