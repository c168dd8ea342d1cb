"""A bounded run of the fuzz driver for every parser; `python -m tests.fuzz.drive --count 1000000`
is the long one.
"""

from __future__ import annotations

import pytest
from tests.fuzz.drive import faults_told, is_clean, tried

from wireproof.adapters import adapter_names


@pytest.fixture(scope="module")
def told() -> str:
    """All parsers in one process: its start takes longer than 200 inputs."""
    words = [word for tool in adapter_names() for word in ("--parser", tool)]
    return faults_told(*words, "--count", "200", "--seed", "1", seconds=170)


@pytest.mark.parametrize("tool", adapter_names())
def test_damaged_logs(tool: str, told: str) -> None:
    assert is_clean(told, tool, 200), told[-2000:]


@pytest.mark.slow
@pytest.mark.parametrize("tool", adapter_names())
def test_many_damaged_logs(tool: str) -> None:
    told = faults_told("--parser", tool, "--count", "5000", "--seed", "2", seconds=170)
    assert is_clean(told, tool, 5000), told[-2000:]


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
