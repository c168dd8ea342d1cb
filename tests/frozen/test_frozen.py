"""What the program judges and prints is what is recorded; what changes on purpose is recorded anew
with ``make frozen WRITE=1``, and the commit says why.
"""

from __future__ import annotations

import pytest
from tests.frozen.__main__ import NAMES, differences, made

pytestmark = pytest.mark.engine


AT_EVERY_CHANGE = {"audits": 100, "runs": 120}
"""Of the families that take longest the first cases; all of them are slow."""


@pytest.mark.parametrize("name", NAMES)
def test_it_is_as_recorded(name: str) -> None:
    check(name, AT_EVERY_CHANGE.get(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", AT_EVERY_CHANGE)
def test_all_of_it_is_as_recorded(name: str) -> None:
    check(name)


def check(name: str, count: int | None = None) -> None:
    found = differences(name, made(name, count), count)
    assert not found, f"{len(found)} lines, of which the first:\n" + "\n".join(found[:20])
