"""One setting, one entry: what locate and lint say of a setting refers to the catalogue, and
what lint and audit advise agrees.
"""

from pathlib import Path

import pytest

from wireproof.audit.job import settings_by_id
from wireproof.audit.machine import Instance
from wireproof.audit.remedy import remedy_with
from wireproof.lint.document import lint_document
from wireproof.lint.job import lint
from wireproof.lint.rule import Kind
from wireproof.lint.rule import Rule as LintRule
from wireproof.lint.rules import rules as lint_rules
from wireproof.locate.causes.rules import CauseRule
from wireproof.locate.causes.rules import rules as every_cause
from wireproof.model.finding import LintReport
from wireproof.report.ink import Look
from wireproof.report.text import document_text
from wireproof.workflow.explain import causes

SETTINGS = settings_by_id()


CAUSES_OF_SETTINGS = [rule for rule in every_cause() if rule.setting]


@pytest.mark.parametrize("rule", every_cause(), ids=lambda rule: rule.code)
def test_a_cause_names_its_setting_or_says_why_it_is_none(rule: CauseRule) -> None:
    assert bool(rule.setting) != bool(rule.no_setting)
    if rule.setting:
        assert rule.setting in SETTINGS
        assert not rule.fix, "the entry has the fix: a second text would come to disagree"
        assert f"`{rule.setting}`" in causes()[rule.code].next_action
    else:
        assert rule.fix.endswith(".")


@pytest.mark.parametrize("rule", CAUSES_OF_SETTINGS, ids=lambda rule: rule.code)
def test_the_fix_and_the_undo_of_a_cause_are_the_entry_s(rule: CauseRule) -> None:
    entry = SETTINGS[rule.setting]
    cause = rule.cause(node="n3", nic="hsn0", confidence=0.5, evidence=["x"], settings=SETTINGS)
    assert cause.setting == rule.setting
    assert cause.expected == entry.effect
    assert cause.undo == (entry.fix.undo if entry.fix else "")
    assert "n3" in cause.fix
    if entry.fix is not None and entry.fix.by_hand and not entry.fix.value:
        assert entry.fix.by_hand in cause.fix
    without = rule.cause(node="n3", nic="", confidence=0.5, evidence=["x"], settings={})
    assert f"wireproof explain {rule.setting}" in without.fix


def test_an_effect_s_direction_is_known_for_each_pair_of_directions() -> None:
    """What is sent and what is received have an entry each."""
    for tx, rx in (("tcp-wmem", "tcp-rmem"), ("wmem-max", "rmem-max"), ("ring-tx", "ring-rx")):
        assert (SETTINGS[tx].effect.direction, SETTINGS[rx].effect.direction) == ("tx", "rx")


# --- lint

OF_ANY_SETTING = {
    *("modprobe-module-repeated", "modprobe-unknown-parameter", "modprobe-value-range"),
    *("modprobe-parameter-spaces", "modprobe-parameter-twice", "modprobe-unknown-command"),
    *("sysctl-unknown-name", "sysctl-three-values", "sysctl-value-form", "sysctl-value-range"),
    *("sysctl-removed", "sysctl-comment-after-value", "sysctl-twice", "sysctl-not-a-setting"),
    *("sysctl-command", "limits-columns", "limits-word", "modprobe-initramfs"),
}
"""Rules about the form of a line: which setting it is about, the line says."""
FAMILIES = ("modprobe-", "sysctl-", "limits-", "irqbalance-", "kernel-", "cpupower-", "ulimit-v")


@pytest.mark.parametrize("rule", lint_rules().values(), ids=lambda rule: rule.code)
def test_a_lint_rule_about_a_setting_names_its_entry(rule: LintRule) -> None:
    if rule.setting:
        assert rule.setting in SETTINGS
        assert rule.code not in OF_ANY_SETTING
    elif rule.code.startswith(FAMILIES) or "-mtu" in rule.code:
        assert rule.code in OF_ANY_SETTING or rule.code == "perftest-mtu"


KINDS: dict[str, Kind] = {"sysctl.d": "sysctl", "modprobe.d": "modprobe", "limits.d": "limits"}


def lines_of_drop_ins() -> dict[str, tuple[Kind, str]]:
    """Setting to what its fix writes into a drop-in, where lint reads such files."""
    found = {}
    instance = Instance("hsn0", {"nic": "hsn0", "device": "hfi1_0", "port": "1"}, {})
    for name, setting in SETTINGS.items():
        fix = setting.fix
        value = fix.value.get("any", "") if fix is not None else ""
        if fix is None or not fix.persist or value.startswith("="):
            continue
        place = next((read.file for read in setting.reads if read.file.startswith("/")), "")
        line = remedy_with(fix, instance, place, value).line
        folder = Path(fix.persist).parent.name
        if line and folder in KINDS:
            found[name] = KINDS[folder], line
    return found


WRITTEN = lines_of_drop_ins()


def test_many_settings_have_a_drop_in_that_lint_reads() -> None:
    assert len(WRITTEN) > 60
    assert {kind for kind, _ in WRITTEN.values()} >= {"sysctl", "modprobe"}


@pytest.mark.parametrize("name", WRITTEN)
def test_lint_finds_nothing_in_what_audit_advises(name: str) -> None:
    kind, line = WRITTEN[name]
    assert lint(line + "\n", kind=kind).findings == []


@pytest.mark.parametrize(
    ("kind", "text", "setting"),
    [
        ("sysctl", "net.ipv4.tcp_rmem = 16777216", "tcp-rmem"),
        ("sysctl", "net/core/rmem_max = 16M", "rmem-max"),
        ("modprobe", "options hfi1 num_vls=99", "hfi1-num-vls"),
        ("modprobe", "options hfi1 krcvqs=3,3,3,3,3,3,3", "hfi1-krcvqs"),
        ("limits", "* soft memlock 64", "limit-memlock"),
        ("irqbalance", "IRQBALANCE_ARGS=--hintpolicy=exact", "irqbalance"),
        ("script", "cpupower -c all frequency-set -g Performance", "cpu-governor"),
        ("script", "echo connected > /sys/class/net/ib0/mode", "ipoib-mode"),
        ("script", "tuned-adm profile latency-performace", "tuned-profile"),
        ("script", "parm: max_mtu:Set max MTU bytes, default is 8192 (uint)", "hfi1-max-mtu"),
    ],
)
def test_a_finding_points_at_the_entry_of_its_line(kind: Kind, text: str, setting: str) -> None:
    found = lint(text + "\n", kind=kind).findings
    assert setting in {one.setting for one in found}
    (one, *_) = [one for one in found if one.setting == setting]
    shown = document_text(lint_document(LintReport(findings=[one]), 1), Look(width=400))
    assert f"wireproof explain {setting}" in shown
    assert one.wanted


def test_a_finding_about_no_setting_says_nothing_of_one() -> None:
    found = lint("mpirun –np 2 ./a\n", kind="script").findings
    assert found
    assert not [one for one in found if one.setting]
    assert "setting:" not in document_text(lint_document(LintReport(findings=found), 1))
