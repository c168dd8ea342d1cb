"""Signs: the shortcut by words finds the same lines as the bare regular expressions, on every golden log."""

from __future__ import annotations

import re

import pytest
from tests.property.logs_as_met import LOGS

from wireproof.adapters import adapter, adapter_names
from wireproof.adapters.page import page_of
from wireproof.adapters.signs import needle_of, parts_of, signs_of, tool_of

TOOLS = [adapter(name).signs for name in adapter_names()]


@pytest.mark.parametrize(
    ("pattern", "needle"),
    [
        (r"OSU [A-Z]{2,80} Test\b", " Test"),
        (r"# {0,4}Benchmarking {1,4}[A-Z]", "Benchmarking"),
        (r"\bbytes +(?:xfers +)?iters +total", "bytes "),
        (r"^ *(?:tcp|udp)_[a-z_]{2,24}: *$", ""),
        (r'"start" ?: ?\{ *(?:$|"x")', '"start"'),
        (r"\[ ID\](?:\[Role\])? +Interval", "Interval"),
        (r"colou?r", "colo"),
        (r"a[]x|)(]bcde", "bcde"),
        (r"END\.(\(x\)|y{2})*tail.+", "END."),
    ],
)
def test_the_word_that_a_sign_needs(pattern: str, needle: str) -> None:
    assert needle_of(pattern) == needle


def test_alternatives() -> None:
    assert parts_of(r"a|b(?:c|d)|[|]\|e") == ["a", "b(?:c|d)", r"[|]\|e"]


@pytest.mark.parametrize("log", LOGS, ids=lambda path: path.name)
def test_same_lines_as_without_the_shortcut(log) -> None:  # type: ignore[no-untyped-def]
    signs = signs_of(TOOLS)
    for line in page_of(log.read_bytes(), "log").lines:
        plain = {tool for tool, patterns in enumerate(TOOLS) if any(re.search(one, line) for one in patterns)}
        found = tool_of(line, signs)
        assert (found in plain) if plain else (found is None), line


def test_the_leftmost_sign_wins() -> None:
    signs = signs_of([("second",), ("first",)])
    assert tool_of("first second", signs) == 1
    assert tool_of("none", signs) is None
