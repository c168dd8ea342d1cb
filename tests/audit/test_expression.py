"""The language of the conditions: what it means, and what it refuses."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof.audit.expression import UNKNOWN, parse
from wireproof.model.errors import BadInput

KNOWN = {"value": 135168, "nic.driver": "hfi1", "host.kernel": "4.18.0-553.el8", "list": [1, 5]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("value >= 128Ki", True),
        ("1.5 * 2 == 3", True),
        ("0x10 == 16", True),
        ("2Mi == 2097152 and 2M == 2000000", True),
        ('nic.driver in ["hfi1", "mlx5_core"]', True),
        ('"hf" in nic.driver', True),
        ("3 not in list", True),
        ("not (value < 0)", True),
        ("version(host.kernel) >= [4, 13]", True),
        ("version(host.kernel) < [4, 18]", False),
        ("smallest(list) + largest(list) == 6", True),
        ('first("a") == "a"', True),
        ("count(list) == 2", True),
        ("-value < 0", True),
        ('matches(nic.driver, "hf*")', True),
        ('matches(nic.driver, ["mlx*", "hf*"])', True),
        ('matches(nic.driver, ["mlx*", "hf"])', False),
        ('any_word("mem=4G quiet", ["mem=*"]) and any_word("TCP;ofi_rxm,x", ["tcp"])', True),
        ('any_word("quiet pci=realloc,nomsi", ["nomsi"])', True),
        ('any_word("hugemem=4G nomsix", ["mem=*", "nomsi"])', False),
        ('argument("ro nr_cpus=64 nr_cpus=32", "nr_cpus", 0) == 32', True),
        ('argument("mem=2G", "mem", 0) == 2Gi and argument("hugemem=2G", "mem", 7) == 7', True),
        ("none == none", True),
    ],
)
def test_what_it_means(text, expected):
    assert parse(text).holds(KNOWN) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("missing", None),
        ("missing and false", False),
        ("missing or true", True),
        ("missing and true", None),
        ("not missing", None),
        ("missing == 1", None),
        ("missing + 1 > 0", None),
        ('any_word(missing, ["a"])', None),
        ('matches(missing, ["a"])', None),
        ('argument(missing, "mem", 0) == 0', None),
        ("known(missing)", False),
        ("known(value)", True),
        ("1 / 0 > 1", None),
        (f"1{'0' * 400} / 3 > 1", None),
        ('value > "word"', None),
        ("3 in value", None),
        ("[missing, 1] == [1, 1]", None),
    ],
)
def test_what_is_not_known_is_never_false(text, expected):
    assert parse(text).holds(KNOWN) is expected


@pytest.mark.parametrize(
    "text",
    ["", "value >", "1 +* 2", "foo(1)", '"x', "((1)", "value = 3", "count(1, 2)", "in", "(" * 99,
     "__import__('os')", "a[0]", "lambda: 1", "x if y else z", "1 2"],
)  # fmt: skip
def test_what_it_refuses(text):
    with pytest.raises(BadInput, match="character"):
        parse(text)


@given(st.text(max_size=60))
def test_no_text_does_harm(text):
    with contextlib.suppress(BadInput):
        parse(text).value(KNOWN)


def test_names_are_known_beforehand():
    found = parse('value > setting("a-b") and exists("/etc/x") or nic.rate > 1')
    assert found.names == {"value", "setting:a-b", "exists:/etc/x", "nic.rate"}
    assert repr(UNKNOWN) == "UNKNOWN"
