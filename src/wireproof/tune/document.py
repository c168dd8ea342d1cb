"""Changes of settings as documents: the plan, the outcome on each host, remnants, and the result of
a trial.
"""

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from wireproof.model import gathered, quantity
from wireproof.model.experiment import Answer, Guard, TryResult, ValueEffect
from wireproof.model.quantity import counted
from wireproof.model.setting import SettingEffect
from wireproof.model.tuning import (
    Change,
    ChangeAnswer,
    HostPlan,
    HostTuned,
    PlannedAttribute,
    PlannedChange,
    PlannedKeep,
    Residue,
    SetAnswer,
    Tuned,
    TunePlan,
)
from wireproof.report.document import (
    Document,
    Findings,
    Head,
    Item,
    Part,
    Row,
    Section,
    Span,
    Step,
    Steps,
    Table,
    Text,
    Tone,
    Value,
)
from wireproof.report.failing import effect_text
from wireproof.report.names import fold

_MOST_ALIKE = 3
"""Files of one setting that a plan lists; further files are only counted."""
_FAILED = ("refused", "ignored", "unreadable")
_STATES = {
    "applying": "is being applied, or was interrupted",
    "armed": "is applied and not confirmed",
    "confirmed": "is confirmed",
    "pending": "for the firmware is pending or in effect",
    "reverted": "is reverted",
    "partly": "is reverted except for the following",
}
_TONES: dict[str, Tone] = {"applying": "warning", "armed": "warning", "partly": "fail"}
_Details = Iterator[tuple[str, str | Value]]
_T = TypeVar("_T")


def _alike(found: Iterable[_T], key: Callable[[_T], object]) -> list[list[_T]]:
    return list(gathered((repr(key(one)), one) for one in found).values())


def tune_plan_document(plan: TunePlan) -> Document:
    """Return the plan. Hosts with the same plan are grouped, largest group first."""

    def same(one: HostPlan) -> object:
        return one.changes, one.keeps, one.firmware, one.by_hand, one.notes, one.refused

    groups = sorted(_alike(plan.hosts, same), key=len, reverse=True)
    sections = [_planned(group[0], fold(one.host for one in group)) for group in groups]
    changing = [one for one in plan.hosts if _count(one) and not one.refused]
    steps = sum(len(one.by_hand) for one in plan.hosts)
    answer = f"no automatic change; {counted(steps, 'step')} by hand" if steps else _NO_CHANGE
    if changing:
        values = counted(sum(map(_count, changing)), "value")
        answer = f"{values} to change on {fold(one.host for one in changing)}"
    if refused := [one for one in plan.hosts if one.refused]:
        answer += f"; nothing is changed on {fold(one.host for one in refused)}"
    if not plan.hosts:
        answer = "no host is in this plan"
    return Document("Plan of changes", answer, tuple(sections))


_NO_CHANGE = "nothing needs to be changed"


def _count(one: HostPlan) -> int:
    return len(one.changes) + len(one.firmware)


def _planned(one: HostPlan, names: str) -> Section:
    if one.refused:
        return Section(f"{names}: nothing is changed: {one.refused}", ())
    items = [_change(group) for group in _alike(one.changes, _setting)]
    items += [*map(_keep, one.keeps), *map(_attribute, one.firmware)]
    parts: list[Part] = [Findings(tuple(items))] if items else []
    if one.by_hand:
        undo = (f"{step.id}: {step.how}.{_undo(step.undo)}" for step in one.by_hand)
        parts += [Text("by hand:"), Steps(tuple(map(Step, undo)))]
    parts += [Text(note, "note") for note in one.notes]
    kept = (
        "nothing to change now, only a file for the next boot" if one.keeps else "nothing to change"
    )
    amount = f"{counted(_count(one), 'value')} to change" if _count(one) else kept
    return Section(f"{names}: {amount}", tuple(parts))


def _setting(one: PlannedChange) -> object:
    """Return a key for changes that are shown together: same setting, same old value, same new
    value.
    """
    return one.change.id.split("/")[0], one.was, one.change.value


def _undo(text: str) -> str:
    return f" Undo: {text}." if text else ""


def _why(why: str, effect: SettingEffect | None, undo: str) -> _Details:
    expected = effect_text(effect) if effect else ""
    yield "why", f"{why} Expected effect: {expected}." if expected else why
    yield "undo", f"{undo}."


def _change(group: Sequence[PlannedChange]) -> Item:
    one = group[0]
    places = [each for each in group if each.change.id != each.change.path]
    details: list[tuple[str, str | Value]] = [
        ("by", _target(each.change)) for each in places[:_MOST_ALIKE]
    ]
    if len(group) > _MOST_ALIKE:
        details.append(("and", f"{len(group) - _MOST_ALIKE} more of this kind"))
    details.append(("change", f"{_was(one)} -> {one.change.value}"))
    return Item("", one.change.id, details=(*details, *_why(one.why, one.effect, one.undo)))


def _was(one: PlannedChange) -> str:
    """Return the old value; in the output of a command, it is the first word."""
    if one.was is None:
        return "not read"
    words = one.was.split()
    return " ".join(words[:1] if one.change.kind == "command" else words)


def _target(change: Change) -> str:
    if change.kind == "file":
        return change.path
    return shlex.join(word.replace("{value}", change.value) for word in change.write)


def _keep(one: PlannedKeep) -> Item:
    """Return the lines that the drop-in gains and loses when the set is confirmed."""
    old, new = (one.was or "").splitlines(), one.keep.text.splitlines()
    lost = tuple(("loses", line) for line in old if line not in new)
    gained = tuple(("gains", line) for line in new if line not in old)
    return Item("", f"{one.keep.path} (written by tune confirm)", details=(*lost, *gained))


def _attribute(one: PlannedAttribute) -> Item:
    was = one.was if one.pending == one.was else f"{one.pending} (pending; now {one.was})"
    details = (
        ("attribute", f"{one.display} ({one.attribute})"),
        ("change", f"{was} -> {one.wanted}"),
        *_why(one.why, one.effect, one.undo),
    )
    text = f"{one.id} (requested from the BMC; takes effect after a reboot)"
    return Item("", text, details=details)


def tuned_document(tuned: Tuned) -> Document:
    """Return the outcome on each host, grouped by equal outcomes."""

    def same(one: HostTuned) -> object:
        """Omit the seconds, which differ from host to host."""
        sets = [(each.id, each.state, each.timer, each.boot) for each in one.sets]
        return one.changes, sets, one.problem, one.status

    groups = _alike(tuned.hosts, same)
    items = [
        item
        for group in groups
        for item in _tuned(group[0], fold(one.host for one in group), tuned)
    ]
    outcome = _verified if tuned.action == "verify" else _outcome
    outcomes = _alike(tuned.hosts, outcome)
    words = [f"{outcome(group[0])} on {fold(one.host for one in group)}" for group in outcomes]
    answer = f"tune {tuned.action}: {'; '.join(words) or 'there was nothing to change'}"
    return Document("Changes of settings", answer, (Findings(tuple(items)),) if items else ())


def _outcome(one: HostTuned) -> str:
    """Return the state of the host's first set: sets in force come before reverted sets."""
    if one.problem or (one.status and not one.sets):
        return "not done"
    return f"the change set {_STATES[one.sets[0].state]}" if one.sets else "no change set"


def _verified(one: HostTuned) -> str:
    """Return the number of confirmed changes that are not in force."""
    lost = sum(not change.in_force for change in one.changes)
    if one.problem or not lost:
        return _outcome(one)
    return f"{lost} of {counted(len(one.changes), 'confirmed change')} not in force"


def _tuned(host: HostTuned, names: str, tuned: Tuned) -> Iterator[Item]:
    set_ids = {change_set.id for change_set in host.sets}
    rest = tuple(_answer(change) for change in host.changes if change.of not in set_ids)
    if host.problem:
        yield Item("fail", f"{names}: {host.problem}", details=rest)
    for change_set in host.sets:
        details = () if _is_over(change_set, tuned) else tuple(_changes(change_set, host, tuned))
        lost = tuned.action == "verify" and not all(
            change.in_force for change in host.changes if change.of == change_set.id
        )
        yield Item(
            "fail" if lost else _TONES.get(change_set.state, ""),
            _set(change_set, names),
            details=details,
        )
    if rest and not host.problem:
        of = "of no set" if host.sets else "no change set"
        yield Item("", f"{names}: {of}", details=rest)


def _is_over(each: SetAnswer, tuned: Tuned) -> bool:
    """Return True for a finished set, whose changes are not listed again."""
    return tuned.action == "status" and each.state == "reverted" and not tuned.id


def _changes(each: SetAnswer, one: HostTuned, tuned: Tuned) -> _Details:
    """Yield the changes of the set, and how to apply the remaining changes if one failed."""
    mine = [answer for answer in one.changes if answer.of == each.id]
    kept = each.state == "confirmed" and tuned.action != "revert"
    yield from (_answer(answer, kept and answer.state == "reverted") for answer in mine)
    failed = {it.id.split("/")[0] for it in mine if it.state in _FAILED and it.id[0] != "/"}
    if failed and tuned.action == "apply":
        options = " ".join(f"--skip {name}" for name in sorted(failed))
        yield "next", f"{options} omits this change"


def _set(one: SetAnswer, names: str) -> str:
    text = f"{names}: set {one.id} {_STATES[one.state]}"
    if one.state in ("armed", "applying"):
        text += _deadline(one)
    if one.by:
        text += f"; by {one.by}" + (f", {one.since}" if one.since else "")
    text += f": {one.reason}" if one.reason else ""
    return f"{text}; the host has rebooted since" if one.boot == "other" else text


def _deadline(one: SetAnswer) -> str:
    if one.timer == "gone":
        return ": its timer no longer runs; `wireproof tune revert` restores the old values"
    if one.deadline_s is None:
        return ""
    keeps = f"; `wireproof tune confirm {one.id}` keeps it" * (one.state == "armed")
    return f": it reverts by itself in {max(0.0, one.deadline_s):.0f} s{keeps}"


def _answer(one: ChangeAnswer, lost: bool = False) -> tuple[str, str]:
    """Return id and state of a change. ``lost``: the old value is back, although the set was not
    reverted."""
    if one.id.startswith("/etc/"):
        return one.id, _drop_in(one)
    values = f" {_brief(one.old)} -> {_brief(one.wanted)}" if one.wanted else ""
    seen = f", reads {_brief(one.seen)}" if one.seen and one.seen.strip() != one.wanted else ""
    reason = f": {one.reason}" if one.reason else ""
    return one.id, f"{'not in force:' if lost else one.state}{values}{seen}{reason}"


def _drop_in(one: ChangeAnswer) -> str:
    """Return the state of a drop-in; the plan shows whole texts."""
    if one.state == "removed":
        return "does not exist: tune confirm writes it" if one.wanted else "removed"
    reason = one.reason or ("it differs from the file that was written" * (one.state == "left"))
    return f"{one.state}{f': {reason}' if reason else ''}"


def _brief(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."


def residue_document(found: Residue) -> Document:
    """Return the remnants, by host."""
    items = tuple(
        Item("warning", f"{one.place}: {one.message}", word=f"{one.host}:") for one in found.found
    )
    hosts = fold(found.hosts)
    answer = f"{hosts}: no remnants of earlier changes"
    if items:
        places = fold(one.host for one in found.found)
        answer = f"{counted(len(items), 'remnant')} of earlier changes on {places}"
    return Document("Remnants of changes", answer, (Findings(items),) if items else ())


# --- A trial as a document: the answer for each value, its guards, and the method.

_TRIAL_HEADS = (
    Head("value", 9, left=True),
    Head("base", 4),
    Head("with it", 6),
    Head("change", 8),
    Head("answer", 7, left=True),
    Head("", 5, left=True),
)
_TRIAL_TONES: dict[str, Tone] = {
    "helps": "pass",
    "hurts": "fail",
    "undecided": "inconclusive",
    "worse": "fail",
    "unclear": "note",
}


def trial_document(trial: TryResult) -> Document:
    """Return the trial. The value that helps most is the answer; if none helps, the document shows
    the evidence on each value.
    """
    title = f"{trial.knob.name}, tried on {trial.workload}"
    others = [each for each in trial.comparisons if each is not _first(trial)]
    parts = [
        *(Text(each.text, _TRIAL_TONES.get(each.answer, "")) for each in others),
        *((Text(_slow(trial), "warning"),) if trial.stopping.reason == "too-slow" else ()),
        _values(trial),
        *(_guards(trial, each) for each in trial.comparisons if each.guards),
        *(Text(note, "note") for note in trial.notes),
        Text(f"{title}; {_trial_method(trial)}", "note"),
    ]
    return Document(title, _first(trial).text, tuple(parts), trial.verdict)


def _first(trial: TryResult) -> ValueEffect:
    order: tuple[Answer, ...] = ("undecided", "hurts", "no-effect", "helps")
    return trial.best or min(trial.comparisons, key=lambda each: order.index(each.answer))


def _values(trial: TryResult) -> Table:
    rows = tuple(
        Row(
            (
                trial.knob.shown(each.value),
                quantity.amount(each.base, trial.metric.unit),
                quantity.amount(each.other, trial.metric.unit),
                quantity.change(each.ratio, each.low, each.high),
                each.answer.replace("-", " "),
                Span(each.ratio, each.low, each.high),
            ),
            _TRIAL_TONES.get(each.answer, ""),
        )
        for each in trial.comparisons
    )
    better = "more" if trial.metric.better == "higher" else "less"
    title = f"{trial.metric.name} ({better} is better); base: {trial.knob.shown(0)}"
    return Table(_TRIAL_HEADS, rows, title, most=len(rows))


def _guards(trial: TryResult, comparison: ValueEffect) -> Table:
    heads = (Head("guard", 9, left=True), *_TRIAL_HEADS[1:5])
    rows = []
    for guard in comparison.guards:
        answer = _guard_answer(guard, trial.smallest)
        cells = (
            guard.name,
            quantity.amount(guard.base, ""),
            quantity.amount(guard.value, ""),
            _guard_change(guard),
            answer,
        )
        rows.append(Row(cells, _TRIAL_TONES.get(answer, "")))
    title = f"Guards with {trial.knob.shown(comparison.value)}: they must not get worse"
    return Table(heads, tuple(rows), title)


def _guard_change(guard: Guard) -> str:
    if guard.kind == "ratio":
        low, high = (None if end is None else 1 + end for end in (guard.low, guard.high))
        return quantity.change(1 + guard.change, low, high)
    known = guard.low is not None and (guard.low or guard.high)
    interval = f" [{guard.low:+.3g}, {guard.high:+.3g}]" if known else ""
    return f"{guard.change:+.3g} per run{interval}"


def _guard_answer(guard: Guard, smallest: float) -> str:
    """Return the answer for a guard. ``unclear``: neither worse nor unchanged beyond doubt."""
    if guard.worse:
        return "worse"
    most = 0.0 if guard.kind == "count" else smallest
    return "not worse" if guard.high is not None and guard.high <= most else "unclear"


def _slow(trial: TryResult) -> str:
    return (
        f"{quantity.duration(trial.stopping.budget_s)} allow too few runs for any answer: give a"
        " larger --budget-s or a shorter command."
    )


def _trial_method(trial: TryResult) -> str:
    proofs = Counter(run.proof for run in trial.runs if run.proof).most_common()
    paths = ", ".join(f"{proof} {count}" for proof, count in proofs)
    return (
        f"{quantity.counted(len(trial.runs), 'run')} in {quantity.duration(trial.seconds)}"
        f"{f' (paths: {paths})' if paths else ''}; blocks:"
        f" {max(each.blocks for each in trial.comparisons)}, looks: {len(trial.stopping.looks)};"
        f" simultaneous {100 * (1 - trial.stopping.alpha):.0f} % intervals;"
        f" seed {trial.seed}"
    )
