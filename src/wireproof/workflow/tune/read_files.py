"""Files of hosts, or of a root folder: each host is asked for its files, like ones together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from wireproof.instrument.facts import Collected, collect
from wireproof.model.plan import FactRequest
from wireproof.workflow.audit import more_of_source, reader_argv
from wireproof.workflow.target.target import Target
from wireproof.workflow.tune.node import JournalPlace

__all__ = ["read_files"]


def read_files(
    target: Target, wanted: Mapping[str, tuple[FactRequest, ...]], place: JournalPlace | None = None
) -> dict[str, Collected]:
    """What each host answers to its requests. A host that is asked for nothing is left out."""
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
