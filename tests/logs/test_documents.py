"""JSON documents inside logs: where they end, and what is not believed."""

import json
import re

import pytest

from wireproof.logs.readers.documents import amount, document_at, member, text
from wireproof.logs.readers.page import page_of

KEY = re.compile(r'"start" ?: ?\{')


def at(words: str, line: int = 0):  # type: ignore[no-untyped-def]
    return document_at(page_of(words.encode(), "x"), line, KEY)


@pytest.mark.parametrize("indent", [None, 0, 1, 8])
def test_braces_quotes_and_escapes_inside_strings(indent: int | None) -> None:
    value = {"start": {"a": 'b}"{', "c": "\\", "d": '\\"}'}, "end": {"list": [{}, {"x": 1}]}}
    words = json.dumps(value, indent=indent)
    line = next(index for index, one in enumerate(words.split("\n")) if KEY.search(one))
    found = at(words + "\nafter {\n", line)
    assert found.value == value
    assert found.after == len(words.split("\n"))


def test_numbers_that_are_none() -> None:
    found = at('{"start": {"a": -nan, "b": NaN, "c": [inf, -Infinity]},\n d: 3}\n')
    assert found.value == {"start": {"a": None, "b": None, "c": [None, None]}, "d": 3}


def test_what_is_cut_or_broken_has_no_value() -> None:
    for words in (
        '{"start": {\n"a": 1\n',
        '{"start": {\n"a": 1,,\n}}\n',
        '{"start": {\n}\n"start": {\n}}\n',
    ):
        found = at(words)
        assert found.value is None
        assert found.why


def test_hostile_quotes_and_depth_take_no_long_time() -> None:
    for body in (
        '"\\' * 200_000,
        "{" * 200_000,
        '{"a":' * 100_000,
        '"' * 200_001,
        "[" * 100_000 + "}}",
    ):
        assert at('{"start": {\n' + body + "\n").value is None


def test_small_readers() -> None:
    assert [amount(value) for value in (1, 2.5, 0, -1, 1e300, True, "3", None, float("nan"))] == [
        1,
        2.5,
        0,
    ] + [None] * 6
    assert member({"a": {"b": {"c": 1}}}, "a", "b") == {"c": 1}
    assert member([], "a") == member({"a": 3}, "a") == {}
    assert text("a\x1b[31m\nb" + "c" * 500).startswith("a [31m b")
    assert len(text("c" * 500)) == 80
    assert text(5) == ""
