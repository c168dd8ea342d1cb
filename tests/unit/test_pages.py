"""The parts of docs/ that are written from the code are those of this code."""

from __future__ import annotations

from pathlib import Path

import pytest

import pages
from wireproof.physics import default_table

WRITTEN = pages.pages()


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.name)
def test_a_page_is_up_to_date(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == WRITTEN[path], "run: python tools/pages.py"


def test_every_constant_is_on_the_page_of_physics() -> None:
    (text,) = (text for path, text in WRITTEN.items() if path.name == "physics.md")
    assert all(f"`{key}`" in text for key in default_table())


def test_what_stands_above_the_mark_stays() -> None:
    page = f"# Prose\n\n{pages.MARK}\n\nold\n"
    assert pages.with_generated(page, "new\n") == f"# Prose\n\n{pages.MARK}\n\nnew\n"


def test_a_page_without_a_mark_is_refused() -> None:
    with pytest.raises(ValueError, match=r"tools/pages\.py"):
        pages.with_generated("# Prose\n", "new")
