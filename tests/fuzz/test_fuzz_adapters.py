"""A bounded run of the fuzz driver for every parser; `python -m tests.fuzz.drive --count 1000000`
is the long one.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.fuzz.drive import tried

from wireproof.adapters import adapter_names

ROOT = Path(__file__).parents[2]


def _drive(tool: str, count: int, seed: int) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.fuzz.drive",
            "--parser",
            tool,
            "--count",
            str(count),
            "--seed",
            str(seed),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize("tool", adapter_names())
def test_damaged_logs(tool: str) -> None:
    _drive(tool, 200, 1)


@pytest.mark.slow
@pytest.mark.parametrize("tool", adapter_names())
def test_many_damaged_logs(tool: str) -> None:
    _drive(tool, 5000, 2)


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
