"""A trial's answer for people: hostile text is harmless, guards are called by what is known."""

from __future__ import annotations

import pytest

from wireproof.model.trial import Comparison, Guard, Knob, Look, Metric, Stopping, Trial
from wireproof.report.text.look import PLAIN
from wireproof.report.text.trial import trial_text


def trial(reason: str = "decided", **guard: object) -> Trial:
    given = {"name": "p99_ns", "kind": "ratio", "base": 1.0, "value": 1.0, "change": 0.0}
    guards = [Guard(**{**given, "low": None, "high": None, "worse": False, **guard})]  # type: ignore[arg-type]
    comparison = Comparison(
        value=1,
        answer="helps",
        base=1.0,
        other=0.9,
        ratio=0.9,
        low=0.88,
        high=0.92,
        blocks=8,
        guards=guards,
        text="X=\x1b[31m2 helps",
    )
    return Trial(
        knob=Knob(name="X", kind="variable", values=("1", "\x1b[31m2")),
        workload="sh -c \x1b[2J",
        metric=Metric(name="wall time", unit="s", better="lower", source="clock"),
        smallest=0.05,
        seed=7,
        stopping=Stopping(
            rule="",
            alpha=0.05,
            looks=[Look(blocks=8, alpha=0.008)],
            reason=reason,  # type: ignore[arg-type]
            budget_s=60.0,
        ),
        runs=[],
        comparisons=[comparison],
        seconds=9.0,
    )


@pytest.mark.parametrize(
    ("guard", "verdict"),
    [
        ({"low": 0.03, "high": 0.2, "worse": True}, "+0.0 % [+3.0, +20.0]: worse"),
        ({"low": -0.2, "high": 0.04}, "not worse"),
        ({"low": -0.4, "high": 0.9}, "unclear"),
        ({}, "unclear"),
        ({"kind": "count", "low": 0.0, "high": 0.0}, "1 -> 1 per run: not worse"),
        ({"kind": "count", "low": -1.0, "high": 2.5}, "1 -> 1 per run [-1, +2.5]: unclear"),
    ],
)
def test_guards(guard: dict[str, object], verdict: str) -> None:
    assert verdict in trial_text(trial(**guard), PLAIN).splitlines()[2]


def test_foreign_text_cannot_move_the_cursor() -> None:
    assert "\x1b" not in trial_text(trial(), PLAIN)


def test_a_budget_that_is_too_small_is_said() -> None:
    assert "--budget-s" in trial_text(trial("too-slow"), PLAIN)
