"""A study's answer, for people: a table and a figure for each pattern, what to use, what was not
obeyed.
"""

from __future__ import annotations

from collections import Counter
from textwrap import wrap

from wireproof.analysis.trial.sentences import amount
from wireproof.model import quantity
from wireproof.model.study import Effect, Measured, Study
from wireproof.report.text.look import Look

__all__ = ["study_text"]

_MOST = 400
_WORDS = {"helps": "helps", "hurts": "hurts", "no-effect": "none", "undecided": "?"}
_OBEYED = {
    "honoured": "yes",
    "by-effect": "by effect",
    "altered": "no: altered",
    "unread": "no: not read",
    "unsaid": "unknown",
    "disagree": "no: ranks differ",
    "refused": "refused",
}


def study_text(study: Study, look: Look) -> str:
    """All of it, for a terminal of ``look.width`` columns."""
    lines = [*_head(study, look)]
    for pattern in study.patterns:
        lines += ["", *_pattern(study, pattern, look)]
    lines += ["", *_advice(study, look), "", *_not_obeyed(study, look), "", *_foot(study, look)]
    return "\n".join(lines)


def _head(study: Study, look: Look) -> list[str]:
    values = len(study.configurations) - 1
    hosts = ", ".join(study.hosts[:8])
    rails = f"; rails {', '.join(study.rails)}" if len(study.rails) > 1 else ""
    return _wrapped(
        f"Study of {study.title} on {hosts}: {values} values, {study.rounds} rounds,"
        f" {len(study.runs)} launches in {quantity.duration(study.seconds)}{rails}",
        look,
    )


def _pattern(study: Study, pattern: Measured, look: Look) -> list[str]:
    found = [one for one in study.effects if one.pattern == pattern.name]
    base = f": base {amount(found[0].base, pattern.metric)}" if found else ": nothing was measured"
    better = "more" if pattern.metric.better == "higher" else "less"
    lines = _wrapped(f"{pattern.name}, {pattern.what} ({better} is better){base}", look)
    obeyed = {one.configuration: _OBEYED[one.seen] for one in study.honoured}
    width = min(
        40, max((len(study.configurations[one.configuration].shown) for one in found), default=0)
    )
    bar = max(11, look.width - width - 50)
    scale = max((_size(one) for one in found), default=0.0) or 1.0
    for one in found:
        name = look.say(study.configurations[one.configuration].shown)
        name = name if len(name) <= width else name[: width - 2] + ".."
        lines.append(
            f"  {name:<{width}} {_figure(one, scale, bar)} {_effect(one):<25}"
            f" {_WORDS[one.answer]:<5} {obeyed.get(one.configuration, '')}".rstrip()
        )
    return lines


def _size(one: Effect) -> float:
    ends = (one.ratio, one.low or one.ratio, one.high or one.ratio)
    return max(abs(end - 1.0) for end in ends)


def _figure(one: Effect, scale: float, width: int) -> str:
    """``----|==o==``: no change in the middle, the interval as a line, the estimate as o."""
    half = width // 2

    def at(ratio: float) -> int:
        return max(0, min(2 * half, half + round((ratio - 1.0) / scale * half)))

    cells = [" "] * (2 * half + 1)
    if one.low is not None and one.high is not None:
        for place in range(at(one.low), at(one.high) + 1):
            cells[place] = "-"
    cells[half] = "|"
    cells[at(one.ratio)] = "o"
    return "".join(cells)


def _effect(one: Effect) -> str:
    centre = f"{100.0 * (one.ratio - 1.0):+.1f} %"
    if one.low is None or one.high is None:
        return f"{centre} [few runs]"
    return f"{centre} [{100.0 * (one.low - 1.0):+.1f}, {100.0 * (one.high - 1.0):+.1f}]"


def _advice(study: Study, look: Look) -> list[str]:
    if not study.advice:
        return ["Recommended: nothing; no value that was obeyed helps measurably here."]
    lines = []
    for kind, title in (("use", "Recommended:"), ("trade", "Helps one thing and hurts another:")):
        chosen = [one for one in study.advice if one.kind == kind]
        if chosen:
            lines.append(title)
            for one in chosen:
                lines += _wrapped(one.text, look, "  ")
    return lines


def _not_obeyed(study: Study, look: Look) -> list[str]:
    own = [one for one in study.findings if one.code == "setting-not-honoured"]
    lines = ["Not obeyed:"] if own else ["Not obeyed: none of the values."]
    for one in own:
        lines += _wrapped(f"{one.message} [{one.code}]", look, "  ")
    others = [one for one in study.findings if one not in own]
    lines += ["", f"{study.title}'s own counters:"] if others else []
    for one in others:
        lines += _wrapped(f"{one.message} [{one.code}]", look, "  ")
    return lines


def _foot(study: Study, look: Look) -> list[str]:
    lines: list[str] = []
    paths = _paths(study)
    if paths:
        lines += _wrapped(f"paths of the launches: {paths}", look)
    if study.precision:
        each = ", ".join(f"{name} {100 * half:.1f} %" for name, half in study.precision.items())
        lines += _wrapped(f"precision reached (median half interval): {each}", look)
    lines += _wrapped(
        f"helps and hurts: beyond {100 * study.smallest:g} %, all of them together right with"
        f" {100 * (1 - study.alpha):.0f} % (Holm); each interval 95 %; seed {study.seed}",
        look,
    )
    return lines


def _paths(study: Study) -> str:
    counted = Counter(run.proof for run in study.runs if run.proof)
    return ", ".join(f"{proof} {count}" for proof, count in counted.most_common())


def _wrapped(text: str, look: Look, indent: str = "") -> list[str]:
    safe = look.say(text, _MOST)
    return wrap(safe, look.width, initial_indent=indent, subsequent_indent=indent + "  ") or [""]
