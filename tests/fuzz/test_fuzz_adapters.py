"""A bounded run of the fuzz driver for every parser; `python -m tests.fuzz.drive --count 1000000`
is the long one.
"""

import pytest
from tests.fuzz.drive import faults_told, is_clean, tried

from wireproof.logs.readers import adapter_names

FEW, MANY = 125, 5000
"""Inputs of each parser, and in the slow tests."""


@pytest.fixture(scope="module")
def told(slow_turn: int | None) -> tuple[str, int]:
    """All parsers in one process, and how many inputs of each: its start takes longer than 100.
    Each turn has a seed of its own.
    """
    words = [word for tool in adapter_names() for word in ("--parser", tool)]
    seed = 1 if slow_turn is None else 100 + slow_turn
    return faults_told(*words, "--count", str(FEW), "--seed", str(seed), seconds=900), FEW


@pytest.mark.timeout(1000)
@pytest.mark.parametrize("tool", adapter_names())
def test_damaged_logs(tool: str, told: tuple[str, int]) -> None:
    lines, count = told
    assert is_clean(lines, tool, count), lines[-2000:]


@pytest.mark.slow(in_parts=True)
@pytest.mark.parametrize("tool", adapter_names())
def test_many_damaged_logs(tool: str) -> None:
    told = faults_told("--parser", tool, "--count", str(MANY), "--seed", "2", seconds=170)
    assert is_clean(told, tool, MANY), told[-2000:]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"\x00" * 100,
        b"\xff" * 1000,
        b"\x1b" * 1000,
        b"9" * 100_000,
        b" " * 100_000,
        b"\n" * 100_000,
        b"{" * 5000,
    ],
    ids=[
        "empty",
        "blank line",
        "zeros",
        "high bytes",
        "escapes",
        "digits",
        "blanks",
        "blank lines",
        "braces",
    ],
)
def test_what_is_no_log(data: bytes) -> None:
    assert not tried(data)
