"""One fold of severities, verdicts and proofs."""

from itertools import permutations

import pytest

from wireproof.model.finding import (
    SEVERITIES,
    Proof,
    Severity,
    Verdict,
    rank,
    verdict_of,
    worst,
    worst_proof,
)


def test_the_worst_severity_comes_first() -> None:
    shuffled: list[Severity] = ["note", "fail", "warning", "inconclusive"]
    assert tuple(sorted(shuffled, key=rank)) == SEVERITIES


@pytest.mark.parametrize(
    ("severities", "verdict"),
    [
        ((), "pass"),
        (("note", "warning"), "pass"),
        (("warning", "inconclusive"), "inconclusive"),
        (("inconclusive", "fail", "note"), "fail"),
    ],
)
def test_remarks_leave_a_verdict(severities: tuple[Severity, ...], verdict: Verdict) -> None:
    assert all(verdict_of(order) == verdict for order in permutations(severities))


def test_nothing_is_never_a_pass() -> None:
    assert worst([]) == "inconclusive"
    assert worst(["pass", "pass"]) == "pass"
    assert worst(["pass", "inconclusive"]) == "inconclusive"
    assert worst(["inconclusive", "fail", "pass"]) == "fail"


def test_the_worst_proof_speaks() -> None:
    order: tuple[Proof, ...] = ("off-wire", "wrong-path", "mixed", "unproven", "on-wire")
    assert worst_proof(()) == "unproven"
    assert [worst_proof(order[at:]) for at in range(len(order))] == list(order)
