"""A bounded run of the fuzz driver for frames, folders, tables of pairs, TOML and topologies."""

import pytest
from tests.fuzz.drive import faults_told, is_clean
from tests.fuzz.targets import COUNTS, TARGETS

MANY = 40
"""How many times the numbers of a short run are tried by the slow tests."""


@pytest.fixture(scope="module")
def told(slow_turn: int | None) -> str:
    """All targets in one process: its start takes as long as many of their inputs. Each turn has a
    seed of its own.
    """
    words = [word for name in TARGETS for word in ("--target", name)]
    total, seed = str(sum(COUNTS.values())), 1 if slow_turn is None else 100 + slow_turn
    return faults_told(*words, "--total", total, "--seed", str(seed), seconds=900)


@pytest.mark.timeout(1000)
@pytest.mark.parametrize("name", TARGETS)
def test_damaged_inputs(name: str, told: str) -> None:
    """Damaged input of any kind is read or refused in one sentence: no traceback, no hang, no write
    elsewhere.
    """
    assert is_clean(told, name, COUNTS[name]), told[-2000:]


@pytest.mark.slow(in_parts=True)
@pytest.mark.timeout(1000)
@pytest.mark.parametrize("name", TARGETS)
def test_many_damaged_inputs(name: str) -> None:
    count = MANY * COUNTS[name]
    told = faults_told("--target", name, "--count", str(count), "--seed", "2", seconds=900)
    assert is_clean(told, name, count), told[-2000:]
