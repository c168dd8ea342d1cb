"""Every adapter of the zoo in every situation: no cell is wrong, and the page says what is
judged.
"""

import pytest
from tests.conftest import some_of
from tests.zoo.animals import ZOO
from tests.zoo.arranged import ARRANGED
from tests.zoo.matrix import PAGE, cell, line, page
from tests.zoo.parts import Adapter
from tests.zoo.situations import SITUATIONS

_TABLE = PAGE.read_text().partition("\n|---")[2].split("\n")[1 : len(ZOO) + 1]
SHOWN = {one.key: shown for one, shown in zip(ZOO, _TABLE, strict=True)}
"""The line of each adapter on the page."""
# Every fourth in each turn: makers and kinds are neighbours in the zoo.
_ANIMALS = sorted(ZOO, key=lambda one: ZOO.index(one) % 4)


@pytest.mark.parametrize(
    "one",
    [*some_of(_ANIMALS, len(ZOO) // 4), *some_of(ARRANGED, 16)],
    ids=lambda one: one.key,
)
def test_no_situation_of_an_adapter_is_judged_wrong(one: Adapter) -> None:
    row = [cell(one, each) for each in SITUATIONS]
    wrong = {each.situation.key: (each.wrong, each.codes) for each in row if each and each.wrong}
    assert wrong == {}
    assert SHOWN.get(one.key, line(one, row)) == line(one, row), (
        "python -m tests.zoo.matrix --write"
    )


def _texts(one: Adapter) -> list[str]:
    return SHOWN[one.key].removesuffix(" |").split(" | ")[1:]


def test_hardly_a_cell_is_left_open_that_an_expert_decides() -> None:
    cells = [
        text == "unproven" != situation.expected(one).proofs[0]
        for one in ZOO
        for text, situation in zip(_texts(one), SITUATIONS, strict=True)
        if text != "–"
    ]
    assert len(cells) > 1200
    assert sum(cells) <= 0.03 * len(cells)


def test_the_page_has_every_adapter_and_its_source() -> None:
    assert PAGE.read_text() == page(list(SHOWN.values())), "python -m tests.zoo.matrix --write"
