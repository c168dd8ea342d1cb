"""The work of ``wireproof audit``: facts of every host, compared with the catalogue of settings."""

import dataclasses
import datetime
import socket
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from wireproof.audit import judge_machines
from wireproof.audit.alike import HostKind, differences, kind_of, odd_ones, reference_for
from wireproof.audit.catalogue import Catalogue, catalogue_of, requests, requests_of_instances
from wireproof.audit.facts import HostFacts
from wireproof.audit.interfaces import CHOSEN
from wireproof.audit.job_facts import of_job, of_ranks, with_firmware, with_job
from wireproof.audit.machine import Machine, machine_of
from wireproof.audit.site import NOTHING, Site, decided, grave_enough, site_of
from wireproof.audit.values import folded
from wireproof.files.hostile import read_bounded
from wireproof.instrument.plan_text import Collected, collect
from wireproof.launch.engines import find_engine
from wireproof.launch.here import is_here
from wireproof.model import gathered
from wireproof.model.claim import rails_of
from wireproof.model.errors import BadInput, CouldNotMeasure, reading
from wireproof.model.plan import FactRequest
from wireproof.model.quantity import counted
from wireproof.model.record import FactFrame
from wireproof.model.run import Run
from wireproof.model.secrets import masked
from wireproof.model.setting import (
    SEVERITIES,
    Audit,
    AuditResult,
    AuditResults,
    Profile,
    Setting,
    Severity,
)
from wireproof.model.site import CatalogueFile, of_site, site_texts
from wireproof.options.hosts import parse_hosts
from wireproof.options.table import Options
from wireproof.report.reporter import Reporter
from wireproof.store.snapshot import SETTINGS, is_snapshot, read_snapshot, write_snapshot
from wireproof.target import Target, reach
from wireproof.target.resolve import resolve_target

if TYPE_CHECKING:
    from wireproof.options.bmc import BmcOptions

_LARGEST = 1 << 20
_UNREAD = (
    "the file has no settings of this host, or the hosts before it differ in so many settings"
    " that no more are read (give fewer hosts at a time)"
)
_VARIABLES = (
    "FI_",
    "I_MPI_",
    "MPICH_",
    "MPIR_CVAR_",
    "NCCL_",
    "OMPI_MCA_",
    "PSM2_",
    "PSM3_",
    "UCX_",
)


@dataclass(frozen=True)
class AuditSpecification:
    """``source``: a snapshot, a folder with a host's files, or a sosreport, instead of the target's
    hosts. ``only``: IDs of settings, all settings if empty. ``bmc``: options for reading the
    firmware's settings. ``snapshot``: a file that stores the facts. ``site``: a TOML file with the
    site's decisions. ``against``: a host, or a source or result folder, to compare the hosts with
    instead of the catalogue. ``at_least``: failures below this severity are waived.
    """

    target: Options = field(default_factory=Options)
    profile: Profile = "throughput"
    bmc: "BmcOptions | None" = None
    source: Path | None = None
    snapshot: Path | None = None
    site: Path | None = None
    against: str = ""
    at_least: Severity = "minor"
    only: tuple[str, ...] = ()


@of_site
def catalogue() -> Catalogue:
    """Return the settings that come with wireproof, and those of the site.

    Raises ``BadInput`` for a mistake in the site's files.
    """
    folder = files("wireproof.audit").joinpath("settings")
    ours = [
        CatalogueFile(file.read_text(encoding="utf-8"), file.name)
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".toml")
    ]
    found = catalogue_of([*ours, *site_texts()])
    if site_texts() and found.skipped:
        raise BadInput(found.skipped[0])
    return found


def audit(
    specification: AuditSpecification, reporter: Reporter, environment: Mapping[str, str]
) -> Audit:
    """Judge every setting on every host of the target, or of the source.

    ``environment``: the caller's; in a job, the environment of its programs. Only variables of MPI
    libraries and fabrics are read.

    Raises ``BadInput`` if a setting is unknown or the source is invalid, and ``CouldNotMeasure`` if
    no host responds.
    """
    known = catalogue()
    for name in specification.only:
        known.get(name)
    site = _site(specification.site, known)
    answers = _answers(specification, known, reporter, environment)
    if specification.snapshot is not None:
        write_snapshot(specification.snapshot, {answer.host: answer.frames for answer in answers})
    if not specification.against:
        return _judged(specification, known, answers, site)
    beside = _beside(specification, known, reporter, environment)
    return _judged(specification, known, answers, site, beside)


def _beside(
    specification: AuditSpecification,
    known: Catalogue,
    reporter: Reporter,
    environment: Mapping[str, str],
) -> list[Collected]:
    """Return the facts of the reference: from files, or from a host that is reached like the
    others."""
    source = Path(specification.against)
    if source.exists() or "/" in specification.against:
        return facts_of_source(source, known)
    hosts = tuple(parse_hosts(specification.against))
    target = dataclasses.replace(specification.target, hosts=hosts)
    return facts_of_target(resolve_target(target, environment), known, reporter, environment)


def settings_by_id() -> dict[str, Setting]:
    """Return the settings that come with wireproof, by ID."""
    return {name: entry.setting for name, entry in catalogue().entries.items()}


def settings_called(name: str) -> list[Setting]:
    """Return all settings of the group with this name, or else the setting. Raises ``BadInput``."""
    known = catalogue()
    group = [entry.setting for entry in known.entries.values() if entry.setting.group == name]
    return group or [known.get(name).setting]


def _judged(
    specification: AuditSpecification,
    known: Catalogue,
    answers: list[Collected],
    site: Site = NOTHING,
    beside: list[Collected] | None = None,
) -> Audit:
    """Judge the answers and empty the lists ``answers`` and ``beside``."""
    hosts = [answer.host for answer in answers]
    silent = [_silent(answer) for answer in answers if answer.problem]
    kinds: dict[str, HostKind] = {}
    machines = _machines(answers, kinds)
    results = judge_machines(machines, known, specification.profile, specification.only)
    if beside is not None:
        results = AuditResults(_held_against(beside, results, specification, known))
    else:
        results.extend(odd_ones(kinds, results, known))
    if site is not NOTHING:
        results = decided(results, site, datetime.date.today(), parse_hosts, known.entries)
    if specification.at_least != SEVERITIES[0]:
        results = grave_enough(results, specification.at_least, known.entries)
    results.extend(silent)
    return Audit(
        profile=specification.profile,
        against=specification.against,
        hosts=hosts,
        results=results,
        skipped=list(known.skipped),
    )


def _machines(answers: list[Collected], kinds: dict[str, HostKind]) -> Iterator[Machine]:
    """Yield the machine of each answer and put its kind into ``kinds``.

    The answers are removed as they are read: with ten thousand hosts, they would not fit in memory
    together with all results.
    """
    if not any(answer.frames for answer in answers):
        problems = (f"{answer.host}: {answer.problem}" for answer in answers if answer.problem)
        why = next(problems, "nothing was read")
        raise CouldNotMeasure(f"no host's settings could be read: {why}.")
    answers.reverse()
    while answers:
        answer = answers.pop()
        if answer.frames:
            machine = machine_of(HostFacts.of(answer.host, answer.frames))
            kinds[answer.host] = kind_of(machine)
            yield machine


def _held_against(
    reference: list[Collected],
    results: Sequence[AuditResult],
    specification: AuditSpecification,
    known: Catalogue,
) -> list[AuditResult]:
    """Compare the results with the reference. Raises ``BadInput`` if a host has no reference."""
    machines = _machines(reference, {})
    judged = judge_machines(machines, known, specification.profile, specification.only)
    references = gathered((result.host, result) for result in judged)
    hosts = dict.fromkeys(result.host for result in results)
    if lacking := [host for host in hosts if not reference_for(host, references)]:
        raise BadInput(
            f"{specification.against} has {counted(len(references), 'host')}, but none is called"
            f" {lacking[0]}: give one host or its snapshot as the reference."
        )
    return differences(results, references, known)


def _site(path: Path | None, known: Catalogue) -> Site:
    if path is None:
        return NOTHING
    with reading(path):
        text = read_bounded(path, _LARGEST).decode("utf-8")
    return site_of(text, str(path), known.entries)


def _answers(
    specification: AuditSpecification,
    known: Catalogue,
    reporter: Reporter,
    environment: Mapping[str, str],
) -> list[Collected]:
    bmc = specification.bmc
    if specification.source is not None:
        if bmc and bmc.sources:
            raise BadInput(
                "--from already contains the firmware's settings from that time: leave out --bmc."
            )
        return facts_of_source(specification.source, known)
    target = resolve_target(specification.target, environment)
    bmcs = []
    if bmc and bmc.sources:
        from wireproof.options.bmc import bmcs_of

        bmcs = bmcs_of(bmc, hosts_of(target))
    return with_firmware(facts_of_target(target, known, reporter, environment), bmcs, reporter)


def audit_target(
    target: Target,
    reporter: Reporter,
    environment: Mapping[str, str],
    run: Run | None = None,
    snapshot: Path | None = None,
) -> Audit:
    """Audit the hosts of a check for throughput.

    ``run``: the check's run, whose ranks read their own limits; ``snapshot``: the file in which the
    facts are stored. Raises ``CouldNotMeasure`` if no host responds.
    """
    known = catalogue()
    job = of_ranks(run) if run is not None else None
    answers = facts_of_target(target, known, reporter, environment, job)
    if snapshot is not None:
        snapshot.unlink(missing_ok=True)
        write_snapshot(snapshot, {answer.host: answer.frames for answer in answers})
    return _judged(AuditSpecification(), known, answers)


def hosts_of(target: Target) -> tuple[str, ...]:
    """Return the target's hosts by name, or this machine."""
    return target.hosts or (socket.gethostname(),)


def facts_of_target(
    target: Target,
    known: Catalogue,
    reporter: Reporter,
    environment: Mapping[str, str],
    job: Mapping[str, tuple[FactFrame, ...]] | None = None,
) -> list[Collected]:
    """Read the facts that the catalogue needs on every host; a host that does not respond gets a
    problem.

    ``job``: the facts that a job's processes read about themselves, by host; None: read them here.
    """
    wanted = requests(known)
    hosts = hosts_of(target)
    argv_of = reader_argv(target)
    if len(hosts) > 1:
        reporter.say(f"reading {counted(len(wanted), 'item')} on {len(hosts)} hosts")
    chosen = _chosen(target)
    if job is None:
        job = of_job(target, target.hosts, _reader())
    first = [with_job(answer, job, target, chosen) for answer in collect(argv_of, wanted)]
    answers = _with_interfaces(first, argv_of, known)
    if len(hosts) > 1 or not is_here(hosts[0]):
        return answers
    job_frame = _job(environment)
    return [dataclasses.replace(answer, frames=(*answer.frames, job_frame)) for answer in answers]


def reader_argv(target: Target) -> dict[str, list[str]]:
    """Return the command that each host runs to read the facts."""
    reader = _reader()
    return {host: reach(target, host if target.hosts else "", reader) for host in hosts_of(target)}


def _reader() -> list[str]:
    return [str(find_engine("nompi")), "facts", "--spec", "-"]


def _chosen(target: Target) -> list[FactFrame]:
    """Return the interfaces given by the target as a fact, so that a snapshot is judged the same
    way.
    """
    names = "\n".join(sorted({name for nics in target.nics for name in rails_of(nics)}))
    return [FactFrame(rank=0, kind="file", status="ok", path=CHOSEN, text=names)] if names else []


def _job(environment: Mapping[str, str]) -> FactFrame:
    """Return the variables that choose and tune the transport; other variables may be secrets."""
    chosen = {name: text for name, text in environment.items() if name.startswith(_VARIABLES)}
    lines = [f"{name}={' '.join(text.split())[:1000]}" for name, text in sorted(chosen.items())]
    text = masked("\n".join(lines))
    return FactFrame(rank=0, kind="file", status="ok", path="environment", text=text)


def _with_interfaces(
    answers: Sequence[Collected], argv_of: Mapping[str, Sequence[str]], known: Catalogue
) -> list[Collected]:
    """Run the commands that need names of interfaces, which are known only after the first reading;
    hosts with the same interfaces are queried together.
    """
    groups: dict[tuple[FactRequest, ...], list[str]] = defaultdict(list)
    nics: dict[str, list[str]] = {}
    for answer in answers:
        machine = machine_of(HostFacts.of(answer.host, answer.frames))
        groups[requests_of_instances(known, (*machine.nics, *machine.rdma))].append(answer.host)
        nics[answer.host] = [nic.label for nic in machine.nics]
    more: dict[str, Collected] = {}
    for wanted, hosts in groups.items():
        if wanted:
            added = collect({host: argv_of[host] for host in hosts}, wanted)
            more |= {answer.host: answer for answer in added}
    return [_joined(answer, more.get(answer.host), nics[answer.host]) for answer in answers]


def _joined(answer: Collected, more: Collected | None, nics: Sequence[str]) -> Collected:
    if more is None:
        return answer
    frames = folded((*answer.frames, *more.frames), nics)
    return Collected(answer.host, frames, answer.problem or more.problem)


def facts_of_source(source: Path, known: Catalogue) -> list[Collected]:
    """Return the facts in a snapshot of hosts, or in one host's files.

    The engine reads a tree like a machine, but runs no commands.
    """
    if not source.exists():
        raise BadInput(f"{source} does not exist.")
    kept = source / SETTINGS  # of a check's result
    if is_snapshot(kept):
        source = kept
    if is_snapshot(source):
        hosts = read_snapshot(source)
        return [
            Collected(host, frames, "" if frames else _UNREAD) for host, frames in hosts.items()
        ]
    from wireproof.audit.archive import opened_all

    with opened_all(source) as folders:
        return [_facts_of_tree(folder, known) for folder in folders]


def _facts_of_tree(folder: Path, known: Catalogue) -> Collected:
    """Return the facts that the root folder of a host holds."""
    from wireproof.audit.kept import facts_kept, host_of

    argv_of = {host_of(folder): [*_reader(), "--root", str(folder.absolute())]}
    return facts_kept(folder, known, lambda wanted: collect(argv_of, wanted)[0])


def more_of_source(source: Path, host: str, wanted: Sequence[FactRequest]) -> Sequence[FactFrame]:
    """Read further files of a folder or an archive; a snapshot cannot provide any."""
    if is_snapshot(source):
        return ()
    from wireproof.audit.archive import opened

    with opened(source, host) as folder:
        argv = [*_reader(), "--root", str(folder.absolute())]
        return collect({host: argv}, [request for request in wanted if request.kind != "command"])[
            0
        ].frames


def _silent(answer: Collected) -> AuditResult:
    return AuditResult(
        id="host", host=answer.host, status="unknown", message=f"{answer.host}: {answer.problem}"
    )
