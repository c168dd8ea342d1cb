"""Runs any command with a proof of the path that its bytes took."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from wireproof.model.claim import LinkClaim
from wireproof.model.errors import BadInput
from wireproof.settings.hosts import parse_hosts
from wireproof.settings.options import Options
from wireproof.settings.resolve import resolve
from wireproof.settings.sizes import parse_duration
from wireproof.workflow.prove.command import (
    INTERRUPTED,
    ProofSpecification,
    ProvedCommand,
    prove_command,
    usual_results,
)
from wireproof.workflow.prove.hosts import Companion, entered_node, target_of_command
from wireproof.workflow.reporter import LoggingReporter, Reporter
from wireproof.workflow.target import Target
from wireproof.workflow.target.resolve import reader_prefix

if TYPE_CHECKING:
    from wireproof.report.documents.proof import ProofDocument

__all__ = [
    "INTERRUPTED",
    "Companion",
    "ProofOptions",
    "ProofSpecification",
    "ProvedCommand",
    "prove",
    "prove_command",
    "specification",
]


LONGEST_INTERVAL_S = 60.0


class ProofOptions(TypedDict, total=False):
    """The options of ``wireproof prove`` as typed; ``server``: pairs of a host and its command
    line. ``hosts``, ``nic``, ``launcher``: of ``prove`` alone; the command line takes them from
    files and variables too.
    """

    hosts: str | Sequence[str]
    nic: str
    launcher: str
    lab: str | None
    link: str | None
    mtu: int | None
    pcie: str
    prefix: str
    sysfs_root: str
    interval: str
    results: Sequence[Path | str]
    server: Sequence[tuple[str, str]]
    psm_statistics: bool


def prove(
    argv: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    reporter: Reporter | None = None,
    **options: Unpack[ProofOptions],
) -> ProofDocument:
    """Run ``argv`` between two readings of the ports of its hosts, and judge whether its bytes used
    the wire.

    The result is what ``wireproof prove --json`` prints. The command inherits ``environment``
    (default: that of this process); its output is searched for numbers and not shown. Raises
    ``BadInput`` for options that cannot be used and ``CouldNotMeasure`` if no host can be watched.
    """
    from wireproof.launch.mpi.environment import own_environment

    inherited = own_environment() if environment is None else environment
    reporter = reporter or LoggingReporter()
    settings = _settings(options)
    wanted = specification(tuple(argv), settings, options, inherited)
    for line in wanted.target.notes:
        reporter.say(line)
    proved = prove_command(wanted, environment=inherited, reporter=reporter)
    return proved.document(wanted)


def _settings(options: ProofOptions) -> Options:
    """Return the settings of this call alone.

    Raises TypeError for an unknown option, a mistake of the caller.
    """
    known = ProofOptions.__optional_keys__
    for name in options:
        if name not in known:
            raise TypeError(f"there is no option {name!r}: there are {', '.join(sorted(known))}")
    hosts = options.get("hosts")
    texts = {
        "hosts": hosts if hosts is None or isinstance(hosts, str) else ",".join(hosts),
        "nic": options.get("nic"),
        "launcher": options.get("launcher"),
    }
    return resolve(texts, {})


def specification(
    argv: tuple[str, ...],
    settings: Options,
    options: ProofOptions,
    environment: Mapping[str, str],
) -> ProofSpecification:
    """Parse and check every option, and find the target. Raises ``BadInput``."""
    if not argv:
        raise BadInput(
            "no command was given: write it after --, as in `wireproof prove -- mpirun osu_bw`."
        )
    interval_s = _interval_s(options.get("interval", "100ms"))
    argv, lab, node = _entered(argv, options.get("lab"))
    target = target_of_command(
        settings, argv, lab=lab, link=_link(options, settings.nic), environment=environment
    )
    target = dataclasses.replace(
        target,
        sysfs_root=options.get("sysfs_root", ""),
        prefix=reader_prefix(options.get("prefix", "")),
        start_on=(node, *target.start_on) if node else target.start_on,
    )
    return ProofSpecification(
        argv=argv,
        target=target,
        companions=tuple(_companions(options.get("server", ()), target)),
        interval_s=interval_s,
        results=tuple(map(Path, options.get("results") or usual_results(argv, Path.cwd()))),
        psm_statistics=options.get("psm_statistics", False),
    )


def _interval_s(text: str) -> float:
    seconds = parse_duration(text)
    if not 0.001 <= seconds <= LONGEST_INTERVAL_S:
        raise BadInput(f"--interval {text[:40]!r} is out of range: give 1ms to 60s.")
    return seconds


def _entered(argv: tuple[str, ...], lab: str | None) -> tuple[tuple[str, ...], str | None, str]:
    """Return (argv, lab, node), where ``wireproof lab exec LAB NODE ARGV`` means this argv in that
    node.
    """
    entered = entered_node(argv)
    if entered is None:
        return argv, lab, ""
    if lab not in (None, entered[0]):
        raise BadInput(
            f"--lab names {lab}, but the command enters the lab {entered[0][:60]}: use one lab."
        )
    return entered[2], entered[0], entered[1]


def _link(options: ProofOptions, nics: str) -> LinkClaim | None:
    from wireproof.physics.rails import claim_of_rails

    link = options.get("link")
    if not link:
        return None
    return claim_of_rails(link, nics, mtu=options.get("mtu"), pcie=options.get("pcie") or "")


def _companions(given: Sequence[tuple[str, str]], target: Target) -> list[Companion]:
    servers = []
    for host, text in given:
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise BadInput(f"--server {host[:60]}: {text[:60]!r} has an open quote.") from error
        if not words:
            raise BadInput(f"--server {host[:60]}: no command was given for it.")
        if target.lab is not None and host not in target.lab.nodes:
            nodes = ", ".join(target.lab.nodes)
            raise BadInput(f"--server {host[:60]!r}: the lab has the nodes {nodes}.")
        servers.append(Companion(parse_hosts(host)[0], tuple(words)))
    return servers
