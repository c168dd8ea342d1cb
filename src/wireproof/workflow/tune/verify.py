"""The work of ``wireproof tune verify``: which confirmed changes are still in force, also after a
reboot, and which file overrules them.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from wireproof.audit.facts import HostFacts
from wireproof.instrument.facts import Collected
from wireproof.model.errors import WireproofError
from wireproof.model.quantity import counted
from wireproof.model.record import FactFrame
from wireproof.model.tuning import ChangeAnswer, HostTuned, Residue, ResidueFound, Standing, Tuned
from wireproof.tune.settings_files import files_of, overruled, settings_files, unread
from wireproof.tune.standing import residue_of, standing_of, values_asked
from wireproof.workflow.audit import catalogue
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.target.target import Target
from wireproof.workflow.tune.node import JournalPlace, ask_nodes, hosts_of, read_files

_STANDS = ("applied", "already", "rewritten", "kept")


def verify(target: Target, name: str = "", place: JournalPlace | None = None) -> Tuned:
    """Return the confirmed sets on each host, with what overrules them, and the sets that wait for
    their confirmation; nothing is changed.

    The status of a host is 1 if one of its values or files is no longer in force.
    """
    answers = [
        _kept(answer) for answer in ask_nodes(target, "status", hosts_of(target), name, place)
    ]
    hosts = [_verified(answer) for answer in with_overruled(answers, target, place)]
    return Tuned(action="verify", id=name, hosts=hosts)


def _kept(host: HostTuned) -> HostTuned:
    sets = [change_set for change_set in host.sets if change_set.state in ("confirmed", "armed")]
    names = {change_set.id for change_set in sets if change_set.state == "confirmed"}
    changes = [change for change in host.changes if change.of in names]
    return msgspec.structs.replace(host, sets=sets, changes=changes)


def _verified(host: HostTuned) -> HostTuned:
    stands = all(change.state in _STANDS for change in host.changes)
    return host if stands or host.status else msgspec.structs.replace(host, status=1)


def with_overruled(
    answers: Sequence[HostTuned], target: Target, place: JournalPlace | None = None
) -> list[HostTuned]:
    """Return the answers with the file that overrules each kept drop-in at the next boot."""
    wanted = [
        answer.host
        for answer in answers
        if any(change.state == "kept" for change in answer.changes)
    ]
    read = read_files(target, {host: settings_files() for host in wanted}, place)
    found = {
        answer.host: _overruled(answer.changes, HostFacts.of(answer.host, read[answer.host].frames))
        for answer in answers
        if answer.host in read
    }
    return [
        msgspec.structs.replace(
            answer, changes=[_with(change, found[answer.host]) for change in answer.changes]
        )
        if found.get(answer.host)
        else answer
        for answer in answers
    ]


def _overruled(changes: Iterable[ChangeAnswer], facts: HostFacts) -> Mapping[str, str]:
    """Return, for each of our drop-ins, the lines of other files that override it, or may."""
    files = files_of(facts)
    kept = {change.id: files[change.id] for change in changes if change.id in files}
    return {path: why for path, text in kept.items() if (why := _why(files, facts, {path: text}))}


def _why(files: Mapping[str, str], facts: HostFacts, ours: Mapping[str, str]) -> str:
    lines = [
        f"{line.file} overrules {line.place} with {line.says}"
        for line in overruled(files, ours).values()
    ]
    return "; ".join([*lines, *(["at the next boot"] if lines else []), *unread(facts, ours)])


def _with(change: ChangeAnswer, reasons: Mapping[str, str]) -> ChangeAnswer:
    if change.state != "kept" or change.id not in reasons:
        return change
    return msgspec.structs.replace(change, reason=reasons[change.id])


def residue(target: Target, reporter: Reporter, place: JournalPlace | None = None) -> Residue:
    """Return what earlier changes have left on the hosts; nothing is changed.

    A host that does not respond is listed as ``unread``.
    """
    hosts = hosts_of(target)
    known = catalogue()
    where = place or JournalPlace()
    if len(hosts) > 1:
        reporter.say(f"reading the settings' files of {counted(len(hosts), 'host')}")
    first = read_files(target, {host: settings_files() for host in hosts}, where)
    asked = {
        host: values_asked(HostFacts.of(host, answer.frames), known)
        for host, answer in first.items()
    }
    second = read_files(target, asked, where)
    states = {answer.host: answer for answer in ask_nodes(target, "status", hosts, "", where)}
    found: list[ResidueFound] = []
    for host in hosts:
        more = second[host].frames if host in second else ()
        found += _of_host(first[host], more, states[host])
    return Residue(hosts=list(hosts), found=found)


def _of_host(answer: Collected, more: Sequence[FactFrame], state: HostTuned) -> list[ResidueFound]:
    if not answer.frames:
        return [
            ResidueFound(host=answer.host, kind="unread", place="the host", message=answer.problem)
        ]
    return residue_of(HostFacts.of(answer.host, (*answer.frames, *more)), state, catalogue())


_MOST_HOSTS = 256
"""Above this number of hosts no journals are read, because each host needs a separate process."""


def standing_on(target: Target) -> Standing | None:
    """Return what the journals of the target's hosts say now; None for more than 256 hosts, and for
    a machine that consists of files only. Errors are stored in the result, so that no measurement
    is lost.
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
