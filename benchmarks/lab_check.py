"""``check`` in a lab, as a user gives the command, and how long it takes."""

from __future__ import annotations

import compileall
import functools
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.row import certain
from benchmarks.setting import Setting
from wireproof import lab as lab_package
from wireproof.lab.cluster import Lab

__all__ = ["add_longest", "check", "document_in"]

TIMEOUT_S = 180


def document_in(stdout: bytes) -> Any:
    """The JSON document that was printed; None where there is none, or only why there is none."""
    found = json.loads(stdout) if stdout else {"schema": "wireproof.error"}
    return None if found["schema"] == "wireproof.error" else found


def check(lab: Lab, seed: int, *options: str) -> tuple[Any, float]:
    """(the JSON document, None where there is none; seconds) of one check."""
    _compile_once()
    began = time.monotonic()
    argv = [sys.executable, "-m", "wireproof", "check", "--lab", lab.name, "--json"]
    with tempfile.TemporaryDirectory(prefix="wireproof-bench-") as scratch:
        argv += [*options, "--seed", str(seed), "--out", str(Path(scratch) / "run")]
        done = subprocess.run(argv, capture_output=True, timeout=TIMEOUT_S, check=False)
    return document_in(done.stdout), time.monotonic() - began


@functools.cache
def _compile_once() -> None:
    """As pip leaves an installation: a checkout whose modules are compiled at each start takes a
    second of a processor longer.
    """
    compileall.compile_dir(Path(lab_package.__file__).parents[1], quiet=2)


def add_longest(
    setting: Setting, group: str, seconds: list[float], target: float, what: str = "check"
) -> None:
    """Adds the longest of the checks, or of ``what``; nothing where there was none."""
    if seconds:
        setting.add(
            certain(
                group,
                f"a whole {what}, the longest",
                "s",
                max(seconds),
                target,
                quantity="time",
                pairs=len(seconds),
                note="command to exit",
            )
        )
