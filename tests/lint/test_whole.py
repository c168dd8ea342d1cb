"""What lint calls right is right: whoever takes the line gets no finding of lint for it."""

import ast
from pathlib import Path

import pytest
from tests.lint.test_lines import WRONG

from wireproof.lint.check import lint_text, with_whole_lines

HERE = Path(__file__).parent
_TEXTS = (
    *(text for _, _, *row in WRONG for text in row),
    *(
        node.value
        for path in HERE.glob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ),
)
CORPUS = sorted({text for text in _TEXTS if 8 < len(text) < 4000 and lint_text(text, "text")})
"""Every text of the tests of lint in which something is wrong."""


def left_over(text: str) -> list[str]:
    """Findings with a fix in a line that was taken over as it is shown."""
    lines = text.split("\n")
    found: list[str] = []
    for one in with_whole_lines(lint_text(text, "text"), text):
        if not one.fix:
            continue
        mended = (one.whole or one.fix).split("\n")
        again = [*lines[: one.line - 1], *mended, *lines[max(one.line, one.last) :]]
        there = range(one.line, one.line + len(mended))
        after = lint_text("\n".join(again), "text")
        found += [f"{one.code}: {each.code}" for each in after if each.fix and each.line in there]
    return found


def test_the_corpus_is_large():
    assert len(CORPUS) > 100


def test_no_line_that_is_called_right_can_be_mended():
    wrong = {text: found for text in CORPUS if (found := left_over(text))}
    assert not wrong


@pytest.mark.parametrize(
    ("name", "line", "right"),
    [
        (
            "hfi1.conf",
            "options hfi1 user_credit_return_theshold=33 krcvqs=3,3,3,3,3,3,3",
            "options hfi1 user_credit_return_threshold=33 krcvqs=3,3,3,3,3,3,3,3",
        )
    ],
)
def test_both_faults_of_a_line_are_mended_in_what_each_finding_shows(name, line, right):
    found = with_whole_lines(lint_text(line + "\n", name), line + "\n")
    assert len(found) == 2
    assert {one.whole or one.fix for one in found} == {right}
    assert {one.fix for one in found} != {right}
