"""The catalogue of rules: each code once, and each found by a check."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from wireproof.lint import catalogue
from wireproof.lint.rules import RULES, by_code

LINT = Path(catalogue.__file__).parent


def test_a_second_rule_of_a_code_is_refused() -> None:
    rules = tuple(RULES.values())
    assert by_code(rules) == RULES
    with pytest.raises(ValueError, match=f"two rules have the code '{rules[3].code}'"):
        by_code((*rules, rules[3]))


def test_every_rule_has_a_check_and_every_code_a_rule() -> None:
    checks = [path for path in LINT.rglob("*.py") if path.parent.name != "rules"]
    written = set[str]()
    for path in checks:
        written |= set(re.findall(r'"([a-z0-9]+(?:-[a-z0-9]+)+)"', path.read_text("utf-8")))
    assert not set(RULES) - written
    call = r'\b(?:Broken|at|at_word|on|_at)\(\s*"([a-z0-9-]+)"'
    yielded = {code for path in checks for code in re.findall(call, path.read_text("utf-8"))}
    assert yielded - set(RULES) == set()
    assert len(yielded) > 100
