"""Whether each value was obeyed: what the library says, what it does, what another spelling does.
Pure.

A value that was not understood, or not compiled in, falls back in silence; therefore nothing is
recommended of a value that nothing shows to be in force.
"""

from __future__ import annotations

from collections.abc import Sequence

from wireproof.model.study import (
    Configuration,
    Control,
    Honoured,
    Knob,
    Library,
    Probe,
    Readback,
    Seen,
    StudyEffect,
)

__all__ = ["judged", "spelling"]


def judged(
    number: int,
    one: Configuration,
    knob: Knob,
    probe: Probe,
    effects: Sequence[StudyEffect],
    library: Library,
) -> Honoured:
    """What is known of one value, in one sentence. ``effects``: of this value, on each pattern."""
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
            f"set to {one.value}, but {knob.name} is not among the {len(probe.listed)} settings"
            " that"
            f" {library.title} lists as read{_also(against)}{_behaves(effects)}"
        )
    if {each.source for each in against} & {each.source for each in for_it}:
        return "disagree", _disagreement(against, for_it)
    if against:
        return "altered", f"asked {one.value}, {_says(against[0])}{_behaves(effects)}"
    if for_it:
        return "honoured", _says(for_it[0])
    if _shows(effects):
        return "by-effect", (
            "the library reports nothing about it, and the runs differ from the base"
        )
    return "unsaid", f"asked {one.value}, the library reports nothing about it{_behaves(effects)}"


def _names(knob: Knob, library: Library) -> set[str]:
    """What the library's list would call the setting."""
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
    """``; it behaves as the base within 1.2 % (stream)``; "" where that is not known."""
    if _shows(effects):
        changed = ", ".join(one.pattern for one in effects if one.answer in ("helps", "hurts"))
        return f"; and yet the runs differ from the base ({changed})"
    spans = [
        (max(abs(one.low - 1.0), abs(one.high - 1.0)), one.low <= 1.0 <= one.high, one.pattern)
        for one in effects
        if one.low is not None and one.high is not None
    ]
    if not spans or len(spans) < len(effects):
        return ""
    if all(one.answer == "no-effect" for one in effects):
        most, _, at = max(spans)
        return f"; it behaves as the base within {100 * most:.1f} % ({at})"
    most, _, at = min(spans)
    within = f"within {100 * most:.1f} % at best, {at}"
    return (
        f"; no difference from the base is seen ({within})" if all(n for _, n, _ in spans) else ""
    )


def _controls(one: Configuration, knob: Knob, probe: Probe) -> str:
    """What the other spellings show of a refused value."""
    started = [each for each in knob.control if _outcome(each, one, probe) == ""]
    same = next((each for each in started if each.same), None)
    if same is None:
        return ""
    text = (
        f"; written as {spelling(same, one.value)} ({same.means}) it starts, so that what it"
        " names is there, and the text was taken for something else"
    )
    for each in knob.control:
        if not each.same and (outcome := _outcome(each, one, probe)):
            alike = "in the same words" if outcome == probe.failed else "too"
            text += f"; {spelling(each, one.value)} ({each.means}) is refused {alike}"
    return text


def _outcome(control: Control, one: Configuration, probe: Probe) -> str | None:
    return probe.controls.get(spelling(control, one.value))


def spelling(control: Control, value: str) -> str:
    """``value`` as the control writes it; "" where it cannot be written so."""
    text = control.spelling
    if "{hex}" in text:
        try:
            text = text.replace("{hex}", str(int(value, 16)))
        except ValueError:
            return ""
    text = text.replace("{first}", value[:1]).replace("{rest}", value[1:])
    return text.replace("{value}", value)
