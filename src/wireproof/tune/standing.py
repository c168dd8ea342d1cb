# pure
"""Compare the current values of a host with a plan, from its facts. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

import msgspec

from wireproof.audit.catalogue import Catalogue
from wireproof.audit.facts import HostFacts
from wireproof.audit.values import part_of
from wireproof.model import gathered
from wireproof.model.errors import BadInput
from wireproof.model.plan import FactRequest
from wireproof.model.setting import Read
from wireproof.model.tuning import (
    Change,
    ChangeAnswer,
    HostPlan,
    HostTuned,
    Keep,
    ResidueFound,
    SetAnswer,
    Standing,
    StandingSet,
)
from wireproof.tune.boot import files_of, winning
from wireproof.tune.settings_files import FileSetting, set_lines, written_in

# --- Find the remains of earlier changes on a host. Pure; nothing is changed.

TOOLS = {
    "*mlnx*": "MLNX_OFED",
    "*mellanox*": "MLNX_OFED",
    "*ofed*": "OFED",
    "mlx[45]*": "MLNX_OFED",
    "ib_ipoib*": "OFED",
    "*opa*": "the Omni-Path software",
    "*hfi1*": "the Omni-Path software",
    "*iefs*": "the Ethernet Fabric Suite",
    "*psm3*": "the Ethernet Fabric Suite",
    "*tuned*": "tuned",
    "*cpupower*": "cpupower",
}
"""Map file name patterns to the tools that write such files."""
_OURS = "wireproof"
_HALF = {
    "applying": "was interrupted while being applied: `wireproof tune revert` undoes it",
    "partly": "is not fully reverted: `wireproof tune status` shows the differences",
}


def values_asked(facts: HostFacts, known: Catalogue) -> tuple[FactRequest, ...]:
    """Return requests for the current values, to compare with the files."""
    places = {setting.place for setting in _of_interest(facts, known)}
    return tuple(
        FactRequest(kind="glob" if "*" in place else "file", path=place) for place in sorted(places)
    )


def residue_of(facts: HostFacts, status: HostTuned, known: Catalogue) -> list[ResidueFound]:
    """Return all remains found on a host. ``facts``: answers to the requests of this module and of
    ``settings_files``.
    """
    residue = [*_drop_ins(facts, status), *_waiting_sets(facts.host, status)]
    residue += [*_differs(facts, known), *_others(facts, known)]
    return residue


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _drop_ins(facts: HostFacts, status: HostTuned) -> Iterator[ResidueFound]:
    """Yield files with wireproof's names that no confirmed change set wrote."""
    confirmed = {item.id for item in status.sets if item.state == "confirmed"}
    kept = {item.id for item in status.changes if item.of in confirmed and item.state != "removed"}
    for path, text in files_of(facts).items():
        if _OURS in _name(path) and path not in kept:
            count = len(set_lines(text))
            sets = f"sets {count} value{'' if count == 1 else 's'}" if text else "has no text here"
            message = f"it is not in any journal; it {sets}"
            yield ResidueFound(host=facts.host, kind="drop-in", place=path, message=message)


def _waiting_sets(host: str, status: HostTuned) -> Iterator[ResidueFound]:
    if status.problem:
        yield ResidueFound(
            host=host, kind="unread", place="journals", message=f"not read: {status.problem}"
        )
    for change_set in status.sets:
        message = _HALF.get(change_set.state, "")
        if change_set.state == "armed" and change_set.timer == "gone":
            message = (
                "its timer no longer runs but its values are still set: `wireproof tune"
                " revert` undoes it"
            )
        if message:
            yield ResidueFound(
                host=host, kind="half-undone", place=f"set {change_set.id}", message=message
            )


def _of_interest(facts: HostFacts, known: Catalogue) -> list[FileSetting]:
    """Return the catalogue's settings that files set, and all settings in wireproof's files."""
    places = {read.file for entry in known.entries.values() for read in entry.setting.reads}
    written = [
        setting for path, text in files_of(facts).items() for setting in written_in(path, text)
    ]
    of_kernel = (setting for setting in written if setting.place.startswith("/"))
    return [
        setting
        for setting in of_kernel
        if setting.place in places or _OURS in _name(setting.file) or _is_mtu(setting.place)
    ]


def _is_mtu(place: str) -> bool:
    """Return whether the place is the MTU of a named interface: a pattern may mean other
    interfaces.
    """
    return place.endswith("/mtu") and "*" not in place


def _differs(facts: HostFacts, known: Catalogue) -> Iterator[ResidueFound]:
    """Yield current values that differ from the file that takes effect."""
    for place, setting in sorted(winning(_of_interest(facts, known)).items()):
        paths = facts.matching(place) if "*" in place else [place]
        for path in paths:
            text = facts.file(path).text
            now = None if text is None else " ".join(text.split())
            if now is None or _same(now, setting.value):
                continue
            message = f"is {now[:80]!r}; {setting.file} sets {setting.value[:80]!r}"
            yield ResidueFound(host=facts.host, kind="differs", place=path, message=message)


_FLAGS = {"y": "1", "on": "1", "n": "0", "off": "0"}


def _same(now: str, value: str) -> bool:
    """Compare values: the kernel prints flags as Y and N, and puts brackets around the chosen
    word.
    """
    return (
        now == value
        or f"[{value}]" in now.split()
        or _FLAGS.get(now.lower(), now) == _FLAGS.get(value.lower(), value)
    )


def _others(facts: HostFacts, known: Catalogue) -> Iterator[ResidueFound]:
    """Yield settings of the catalogue in files that known tools write, or that override wireproof's
    files.
    """
    written = _of_interest(facts, known)
    counting = winning(written)
    ours = {setting.place for setting in written if _OURS in _name(setting.file)}
    for setting in written:
        if _OURS in _name(setting.file):
            continue
        patterns = (tool for name, tool in TOOLS.items() if fnmatchcase(_name(setting.file), name))
        tool = next(patterns, "")
        overrules = setting.place in ours and counting[setting.place] == setting
        if tool or overrules:
            by = f"a file of {tool} sets" if tool else "sets"
            more = ", which overrides wireproof's" if overrules else ""
            yield ResidueFound(
                host=facts.host,
                kind="other-tool",
                place=setting.file,
                message=f"{by} {setting.place} = {setting.value[:80]}{more}",
            )


def standing(facts: HostFacts, change: Change) -> str | None:
    """Return the stripped text of the file or after the command's key; None if not read."""
    if change.kind == "file":
        text = facts.file(change.path).text
        return None if text is None else text.strip()
    text = facts.command(change.read).text
    part = None
    if text is not None:
        part = part_of(text, Read(command=change.read, section=change.section, key=change.key))
    return None if part is None else part.strip()


def shown_value(change: Change, text: str | None) -> str:
    """Return the value within ``text``: the chosen word, or the first word of a command's line."""
    if text is None:
        return "not read"
    if change.form == "choice" and (chosen := re.search(r"\[(\S+)\]", text)):
        return chosen[1]
    words = text.split()
    return (words[0] if words else "") if change.kind == "command" else " ".join(words)


def has_value(change: Change, text: str | None) -> bool:
    """Return whether the wanted value is in force, in the kernel's notation."""
    return text is not None and shown_value(change, text) == " ".join(change.value.split())


def text_of_file(facts: HostFacts, path: str) -> str | None:
    """Return the whole text; None if the file does not exist. Raise ``ValueError`` if it exists but
    could not be read.
    """
    answer = facts.file(path)
    if answer.text is None and not answer.absent:
        raise ValueError(answer.why)
    return answer.text


def places_of(changes: Iterable[Change], keeps: Iterable[Keep]) -> tuple[FactRequest, ...]:
    """Return requests for the current state of all these places."""
    files = dict.fromkeys(
        [*(item.path for item in changes if item.path), *(item.path for item in keeps)]
    )
    commands = dict.fromkeys(item.read for item in changes if item.read)
    return (
        *(FactRequest(kind="file", path=path) for path in files),
        *(FactRequest(kind="command", argv=argv, limit_bytes=1 << 18) for argv in commands),
    )


def moved(plan: HostPlan, facts: HostFacts) -> str:
    """Return a sentence for the first value or drop-in that changed since the plan; "" if
    none did.
    """
    for planned in plan.changes:
        now = standing(facts, planned.change)
        if planned.was is not None and now != planned.was:
            was, is_ = shown_value(planned.change, planned.was), shown_value(planned.change, now)
            return f"{planned.change.id} was {was!r} when the plan was created and is now {is_!r}"
    for kept in plan.keeps:
        try:
            text = text_of_file(facts, kept.keep.path)
        except ValueError as error:
            return f"{kept.keep.path} {error}"
        if text != kept.was:
            return f"{kept.keep.path} has changed since the plan was created"
    return ""


_ORDER = ("applying", "armed", "partly", "pending", "confirmed", "reverted")


def in_force_first(host: HostTuned) -> HostTuned:
    """Sort the sets of the host by state: waiting, kept, then reverted; within a state the newest
    first.
    """
    newest = sorted(
        host.sets, key=lambda change_set: (change_set.since, change_set.id), reverse=True
    )
    return msgspec.structs.replace(
        host, sets=sorted(newest, key=lambda item: _ORDER.index(item.state))
    )


def waiting(answers: Sequence[HostTuned]) -> tuple[str, tuple[str, ...]]:
    """Return the id of the only set that waits for confirmation, and its hosts, including hosts
    that did not answer. Raise ``BadInput`` if no set or several sets wait.
    """
    armed = [
        (change_set.id, host.host)
        for host in answers
        for change_set in host.sets
        if change_set.state == "armed"
    ]
    names = sorted({name for name, _ in armed})
    if not names:
        problem = next((f": {host.host}: {host.problem}" for host in answers if host.problem), "")
        raise BadInput(f"no change set is waiting for confirmation{problem or '.'}")
    if len(names) > 1:
        raise BadInput(
            f"{len(names)} change sets are waiting for `tune confirm` "
            f"({', '.join(names[:8])}): give the ID of the set to keep."
        )
    unread = [host.host for host in answers if host.problem]
    return names[0], tuple(dict.fromkeys([*(host for _, host in armed), *unread]))


_STANDS = ("applied", "rewritten", "kept", "left", "unreadable")
"""The states of a change that may still be in force; ``left``: the value is neither the old value
nor wireproof's.
"""
_BROKEN_OFF = ("applying", "partly")


def standing_of(answers: Sequence[HostTuned]) -> Standing:
    """Return the sets that are at least partly in force, each with all its hosts."""
    groups = gathered(
        (item.id, (host.host, item, changed)) for host in answers for item, changed in _sets(host)
    )
    return Standing(
        hosts=[item.host for item in answers],
        sets=[_joined(group) for group in groups.values()],
        unread=gathered((host.problem, host.host) for host in answers if host.problem),
    )


def _sets(host: HostTuned) -> Iterator[tuple[SetAnswer, list[str]]]:
    for change_set in host.sets:
        standing_changes = [
            change
            for change in host.changes
            if change.of == change_set.id and change.state in _STANDS
        ]
        if change_set.state != "reverted" and (standing_changes or change_set.state in _BROKEN_OFF):
            yield change_set, [_line_of(change) for change in standing_changes]


def _line_of(change: ChangeAnswer) -> str:
    if change.state == "kept":
        return f"{change.id} is written"
    seen = change.seen if change.state == "left" else change.wanted
    return f"{change.id}: {change.old} -> {seen}"


def _joined(group: Sequence[tuple[str, SetAnswer, list[str]]]) -> StandingSet:
    first = group[0][1]
    return StandingSet(
        id=first.id,
        state=first.state,
        hosts=[host for host, _, _ in group],
        by=first.by,
        since=first.since,
        changes=list(dict.fromkeys(line for _, _, changed in group for line in changed)),
    )
