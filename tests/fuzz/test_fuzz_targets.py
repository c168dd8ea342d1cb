"""A bounded run of the fuzz driver for frames, folders, tables of pairs, TOML and topologies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.fuzz.targets import COUNTS, TARGETS

ROOT = Path(__file__).parents[2]


def _drive(name: str, count: int, seed: int) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.fuzz.drive",
            "--target",
            name,
            "--count",
            str(count),
            "--seed",
            str(seed),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_inputs(name: str) -> None:
    """Damaged input of any kind is read or refused in one sentence: no traceback, no hang, no write
    elsewhere.
    """
    _drive(name, COUNTS[name], 1)


@pytest.mark.slow
@pytest.mark.timeout(1000)
@pytest.mark.parametrize("name", TARGETS)
def test_many_damaged_inputs(name: str) -> None:
    _drive(name, 20 * COUNTS[name], 2)
