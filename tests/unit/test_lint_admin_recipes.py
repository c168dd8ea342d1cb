"""The documents' own lines are found wrong, and their corrected forms are clean, by all rules together.

Each file of tests/golden/recipes/{admin,files} holds the wrong lines with the codes that must be found, and the right
ones; its number is that of the erratum.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from wireproof.lint.check import lint_text

FOLDER = Path(__file__).parents[1] / "golden" / "recipes"
RECIPES = sorted([*FOLDER.glob("admin/*.txt"), *FOLDER.glob("files/*.txt")])


def parts(path: Path) -> tuple[list[str], str, str]:
    """(codes, wrong lines, right lines)."""
    head, _, rest = path.read_text(encoding="utf-8").partition("\n")
    wrong, _, right = rest.partition("--- right\n")
    return head.removeprefix("--- wrong:").split(), wrong.removesuffix("\n"), right.removesuffix("\n")


def test_the_recipes_are_there() -> None:
    assert len(RECIPES) >= 19


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
@pytest.mark.parametrize("frame", ["{}", "Some words of a document stand here.\n\n{}\n\nMore words of the document.\n"])
def test_wrong_lines_are_found_and_right_lines_are_clean(path: Path, frame: str) -> None:
    codes, wrong, right = parts(path)
    assert set(codes) <= {finding.code for finding in lint_text(frame.format(wrong), "page.txt")}
    assert lint_text(frame.format(right), "page.txt") == []


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_findings_have_places_within_the_text(path: Path) -> None:
    _, wrong, _ = parts(path)
    lines = wrong.split("\n")
    for finding in lint_text(wrong, "page.txt"):
        assert 1 <= finding.line <= len(lines)
        assert 1 <= finding.column <= len(lines[finding.line - 1]) + 1
        assert finding.message
        assert finding.why
