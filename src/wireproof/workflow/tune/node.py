"""Runs ``wireproof-node tune`` on the hosts of a target; no other module starts it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wireproof.instrument.changes import ask_hosts, write_change_set
from wireproof.instrument.facts import Collected, collect
from wireproof.launch.engines import find_program
from wireproof.model.errors import BadInput
from wireproof.model.plan import FactRequest
from wireproof.model.tuning import ChangeSet, HostTuned
from wireproof.workflow.audit import hosts_of, more_of_source, reader_argv
from wireproof.workflow.target.target import Target, reach

__all__ = [
    "JournalPlace",
    "apply_sets",
    "ask_nodes",
    "hosts_of",
    "read_files",
]


@dataclass(frozen=True)
class JournalPlace:
    """``state``: the folder of journals on the hosts, "" for the default.

    ``root``: the folder below which files are changed, "" for the machine itself.
    """

    state: str = ""
    root: str = ""


def apply_sets(
    target: Target, sets: Mapping[str, ChangeSet], place: JournalPlace | None = None
) -> list[HostTuned]:
    """Apply each host's change set, all or nothing."""
    texts = {host: write_change_set(changes) for host, changes in sets.items()}
    return ask_hosts(_argv(target, "apply", tuple(sets), place), texts)


def ask_nodes(
    target: Target,
    what: Literal["confirm", "revert", "status"],
    hosts: tuple[str, ...],
    name: str = "",
    place: JournalPlace | None = None,
    *more: str,
) -> list[HostTuned]:
    """Return the answer of each host.

    ``name``: of a set; "" for all sets, or, to ``revert``, for the newest that is open or
    confirmed. ``more``: further options of the node program.
    """
    return ask_hosts(_argv(target, what, hosts, place, *_named(name), *more))


_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}", re.ASCII)


def _named(name: str) -> tuple[str, ...]:
    if name and not _NAME.fullmatch(name):
        raise BadInput(
            f"{name[:80]!r} is not the ID of a change set: `wireproof tune status` lists them."
        )
    return ("--id", name) if name else ()


def _argv(
    target: Target, what: str, hosts: tuple[str, ...], place: JournalPlace | None, *more: str
) -> dict[str, list[str]]:
    """Return each host's command, behind the target's ``--prefix`` (a site's ``sudo -n``)."""
    where = place or JournalPlace()
    program = [*target.prefix, str(find_program("wireproof-node")), "tune", what]
    root = ["--root", where.root] if where.root else []

    def command(host: str) -> list[str]:
        state = _state(target, where, host)
        words = [*program, *(["--state", state] if state else []), *root, *more]
        return reach(target, host if target.hosts else "", words)

    return {host: command(host) for host in hosts}


def _state(target: Target, where: JournalPlace, host: str) -> str:
    """Return the folder of journals; nodes of a lab share this machine's files, so each has its own
    folder.
    """
    if target.lab is None:
        return where.state
    return f"{where.state or target.lab.folder / 'tune'}/{host}"


def read_files(
    target: Target, wanted: Mapping[str, tuple[FactRequest, ...]], place: JournalPlace | None = None
) -> dict[str, Collected]:
    """Return each host's answer to its requests. Hosts without requests are left out."""
    groups: dict[tuple[FactRequest, ...], list[str]] = {}
    for host, asked in wanted.items():
        if asked:
            groups.setdefault(asked, []).append(host)
    if place is not None and place.root:
        root = Path(place.root)
        return {
            host: Collected(host, more_of_source(root, host, asked))
            for asked, hosts in groups.items()
            for host in hosts
        }
    argv_of = reader_argv(target)
    return {
        answer.host: answer
        for asked, hosts in groups.items()
        for answer in collect({host: argv_of[host] for host in hosts}, asked)
    }
