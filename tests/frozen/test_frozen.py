"""What the program judges and prints is what is recorded; what changes on purpose is recorded anew
with ``make frozen WRITE=1``, and the commit says why.
"""

from __future__ import annotations

import pytest
from tests.frozen.__main__ import NAMES, differences, made

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("name", NAMES)
def test_it_is_as_recorded(name: str) -> None:
    found = differences(name, made(name))
    assert not found, f"{len(found)} lines, of which the first:\n" + "\n".join(found[:20])
