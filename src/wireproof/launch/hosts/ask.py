"""A question to a program of this machine, whose answer is a convenience."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence

from wireproof.files.programs import by_path

__all__ = ["printed"]

_TIMEOUT_S = 15.0
_LARGEST = 4 << 20


def printed(
    argv: Sequence[str],
    environment: Mapping[str, str] | None = None,
    *,
    errors: bool = False,
    any_status: bool = False,
) -> str:
    """What ``argv`` writes to standard output (with ``errors`` to standard error too), bounded; ""
    when it does not start, does not answer in time, or fails (unless ``any_status``).
    """
    try:
        done = subprocess.run(
            **by_path(argv, environment),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    if done.returncode and not any_status:
        return ""
    data = done.stdout + b"\n" + done.stderr if errors else done.stdout
    return data[:_LARGEST].decode("utf-8", "replace")
