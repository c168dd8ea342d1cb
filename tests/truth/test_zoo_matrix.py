"""Every adapter of the zoo in every situation: no cell is wrong, and the page says what is
judged.
"""

from __future__ import annotations

import pytest
from tests.conftest import some_of
from tests.zoo.animals import ZOO
from tests.zoo.arranged import ARRANGED
from tests.zoo.matrix import PAGE, Cell, cell, cells, page, row
from tests.zoo.parts import Adapter
from tests.zoo.situations import SITUATIONS


def _wrong(row: list[Cell | None]) -> dict[str, tuple[str, tuple[str, ...]]]:
    return {
        each.situation.key: (each.wrong, each.codes)
        for each in row
        if each is not None and each.wrong
    }


@pytest.mark.parametrize("one", ZOO, ids=lambda one: one.key)
def test_no_situation_of_an_adapter_is_judged_wrong(one):
    assert not _wrong(row(one.key))


@pytest.mark.parametrize("one", some_of(ARRANGED, 16), ids=lambda one: one.key)
def test_no_situation_of_an_arrangement_is_judged_wrong(one: Adapter) -> None:
    assert not _wrong([cell(one, each) for each in SITUATIONS])


@pytest.fixture(scope="module")
def rows():
    return cells()


def test_hardly_a_cell_is_left_open_that_an_expert_decides(rows):
    known = [one for row in rows for one in row if one is not None]
    assert len(known) > 1200
    assert sum(one.cautious for one in known) <= 0.03 * len(known)


def test_the_page_of_the_matrix_is_up_to_date(rows):
    assert PAGE.read_text() == page(rows), "run: python -m tests.zoo.matrix --write"
