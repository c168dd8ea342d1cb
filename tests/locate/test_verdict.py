"""Culprits as findings: each code on its case, what a culprit explains, what it does not, and what
silence proves.
"""

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import settings as hyp_settings
from hypothesis import strategies as st
from tests.records import blame, located
from tests.synthetic import lab, run_of

from wireproof.locate.verdict import with_located
from wireproof.locate.verdict.issues import blame_sentence, located_issues
from wireproof.model.finding import Judgement, Link, Port, Route, Switch
from wireproof.model.located import (
    Attachment,
    Blame,
    Cable,
    Cause,
    Contention,
    Fabric,
    Tier,
)
from wireproof.verdict.catalogue import CATALOGUE
from wireproof.verdict.run import judge

set_ = msgspec.structs.replace
SIZES = (8, 1 << 20, 4 << 20)
GOOD = judge(run_of(lab(nodes=4, sizes=SIZES)))
SENDER = judge(run_of(lab(nodes=4, sizes=SIZES, speed=lambda a, b: 0.6 if a == 2 else 1.0)))
ONE_WAY = judge(
    run_of(lab(nodes=4, sizes=SIZES, speed=lambda a, b: 0.6 if (a, b) == (0, 1) else 1.0))
)


def codes(judgement: Judgement, *severities: str) -> list[tuple[str, str]]:
    return [
        (f.code, f.subject)
        for f in judgement.findings
        if not severities or f.severity in severities
    ]


def test_the_worlds_are_what_they_should_be() -> None:
    assert codes(GOOD, "fail") == []
    assert ("node-direction-slow", "n3 tx") in codes(SENDER, "fail")
    assert ("direction-slow", "n1 -> n2") in codes(ONE_WAY, "fail")


@pytest.mark.parametrize(
    ("kind", "direction", "subject", "code"),
    [
        ("node", "", "n3", "node-slow"),
        ("port", "rx", "n3", "port-slow"),
        ("link", "", "leaf1 - spine2", "link-slow"),
        ("switch", "", "leaf1", "switch-slow"),
        ("pair", "", "n1 -> n2", "pair-slow"),
    ],
)
def test_each_kind_of_culprit_fails_by_its_own_code(
    kind: str, direction: str, subject: str, code: str
) -> None:
    one = blame(kind=kind, direction=direction, subject=subject)
    (issue,) = located_issues(located(blames=[one]))
    assert (issue.code, issue.severity) == (code, "fail")
    for words in (
        subject,
        "571 Mb/s (71.4 MB/s)",
        "952 Mb/s (119.0 MB/s)",
        "40 % less",
        "39 % to 41 %",
        "above 0.999",
    ):
        assert words in issue.message
    assert "No counter or configuration difference explains it" in issue.message
    verdict = with_located(GOOD, [located(blames=[one])])
    assert verdict.verdict == "fail"
    assert CATALOGUE[code].next_action in [f.advice for f in verdict.findings]


def test_the_sentence_of_a_latency_says_more_and_microseconds() -> None:
    one = blame(
        kind="node",
        direction="",
        metric="hrt",
        value=2400.0,
        expected=2000.0,
        slowdown=0.2,
        low=0.19,
        high=0.2,
    )
    assert "2.4 us instead of the expected 2 us, 20 % more" in blame_sentence(one)
    assert "receives slowly" in blame_sentence(blame(direction="rx"))


def test_one_bad_port_is_one_finding() -> None:
    found = with_located(SENDER, [located(blames=[blame()])])
    assert codes(found, "fail") == [("port-slow", "n3 tx")]
    assert [f.evidence["direction"] for f in found.findings if f.code == "port-slow"] == ["tx"]
    assert [p.verdict for p in found.pairs] == [p.verdict for p in SENDER.pairs]


HALVED = judge(run_of(lab(nodes=2, sizes=SIZES, speed=lambda a, b: 0.3)))
SLIGHT = {"subject": "n1", "slowdown": 0.1, "low": 0.09, "high": 0.11, "value": 107e6}
NODE = {"kind": "node", "direction": "", "subject": "n1", "value": 35.7e6}
LINK = {"kind": "link", "direction": "", "subject": "leaf1 - spine1"}
SENDS = ("node-direction-slow", "n3 tx")
BELOW = ("below-expectation", "n1 -> n2")
WAY = ("direction-slow", "n1 -> n2")


@pytest.mark.parametrize(
    ("world", "culprit", "finding", "stays"),
    [
        (SENDER, blame(subject="n1"), SENDS, True),
        (SENDER, blame(direction="rx"), SENDS, True),
        (SENDER, blame(metric="hrt"), SENDS, True),
        (SENDER, blame(kind="switch", subject="n3"), SENDS, True),
        (HALVED, blame(**SLIGHT), BELOW, True),  # much worse than its culprit
        (HALVED, blame(**NODE), BELOW, False),
        (ONE_WAY, blame(kind="pair", direction="", subject="n1 -> n2"), WAY, False),
        (ONE_WAY, blame(kind="pair", direction="", subject="n2 -> n1"), WAY, True),
        (ONE_WAY, blame(**LINK, nodes=["n1", "n2"]), WAY, True),  # both ends below it
        (ONE_WAY, blame(**LINK, nodes=["n1", "n3"]), WAY, False),
    ],
)
def test_a_culprit_explains_what_it_slows_down_and_nothing_else(
    world: Judgement, culprit: Blame, finding: tuple[str, str], stays: bool
) -> None:
    assert finding in codes(world, "fail")
    found = codes(with_located(world, [located(blames=[culprit])]), "fail")
    assert (finding in found) == stays
    assert any(code.endswith("-slow") and code != "direction-slow" for code, _ in found)


def test_a_suspect_that_was_not_confirmed_does_not_fail_by_itself() -> None:
    only_screened = located(blames=[blame(stage="screened")])
    found = with_located(GOOD, [only_screened])
    assert found.verdict == "inconclusive"
    assert ("port-slow", "n3 tx") in codes(found, "inconclusive")
    assert ("not-confirmed", "n3 tx") in codes(found, "warning")
    assert ("port-slow", "n3 tx") in codes(with_located(SENDER, [only_screened]), "fail")


def test_the_likeliest_cause_speaks_and_advises() -> None:
    causes = [
        Cause(
            code="pcie-narrow",
            sentence="n3 hsn0 runs at PCIe x4 of x8",
            confidence=0.9,
            fix="Reseat the adapter.",
            evidence=["current_link_width 4, max_link_width 8"],
        ),
        Cause(code="load", sentence="n3 is busy", confidence=0.3, fix="Stop it."),
    ]
    found = with_located(GOOD, [located(blames=[blame(causes=causes)])])
    finding = next(f for f in found.findings if f.code == "port-slow")
    assert finding.advice == "Reseat the adapter."
    assert "Cause: n3 hsn0 runs at PCIe x4 of x8 (confidence 0.9)" in finding.message
    assert finding.evidence["cause_seen"] == ["current_link_width 4, max_link_width 8"]
    assert finding.evidence["other_causes"] == ["n3 is busy (0.3)"]
    unsure = msgspec.structs.replace(causes[0], confidence=0.77)
    found = with_located(GOOD, [located(blames=[blame(causes=[unsure])])])
    finding = next(f for f in found.findings if f.code == "port-slow")
    assert "The cause may be: n3 hsn0 runs at PCIe x4 of x8 (confidence 0.77)" in finding.message


def test_contention_and_tiers_and_acquittals_are_notes_and_never_decide() -> None:
    innocent = located(
        contention=[
            Contention(
                subject="n1 -> n4", loaded=50e6, alone=118e6, sentence="slow together, fast alone"
            )
        ],
        tiers=[
            Tier(name="one switch", samples=24, median=118e6),
            Tier(name="across leaves", samples=24, median=59e6, oversubscription=2.0),
        ],
        cleared=["n2"],
    )
    found = with_located(GOOD, [innocent])
    assert found.verdict == GOOD.verdict
    new = set(codes(found, "note")) - set(codes(GOOD))
    assert new == {
        ("contention", "n1 -> n4"),
        ("tier-oversubscribed", "across leaves"),
        ("suspect-cleared", "n2"),
    }


def test_a_pair_that_is_fast_alone_does_not_fail() -> None:
    world = judge(run_of(lab(nodes=2, sizes=SIZES, speed=lambda a, b: 0.5)))
    streams = [p for p in world.pairs if p.pattern == "stream" and p.verdict == "fail"]
    assert streams
    fast = [Contention(subject="n1 -> n2", loaded=59e6, alone=118e6, sentence="fast alone")]
    found = with_located(set_(world, pairs=streams), [located(contention=fast)])
    ways = {(p.origin_host, p.verdict) for p in found.pairs}
    assert ways == {("n1", "pass"), ("n2", "fail")}
    assert ("below-expectation", "n1 -> n2") not in codes(found)
    assert ("below-expectation", "n2 -> n1") in codes(found)
    slow = [set_(fast[0], alone=70e6)]
    assert {
        p.verdict
        for p in with_located(set_(world, pairs=streams), [located(contention=slow)]).pairs
    } == {"fail"}


def test_zero_evidence_never_passes() -> None:
    nothing = with_located(GOOD, [located(measured=0, samples=0, missing={"n1": "did not answer"})])
    assert nothing.verdict == "inconclusive"
    assert {("nothing-screened", "goodput"), ("node-missing", "n1")} <= set(
        codes(nothing, "inconclusive")
    )
    assert with_located(GOOD, [located(missing={"n4": ""})]).verdict == "inconclusive"


@pytest.mark.parametrize("detectable", [0.056, 3.0, math.inf, math.nan])
def test_silence_in_noise_is_no_pass(detectable: float) -> None:
    pairs = [set_(GOOD.pairs[0], verdict="inconclusive"), *GOOD.pairs[1:]]
    found = with_located(set_(GOOD, pairs=pairs), [located(detectable=detectable)])
    assert found.verdict == "inconclusive"
    assert codes(found, "inconclusive") == [("noise-too-high", "goodput")]


def test_pairs_that_all_reach_their_limits_pass_in_noise_with_a_warning() -> None:
    found = with_located(GOOD, [located(detectable=math.inf)])
    assert found.verdict == "pass"
    assert ("noise-too-high", "goodput") in codes(found, "warning")
    assert (
        with_located(set_(GOOD, pairs=[]), [located(detectable=math.inf)]).verdict == "inconclusive"
    )
    assert with_located(GOOD, [located(detectable=0.05)]).verdict == "pass"


def test_very_many_missing_nodes_are_one_finding_by_reason() -> None:
    missing = {f"n{i}": "did not answer" if i % 2 else "drained" for i in range(1000)}
    issues = [
        i for i in located_issues(located(nodes=1004, missing=missing)) if i.code == "node-missing"
    ]
    assert len(issues) == 2
    assert all(len(i.message) < 300 for i in issues)
    nodes = [i.evidence["nodes"] for i in issues]
    assert sorted(len(one) for one in nodes if isinstance(one, list)) == [500, 500]


def test_hostile_numbers_and_names_do_not_break_it() -> None:
    odd = blame(
        subject="\x1b[31m" * 50,
        slowdown=math.nan,
        low=math.inf,
        high=-math.inf,
        value=-1.0,
        confidence=math.nan,
    )
    (issue,) = located_issues(located(blames=[odd]))
    assert "unknown" in issue.message
    assert with_located(GOOD, [located(blames=[odd])]).verdict == "fail"


def test_nothing_located_changes_nothing_and_the_order_is_the_catalogues() -> None:
    assert with_located(SENDER, []) is SENDER
    found = with_located(
        SENDER, [located(blames=[blame()], cleared=["n1"], missing={"n9": "gone"})]
    )
    ranks = [("fail", "inconclusive", "warning", "note").index(f.severity) for f in found.findings]
    assert ranks == sorted(ranks)


FABRIC = Fabric(
    attachments=tuple(
        Attachment(node=f"n{i}", switch="leaf1" if i < 3 else "leaf2") for i in range(1, 5)
    ),
    levels={"leaf1": 1, "leaf2": 1, "top": 2},
    cables=(Cable(one="leaf1", other="top"), Cable(one="leaf2", other="top")),
)
ACROSS = [
    Tier(name="one switch", samples=12, median=118e6),
    Tier(name="across leaves", samples=12, median=59e6, oversubscription=2.0),
]


def halved() -> Judgement:
    """Streams across the two leaves reach half; all else is good."""
    whole = judge(
        run_of(lab(nodes=4, sizes=SIZES, speed=lambda a, b: 1.0 if (a < 2) == (b < 2) else 0.5))
    )
    streams = [pair for pair in whole.pairs if pair.pattern == "stream"]
    return set_(whole, pairs=streams)


def test_a_fabric_that_is_oversubscribed_by_design_does_not_fail() -> None:
    whole = halved()
    assert {p.verdict for p in whole.pairs} == {"pass", "fail"}
    found = with_located(whole, [located(tiers=ACROSS)], fabric=FABRIC)
    assert {p.verdict for p in found.pairs} == {"pass"}
    assert [f.code for f in found.findings if f.code == "below-expectation"] == []
    assert ("tier-oversubscribed", "across leaves") in codes(found, "note")
    unknown = with_located(whole, [located(tiers=ACROSS)])
    assert {p.verdict for p in unknown.pairs} == {"pass", "fail"}


def test_slower_than_its_tier_or_a_bad_best_tier_is_no_excuse() -> None:
    whole = halved()
    fast = [ACROSS[0], set_(ACROSS[1], median=90e6)]
    poor = [set_(ACROSS[0], median=70e6), ACROSS[1]]
    even = [ACROSS[0], set_(ACROSS[1], oversubscription=1.01)]
    for tiers in (fast, poor, even):
        found = with_located(whole, [located(tiers=tiers)], fabric=FABRIC)
        assert "fail" in {p.verdict for p in found.pairs}, tiers


def test_a_cleared_suspect_whose_results_alone_pass_is_free_of_its_loaded_ones() -> None:
    streams = [p for p in SENDER.pairs if p.pattern == "stream" and p.message_bytes == 4 << 20]
    # The loaded round: all pairs in one point; then n3 alone, as fast as it should be.
    loaded = [set_(p, point=1) for p in streams]
    good = next(p for p in streams if p.verdict == "pass" and p.origin_host == "n1")
    alone = [set_(good, point=10 + i, origin_host="n3", target_host=f"n{i}") for i in (1, 2)]
    mixed = set_(SENDER, pairs=[*loaded, *alone])
    found = with_located(mixed, [located(cleared=["n3 tx"])])
    assert ("node-direction-slow", "n3 tx") not in codes(found)
    assert {p.verdict for p in found.pairs} == {"pass"}
    never_alone = with_located(set_(SENDER, pairs=loaded), [located(cleared=["n3 tx"])])
    assert ("node-direction-slow", "n3 tx") in codes(never_alone, "fail")
    other = with_located(mixed, [located(cleared=["n3 rx"])])
    assert ("node-direction-slow", "n3 tx") in codes(other, "fail")


WORLDS = {"good": GOOD, "sender": SENDER, "one way": ONE_WAY}
RANKS = ("pass", "inconclusive", "fail")
BLAMES = st.builds(
    blame,
    kind=st.sampled_from(["node", "port", "link", "switch", "pair"]),
    subject=st.sampled_from(["n1", "n2", "n3", "n1 -> n2", "leaf1"]),
    direction=st.sampled_from(["", "tx", "rx"]),
    stage=st.sampled_from(["screened", "confirmed"]),
    nodes=st.lists(st.sampled_from(["n1", "n2", "n3"]), max_size=3),
    slowdown=st.floats(0.0, 0.9),
    value=st.floats(1.0, 1e9),
)


@hyp_settings(max_examples=60, deadline=None)
@given(
    world=st.sampled_from(sorted(WORLDS)),
    blames=st.lists(BLAMES, max_size=3),
    missing=st.dictionaries(st.sampled_from(["n1", "n9"]), st.text(max_size=5), max_size=2),
    detectable=st.floats(0.0, 1.0),
    samples=st.integers(0, 48),
)
def test_without_acquittals_nothing_gets_better(
    world: str, blames: list[Blame], missing: dict[str, str], detectable: float, samples: int
) -> None:
    which = WORLDS[world]
    one = located(blames=blames, missing=missing, detectable=detectable, samples=samples)
    found = with_located(which, [one])
    assert RANKS.index(found.verdict) >= RANKS.index(which.verdict)
    assert found.pairs == which.pairs
    if samples and any(one.stage == "confirmed" for one in blames):
        assert found.verdict == "fail"
    if which.verdict == "fail":
        assert codes(found, "fail")


def test_ten_thousand_culprits_meet_ten_thousand_findings() -> None:
    finding = next(f for f in SENDER.findings if f.code == "node-direction-slow")
    findings = [set_(finding, subject=f"n{i} tx", about=Port(f"n{i}", "tx")) for i in range(5000)]
    blames = [blame(subject=f"n{i}", nodes=[f"n{i}"]) for i in range(0, 5000, 2)]
    found = with_located(set_(SENDER, findings=findings), [located(blames=blames)])
    kept = [f.subject for f in found.findings if f.code == "node-direction-slow"]
    assert len(kept) == 2500
    assert "n2 tx" not in kept


def test_findings_name_what_they_are_about_for_programs() -> None:
    about = {f.code: f.about for f in SENDER.findings}
    assert about["node-direction-slow"] == Port("n3", "tx")
    route = {f.code: f.about for f in ONE_WAY.findings}["direction-slow"]
    assert route == Route("n1", "n2")
    for judgement in (GOOD, SENDER, ONE_WAY):
        assert all(str(f.about) == f.subject for f in judgement.findings)


def test_the_direction_of_a_link_or_switch_is_part_of_its_finding() -> None:
    link = blame(kind="link", subject="leaf1 - spine1", direction="tx", nodes=["n1"])
    switch = blame(kind="switch", subject="leaf1", direction="rx", nodes=["n1"])
    found = with_located(GOOD, [located(blames=[link, switch])])
    named = {f.subject: f.about for f in found.findings}
    assert named["leaf1 - spine1 tx"] == Link("leaf1", "spine1", "tx")
    assert named["leaf1 rx"] == Switch("leaf1", "rx")


def test_a_judgement_of_before_has_no_typed_subjects_and_is_read() -> None:
    written = msgspec.to_builtins(SENDER)
    for finding in written["findings"]:
        del finding["about"]
    read = msgspec.convert(written, Judgement)
    assert {f.about for f in read.findings} == {None}
    again = msgspec.json.decode(msgspec.json.encode(SENDER), type=Judgement)
    assert again == SENDER
