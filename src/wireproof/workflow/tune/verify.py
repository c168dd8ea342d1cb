"""The work of ``wireproof tune verify``: what of the sets that were kept stands, after a boot too;
and which file overrules them.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from wireproof.audit.facts import HostFacts
from wireproof.instrument.facts import Collected
from wireproof.model.errors import WireproofError
from wireproof.model.quantity import counted
from wireproof.model.record import FactFrame
from wireproof.model.tuning import ChangeAnswer, HostTuned, Residue, ResidueFound, Standing, Tuned
from wireproof.tune.residue import residue_of, values_asked
from wireproof.tune.settings_files import files_of, overruled, settings_files, unread
from wireproof.tune.standing import standing_of
from wireproof.workflow.audit import catalogue
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.target.target import Target
from wireproof.workflow.tune.node import JournalPlace, ask_nodes, hosts_of, read_files

_STANDS = ("applied", "already", "rewritten", "kept")


def verify(target: Target, name: str = "", place: JournalPlace | None = None) -> Tuned:
    """The sets that are confirmed, on each host, with what overrules them; nothing is changed. The
    status of a host is 1 when one of their values or files does not stand.
    """
    answers = [_kept(one) for one in ask_nodes(target, "status", hosts_of(target), name, place)]
    hosts = [_verified(one) for one in with_overruled(answers, target, place)]
    return Tuned(action="verify", id=name, hosts=hosts)


def _kept(one: HostTuned) -> HostTuned:
    sets = [each for each in one.sets if each.state == "confirmed"]
    names = {each.id for each in sets}
    changes = [each for each in one.changes if each.of in names]
    return msgspec.structs.replace(one, sets=sets, changes=changes)


def _verified(one: HostTuned) -> HostTuned:
    stands = all(each.state in _STANDS for each in one.changes)
    return one if stands or one.status else msgspec.structs.replace(one, status=1)


def with_overruled(
    answers: Sequence[HostTuned], target: Target, place: JournalPlace | None = None
) -> list[HostTuned]:
    """The answers with the file that overrules at the next boot, at each drop-in that was kept."""
    wanted = [one.host for one in answers if any(each.state == "kept" for each in one.changes)]
    read = read_files(target, {host: settings_files() for host in wanted}, place)
    found = {
        one.host: _overruled(one.changes, HostFacts.of(one.host, read[one.host].frames))
        for one in answers
        if one.host in read
    }
    return [
        msgspec.structs.replace(one, changes=[_with(each, found[one.host]) for each in one.changes])
        if found.get(one.host)
        else one
        for one in answers
    ]


def _overruled(changes: Iterable[ChangeAnswer], facts: HostFacts) -> Mapping[str, str]:
    """By the drop-in of ours: which lines of others count in place of its lines, or may."""
    files = files_of(facts)
    kept = {each.id: files[each.id] for each in changes if each.id in files}
    return {path: why for path, text in kept.items() if (why := _why(files, facts, {path: text}))}


def _why(files: Mapping[str, str], facts: HostFacts, ours: Mapping[str, str]) -> str:
    found = overruled(files, ours).values()
    lines = [f"{one.file} overrules {one.place} with {one.says}" for one in found]
    return "; ".join([*lines, *(["at the next boot"] if lines else []), *unread(facts, ours)])


def _with(each: ChangeAnswer, found: Mapping[str, str]) -> ChangeAnswer:
    if each.state != "kept" or each.id not in found:
        return each
    return msgspec.structs.replace(each, reason=found[each.id])


def residue(target: Target, reporter: Reporter, place: JournalPlace | None = None) -> Residue:
    """Read-only. A host that does not answer is found as ``unread``."""
    hosts = hosts_of(target)
    known = catalogue()
    where = place or JournalPlace()
    if len(hosts) > 1:
        reporter.say(f"reading the settings' files of {counted(len(hosts), 'host')}")
    first = read_files(target, {host: settings_files() for host in hosts}, where)
    asked = {
        host: values_asked(HostFacts.of(host, one.frames), known) for host, one in first.items()
    }
    second = read_files(target, asked, where)
    states = {one.host: one for one in ask_nodes(target, "status", hosts, "", where)}
    found: list[ResidueFound] = []
    for host in hosts:
        more = second[host].frames if host in second else ()
        found += _of_host(first[host], more, states[host])
    return Residue(hosts=list(hosts), found=found)


def _of_host(one: Collected, more: Sequence[FactFrame], state: HostTuned) -> list[ResidueFound]:
    if not one.frames:
        return [ResidueFound(host=one.host, kind="unread", place="the host", message=one.problem)]
    return residue_of(HostFacts.of(one.host, (*one.frames, *more)), state, catalogue())


_MOST_HOSTS = 256
"""Each host is asked by a program of its own, as for its settings."""


def standing_on(target: Target) -> Standing | None:
    """What the journals of the target's hosts say now; None where nobody asked: of more than 256
    hosts, and of a machine that is files only. What cannot be read is told, and costs no result.
    """
    hosts = hosts_of(target)
    if len(hosts) > _MOST_HOSTS or target.sysfs_root:
        return None
    try:
        found = standing_of(ask_nodes(target, "status", hosts))
    except WireproofError as error:
        found = Standing(hosts=list(hosts), unread={str(error): list(hosts)})
    lab = target.lab.name if target.lab is not None else ""
    return msgspec.structs.replace(found, here=not target.hosts, lab=lab)
