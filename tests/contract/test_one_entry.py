"""One setting, one entry: what locate says of a setting refers to the catalogue's entry."""

from __future__ import annotations

import pytest

from wireproof.locate.causes.rules import RULES, Rule
from wireproof.verdict.catalogue import causes
from wireproof.workflow.audit import settings_by_id

SETTINGS = settings_by_id()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_cause_names_its_setting_or_says_why_it_is_none(rule: Rule) -> None:
    assert bool(rule.setting) != bool(rule.no_setting)
    if rule.setting:
        assert rule.setting in SETTINGS
        assert not rule.fix, "the entry has the fix: a second text would come to disagree"
        assert f"`{rule.setting}`" in causes()[rule.code].next_action
    else:
        assert rule.fix.endswith(".")


@pytest.mark.parametrize("rule", [one for one in RULES if one.setting], ids=lambda rule: rule.code)
def test_the_fix_and_the_undo_of_a_cause_are_the_entry_s(rule: Rule) -> None:
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
