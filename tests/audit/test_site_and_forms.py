"""What a site leaves on purpose, and the forms of the result."""

import datetime
import json
import xml.etree.ElementTree as ET  # ours alone is read

import pytest
from tests.audit.trees import OUTPUTS

from wireproof.audit.document import FORMS, audit_document
from wireproof.audit.job import catalogue
from wireproof.audit.site import decided, grave_enough, site_of
from wireproof.model.errors import BadInput
from wireproof.model.setting import Audit, AuditResult, SettingEffect
from wireproof.options.hosts import parse_hosts
from wireproof.report.document import Findings

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
        expected_effect=SettingEffect(on="variation", low=0.01, high=high),
        fix="write off",
        undo="write on",
        evidence=["/sys/devices/system/cpu/smt/active: 1"],
    )


def waiver(text: str) -> list[AuditResult]:
    results = [failed("n1"), failed("n2"), failed("n9", "other")]
    return decided(results, site_of(text, "w.toml", ["smt"]), TODAY, parse_hosts, {})


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
        ('[[waiver]]\nsetting = "smt"\nuntil = 2026-12-31\nreason = " "\n', "'reason' is blank"),
        ('[[waiver]]\nsetting = "no"\nuntil = 2026-12-31\nreason = "a"\n', "no setting 'no'"),
        ('[[waiver]]\nsetting = "smt"\nuntil = "soon"\nreason = "a"\n', "date"),
        ("[[", "not TOML"),
    ],
)
def test_a_waiver_needs_a_reason_and_an_end(text, said):
    with pytest.raises(BadInput, match=said):
        waiver(text)


def by_role(text: str, *results: AuditResult) -> list[AuditResult]:
    known = catalogue().entries
    return decided(results, site_of(text, "site.toml", known), TODAY, parse_hosts, known)


STORAGE = OUTPUTS["site-and-forms-storage"]


def test_a_role_wants_its_own_values_on_its_hosts_alone():
    def swappiness(host: str, seen: str, status: str = "fail") -> AuditResult:
        return AuditResult(id="swappiness", host=host, status=status, seen=seen, wanted="1")  # type: ignore[arg-type]

    found = by_role(
        STORAGE,
        swappiness("n1", "10"),
        swappiness("n2", "1", "pass"),
        swappiness("n3", "10"),
        AuditResult(id="mtu", host="n1", status="fail", seen="4200", instance="hsn0"),
        AuditResult(id="mtu", host="n2", status="pass", seen="9216", instance="hsn0"),
        AuditResult(id="tcp-rmem", host="n1", status="fail", seen="4096\t131072\t67108864"),
        AuditResult(id="mtu", host="n2", status="unknown", instance="hsn1"),
    )
    assert [one.status for one in found] == [
        "pass", "fail", "fail", "pass", "fail", "pass", "unknown",
    ]  # fmt: skip
    assert found[1].wanted == "10, by the role storage"
    assert found[1].fix == "`wireproof tune apply swappiness=10`"
    assert "tune apply" not in found[4].fix, "a condition is not a value to write"
    assert found[2].wanted == "1", "a host of no role is judged by the catalogue"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (STORAGE.replace("swappiness", "swapiness"), "no setting 'swapiness'"),
        (STORAGE.replace("9000", "host.rate"), "may use only `value`"),
        (STORAGE.replace("value <= 9000", "value <="), "role storage"),
        (STORAGE + STORAGE.replace("storage", "login").replace("10", "20"), "storage and login"),
        (STORAGE.replace("name", "nam"), "nam"),
    ],
)
def test_a_role_that_cannot_be_used_is_named(text, said):
    with pytest.raises(BadInput, match=said):
        by_role(text, failed("n1", "swappiness"))


def test_like_hosts_are_one_finding_and_the_worst_comes_first():
    results = [failed(f"n{number}") for number in range(1, 9)]
    results.append(failed("n1", "mtu", "1500", 0.9))
    first = audit_document(Audit(hosts=["n1"], results=results)).parts[0]
    assert isinstance(first, Findings)
    assert [item.text.partition(":")[0] for item in first.items] == ["mtu on n1", "smt on n[1-8]"]
    changes = {dict(item.details)["change"] for item in first.items}
    assert changes == {"write off; undo: write on"}


@pytest.mark.parametrize("form", FORMS)
def test_a_hostile_name_is_harmless_in_every_form(form):
    document = FORMS[form](Audit(hosts=[EVIL], results=[failed(EVIL, seen=EVIL)]))
    assert "\x1b" not in document
    if form in ("json", "sarif"):
        json.loads(document)
    if form == "junit":
        (suite,) = ET.fromstring(document)  # noqa: S314
        assert suite.attrib["failures"] == "1"


def test_the_forms_of_monitors_name_what_fails():
    audit = Audit(hosts=["n1", "n2"], results=[failed("n1"), failed("n2"), failed("n2", "mtu")])
    text = FORMS["openmetrics"](audit)
    assert 'wireproof_audit_settings{node="n2",status="fail"} 2' in text
    assert 'wireproof_audit_failed{node="n1",setting="smt",instance=""} 1' in text
    assert 'wireproof_audit_severity{node="n2",severity="minor"} 2' in text
    series = [line for line in text.splitlines() if not line.startswith("#")]
    assert len(series) == len({line.rsplit(" ", 1)[0] for line in series})
    assert text.endswith("# EOF")
    line = FORMS["nhc"](audit)
    assert line.startswith("ERROR: wireproof: fail: settings of n[1-2]: 2 settings to fix: ")
    right = AuditResult(id="mtu", host="n1", status="pass")
    line = FORMS["nhc"](Audit(hosts=["n1"], results=[right]))
    assert line == "OK: wireproof: settings of n1"


def test_what_is_less_grave_than_was_asked_for_is_waived_and_not_lost():
    known = catalogue().entries
    names = ("limit-memlock", "mtu", "swappiness", "cpu-governor")
    results = [failed("n1", name) for name in names]
    results.append(AuditResult(id="swappiness", host="n2", status="unknown"))
    kept = {
        least: [one.id for one in grave_enough(results, least, known) if one.status == "fail"]
        for least in ("minor", "major", "critical")
    }
    assert kept == {
        "minor": list(names),
        "major": ["limit-memlock", "cpu-governor"],
        "critical": ["limit-memlock"],
    }
    left = grave_enough(results, "major", known)
    assert len(left) == len(results)
    assert left[-1].status == "unknown", "what was not read is not known to be less grave"


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


def test_a_waiver_holds_for_what_was_read_and_is_undecided():
    texts = '[[waiver]]\nsetting = "port-state"\nreason = "not cabled"\nuntil = 2999-01-01\n'
    site = site_of(texts, "site.toml", catalogue().entries)
    seen = AuditResult(id="port-state", host="n1", status="unknown", seen="1: DOWN")
    unseen = AuditResult(id="port-state", host="n2", status="unknown")
    found = decided([seen, unseen], site, TODAY, parse_hosts, catalogue().entries)
    assert [one.status for one in found] == ["waived", "unknown"]
