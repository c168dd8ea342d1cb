"""A trial's answer, for people."""

from __future__ import annotations

from wireproof.model import quantity
from wireproof.model.trial import Guard, Trial
from wireproof.report.names import clean
from wireproof.report.text.look import Look

__all__ = ["trial_text"]

_MOST = 300


def trial_text(trial: Trial, look: Look) -> str:
    """What was compared, the answer for each value, its guards, how it was found."""
    return "\n".join(_lines(trial))


def _lines(trial: Trial) -> list[str]:
    lines = [clean(f"{trial.workload}; base: {trial.knob.shown(0)}", _MOST)]
    for one in trial.comparisons:
        lines.append(clean(one.text, _MOST))
        lines += [f"  {clean(_guard(guard), _MOST)}" for guard in one.guards]
    blocks = max(one.blocks for one in trial.comparisons)
    lines.append(
        f"{len(trial.runs)} runs in {quantity.duration(trial.seconds)}; blocks: {blocks}, looks:"
        f" {len(trial.stopping.looks)}; all intervals hold together with"
        f" {100 * (1 - trial.stopping.alpha):.0f} %; seed {trial.seed}"
    )
    if trial.stopping.reason == "too-slow":
        lines.append(
            f"too few runs fit into {quantity.duration(trial.stopping.budget_s)} for any answer:"
            " give a larger --budget-s or a shorter command"
        )
    return lines


def _guard(guard: Guard) -> str:
    verdict = "worse" if guard.worse else "not worse" if guard.low is not None else "unknown"
    if guard.kind == "count":
        return f"{guard.name}: {guard.base:g} -> {guard.value:g} per run: {verdict}"
    span = (
        f" [{100 * guard.low:+.1f}, {100 * guard.high:+.1f}]"
        if guard.low is not None and guard.high is not None
        else ""
    )
    return f"{guard.name}: {100 * guard.change:+.1f} %{span}: {verdict}"
