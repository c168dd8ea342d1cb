"""A bounded run of the fuzz driver for frames, folders, tables of pairs, TOML and topologies."""

from __future__ import annotations

import pytest
from tests.fuzz.drive import faults_told, is_clean
from tests.fuzz.targets import COUNTS, TARGETS


@pytest.fixture(scope="module")
def told() -> str:
    """All targets in one process: its start takes as long as many of their inputs."""
    words = [word for name in TARGETS for word in ("--target", name)]
    return faults_told(*words, "--total", str(sum(COUNTS.values())), "--seed", "1", seconds=900)


@pytest.mark.timeout(1000)
@pytest.mark.parametrize("name", TARGETS)
def test_damaged_inputs(name: str, told: str) -> None:
    """Damaged input of any kind is read or refused in one sentence: no traceback, no hang, no write
    elsewhere.
    """
    assert is_clean(told, name, COUNTS[name]), told[-2000:]


@pytest.mark.slow
@pytest.mark.timeout(1000)
@pytest.mark.parametrize("name", TARGETS)
def test_many_damaged_inputs(name: str) -> None:
    count = 20 * COUNTS[name]
    told = faults_told("--target", name, "--count", str(count), "--seed", "2", seconds=900)
    assert is_clean(told, name, count), told[-2000:]
