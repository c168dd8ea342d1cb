"""Processes of tests: run to their end, with what they print."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def ran(argv: Sequence[str | Path], **more: Any) -> subprocess.CompletedProcess[str]:
    """Whatever its status. ``more``: what else ``subprocess.run`` takes."""
    return subprocess.run(argv, capture_output=True, text=True, check=False, **more)
