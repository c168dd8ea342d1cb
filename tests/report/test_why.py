"""Why: the cause with its evidence, or what was excluded and what to look at next; never the name
of the finding again.
"""

from dataclasses import replace

import msgspec
import pytest
from tests.locate.test_document import blame, located
from tests.locate.test_document import section as located_section
from tests.rendered import answered
from tests.report.test_worlds import empty, four_nodes, off_wire, rejudged

from wireproof.model.finding import Finding
from wireproof.model.setting import Audit, AuditResult
from wireproof.report.judged_run import JudgedRun, short_headline
from wireproof.verdict.issue import as_finding

NONE_FOUND = "cause: none found (counters were read, 9 facts compared with 3 other nodes)"


def _why(section: JudgedRun) -> tuple[str, str]:
    return answered(section, "Why?")


def _with(section: JudgedRun, *findings: Finding) -> JudgedRun:
    return rejudged(section, findings=list(findings))


@pytest.mark.parametrize("section", [four_nodes(), off_wire(), empty()])
def test_a_finding_is_never_explained_by_its_own_name(section: JudgedRun) -> None:
    short, text = _why(section)
    for finding in section.judgement.findings:
        assert finding.code not in short
        assert f"Next: {finding.advice}" in text


def test_a_path_that_was_not_the_wire_is_the_reason_itself() -> None:
    assert _why(off_wire())[0] == "The library below used shared memory"


def test_what_was_excluded_is_said_where_no_cause_was_found() -> None:
    short, text = _why(four_nodes())
    assert short == "No cause found yet"
    assert "all 32 results crossed the wire" in text
    assert "26 of 26 results without n3 pass, none fails" in text
    assert "other load on the hosts (none was observed)" in text


def test_what_was_not_looked_at_is_not_excluded() -> None:
    whole = four_nodes()
    blind = [
        msgspec.structs.replace(
            point, pairs=[msgspec.structs.replace(one, sentinels=[]) for one in point.pairs]
        )
        for point in whole.run.points
    ]
    run = msgspec.structs.replace(whole.run, points=blind)
    assert "other load" not in _why(replace(whole, run=run))[1]
    unproven = [
        msgspec.structs.replace(one, proof="unproven") if i == 0 else one
        for i, one in enumerate(whole.judgement.pairs)
    ]
    assert "crossed the wire" not in _why(rejudged(whole, pairs=unproven))[1]
    assert "settings" not in _why(whole)[1]


def test_load_that_the_judge_has_seen_is_not_excluded() -> None:
    whole = four_nodes()
    noisy = Finding(
        code="oversubscribed", severity="warning", message="busy", advice="", subject=""
    )
    assert "other load on" not in _why(_with(whole, *whole.judgement.findings, noisy))[1]


def test_the_fabric_is_not_cleared_where_others_fail_too() -> None:
    whole = four_nodes()
    pairs = [
        msgspec.structs.replace(one, verdict="fail")
        if {one.origin_host, one.target_host} == {"n1", "n4"}
        else one
        for one in whole.judgement.pairs
    ]
    assert "fabric as a whole" not in _why(rejudged(whole, pairs=pairs))[1]


def test_counters_and_facts_that_were_compared_are_named() -> None:
    whole = located_section(located(blames=[blame(causes=[], evidence=[NONE_FOUND])]))
    assert "counters were read, 9 facts compared with 3 other nodes: no diff" in _why(whole)[1]


def test_settings_that_were_read_are_excluded_and_unread_ones_are_not() -> None:
    read = AuditResult(id="mtu", host="n1", status="pass")
    unread = AuditResult(id="iommu", host="n1", status="unknown")
    some = replace(four_nodes(), settings=Audit(hosts=["n1"], results=[read, unread]))
    assert "(1 were read, and no difference explains it)" in _why(some)[1]
    none = replace(four_nodes(), settings=Audit(hosts=["n1"], results=[unread]))
    assert "settings" not in _why(none)[1]


def test_a_cause_stands_first_with_its_evidence_and_the_next_step() -> None:
    short, text = _why(located_section(located(blames=[blame()])))
    assert short == "It may be that link errors rise at n3"  # confidence 0.8
    assert "Confidence 0.8." in text
    assert "Next: Replace the cable." in text


def test_a_good_world_has_nothing_to_explain_but_what_it_lost() -> None:
    """1 % loss that cost nothing was "nothing to explain" below a warning about another host."""
    good = four_nodes(slow=None)
    assert _why(good) == ("Nothing to explain", "")
    found = [
        as_finding("retransmits", "warning", f"n{each} lost", evidence={"per_million": each})
        for each in (3, 400, 5)
    ]
    short = "Nothing is slow, but packets were retransmitted, dropped or paused"
    assert _why(_with(good, *found)) == (short, "n400 lost.")
    flap = as_finding("nic-down", "warning", "n1: flap")
    assert _why(_with(good, *found, flap)) == ("Nothing is slow, but a link went down", "n1: flap.")


@pytest.mark.parametrize(
    "codes",
    [
        ("nothing-measured", "points-missing", "interrupted"),
        ("deadline", "large-messages-hang"),
        ("port-slow", "direction-slow", "packet-loss"),
        ("port-slow", "packet-loss", "other-traffic"),
    ],
)
def test_the_reason_is_said_before_what_follows_from_it(codes: tuple[str, ...]) -> None:
    """An interrupted check began with "the engine did not close the run", one with 5 % loss with
    the slow port and "the cause may be".
    """
    cut = _with(four_nodes(slow=None), *(as_finding(one, "inconclusive", one) for one in codes))
    assert short_headline(cut) == codes[-1]


def test_normal_is_said_against_the_ceiling() -> None:
    _, text = answered(four_nodes(), "normal")
    assert "29 of 32 results pass." in text
    assert "4 MiB reaches 99 % of 119.5 MB/s attainable" in text


def test_a_run_that_fails_though_all_its_results_pass_names_what_fails() -> None:
    good = four_nodes(slow=None)
    passing = [msgspec.structs.replace(one, verdict="pass") for one in good.judgement.pairs]
    lossy = _with(good, as_finding("packet-loss", "fail", "n1 lost"))
    _, text = answered(rejudged(lossy, verdict="fail", pairs=passing), "normal")
    assert text.endswith("The run as a whole does not: packet-loss.")


def test_load_that_was_seen_is_not_excluded_and_said() -> None:
    busy = Finding(
        code="oversubscribed", severity="warning", message="n1 waited", advice="", subject=""
    )
    whole = four_nodes()
    assert (
        "Not ruled out: other load (n1 waited)."
        in _why(_with(whole, *whole.judgement.findings, busy))[1]
    )


def test_the_headline_is_short_and_the_finding_has_the_rest() -> None:
    message = "n3 sends slowly: 280 Mb/s, 69 % less (95 % interval 69 % to 70 %; confidence 0.9)"
    slow = Finding(code="port-slow", severity="fail", message=message, advice="", subject="")
    assert short_headline(_with(four_nodes(), slow)) == "n3 sends slowly: 280 Mb/s, 69 % less"


def test_a_run_that_passes_counts_only_results_that_pass() -> None:
    section = four_nodes(slow=None)
    good = [msgspec.structs.replace(one, verdict="pass") for one in section.judgement.pairs]
    wide = msgspec.structs.replace(good[0], verdict="inconclusive", settled=True)
    for pairs, rest in ((good, "."), ([wide, *good], " (1 sample that varied too much")):
        settled = msgspec.structs.replace(section.judgement, verdict="pass", pairs=pairs)
        _, text = answered(replace(section, judgement=settled), "normal")
        assert text.startswith(f"{len(good)} of {len(good)} results pass{rest}")
