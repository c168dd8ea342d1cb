"""A trial as a document: the answer of the value that decides, guards by what is known of each."""

import pytest

from wireproof.model.experiment import (
    Guard,
    InterimLook,
    Metric,
    Stopping,
    TriedKnob,
    TryResult,
    ValueEffect,
)
from wireproof.report.document import Document, Row, Table, Text
from wireproof.tune.document import trial_document


def trial(reason: str = "decided", **guard: object) -> TryResult:
    given = {"name": "p99_ns", "kind": "ratio", "base": 1.0, "value": 1.0, "change": 0.0}
    guards = [Guard(**{**given, "low": None, "high": None, "worse": False, **guard})]  # type: ignore[arg-type]
    comparison = ValueEffect(
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
    return TryResult(
        knob=TriedKnob(name="X", kind="variable", values=("1", "\x1b[31m2")),
        workload="sh -c \x1b[2J",
        metric=Metric(name="wall time", unit="s", better="lower", source="clock"),
        smallest=0.05,
        seed=7,
        stopping=Stopping(
            rule="",
            alpha=0.05,
            looks=[InterimLook(blocks=8, alpha=0.008)],
            reason=reason,  # type: ignore[arg-type]
            budget_s=60.0,
        ),
        runs=[],
        comparisons=[comparison],
        seconds=9.0,
    )


def guard_row(document: Document) -> Row:
    return [part for part in document.parts if isinstance(part, Table)][1].rows[0]


@pytest.mark.parametrize(
    ("guard", "change", "answer"),
    [
        ({"low": 0.03, "high": 0.2, "worse": True}, "+0.0 % [+3.0, +20.0]", "worse"),
        ({"low": -0.2, "high": 0.04}, "+0.0 % [-20.0, +4.0]", "not worse"),
        ({"low": -0.4, "high": 0.9}, "+0.0 % [-40.0, +90.0]", "unclear"),
        ({}, "+0.0 %", "unclear"),
        ({"kind": "count", "low": 0.0, "high": 0.0}, "+0 per run", "not worse"),
        ({"kind": "count", "low": -1.0, "high": 2.5}, "+0 per run [-1, +2.5]", "unclear"),
    ],
)
def test_guards(guard: dict[str, object], change: str, answer: str) -> None:
    assert guard_row(trial_document(trial(**guard))).cells[-2:] == (change, answer)


def test_a_large_number_has_no_exponent() -> None:
    row = guard_row(trial_document(trial(base=17049.6, value=2.0)))
    assert row.cells[1:3] == ("17050", "2")


def test_the_value_that_helps_is_the_answer() -> None:
    document = trial_document(trial())
    assert document.verdict == "pass"
    assert document.answer == trial().comparisons[0].text


def test_a_budget_that_is_too_small_is_a_warning() -> None:
    texts = [part for part in trial_document(trial("too-slow")).parts if isinstance(part, Text)]
    assert [part.tone for part in texts if "--budget-s" in part.text] == ["warning"]
