"""Signs: each names a word that is in every line it finds, so that looking for the word first loses
no line.
"""

from __future__ import annotations

import re

import pytest
from tests.property.logs_as_met import LOGS

from wireproof.adapters import adapter, adapter_names
from wireproof.adapters.page import page_of
from wireproof.adapters.registry import starts_result

SIGNS = [sign for name in adapter_names() for sign in adapter(name).signs]


@pytest.mark.parametrize("log", LOGS, ids=lambda path: path.name)
def test_the_word_first_finds_the_same_lines(log) -> None:  # type: ignore[no-untyped-def]
    for line in page_of(log.read_bytes(), "log").lines:
        found = [sign for sign in SIGNS if re.search(sign.pattern, line)]
        assert all(sign.word in line for sign in found), line
        assert starts_result(line) == bool(found), line


def test_every_tool_has_a_golden_that_its_signs_find() -> None:
    lines = [line for log in LOGS for line in page_of(log.read_bytes(), "log").lines]
    for name in adapter_names():
        assert any(
            re.search(sign.pattern, line) for sign in adapter(name).signs for line in lines
        ), name
