"""Pairs that fall short: the settings of their ends, and what all hosts have wrong, as causes."""

import dataclasses

import msgspec
import pytest
from tests.locate.test_causes import located
from tests.locate.test_settings import (
    HOSTS,
    MTU,
    RMEM,
    SETTINGS,
    TCP,
    TINY,
    WMEM,
    Planted,
    audit_of,
    short,
)

from wireproof.measure.conditions import joined
from wireproof.model.finding import Finding, Judgement, PairVerdict, Route
from wireproof.report.judged_run import JudgedRun


def pair(origin: str, target: str, efficiency: float, codes: list[str]) -> PairVerdict:
    value = 125e6 * efficiency
    return PairVerdict(
        point=1,
        pattern="stream",
        message_bytes=1 << 20,
        origin=0,
        target=1,
        origin_host=origin,
        target_host=target,
        unit="bytes_per_s",
        value=value,
        low=value * 0.99,
        high=value * 1.01,
        half_width=0.01,
        label="",
        proof="on-wire",
        verdict="fail" if codes else "pass",
        efficiency=efficiency,
        codes=codes,
    )


def two(*routes: tuple[str, str, float]) -> JudgedRun:
    """Pairs that reach so much; below 0.9 of it they fall short."""
    pairs = [
        pair(one, other, share, ["below-expectation"] if share < 0.9 else [])
        for one, other, share in routes
    ]
    findings = [
        Finding(
            code="below-expectation",
            severity="fail",
            message="short",
            subject=f"{one} -> {other}",
            about=Route(one, other),
        )
        for one, other, share in routes
        if share < 0.9
    ]
    judgement = Judgement(verdict="fail", proof="on-wire", findings=findings, pairs=pairs)
    return JudgedRun(title="check", run=TCP, judgement=judgement)


def cause_of(whole: JudgedRun) -> list[object]:
    return [one.evidence.get("cause_setting") for one in whole.judgement.findings]


def test_a_pair_that_falls_short_names_the_end_that_differs() -> None:
    hosts = ["n2", "n3"]
    slow = two(("n2", "n3", 0.3), ("n3", "n2", 0.95))
    found = joined(slow, audit_of(RMEM, WMEM, hosts=hosts), SETTINGS)
    assert cause_of(found) == ["tcp-rmem"], "n3 receives slowly"
    assert "n3's tcp-rmem is 4096 4096 4096, n2 has" in found.judgement.findings[0].message
    back = two(("n2", "n3", 0.95), ("n3", "n2", 0.3))
    assert cause_of(joined(back, audit_of(RMEM, WMEM, hosts=hosts), SETTINGS)) == ["tcp-wmem"]


def test_an_mtu_that_differs_at_the_two_ends_is_found_though_neither_value_is_wrong() -> None:
    slow = two(("n2", "n3", 0.83), ("n3", "n2", 0.95))
    planted = dataclasses.replace(MTU, status="pass", instance="hsn0")
    (finding,) = joined(slow, audit_of(planted, hosts=["n2", "n3"]), SETTINGS).judgement.findings
    said = "n3's mtu (hsn0) is 1500, n2 has 9000: 4 to 10 % less bandwidth expected, 17 % measured"
    assert said in finding.message
    assert "so it is not enough" in finding.message
    nearly = two(("n2", "n3", 0.89), ("n3", "n2", 0.95))
    assert cause_of(joined(nearly, audit_of(planted, hosts=["n2", "n3"]), SETTINGS)) == ["mtu"]


def test_what_all_have_wrong_explains_all_that_are_slow_and_no_odd_one() -> None:
    wrong = Planted("tcp-rmem", TINY, TINY, others="fail")
    routes = [(one, other, 0.4) for one in HOSTS for other in HOSTS if one != other]
    whole = joined(two(*routes), audit_of(wrong), SETTINGS)
    assert set(cause_of(whole)) == {"tcp-rmem"}
    message = whole.judgement.findings[0].message
    assert "tcp-rmem is 4096 4096 4096 on all 6 hosts, it should be" in message
    odd = [(one, other, 0.4 if other == "n3" else 0.97) for one, other, _ in routes]
    assert set(cause_of(joined(two(*odd), audit_of(wrong), SETTINGS))) == {None}


def test_what_is_doubtful_or_has_a_culprit_is_not_explained_by_what_all_have() -> None:
    wrong = Planted("tcp-rmem", TINY, TINY, others="fail")
    routes = [(one, other, 0.4) for one in HOSTS for other in HOSTS if one != other]
    slow = two(*routes)
    culprit = dataclasses.replace(slow, located=(located(short(0.6, "rx")),))
    found = joined(culprit, audit_of(wrong), SETTINGS)
    assert set(cause_of(found)) == {None}
    wide = [msgspec.structs.replace(one, high=one.value * 2.4) for one in slow.judgement.pairs]
    unsure = msgspec.structs.replace(slow.judgement, pairs=wide)
    found = joined(dataclasses.replace(slow, judgement=unsure), audit_of(wrong), SETTINGS)
    assert set(cause_of(found)) == {None}


@pytest.mark.parametrize(
    ("own", "other", "expected"),
    [
        ("1500", "9000", "4 to 10 %"),
        ("400", "9000", "16.1 to 40.3 %"),
        ("1400", "1500", "0.4 to 0.9 %"),
    ],
)
def test_what_an_mtu_costs_is_calculated_of_its_value(own: str, other: str, expected: str) -> None:
    planted = Planted("mtu", own, other, "pass", instance="hsn0")
    slow = two(("n2", "n3", 0.82), ("n3", "n2", 0.82))
    found = joined(slow, audit_of(planted, hosts=["n2", "n3"]), SETTINGS)
    assert (
        f"n3's mtu (hsn0) is {own}, n2 has {other}: {expected}"
        in found.judgement.findings[0].message
    )
    assert (cause_of(found)[0] == "mtu") == (own == "400")


def test_what_differs_comes_before_what_both_have_wrong() -> None:
    planted = Planted("mtu", "400", "9000", "pass", instance="hsn0")
    wrong = Planted("tcp-rmem", TINY, TINY, others="fail")
    fixed = Planted("offload-gro", "off [fixed]", "off [fixed]", others="fail", instance="hsn0")
    slow = two(("n2", "n3", 0.82), ("n3", "n2", 0.82))
    found = joined(slow, audit_of(planted, wrong, fixed, hosts=["n2", "n3"]), SETTINGS)
    assert cause_of(found) == ["mtu", "mtu"]
    assert not [one for one in found.judgement.findings if "offload-gro" in f"{one.evidence}"]


def test_what_both_hosts_have_wrong_is_said_of_both() -> None:
    wrong = Planted("tcp-rmem", TINY, TINY, others="fail")
    slow = two(("n2", "n3", 0.3), ("n3", "n2", 0.3))
    found = joined(slow, audit_of(wrong, hosts=["n2", "n3"]), SETTINGS)
    assert "tcp-rmem is 4096 4096 4096 on both hosts" in found.judgement.findings[0].message
