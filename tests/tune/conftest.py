"""Machines of plain files; no timer is left behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.tune.node import Machine, end_timers

Build = Callable[..., Machine]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Build]:
    """`machine(files)`: a tree with these files; `machine(files, name)` for more than one."""
    made: list[Machine] = []

    def build(files: dict[str, str], name: str = "machine") -> Machine:
        made.append(Machine(tmp_path / name, files))
        return made[-1]

    yield build
    for one in made:
        end_timers(one.state)
