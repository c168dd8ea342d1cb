"""A study's answer, for people: a table and a figure for each pattern, what to use, what was not
obeyed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import median
from textwrap import wrap

from wireproof.analysis.trial.sentences import amount
from wireproof.model import quantity
from wireproof.model.study import Effect, Measured, Study, StudyRun
from wireproof.report.text.look import Look

__all__ = ["study_text"]

_MOST = 400
_WORDS = {"helps": "helps", "hurts": "hurts", "no-effect": "none", "undecided": "?"}
_OBEYED = {"honoured": "yes", "by-effect": "yes", "unsaid": "?"}
"""Else no; the sentences below say more."""
_STOPPED = {
    "complete": "",
    "budget": "; the budget was over before all rounds",
    "interrupted": "; interrupted",
}
_FIXED = 54
"""Columns of a row beside the name."""


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
        f"Study of {study.title} on {hosts}: {quantity.counted(values, 'value')},"
        f" {quantity.counted(study.rounds, 'round')},"
        f" {len(study.runs)} launches in {quantity.duration(study.seconds)}{rails}"
        f"{_STOPPED[study.stopped]}",
        look,
    )


def _pattern(study: Study, pattern: Measured, look: Look) -> list[str]:
    found = [one for one in study.effects if one.pattern == pattern.name]
    base = f": base {amount(found[0].base, pattern.metric)}" if found else ": nothing was measured"
    better = "more" if pattern.metric.better == "higher" else "less"
    lines = _wrapped(f"{pattern.name}, {pattern.what} ({better} is better){base}", look)
    obeyed = {one.configuration: _OBEYED.get(one.seen, "no") for one in study.honoured}
    names = [look.say(study.configurations[one.configuration].shown) for one in found]
    width = min(look.width - _FIXED, max((len(name) for name in names), default=0))
    bar = min(41, 11 + look.width - _FIXED - width)
    scale = max((_size(one) for one in found), default=0.0) or 1.0
    if found:
        lines.append(f"  {'':<{width}} {'':<{bar}} {'effect, 95 %':<26} {'':<5} obeyed")
    for one, name in zip(found, names, strict=True):
        lines.append(
            f"  {_short(name, width):<{width}} {_figure(one, scale, bar):<{bar}} {_effect(one):<26}"
            f" {_WORDS[one.answer]:<5} {obeyed.get(one.configuration, '')}".rstrip()
        )
    return lines


def _short(name: str, width: int) -> str:
    """Cut in the middle: the value at the end tells the rows apart."""
    if len(name) <= width:
        return name
    value = min(len(name) - name.rfind("=", 0, -1), width - 4)
    return f"{name[: width - 2 - value]}..{name[-value:]}"


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
    """``+98.2 % [+95.1, +102]``"""
    if one.low is None or one.high is None:
        return f"{_change(one.ratio)} % [few runs]"
    return f"{_change(one.ratio)} % [{_change(one.low)}, {_change(one.high)}]"


def _change(ratio: float) -> str:
    change = 100.0 * (ratio - 1.0)
    return f"{change:+.1f}" if abs(change) < 100 else f"{min(change, 1e6):+.0f}"


def _advice(study: Study, look: Look) -> list[str]:
    if not study.advice and any(run.proof != "on-wire" for run in study.runs):
        why = "of runs that are not proven to use the wire nothing is concluded; see the paths."
        return _wrapped(f"Recommended: nothing; {why}", look, "")
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
    lines = _paths(study, look)
    if study.precision:
        each = ", ".join(f"{name} {100 * half:.1f} %" for name, half in study.precision.items())
        lines += _wrapped(f"precision reached (median half interval): {each}", look)
    lines += _wrapped(
        f"helps and hurts: beyond {100 * study.smallest:g} %, all of them together right with"
        f" {100 * (1 - study.alpha):.0f} % (Holm); each interval 95 %; seed {study.seed}",
        look,
    )
    return lines


def _paths(study: Study, look: Look) -> list[str]:
    """Proof and shares of the ports, with the values that have them in common."""
    alike: dict[str, list[str]] = defaultdict(list)
    for number, one in enumerate(study.configurations):
        runs = [run for run in study.runs if run.configuration == number]
        if runs:
            alike[_path(runs)].append(one.shown)
    lines = [f"paths of the {len(study.runs)} launches:"] if alike else []
    for path, names in alike.items():
        lines += _wrapped(f"{path}: {', '.join(names)}", look, "  ")
    return lines


def _path(runs: Sequence[StudyRun]) -> str:
    """``on-wire 12 of 12, hsn0 50 %, hsn1 50 %``: the proof of most, and the median shares."""
    proof, count = Counter(run.proof for run in runs).most_common(1)[0]
    ports = sorted({name for run in runs for name in run.shares})
    shares = [median(run.shares.get(name, 0.0) for run in runs) for name in ports]
    each = "".join(
        f", {name} {100 * share:.0f} %" for name, share in zip(ports, shares, strict=True) if share
    )
    of = f" {count} of {len(runs)}" if count < len(runs) else ""
    return f"{proof or 'unproven'}{of}{each}"


def _wrapped(text: str, look: Look, indent: str = "") -> list[str]:
    safe = look.say(text, _MOST)
    return wrap(safe, look.width, initial_indent=indent, subsequent_indent=indent + "  ") or [""]
