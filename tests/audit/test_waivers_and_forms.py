"""What a site leaves on purpose, and the forms of the result."""

from __future__ import annotations

import datetime
import json
import xml.etree.ElementTree as ET  # ours alone is read

import pytest

from wireproof.audit.waivers import waived, waivers_of
from wireproof.model.errors import BadInput
from wireproof.model.setting import Audit, AuditResult, Effect
from wireproof.report.audit import FORMS
from wireproof.report.text.audit import audit_lines
from wireproof.report.text.look import PLAIN
from wireproof.settings.hosts import parse_hosts

TODAY = datetime.date(2026, 11, 22)
EVIL = "n1\x1b[31m<script>alert(1)</script>\"'&]]>"


def failed(host: str = "n1", name: str = "smt", seen: str = "1", high: float = 0.1) -> AuditResult:
    return AuditResult(
        id=name,
        host=host,
        status="fail",
        seen=seen,
        wanted="0",
        message="SMT: runs scatter",
        expected_effect=Effect(on="variation", low=0.01, high=high),
        fix="write off",
        undo="write on",
        evidence=["/sys/devices/system/cpu/smt/active: 1"],
    )


def waiver(text: str) -> list[AuditResult]:
    found = waivers_of(text, "w.toml", ["smt"])
    return waived([failed("n1"), failed("n2"), failed("n9", "other")], found, TODAY, parse_hosts)


def test_a_waiver_counts_for_its_hosts_until_its_end():
    text = '[[waiver]]\nsetting = "smt"\nhosts = "n[1,3]"\nuntil = 2026-12-31\nreason = "a"\n'
    assert [one.status for one in waiver(text)] == ["waived", "fail", "fail"]
    ended = waiver(text.replace("2026-12-31", "2026-11-21"))
    assert [one.status for one in ended] == ["fail", "fail", "fail"]
    assert "a waiver ended on 2026-11-21" in ended[0].message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[waiver]]\nsetting = "smt"\nreason = "a"\n', "until"),
        ('[[waiver]]\nsetting = "smt"\nuntil = 2026-12-31\nreason = " "\n', "no reason"),
        ('[[waiver]]\nsetting = "no"\nuntil = 2026-12-31\nreason = "a"\n', "no setting 'no'"),
        ('[[waiver]]\nsetting = "smt"\nuntil = "soon"\nreason = "a"\n', "date"),
        ("[[", "not TOML"),
    ],
)
def test_a_waiver_needs_a_reason_and_an_end(text, said):
    with pytest.raises(BadInput, match=said):
        waiver(text)


def test_like_hosts_are_one_finding_and_the_worst_comes_first():
    results = [failed(f"n{number}") for number in range(1, 9)]
    results.append(failed("n1", "mtu", "1500", 0.9))
    text = "\n".join(audit_lines(Audit(hosts=["n1"], results=results), PLAIN))
    assert text.index("FAIL mtu on n1") < text.index("FAIL smt on n[1-8]")
    assert "write off; undo: write on" in text


@pytest.mark.parametrize("form", FORMS)
def test_a_hostile_name_is_harmless_in_every_form(form):
    document = FORMS[form](Audit(hosts=[EVIL], results=[failed(EVIL, seen=EVIL)]))
    assert "\x1b" not in document
    if form in ("json", "sarif"):
        json.loads(document)
    if form == "junit":
        (suite,) = ET.fromstring(document)  # noqa: S314
        assert suite.attrib["failures"] == "1"
    if form == "html":
        assert "<script" not in document


def test_sarif_names_the_rule_and_the_place():
    found = json.loads(FORMS["sarif"](Audit(hosts=["n1"], results=[failed()])))
    (result,) = found["runs"][0]["results"]
    assert result["ruleId"] == "smt"
    assert result["level"] == "error"
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert place == "n1/sys/devices/system/cpu/smt/active"


def test_junit_skips_what_does_not_count_and_never_what_could_not_be_read():
    unread = AuditResult(id="mtu", host="n1", status="unknown", message="not read")
    absent = AuditResult(id="fec", host="n1", status="not-applicable", message="none")
    document = FORMS["junit"](Audit(hosts=["n1"], results=[failed(), unread, absent]))
    (suite,) = ET.fromstring(document)  # noqa: S314
    counts = {name: suite.attrib[name] for name in ("failures", "errors", "skipped")}
    assert counts == {"failures": "1", "errors": "1", "skipped": "1"}
    assert {case.attrib["name"]: case[0].tag for case in suite}["mtu"] == "error"
