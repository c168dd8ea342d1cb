"""The disclosure of a result: what the run reports, and the facts of its hosts."""

import dataclasses
import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from wireproof.audit.facts import HostFacts
from wireproof.audit.host import disclosed_items
from wireproof.files.hostile import read_bounded
from wireproof.model.errors import BadInput, read_toml
from wireproof.model.record import FactFrame
from wireproof.model.setting import GROUPS, Audit, Group
from wireproof.report.disclosure import Found, folded, run_items, setting_items
from wireproof.report.judged_run import JudgedRun
from wireproof.store.snapshot import read_snapshot

BY_HAND = "disclosed.toml"
"""File in a result's folder with tables of the disclosure's groups, such as ``[network]``."""
_LARGEST = 64 << 10
_LONGEST = 400
_SWITCH = ("switch model", "switch firmware")


def with_disclosures(
    sections: Sequence[JudgedRun], snapshot: Path, command: Sequence[str] = ()
) -> list[JudgedRun]:
    """Return each section with its disclosure.

    ``snapshot``: what was read on the hosts, if it exists; a damaged snapshot is ignored.
    ``command``: repeats the result, if known. Items that a person states in ``BY_HAND`` are marked.
    """
    settings = next(
        (section.settings for section in sections if section.settings is not None), None
    )
    kept = _read(snapshot) if settings is not None else {}
    again = shlex.join(command)
    repeat: Found = ("method", "command that repeats it", again, "", "" if again else "unknown")
    stated = [repeat, *_by_hand(snapshot.parent / BY_HAND)]
    return [_with(section, settings, kept, stated) for section in sections]


def _by_hand(path: Path) -> list[Found]:
    """Return what a person has written beside the result, and the items that only a person can
    know. A damaged file never loses a result.
    """
    found: list[Found] = []
    try:
        given = list(_given(path))
    except BadInput as error:
        given = []
        found.append(("method", "stated by hand", "", "", str(error)))
    for name in _SWITCH:
        if not any(item[1] == name for item in given):
            why = f"no host sees it: state it in {path.name} in the result's folder"
            found.append(("network", name, "", "", why))
    return [*found, *((group, name, f"{value} (by hand)", "", "") for group, name, value in given)]


def _given(path: Path) -> Iterable[tuple[Group, str, str]]:
    """Yield the group, name and value of each item. Raises ``BadInput`` if the file cannot be
    read.
    """
    try:
        text = read_bounded(path, _LARGEST, follow=False).decode("utf-8")
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}.") from error
    for table, values in read_toml(text, str(path)).items():
        yield from _checked(path, table, values)


def _checked(path: Path, table: str, values: object) -> Iterable[tuple[Group, str, str]]:
    """Yield the items of one table.

    Raises ``BadInput`` unless it is a table of texts named after a group.
    """
    group = next((known for known in GROUPS if known == table), None)
    if group is None or not isinstance(values, dict):
        raise BadInput(
            f"{path}: {table[:40]!r} is not a known table; tables are {', '.join(GROUPS)}."
        )
    for name, value in values.items():
        if not isinstance(value, str | int) or not name or len(f"{name}{value}") > _LONGEST:
            raise BadInput(f"{path}: [{group}] {name[:40]!r}: give a short text.")
        yield group, name, str(value)


def _read(snapshot: Path) -> Mapping[str, Sequence[FactFrame]]:
    try:
        return read_snapshot(snapshot)
    except BadInput:
        return {}


def _with(
    section: JudgedRun,
    settings: Audit | None,
    kept: Mapping[str, Sequence[FactFrame]],
    stated: Sequence[Found],
) -> JudgedRun:
    hosts = list(dict.fromkeys(host.host for host in section.run.hosts))
    by_host: dict[str, list[FactFrame]] = defaultdict(list)
    names = {host.rank: host.host for host in section.run.hosts}
    for frame in section.run.facts:
        by_host[names.get(frame.rank, "")].append(frame)
    found = [
        *_of_hosts(hosts, by_host, kept),
        *stated,
        *run_items(section),
        *setting_items(settings),
    ]
    return dataclasses.replace(section, disclosure=folded(found, hosts))


def _of_hosts(
    hosts: Iterable[str],
    by_host: Mapping[str, Sequence[FactFrame]],
    kept: Mapping[str, Sequence[FactFrame]],
) -> Iterable[Found]:
    for host in hosts:
        facts = HostFacts.of(host, [*kept.get(host, ()), *by_host.get(host, ())])
        for group, name, value, why in disclosed_items(facts):
            yield group, name, value, host, why
