"""Plans of changes and what became of them, for people: a diff by node set, then what is left."""

from __future__ import annotations

import shlex
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Sequence

from wireproof.model.bmc import PlannedAttribute
from wireproof.model.tuning import (
    ByHand,
    Change,
    ChangeAnswer,
    HostPlan,
    HostTuned,
    PlannedChange,
    PlannedKeep,
    Residue,
    SetAnswer,
    Tuned,
    TunePlan,
)
from wireproof.report.failing import effect_text
from wireproof.report.names import fold
from wireproof.report.text.look import Look

__all__ = ["plan_lines", "residue_lines", "tuned_lines"]

_LONGEST = 1200
_MOST_ALIKE = 3
"""Files of one setting that a plan lists before it counts them."""


def plan_lines(plan: TunePlan, look: Look) -> list[str]:
    """The hosts with the same plan together, largest group first."""
    lines: list[str] = []
    for group in _alike(plan.hosts):
        lines += _host(group[0], fold(one.host for one in group), look)
    return lines or [look.say("no host is in this plan.")]


def _alike(hosts: Iterable[HostPlan]) -> list[list[HostPlan]]:
    groups: dict[str, list[HostPlan]] = defaultdict(list)
    for one in hosts:
        same = repr((one.changes, one.keeps, one.firmware, one.by_hand, one.notes, one.refused))
        groups[same].append(one)
    return sorted(groups.values(), key=len, reverse=True)


def _host(one: HostPlan, names: str, look: Look) -> list[str]:
    if one.refused:
        return _wrapped(f"{names}: nothing is changed: {one.refused}", look, "", "  ")
    lines = [look.say(f"{names}: {_amount(one)}")]
    for group in _same_setting(one.changes):
        lines += _changes(group, look)
    for keep in one.keeps:
        lines += _keep(keep, look)
    for attribute in one.firmware:
        lines += _attribute(attribute, look)
    if one.by_hand:
        lines.append(_at(2, "by hand:", look))
        lines += [line for each in one.by_hand for line in _by_hand(each, look)]
    return lines + [line for note in one.notes for line in _wrapped(note, look, "  ", "    ")]


def _amount(one: HostPlan) -> str:
    count = len(one.changes) + len(one.firmware)
    if count:
        return f"{count} value{'' if count == 1 else 's'} to change"
    return "nothing to change at once, and a file for good" if one.keeps else "nothing to change"


def _same_setting(changes: Sequence[PlannedChange]) -> list[list[PlannedChange]]:
    """Changes of one setting to the same value, from the same one."""
    groups: dict[tuple[object, ...], list[PlannedChange]] = defaultdict(list)
    for one in changes:
        groups[(one.change.id.split("/")[0], one.was, one.change.value)].append(one)
    return list(groups.values())


def _changes(group: Sequence[PlannedChange], look: Look) -> list[str]:
    one = group[0]
    lines = [_at(2, f"{one.change.id}", look)]
    for each in [one for one in group if one.change.id != one.change.path][:_MOST_ALIKE]:
        lines.append(_at(4, f"{_target(each.change)}", look))
    if len(group) > _MOST_ALIKE:
        lines.append(_at(4, f"and {len(group) - _MOST_ALIKE} more like these", look))
    was = _was(one)
    lines += [_at(4, f"- {was}", look), _at(4, f"+ {one.change.value}", look)]
    effect = effect_text(one.effect) if one.effect else ""
    why = f"{one.why} Expected effect: {effect}." if effect else one.why
    lines += _wrapped(f"{why} Undo: {one.undo}.", look, "    ", "    ")
    return lines


def _was(one: PlannedChange) -> str:
    """Of a command's line the first word is the value."""
    if one.was is None:
        return "not read"
    words = one.was.split()
    return " ".join(words[:1] if one.change.kind == "command" else words)


def _at(indent: int, text: str, look: Look) -> str:
    return " " * indent + look.say(text, _LONGEST)


def _target(change: Change) -> str:
    if change.kind == "file":
        return change.path
    return shlex.join(word.replace("{value}", change.value) for word in change.write)


def _keep(one: PlannedKeep, look: Look) -> list[str]:
    """The lines that the drop-in gains and loses when the set is confirmed."""
    old, new = (one.was or "").splitlines(), one.keep.text.splitlines()
    lines = [_at(2, f"{one.keep.path} (written by tune confirm)", look)]
    lines += [_at(4, f"- {line}", look) for line in old if line not in new]
    return lines + [_at(4, f"+ {line}", look) for line in new if line not in old]


def _attribute(one: PlannedAttribute, look: Look) -> list[str]:
    was = f"- {one.was}" if one.pending == one.was else f"- {one.pending} (pending; now {one.was})"
    lines = [_at(2, f"{one.id} (requested from the BMC; takes effect after a reboot)", look)]
    lines += [_at(4, f"{one.display} ({one.attribute})", look)]
    lines += [_at(4, was, look), _at(4, f"+ {one.wanted}", look)]
    effect = effect_text(one.effect) if one.effect else ""
    why = f"{one.why} Expected effect: {effect}." if effect else one.why
    return lines + _wrapped(f"{why} Undo: {one.undo}.", look, "    ", "    ")


def _by_hand(one: ByHand, look: Look) -> list[str]:
    undo = f" Undo: {one.undo}." if one.undo else ""
    return _wrapped(f"{one.id}: {one.how}.{undo}", look, "    ", "      ")


def _wrapped(text: str, look: Look, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        look.say(text, _LONGEST), look.width, initial_indent=first, subsequent_indent=rest
    )


def tuned_lines(tuned: Tuned, look: Look) -> list[str]:
    """What each host did; hosts that did the same together."""
    groups: dict[str, list[HostTuned]] = defaultdict(list)
    for one in tuned.hosts:
        groups[repr((one.changes, _told(one.sets), one.problem, one.status))].append(one)
    lines: list[str] = []
    for group in groups.values():
        lines += _tuned(group[0], fold(one.host for one in group), tuned, look)
    return lines or [look.say("nothing was to be changed.")]


def _told(sets: Sequence[SetAnswer]) -> list[tuple[object, ...]]:
    """Without the seconds, which differ from host to host."""
    return [(one.id, one.state, one.timer, one.boot) for one in sets]


def _tuned(one: HostTuned, names: str, tuned: Tuned, look: Look) -> list[str]:
    if one.problem:
        lines = _wrapped(f"{names}: {one.problem}", look, "", "  ")
    elif not one.sets:
        lines = [look.say(f"{names}: no change set")]
    else:
        lines = [line for each in one.sets for line in _with_changes(each, one, names, tuned, look)]
    known = {each.id for each in one.sets}
    rest = [each for each in one.changes if each.of not in known]
    return lines + [line for each in rest for line in _answer(each, look)]


def _with_changes(
    each: SetAnswer, one: HostTuned, names: str, tuned: Tuned, look: Look
) -> list[str]:
    """The changes of a set that is over are history."""
    lines = _set(each, names, look)
    if tuned.action == "status" and each.state == "reverted" and not tuned.id:
        return lines
    mine = [answer for answer in one.changes if answer.of == each.id]
    lines += [line for answer in mine for line in _answer(answer, look)]
    return lines + (_without(mine, look) if tuned.action == "apply" else [])


_FAILED = ("refused", "ignored", "unreadable")


def _without(changes: Sequence[ChangeAnswer], look: Look) -> list[str]:
    """How to have the others, where one did not hold."""
    failed = {one.id.split("/")[0] for one in changes if one.state in _FAILED and one.id[0] != "/"}
    options = " ".join(f"--skip {name}" for name in sorted(failed))
    return _wrapped(f"{options} leaves it out", look, "  ", "    ") if failed else []


_STATES = {
    "applying": "is being applied, or was interrupted",
    "armed": "is applied and not confirmed",
    "confirmed": "is confirmed",
    "pending": "of the firmware is pending or counts",
    "reverted": "is reverted",
    "partly": "is reverted but for what follows",
}


def _set(one: SetAnswer, names: str, look: Look) -> list[str]:
    text = f"{names}: set {one.id} {_STATES[one.state]}"
    if one.state in ("armed", "applying"):
        text += _deadline(one)
    if one.by:
        text += f"; by {one.by}" + (f", {one.since}" if one.since else "")
    text += f": {one.reason}" if one.reason else ""
    if one.boot == "other":
        text += "; the host was started anew since"
    return _wrapped(text, look, "", "  ")


def _deadline(one: SetAnswer) -> str:
    if one.timer == "gone":
        return ": its timer no longer runs, `wireproof tune revert` brings the old values back"
    if one.deadline_s is None:
        return ""
    return f": it reverts by itself in {max(0.0, one.deadline_s):.0f} s"


def _answer(one: ChangeAnswer, look: Look) -> list[str]:
    if one.id.startswith("/etc/"):
        return _wrapped(f"{one.id} {_drop_in(one)}", look, "  ", "    ")
    values = f"{_brief(one.old)} -> {_brief(one.wanted)}" if one.wanted else ""
    seen = f", reads {_brief(one.seen)}" if one.seen and one.seen.strip() != one.wanted else ""
    reason = f": {one.reason}" if one.reason else ""
    text = f"{one.id} {one.state}{' ' if values else ''}{values}{seen}{reason}"
    return _wrapped(text, look, "  ", "    ")


def _drop_in(one: ChangeAnswer) -> str:
    """Whole texts are the plan's."""
    if one.state == "removed":
        return "is not there: tune confirm writes it" if one.wanted else "removed"
    reason = one.reason or ("it is another than the one that was kept" * (one.state == "left"))
    return f"{one.state}{f': {reason}' if reason else ''}"


def _brief(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."


def residue_lines(found: Residue, look: Look) -> list[str]:
    """What is left, by host."""
    lines = [
        line
        for one in found.found
        for line in _wrapped(f"{one.host}: {one.place}: {one.message}", look, "", "  ")
    ]
    return lines or [look.say(f"{fold(found.hosts)}: nothing is left of earlier changes")]
