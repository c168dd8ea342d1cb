"""What the program judges and prints is what is recorded; what changes on purpose is recorded anew
with ``make frozen WRITE=1``, and the commit says why.
"""

import pytest
from tests.frozen.__main__ import NAMES, differences, made
from tests.frozen.judged import FAMILIES

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("name", NAMES)
def test_a_share_of_it_is_as_recorded(name: str, slow_turn: int | None) -> None:
    """Each turn makes another tenth of a family's cases."""
    check(name, slow_turn or 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_all_of_it_is_as_recorded(name: str) -> None:
    check(name)


def check(name: str, turn: int | None = None) -> None:
    found = differences(name, made(name, turn), turn)
    assert not found, f"{len(found)} lines, of which the first:\n" + "\n".join(found[:20])
