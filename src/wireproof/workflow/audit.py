"""The work of ``wireproof audit``: facts of every host, held against the catalogue of settings."""

from __future__ import annotations

import socket
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from wireproof.audit.alike import odd_ones
from wireproof.audit.catalogue import Catalogue, catalogue_of, requests, requests_of_interfaces
from wireproof.audit.facts import HostFacts
from wireproof.audit.judge import judge_machine
from wireproof.audit.machine import machine_of
from wireproof.instrument.facts import Collected, collect
from wireproof.launch.engines import find_engine
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.plan import FactRequest
from wireproof.model.setting import Audit, AuditResult, Profile
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.target.reach import reach
from wireproof.workflow.target.target import Target

__all__ = ["AuditSpecification", "audit", "catalogue"]

_LARGEST = 1 << 20


@dataclass(frozen=True)
class AuditSpecification:
    """``tree``: a folder that holds a host's files (a root, an archive that was unpacked) in place
    of the target's hosts. ``only``: identifiers of settings; none: all.
    """

    profile: Profile = "throughput"
    tree: Path | None = None
    only: tuple[str, ...] = ()


def catalogue() -> Catalogue:
    """The settings that come with wireproof."""
    folder = files("wireproof.audit").joinpath("settings")
    return catalogue_of(
        {
            each.name: each.read_text(encoding="utf-8")
            for each in folder.iterdir()
            if each.name.endswith(".toml")
        }
    )


def audit(specification: AuditSpecification, target: Target, reporter: Reporter) -> Audit:
    """Every setting on every host of ``target``, or of the tree.

    Raises ``BadInput`` when a setting's name is not known or the tree is none, ``CouldNotMeasure``
    when no host answers.
    """
    known = catalogue()
    for name in specification.only:
        known.get(name)
    answers = _answers(specification, target, known, reporter)
    machines = [machine_of(HostFacts.of(one.host, one.frames)) for one in answers if one.frames]
    if not machines:
        raise CouldNotMeasure(f"no host gave its settings: {_first_problem(answers)}.")
    results: list[AuditResult] = []
    for machine in machines:
        results += judge_machine(machine, known, specification.profile, specification.only)
    results += odd_ones(machines, known, specification.only)
    results += [_silent(one) for one in answers if one.problem]
    return Audit(
        profile=specification.profile,
        hosts=[one.host for one in answers],
        results=results,
        skipped=list(known.skipped),
    )


def _answers(
    specification: AuditSpecification, target: Target, known: Catalogue, reporter: Reporter
) -> list[Collected]:
    wanted = requests(known)
    if specification.tree is not None:
        return [_of_tree(specification.tree, wanted)]
    hosts = target.hosts or (socket.gethostname(),)
    engine = [str(find_engine("nompi")), "facts", "--spec", "-"]
    argv_of = {host: reach(target, host if target.hosts else "", engine) for host in hosts}
    if len(hosts) > 1:
        reporter.say(f"reading {len(wanted)} places on {len(hosts)} hosts")
    return _with_interfaces(collect(argv_of, wanted), argv_of, known)


def _with_interfaces(
    answers: Sequence[Collected], argv_of: Mapping[str, Sequence[str]], known: Catalogue
) -> list[Collected]:
    """Commands name interfaces, which are known only now: hosts with the same ones are asked
    together.
    """
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for one in answers:
        machine = machine_of(HostFacts.of(one.host, one.frames))
        groups[tuple(nic.label for nic in machine.nics)].append(one.host)
    more: dict[str, Collected] = {}
    for nics, hosts in groups.items():
        if wanted := requests_of_interfaces(known, nics):
            found = collect({host: argv_of[host] for host in hosts}, wanted)
            more |= {one.host: one for one in found}
    return [_joined(one, more.get(one.host)) for one in answers]


def _joined(one: Collected, more: Collected | None) -> Collected:
    if more is None:
        return one
    return Collected(one.host, (*one.frames, *more.frames), one.problem or more.problem)


def _of_tree(tree: Path, wanted: Sequence[FactRequest]) -> Collected:
    """The engine reads the tree as it reads a machine, and runs no command there."""
    if not tree.is_dir():
        raise BadInput(f"{tree} is no folder: give one that holds a host's /proc, /sys and /etc.")
    root = str(tree.absolute())
    argv = [str(find_engine("nompi")), "facts", "--spec", "-", "--root", root]
    (found,) = collect({tree.name: argv}, wanted)
    return found


def _first_problem(answers: Sequence[Collected]) -> str:
    return next(
        (f"{one.host}: {one.problem}" for one in answers if one.problem), "nothing was read"
    )


def _silent(one: Collected) -> AuditResult:
    return AuditResult(
        id="host", host=one.host, status="unknown", message=f"{one.host}: {one.problem}"
    )
