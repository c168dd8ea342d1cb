"""``wireproof-node guard``: a command whose whole tree of processes ends with this process."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from wireproof.files.programs import by_path


def guard_argv(node: Path, control_fd: int, argv: Sequence[str]) -> list[str]:
    """Return the command that runs ``argv`` under the guard."""
    return [str(node), "guard", "--control-fd", str(control_fd), "--", *argv]


def start_guarded(
    node: Path,
    control: int,
    argv: Sequence[str],
    environment: Mapping[str, str],
    stdin: int,
    stdout: int = subprocess.PIPE,
) -> subprocess.Popen[bytes]:
    """Start ``argv`` under the guard, which ends it when the other end of ``control`` is closed.
    Raise ``OSError``.

    The guard has its own session: only this process gets the terminal's Ctrl-C and then ends the
    tree in order.
    """
    return subprocess.Popen(
        **by_path(guard_argv(node, control, argv), environment),
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        start_new_session=True,
        pass_fds=(control,),
        bufsize=0,
    )
