"""The parts of the pages that are made from the code."""

import re

import pytest

import pages
from wireproof.cli.subcommands import SUBCOMMANDS
from wireproof.lint.rules import rules
from wireproof.physics import default_table
from wireproof.verdict.catalogue import CATALOGUE
from wireproof.workflow.explain import causes

WRITTEN = pages.pages()


def test_every_constant_is_on_the_page_of_physics() -> None:
    assert all(f"`{key}`" in WRITTEN["docs/physics.md"] for key in default_table())


def test_every_code_of_a_finding_a_cause_and_a_rule_has_a_heading() -> None:
    codes = re.findall(r"^### `([a-z-]+)`", WRITTEN["docs/explain.md"], re.MULTILINE)
    assert codes == [*CATALOGUE, *causes()]
    codes = re.findall(r"^### `([a-z0-9-]+)`", WRITTEN["docs/lint.md"], re.MULTILINE)
    assert codes == sorted(rules())


def test_each_subcommand_has_a_page() -> None:
    assert {f"docs/reference/commands/{name}.md" for name in SUBCOMMANDS} <= WRITTEN.keys()


def test_no_page_shows_the_line_in_place_of_its_part() -> None:
    assert not [page for page, text in WRITTEN.items() if pages.MARK in text]


def test_what_stands_above_the_mark_stays() -> None:
    page = f"# Prose\n\n{pages.MARK}the table below to the site.*\n"
    assert pages.with_generated(page, "new\n") == "# Prose\n\nnew\n"


def test_a_page_without_a_mark_is_refused() -> None:
    with pytest.raises(ValueError, match="make docs"):
        pages.with_generated("# Prose\n", "new")
