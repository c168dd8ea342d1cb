"""Errors of TOML files: the line and the key, in words."""

import pytest

from wireproof.model.errors import BadInput
from wireproof.model.toml import read_toml


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a = 1\na = 2\n", "line 2: not TOML: 'a' is given twice"),
        ("[x.y]\n[x.y]", "line 2: not TOML: the table [x.y] is given twice"),
        ('b = 1\n"a" = "x\nc = 2', "line 2: not TOML: the quote of '\"a\"' is not closed"),
        ("b = 1\na = yes\n", "line 2: not TOML: 'a' has no valid value: write text in quotes"),
        ("a =\n\n", "line 1: not TOML: "),
        ("[a", "line 1: not TOML: Expected ']'"),
    ],
)
def test_a_mistake_of_syntax_names_its_line_and_key(text: str, sentence: str) -> None:
    with pytest.raises(BadInput) as refused:
        read_toml(text, "site.toml")
    assert str(refused.value).startswith(f"site.toml, {sentence}")
