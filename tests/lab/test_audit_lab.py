"""The settings of a lab's nodes are each node's own, and a wrong one is named on its node."""

import pytest
from tests.lab.conftest import Build, say

from wireproof.audit.job import audit_target
from wireproof.model.setting import AuditResult
from wireproof.report.reporter import LoggingReporter
from wireproof.target import lab_target

pytestmark = [pytest.mark.netns, pytest.mark.engine]


def test_a_wrong_setting_of_one_node_is_named_there(build: Build) -> None:
    lab = build(2)
    say(lab, "n2", "ip", "link", "set", "dev", "hsn0", "mtu", "1400")
    say(lab, "n2", "sh", "-c", "echo 0 > /proc/sys/net/ipv4/tcp_sack")
    say(lab, "n1", "sh", "-c", "echo 1 > /proc/sys/net/ipv4/tcp_sack")
    found = audit_target(lab_target(lab, lab.nodes), LoggingReporter(), {}).results

    def of(name: str) -> list[AuditResult]:
        return [one for one in found if one.id == name]

    assert {(one.host, one.status) for one in of("tcp-sack")} == {("n1", "pass"), ("n2", "fail")}
    seen = {(one.host, one.instance, one.seen) for one in of("mtu")}
    assert seen == {("n1", "hsn0", "1500"), ("n2", "hsn0", "1400")}
    differing = [one for one in of("mtu") if one.status == "fail"]
    assert {one.host for one in differing} == {"n1", "n2"}
    assert all("1400 on n2" in one.message for one in differing)
    assert not [one for one in found if one.instance == "lo"]
    assert {one.status for one in of("ring-rx")} == {"not-applicable"}
