"""A trial's answer, for people."""

from __future__ import annotations

from collections import Counter

from wireproof.model import quantity
from wireproof.model.trial import Guard, Trial
from wireproof.report.text.look import Look

__all__ = ["trial_text"]

_MOST = 300


def trial_text(trial: Trial, look: Look) -> str:
    """What was compared, the answer for each value, its guards, how it was found."""
    return "\n".join(_lines(trial, look))


def _lines(trial: Trial, look: Look) -> list[str]:
    lines = [look.say(f"{trial.workload}; base: {trial.knob.shown(0)}", _MOST)]
    for one in trial.comparisons:
        lines.append(look.say(one.text, _MOST))
        lines += [f"  {look.say(_guard(guard, trial.smallest), _MOST)}" for guard in one.guards]
    if proofs := Counter(run.proof for run in trial.runs if run.proof):
        found = ", ".join(f"{proof} {count}" for proof, count in proofs.most_common())
        lines.append(f"paths of the runs: {found}")
    blocks = max(one.blocks for one in trial.comparisons)
    lines.append(
        f"{quantity.counted(len(trial.runs), 'run')} in {quantity.duration(trial.seconds)};"
        f" blocks: {blocks}, looks:"
        f" {len(trial.stopping.looks)}; all intervals hold together with"
        f" {100 * (1 - trial.stopping.alpha):.0f} %; seed {trial.seed}"
    )
    if trial.stopping.reason == "too-slow":
        lines.append(
            f"too few runs fit into {quantity.duration(trial.stopping.budget_s)} for any answer:"
            " give a larger --budget-s or a shorter command"
        )
    return lines


def _guard(guard: Guard, smallest: float) -> str:
    verdict = _verdict(guard, smallest)
    counted = guard.kind == "count"
    scale, digits = (1.0, "+.3g") if counted else (100.0, "+.1f")
    span = ""
    if guard.low is not None and guard.high is not None and (guard.low, guard.high) != (0.0, 0.0):
        span = f" [{scale * guard.low:{digits}}, {scale * guard.high:{digits}}]"
    if counted:
        return f"{guard.name}: {guard.base:g} -> {guard.value:g} per run{span}: {verdict}"
    return f"{guard.name}: {100 * guard.change:+.1f} %{span}: {verdict}"


def _verdict(guard: Guard, smallest: float) -> str:
    """``unclear``: not seen to be worse, and not known to be no worse either."""
    if guard.worse:
        return "worse"
    most = 0.0 if guard.kind == "count" else smallest
    return "not worse" if guard.high is not None and guard.high <= most else "unclear"
