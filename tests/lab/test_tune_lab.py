"""Settings of a lab's nodes are changed and come back, byte for byte."""

import re
import shutil

import pytest
from tests.lab.conftest import Build, run, say

from wireproof.lab.cluster import Lab
from wireproof.model.tuning import Standing, Tuned
from wireproof.options.table import Options
from wireproof.report.answers import undo
from wireproof.report.reporter import LoggingReporter
from wireproof.report.text import document_text
from wireproof.target import lab_target
from wireproof.tune.document import tuned_document
from wireproof.tune.job import apply, confirm, revert, standing_on, status
from wireproof.tune.plan import PlanSpecification, plan

pytestmark = [pytest.mark.netns, pytest.mark.engine]

SYSCTLS = "/proc/sys/net/ipv4"
SACK, RANGE = f"{SYSCTLS}/tcp_sack", f"{SYSCTLS}/ip_local_port_range"
MTU, WINDOWS = "/sys/class/net/hsn0/mtu", f"{SYSCTLS}/tcp_window_scaling"
FILES = (SACK, RANGE, MTU, WINDOWS)
ASKED = ["tcp-sack=0", "ports-local", "mtu/hsn0=1400", "tcp-window-scaling=0"]
if ETHTOOL := shutil.which("ethtool"):
    ASKED.append("offload-tso=off")


def bytes_of(lab: Lab, node: str) -> dict[str, str]:
    return {path: run(lab, node, "cat", path).stdout for path in FILES}


def tso(lab: Lab, node: str) -> str:
    """Of the interface, where ethtool is there to say it."""
    if not ETHTOOL:
        return ""
    found = re.search(r"tcp-segmentation-offload: (\w+)", say(lab, node, "ethtool", "-k", "hsn0"))
    assert found
    return found[1]


def specification(lab: Lab, *asked: str) -> PlanSpecification:
    target = Options(hosts=lab.nodes, lab=lab.name, alone=True)
    return PlanSpecification(target=target, asked=asked, allow_link_down=True)


def states(done: Tuned) -> set[tuple[str, str]]:
    return {(host.host, one.state) for host in done.hosts for one in host.sets}


def test_plan_apply_status_and_revert_on_two_nodes(build: Build) -> None:
    lab = build(2)
    for node in lab.nodes:
        say(lab, node, "sh", "-c", f"echo 32768 40000 > {RANGE}")
    before = {node: bytes_of(lab, node) for node in lab.nodes}
    made = plan(specification(lab, *ASKED), LoggingReporter(), {})
    assert [len(one.changes) for one in made.hosts] == [len(ASKED)] * 2
    assert not any(one.keeps for one in made.hosts)
    target = lab_target(lab, lab.nodes)
    done = apply(made, target)
    assert done.done, done
    assert states(done) == {("n1", "armed"), ("n2", "armed")}
    for node in lab.nodes:
        now = bytes_of(lab, node)
        assert (now[SACK], now[MTU], now[WINDOWS]) == ("0\n", "1400\n", "0\n")
        assert now[RANGE].split() == ["15000", "65000"]
        assert tso(lab, node) in ("off", "")
    shown = status(target)
    assert {one.state for host in shown.hosts for one in host.changes} <= {"applied", "rewritten"}
    again = apply(plan(specification(lab, "tcp-sack=1"), LoggingReporter(), {}), target)
    assert all("confirm or revert" in one.problem for one in again.hosts)
    assert revert(target, done.id).done
    assert {node: bytes_of(lab, node) for node in lab.nodes} == before
    assert {tso(lab, node) for node in lab.nodes} <= {"on", ""}


def test_a_confirmed_set_stays_and_is_reverted_later(build: Build) -> None:
    lab = build(2)
    before = bytes_of(lab, "n1")
    target = lab_target(lab, lab.nodes)
    done = apply(plan(specification(lab, "tcp-sack=0"), LoggingReporter(), {}), target)
    assert confirm(target, done.id).done
    assert states(status(target)) == {("n1", "confirmed"), ("n2", "confirmed")}
    assert say(lab, "n1", "cat", SACK) == "0"
    assert revert(target).done
    assert bytes_of(lab, "n1") == before


def test_a_value_that_the_kernel_refuses_leaves_nothing_changed(build: Build) -> None:
    lab = build(2)
    before = {node: bytes_of(lab, node) for node in lab.nodes}
    target = lab_target(lab, lab.nodes)
    made = plan(specification(lab, "tcp-sack=0", "mtu/hsn0=70000"), LoggingReporter(), {})
    done = apply(made, target)
    assert not done.done
    assert states(done) == {("n1", "reverted"), ("n2", "reverted")}
    assert "refused" in {one.state for one in done.hosts[0].changes}
    assert "--skip mtu" in document_text(tuned_document(done))
    assert {node: bytes_of(lab, node) for node in lab.nodes} == before


def test_a_node_whose_value_has_moved_is_named_and_the_other_is_changed(build: Build) -> None:
    lab = build(2)
    made = plan(specification(lab, "tcp-sack=0"), LoggingReporter(), {})
    say(lab, "n2", "sh", "-c", f"echo 0 > {SACK}")
    target = lab_target(lab, lab.nodes)
    done = apply(made, target)
    assert not done.done
    n1, n2 = done.hosts
    assert n1.sets[0].state == "armed"
    assert "plan was" in n2.problem
    assert revert(lab_target(lab, ("n1",))).done


def test_what_is_the_machine_s_is_not_changed_from_a_lab(build: Build) -> None:
    lab = build(2)
    made = plan(specification(lab, "vm.swappiness=7"), LoggingReporter(), {})
    assert not made.hosts[0].changes
    assert "the whole machine" in made.hosts[0].notes[0]


def test_what_stands_while_it_is_measured_is_told_and_taken_back(build: Build) -> None:
    lab = build(2)
    target = lab_target(lab, lab.nodes)
    assert standing_on(target) == Standing(hosts=list(lab.nodes), lab=lab.name)
    done = apply(plan(specification(lab, "tcp-sack=0"), LoggingReporter(), {}), target)
    found = standing_on(target)
    (one,) = found.sets
    assert (one.id, one.state, one.hosts) == (done.id, "armed", list(lab.nodes))
    assert one.changes == ["tcp-sack: 1 -> 0"]
    short, text, known = undo(found)
    assert (short, known) == ("1 change set was in force", True)
    assert f"`wireproof tune revert {done.id} --lab {lab.name} --hosts 'n[1-2]'` reverts it" in text
    assert revert(target, done.id).done
    assert standing_on(target) == Standing(hosts=list(lab.nodes), lab=lab.name)
