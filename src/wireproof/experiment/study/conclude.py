# pure
"""Draw the conclusions of a study from its runs and its read-back. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from wireproof.experiment import ALPHA, BLOCK_VALUES, Design, against_base
from wireproof.experiment.effects import Trial, effects, path_of_most
from wireproof.experiment.study import (
    Advice,
    Configuration,
    Control,
    Honoured,
    Knob,
    Library,
    Probe,
    Readback,
    Seen,
    StudiedPattern,
    Study,
    StudyEffect,
    StudyRun,
)
from wireproof.model import quantity
from wireproof.model.finding import Finding

METHOD = (
    f"random blocks of at most {BLOCK_VALUES} values and the base; Hodges-Lehmann estimate of the"
    " differences of logarithms in a block with the 95 % interval of Wilcoxon's signed-rank test;"
    f" Holm over all comparisons at {ALPHA:g}"
)


def concluded(
    study: Study, probes: Mapping[int, Probe], knobs: Mapping[str, Knob], library: Library
) -> Study:
    """Return ``study`` with effects, honoured values, findings, advice and the precision reached.

    All of it follows from the study's runs and from ``probes`` (by configuration).
    """
    found = [_if_proven(one, study.runs) for one in _effects(study)]
    honoured = []
    for number, probe in probes.items():
        one = study.configurations[number]
        own = [each for each in found if each.configuration == number]
        honoured.append(judged(number, one, knobs[one.knob], probe, own, library))
    return msgspec.structs.replace(
        study,
        effects=found,
        honoured=honoured,
        findings=[
            *(_finding(one, study) for one in honoured if not one.obeyed),
            *_counted(study),
        ],
        advice=_advice(study, found, honoured, knobs),
        precision=_precision(study.patterns, found),
        method=METHOD,
    )


def _effects(study: Study) -> list[StudyEffect]:
    """Compare each value on each pattern with the base of its block."""
    arms = tuple(range(len(study.configurations)))
    design = Design(
        arms=arms,
        seed="",
        metrics=tuple(
            msgspec.structs.replace(pattern.metric, name=pattern.name) for pattern in study.patterns
        ),
        contrasts=against_base(arms),
        smallest=study.smallest,
    )
    trials = [Trial(run.block, run.configuration, run.numbers, run.waited) for run in study.runs]
    return [
        StudyEffect(
            configuration=found.contrast.other,
            pattern=found.metric.name,
            ratio=found.ratio.value,
            low=found.ratio.low,
            high=found.ratio.high,
            p=found.p,
            base=found.base,
            other=found.other,
            blocks=found.blocks,
            answer=found.answer,
            busy=found.busy,
        )
        for found in effects(design, trials)
    ]


def _if_proven(effect: StudyEffect, runs: Sequence[StudyRun]) -> StudyEffect:
    """Return undecided unless most runs of the value and of the base are proven to have used the
    wire.
    """
    for number in (0, effect.configuration):
        proofs = [run.proof for run in runs if run.configuration == number]
        if path_of_most(proofs) != "on-wire":
            return msgspec.structs.replace(effect, answer="undecided")
    return effect


def _finding(one: Honoured, study: Study) -> Finding:
    configuration = study.configurations[one.configuration]
    return Finding(
        code="setting-not-honoured",
        severity="note",
        message=f"{configuration.whole}: {one.text}",
        evidence={"setting": configuration.knob, "asked": configuration.value, "seen": one.seen},
        subject=configuration.knob,
    )


def _counted(study: Study) -> list[Finding]:
    """Report what the library's counters show in most launches of a value; for the base only
    once.
    """
    found: list[Finding] = []
    usual: set[str] = set()
    for number, one in enumerate(study.configurations):
        runs = [run for run in study.runs if run.configuration == number]
        times = Counter(code for run in runs for code in run.said)
        most = {code: n for code, n in times.items() if 2 * n > len(runs) and code not in usual}
        found += [_of_counters(code, one, runs) for code in most]
        usual |= set(most) if number == 0 else set()
    return found


def _of_counters(code: str, one: Configuration, runs: Sequence[StudyRun]) -> Finding:
    told = [run.said[code] for run in runs if code in run.said]
    return Finding(
        code=code,
        severity="note",
        message=f"{one.shown}: {told[-1]} (in {len(told)} of {len(runs)} launches)",
        evidence={"launches": len(told), "of": len(runs)},
        subject=one.shown,
    )


def _advice(
    study: Study,
    found: Sequence[StudyEffect],
    honoured: Sequence[Honoured],
    knobs: Mapping[str, Knob],
) -> list[Advice]:
    obeyed = {one.configuration for one in honoured if one.obeyed}
    advice = []
    for number in sorted(obeyed):
        own = [one for one in found if one.configuration == number]
        helps = [one for one in own if one.answer == "helps"]
        hurts = [one for one in own if one.answer == "hurts"]
        if helps:
            one = study.configurations[number]
            means = knobs[one.knob].helps
            meaning = means.get(one.value, means.get("*", ""))
            text = _worded(one, helps, hurts) + (f"; {meaning}" if meaning else "")
            advice.append(Advice(configuration=number, kind="trade" if hurts else "use", text=text))
    return sorted(advice, key=lambda one: (one.kind != "use", -_gain(one.configuration, found)))


def _gain(number: int, found: Sequence[StudyEffect]) -> float:
    """Return the largest gain of a value, as a share."""
    own = [one for one in found if one.configuration == number and one.answer == "helps"]
    return max(abs(one.ratio - 1.0) for one in own)


def _worded(one: Configuration, helps: Sequence[StudyEffect], hurts: Sequence[StudyEffect]) -> str:
    text = f"{one.whole}: {_changes(helps)}"
    return f"{text}; but {_changes(hurts)}" if hurts else text


def _changes(found: Sequence[StudyEffect]) -> str:
    """Format ``stream +98.2 % [+95.1, +102], ring -3.0 % [-4.1, -2.0]``."""
    return ", ".join(
        f"{one.pattern} {quantity.change(one.ratio, one.low, one.high)}" for one in found
    )


def _precision(
    patterns: Sequence[StudiedPattern], found: Sequence[StudyEffect]
) -> dict[str, float]:
    """Return the median half-width of the effects' intervals on each pattern."""
    halves = {
        one.name: sorted(
            (each.high - each.low) / 2.0
            for each in found
            if each.pattern == one.name and each.low is not None and each.high is not None
        )
        for one in patterns
    }
    return {name: each[len(each) // 2] for name, each in halves.items() if each}


# --- Was each value honoured? The answer depends on what the library reports, how it behaves, and
# other spellings. Pure. A value that is not understood or not compiled in falls back silently, so
# no value is recommended unless something shows that it is in force.


def judged(
    number: int,
    one: Configuration,
    knob: Knob,
    probe: Probe,
    effects: Sequence[StudyEffect],
    library: Library,
) -> Honoured:
    """Return what is known about one value, in one sentence.

    ``effects``: the effects of this value on each pattern.
    """
    seen, text = _seen(one, knob, probe, effects, library)
    return Honoured(configuration=number, seen=seen, text=text, readbacks=probe.readbacks)


def _seen(
    one: Configuration, knob: Knob, probe: Probe, effects: Sequence[StudyEffect], library: Library
) -> tuple[Seen, str]:
    if probe.failed:
        return "refused", f"no run works with it: {probe.failed}{_controls(one, knob, probe)}"
    against = [each for each in probe.readbacks if each.agrees is False]
    for_it = [each for each in probe.readbacks if each.agrees]
    if probe.listed is not None and not for_it and not _names(knob, library) & {*probe.listed}:
        return "unread", (
            f"set to {one.value}, but {knob.name} is not among the"
            f" {quantity.counted(len(probe.listed), 'setting')} that {library.title} lists as"
            f" read{_also(against)}{_behaves(effects)}"
        )
    if {each.source for each in against} & {each.source for each in for_it}:
        return "disagree", _disagreement(against, for_it)
    if against:
        return "altered", f"{one.value} was requested, {_says(against[0])}{_behaves(effects)}"
    if for_it:
        return "honoured", _says(for_it[0])
    if _shows(effects):
        return "by-effect", (
            "the library reports nothing about it, and the runs differ from the base"
        )
    text = f"{one.value} was requested, the library reports nothing about it"
    return "unsaid", text + _behaves(effects)


def _names(knob: Knob, library: Library) -> set[str]:
    """Return the names that the library's list may use for the setting."""
    named = {each.name for each in knob.read if each.of == library.listing and each.name}
    return named or {knob.name}


def _also(against: Sequence[Readback]) -> str:
    return f"; {_says(against[0])}" if against else ""


def _says(one: Readback) -> str:
    return f"the library says {one.seen} ({one.source})"


def _disagreement(against: Sequence[Readback], for_it: Sequence[Readback]) -> str:
    one, other = for_it[0], against[0]
    return (
        f"the ranks disagree: {one.rank or 'one'} says {one.seen}, {other.rank or 'another'} says"
        f" {other.seen} ({other.source})"
    )


def _shows(effects: Sequence[StudyEffect]) -> bool:
    return any(one.answer in ("helps", "hurts") for one in effects)


def _behaves(effects: Sequence[StudyEffect]) -> str:
    """``; it behaves like the base within 1.2 % (stream)``; "" if that is not known."""
    if _shows(effects):
        changed = ", ".join(one.pattern for one in effects if one.answer in ("helps", "hurts"))
        return f"; nevertheless, the runs differ from the base ({changed})"
    spans = [
        (max(abs(one.low - 1.0), abs(one.high - 1.0)), one.low <= 1.0 <= one.high, one.pattern)
        for one in effects
        if one.low is not None and one.high is not None
    ]
    if not spans or len(spans) < len(effects):
        return ""
    if all(one.answer == "no-effect" for one in effects):
        most, _, at = max(spans)
        return f"; it behaves like the base within {100 * most:.1f} % ({at})"
    most, _, at = min(spans)
    within = f"within {100 * most:.1f} % at best, {at}"
    return (
        f"; no difference from the base is seen ({within})" if all(n for _, n, _ in spans) else ""
    )


def _controls(one: Configuration, knob: Knob, probe: Probe) -> str:
    """Describe the results of the other spellings of a refused value."""
    started = [each for each in knob.control if _outcome(each, one, probe) == ""]
    same = next((each for each in started if each.same), None)
    if same is None:
        return ""
    text = (
        f"; written as {spelling(same, one.value)} ({same.means}) it starts, so the value "
        "exists, and the text was read as something else"
    )
    for each in knob.control:
        if not each.same and (outcome := _outcome(each, one, probe)):
            alike = "in the same words" if outcome == probe.failed else "too"
            text += f"; {spelling(each, one.value)} ({each.means}) is refused {alike}"
    return text


def _outcome(control: Control, one: Configuration, probe: Probe) -> str | None:
    return probe.controls.get(spelling(control, one.value))


def spelling(control: Control, value: str) -> str:
    """Return ``value`` as the control spells it, or "" if the control has no such spelling."""
    text = control.spelling
    if "{hex}" in text:
        try:
            text = text.replace("{hex}", str(int(value, 16)))
        except ValueError:
            return ""
    text = text.replace("{first}", value[:1]).replace("{rest}", value[1:])
    return text.replace("{value}", value)
