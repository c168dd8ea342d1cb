"""Runs the command as a user does: a process of its own, bounded in time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

TIMEOUT_S = 150


def wireproof(
    *argv: object,
    cwd: Path | None = None,
    environment: dict[str, str] | None = None,
    timeout: float = TIMEOUT_S,
) -> subprocess.CompletedProcess[str]:
    """``wireproof ARGV`` with its output; the caller's ``WIREPROOF_*`` settings do not leak in."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("WIREPROOF_")}
    for name in ("WIREPROOF_ENGINE_DIR", "WIREPROOF_TEST_IMPI"):
        if name in os.environ:
            clean[name] = os.environ[name]
    return subprocess.run(
        [sys.executable, "-m", "wireproof", *map(str, argv)],
        cwd=cwd,
        env=clean | (environment or {}),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def document(done: subprocess.CompletedProcess[str]) -> Any:
    """What ``--json`` printed; a failure shows what was said on stderr."""
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def one_sentence(done: subprocess.CompletedProcess[str]) -> str:
    """The last line of stderr; there is never a traceback."""
    assert "Traceback" not in done.stderr, done.stderr
    lines = done.stderr.strip().splitlines()
    assert lines, "nothing was said"
    return lines[-1]
