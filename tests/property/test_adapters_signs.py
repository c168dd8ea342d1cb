"""Signs: each names a word that is in every line it finds, so that looking for the word first loses
no line.
"""

import re

import pytest
from tests.property.logs_as_met import LOGS

from wireproof.logs.readers.page import page_of
from wireproof.logs.readers.registry import SIGNS as TOOLS
from wireproof.logs.readers.registry import adapter, starts_result

SIGNS = [sign for signs in TOOLS.values() for sign in signs]


@pytest.mark.parametrize("log", LOGS, ids=lambda path: path.name)
def test_the_word_first_finds_the_same_lines(log) -> None:  # type: ignore[no-untyped-def]
    for line in page_of(log.read_bytes(), "log").lines:
        found = [sign for sign in SIGNS if re.search(sign.pattern, line)]
        assert all(sign.word in line for sign in found), line
        assert starts_result(line) == bool(found), line


def test_every_tool_has_a_golden_that_its_signs_find() -> None:
    lines = [line for log in LOGS for line in page_of(log.read_bytes(), "log").lines]
    for name, signs in TOOLS.items():
        assert any(re.search(sign.pattern, line) for sign in signs for line in lines), name


def test_every_tool_has_an_adapter_of_its_name() -> None:
    assert [adapter(name).name for name in TOOLS] == list(TOOLS)


def test_no_two_tools_have_the_same_sign() -> None:
    assert len(set(SIGNS)) == len(SIGNS)
