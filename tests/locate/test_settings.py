"""The audit joined to what was measured: planted worlds, each with the setting that is the cause,
that cannot be it, or that is not enough.
"""

import dataclasses
from typing import Any

import msgspec
import pytest
from tests.locate.test_causes import RUN, blame, located
from tests.rendered import answered, text_of

from wireproof.audit.job import settings_by_id
from wireproof.locate.causes import MOST_CAUSES
from wireproof.locate.causes.rules import rules as every_cause
from wireproof.locate.verdict import with_located
from wireproof.measure.conditions import joined
from wireproof.measure.export import page_of
from wireproof.model.claim import HostClaim
from wireproof.model.finding import Judgement, Node, Port
from wireproof.model.located import Blame, Cause, Located
from wireproof.model.run import Run
from wireproof.model.setting import Audit, AuditResult, Status
from wireproof.report.judged_run import JudgedRun

HOSTS = [f"n{number}" for number in range(1, 7)]
SETTINGS = settings_by_id()
TINY, GOOD = "4096 4096 4096", "4096 131072 67108864"


def over(protocol: str) -> Run:
    link = RUN.claim.link
    assert link is not None
    claim = msgspec.structs.replace(
        RUN.claim, link=msgspec.structs.replace(link, protocol=protocol)
    )
    return msgspec.structs.replace(RUN, claim=claim)


TCP, ROCE = over("tcp"), over("rocev2")


@dataclasses.dataclass(frozen=True)
class Planted:
    """One setting: n3's value, the others', and what the audit says of both."""

    id: str
    odd: str
    usual: str
    status: Status = "fail"
    others: Status = "pass"
    instance: str = ""


def audit_of(*planted: Planted, hosts: list[str] = HOSTS) -> Audit:
    def result(one: Planted, host: str) -> AuditResult:
        status, seen = (one.status, one.odd) if host == "n3" else (one.others, one.usual)
        made = {"wanted": SETTINGS[one.id].wish("throughput"), "instance": one.instance}
        evidence = [f"/somewhere/{one.id}"]
        return AuditResult(
            id=one.id, host=host, status=status, seen=seen, evidence=evidence, **made
        )

    return Audit(hosts=hosts, results=[result(one, host) for one in planted for host in hosts])


def section(one: Blame, run: Run = TCP) -> JudgedRun:
    found = (located(one),)
    plain = Judgement(verdict="pass", proof="on-wire", findings=[], pairs=[])
    return JudgedRun(title="check", run=run, judgement=with_located(plain, found), located=found)


def short(share: float, direction: str = "", **changes: Any) -> Blame:
    expected = 100e6
    kind = {"kind": "port"} if direction else {}
    whole: dict[str, Any] = {
        "direction": direction,
        "slowdown": share,
        "low": share - 0.01,
        "high": share + 0.01,
        "value": expected * (1 - share),
        "expected": expected,
    }
    return blame(**(whole | kind | changes))


def causes(one: Blame, *planted: Planted, run: Run = TCP) -> list[Cause]:
    """The causes of the culprit that come from the audit."""
    whole = joined(section(one, run), audit_of(*planted), SETTINGS)
    return [cause for cause in whole.located[0].blames[0].causes if cause.setting]


MTU = Planted("mtu", "1500", "9000", instance="hsn0")
RMEM, WMEM = Planted("tcp-rmem", TINY, GOOD), Planted("tcp-wmem", TINY, GOOD)
SCALING = Planted("tcp-window-scaling", "0", "1")
GOVERNOR = Planted("cpu-governor", "powersave", "performance", instance="policy0")
GRO = Planted("offload-gro", "off", "on", instance="hsn0")
TSO = Planted("offload-tso", "off", "on", instance="hsn0")
TRACE = Planted("kernel-release", "5.14.1", "5.14.2", "pass")
SLOW_START = Planted("tcp-slow-start-idle", "1", "0")
ALIKE = Planted("tcp-rmem", TINY, TINY, others="fail")
BETTER = Planted("tcp-rmem", GOOD, TINY, "pass", "fail")
NEWER = Planted("firmware", "20.31", "20.28", "pass", "fail", instance="mlx5_0:1")
UNREAD = dataclasses.replace(MTU, status="unknown", odd="")
MEMLOCK = Planted("limit-memlock", "64", "unlimited")
HRT = {"metric": "hrt", "value": 3000.0, "expected": 2000.0}


@pytest.mark.parametrize(
    ("what", "one", "planted", "named"),
    [
        ("the headers of small packets", short(0.06), MTU, True),
        ("more than the headers cost", short(0.7), MTU, False),
        ("what is received slowly", short(0.77, "rx"), RMEM, True),
        ("both directions by a setting of both", short(0.8), SCALING, True),
        ("both directions by a setting of one", short(0.8), RMEM, False),
        ("an offload of what is sent", short(0.4, "tx"), TSO, True),
        ("latency by what wakes slowly", short(0.5, **HRT), GOVERNOR, True),
        ("another kernel", short(0.1), TRACE, True),
        ("beyond what another kernel does", short(0.9), TRACE, False),
    ],
)
def test_the_planted_setting_is_named_with_both_numbers(
    what: str, one: Blame, planted: Planted, named: bool
) -> None:
    (cause,) = causes(one, planted)
    effect = SETTINGS[planted.id].effect
    assert (cause.setting, cause.explains, cause.expected) == (planted.id, named, effect)
    assert 0 < cause.confidence < 0.95
    assert f"n3's {planted.id}" in cause.sentence
    assert f"is {planted.odd}, the 5 others have {planted.usual}" in cause.sentence
    assert f"{effect.high * 100:.3g} %" in cause.sentence, "the effect expected"
    assert f"{one.slowdown * 100:.0f} % measured" in cause.sentence or one.slowdown < 0.0995
    assert cause.fix
    assert cause.evidence


@pytest.mark.parametrize(
    ("what", "one", "planted", "run"),
    [
        ("a setting of latency", short(0.3), GOVERNOR, TCP),
        ("a setting of bandwidth", short(0.3, **HRT), MTU, TCP),
        ("a setting of what is received", short(0.3, "tx"), RMEM, TCP),
        ("an offload of the other direction", short(0.3, "tx"), GRO, TCP),
        ("sockets, where the adapter carries the bytes", short(0.3, "rx"), RMEM, ROCE),
        ("what only traffic that pauses feels", short(0.1, "tx"), SLOW_START, TCP),
        ("what all have alike", short(0.3, "rx"), ALIKE, TCP),
        ("another interface", short(0.06), dataclasses.replace(MTU, instance="mgmt0"), TCP),
        ("what could not be read", short(0.06), UNREAD, TCP),
        ("what the others fail", short(0.3, "rx"), BETTER, TCP),
        ("a value that is better than the others", short(0.1), NEWER, TCP),
        ("what leaves GPUs", short(0.3), Planted("gpu-peer-memory", "absent", "present"), TCP),
        ("what stays on the host", short(0.2), Planted("ptrace-scope", "1", "0"), ROCE),
        ("jobs that end, not slow ones", short(0.3), MEMLOCK, TCP),
    ],
)
def test_what_cannot_be_the_cause_is_not_named(
    what: str, one: Blame, planted: Planted, run: Run
) -> None:
    assert causes(one, planted, run=run) == []


def test_settings_of_both_directions_together_explain_both() -> None:
    found = causes(short(0.8), RMEM, WMEM)
    assert {cause.setting for cause in found if cause.explains} == {"tcp-rmem", "tcp-wmem"}


def test_several_that_are_enough_share_what_is_sure() -> None:
    alone = causes(short(0.8), SCALING)[0].confidence
    both = causes(short(0.8), SCALING, Planted("tcp-sack", "0", "1"))
    assert sum(cause.confidence for cause in both) <= 0.951
    assert both[0].confidence < alone


def test_what_is_enough_comes_before_what_is_not() -> None:
    named = [(one.setting, one.explains) for one in causes(short(0.77, "rx"), MTU, RMEM)]
    assert named == [("tcp-rmem", True), ("mtu", False)]


def test_a_waived_setting_is_still_a_cause() -> None:
    (cause,) = causes(short(0.77, "rx"), dataclasses.replace(RMEM, status="waived"))
    assert cause.explains


def test_the_audit_s_own_remark_on_the_odd_one_is_not_counted_twice() -> None:
    audit = audit_of(MTU)
    remark = {"id": "mtu", "host": "n3", "status": "fail", "instance": "hsn0", "seen": "1500"}
    odd = AuditResult(usual="9000", **remark)  # type: ignore[arg-type]
    both = msgspec.structs.replace(audit, results=[*audit.results, odd])
    whole = joined(section(short(0.06)), both, SETTINGS)
    assert len(whole.located[0].blames[0].causes) == 1


def test_the_finding_the_question_and_the_text_name_it_and_the_verdict_stays() -> None:
    before = section(short(0.77, "rx"))
    after = joined(before, audit_of(RMEM, MTU), SETTINGS)
    assert after.judgement.verdict == before.judgement.verdict == "fail"
    (finding,) = after.judgement.findings
    assert finding.severity == "fail"
    assert finding.about == Port("n3", "rx")
    assert finding.evidence["cause_setting"] == "tcp-rmem"
    assert f"write {GOOD} to /proc/sys/net/ipv4/tcp_rmem" in finding.advice
    assert "No counter" not in finding.message
    why = answered(after, "Why?")
    assert why[0] == "It may be that n3's tcp-rmem is 4096 4096 4096"
    assert "Confidence 0." in why[1]
    assert "Undo: the old value" in why[1]
    text = " ".join(text_of(after).split())
    assert "cause, confidence" in text
    assert "not the cause: n3's mtu (hsn0) is 1500" in text


def test_a_setting_that_is_not_enough_is_no_cause_and_is_said() -> None:
    after = joined(section(short(0.7, "tx")), audit_of(MTU), SETTINGS)
    (finding,) = after.judgement.findings
    assert "cause" not in finding.evidence
    assert (
        "4 to 10 % less bandwidth expected, 70 % measured, so it is not enough" in finding.message
    )
    why = answered(after, "Why?")
    assert why[0] == "No cause found yet"
    assert "n3's mtu" in why[1]


def test_without_an_audit_nothing_is_said_of_settings() -> None:
    before = section(short(0.7, "tx"))
    after = joined(before, Audit(hosts=HOSTS), SETTINGS)
    assert after.judgement == before.judgement


def test_a_culprit_of_both_metrics_keeps_its_two_findings_apart() -> None:
    rate, time = short(0.8), short(0.5, **HRT)
    found = (located(rate), located(time))
    plain = Judgement(verdict="pass", proof="on-wire", findings=[], pairs=[])
    before = JudgedRun(title="check", run=TCP, judgement=with_located(plain, found), located=found)
    after = joined(before, audit_of(SCALING, GOVERNOR), SETTINGS)
    named = [blames.blames[0].causes[0].setting for blames in after.located]
    assert named == ["tcp-window-scaling", "cpu-governor"]
    assert len(after.judgement.findings) == len(before.judgement.findings)
    assert all(one.about == Node("n3") for one in after.judgement.findings)


def test_of_256_hosts_one_that_has_everything_wrong() -> None:
    hosts = [f"n{number}" for number in range(1, 257)]
    planted = [Planted(name, "bad", "good") for name in SETTINGS]
    claims = [HostClaim(rank=rank, host=host) for rank, host in enumerate(hosts)]
    run = msgspec.structs.replace(TCP, claim=msgspec.structs.replace(TCP.claim, hosts=claims))
    one: Located = located(short(0.3, "rx"))
    whole = JudgedRun(
        title="check",
        run=run,
        judgement=Judgement(verdict="fail", proof="on-wire", findings=[], pairs=[]),
        located=(one,),
    )
    after = joined(whole, audit_of(*planted, hosts=hosts), SETTINGS)
    assert len(after.located[0].blames[0].causes) == MOST_CAUSES


@pytest.mark.parametrize(
    "usual",
    ["1; rm -rf /", "$(reboot)", "`x`", "-w a", "on [fixed]", "\x1b[31m1", "a\nb", "9" * 200],
)
def test_a_value_that_is_not_plain_stands_in_no_command(usual: str) -> None:
    rmem = dataclasses.replace(RMEM, usual=usual)
    tso = dataclasses.replace(TSO, usual=usual)
    for cause in (*causes(short(0.5, "rx"), rmem), *causes(short(0.5, "tx"), tso)):
        assert usual not in cause.fix
        assert f"wireproof explain {cause.setting}" in cause.fix


def test_the_page_shows_the_cause_and_what_is_none_and_no_markup_of_a_host() -> None:
    evil = dataclasses.replace(MTU, odd="1500<script>alert(1)</script>")
    after = joined(section(short(0.77, "rx")), audit_of(RMEM, evil), SETTINGS)
    page = page_of([after], "check")
    assert "n3&#39;s tcp-rmem is 4096 4096 4096" in page
    assert "n3&#39;s mtu (hsn0) is 1500&lt;script&gt;" in page
    assert "alert(1)</script>" not in page


@pytest.mark.parametrize(("run", "left"), [(TCP, ["governor"]), (ROCE, [])])
def test_a_rule_about_latency_does_not_explain_what_the_adapter_carries(
    run: Run, left: list[str]
) -> None:
    rule = next(one for one in every_cause() if one.code == "governor")
    said = rule.cause(node="n3", nic="hsn0", confidence=0.5, evidence=["x"], settings=SETTINGS)
    whole = joined(section(short(0.4, causes=[said]), run), audit_of(), SETTINGS)
    assert [cause.code for cause in whole.located[0].blames[0].causes] == left
