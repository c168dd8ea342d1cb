"""Every adapter of the zoo in every situation: no cell is wrong, and the page says what is
judged.
"""

from __future__ import annotations

import pytest
from tests.zoo.animals import ZOO
from tests.zoo.matrix import PAGE, cells, page, row


@pytest.mark.parametrize("one", ZOO, ids=lambda one: one.key)
def test_no_situation_of_an_adapter_is_judged_wrong(one):
    wrong = {
        each.situation.key: (each.wrong, each.codes)
        for each in row(one.key)
        if each is not None and each.wrong
    }
    assert not wrong


@pytest.fixture(scope="module")
def rows():
    return cells()


def test_hardly_a_cell_is_left_open_that_an_expert_decides(rows):
    known = [one for row in rows for one in row if one is not None]
    assert len(known) > 1200
    assert sum(one.cautious for one in known) <= 0.03 * len(known)


def test_the_page_of_the_matrix_is_up_to_date(rows):
    assert PAGE.read_text() == page(rows), "run: python -m tests.zoo.matrix --write"
