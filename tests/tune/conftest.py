"""Machines of plain files and with a hostile kernel; no timer is left behind."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.tune.hostile import Hostile
from tests.tune.node import BOOT, Machine, end_timers

Build = Callable[..., Machine]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Build]:
    """`machine(files)`: a tree with these files; `machine(files, name)` for more than one."""
    made: list[Machine] = []

    def build(files: dict[str, str], name: str = "machine") -> Machine:
        made.append(Machine(tmp_path / name, {BOOT: "0d1e\n", **files}))
        return made[-1]

    yield build
    for one in made:
        end_timers(one.root)


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[Callable[..., Hostile]]:
    """`hostile(knobs, files)`: a machine whose kernel does what its knobs say."""
    made: list[Hostile] = []

    def build(knobs: dict[str, dict[str, Any]], files: dict[str, str] | None = None) -> Hostile:
        made.append(Hostile(tmp_path / f"hostile{len(made)}", knobs, files or {}))
        return made[-1]

    yield build
    for one in made:
        one.close()
