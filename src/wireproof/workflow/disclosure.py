"""The disclosure of a result: what the run tells, and the facts of its hosts."""

from __future__ import annotations

import dataclasses
import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from wireproof.audit.disclosed import disclosed_items
from wireproof.audit.facts import HostFacts
from wireproof.model.errors import BadInput
from wireproof.model.record import FactFrame
from wireproof.model.setting import Audit
from wireproof.report.disclosure import Found, folded, run_items, setting_items
from wireproof.report.section import Section
from wireproof.store.snapshot import read_snapshot

__all__ = ["with_disclosures"]


def with_disclosures(
    sections: Sequence[Section], snapshot: Path, command: Sequence[str] = ()
) -> list[Section]:
    """Each section with its disclosure. ``snapshot``: what was read of the hosts, where it is
    there; a damaged one is as none. ``command``: what repeats the result, where that is known.
    """
    settings = next((one.settings for one in sections if one.settings is not None), None)
    kept = _read(snapshot) if settings is not None else {}
    again = shlex.join(command)
    own: Found = ("method", "command that repeats it", again, "", "" if again else "unknown")
    return [_with(one, settings, kept, own) for one in sections]


def _read(snapshot: Path) -> Mapping[str, Sequence[FactFrame]]:
    try:
        return read_snapshot(snapshot)
    except BadInput:
        return {}


def _with(
    section: Section,
    settings: Audit | None,
    kept: Mapping[str, Sequence[FactFrame]],
    command: Found,
) -> Section:
    hosts = list(dict.fromkeys(host.host for host in section.run.hosts))
    own: dict[str, list[FactFrame]] = defaultdict(list)
    names = {host.rank: host.host for host in section.run.hosts}
    for frame in section.run.facts:
        own[names.get(frame.rank, "")].append(frame)
    found = [
        *_of_hosts(hosts, own, kept),
        command,
        *run_items(section),
        *setting_items(settings),
    ]
    return dataclasses.replace(section, disclosure=folded(found, hosts))


def _of_hosts(
    hosts: Iterable[str],
    own: Mapping[str, Sequence[FactFrame]],
    kept: Mapping[str, Sequence[FactFrame]],
) -> Iterable[Found]:
    for host in hosts:
        facts = HostFacts.of(host, [*kept.get(host, ()), *own.get(host, ())])
        for group, name, value, why in disclosed_items(facts):
            yield group, name, value, host, why
