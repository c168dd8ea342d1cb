"""``wireproof-node guard``: a command whose whole tree of processes ends when we do."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from wireproof.files.programs import by_path


def guard_argv(node: Path, control_fd: int, argv: Sequence[str]) -> list[str]:
    """The command that runs ``argv`` under the guard."""
    return [str(node), "guard", "--control-fd", str(control_fd), "--", *argv]


def start_guarded(
    node: Path,
    control: int,
    argv: Sequence[str],
    environment: Mapping[str, str],
    stdin: int,
    stdout: int = subprocess.PIPE,
) -> subprocess.Popen[bytes]:
    """``argv`` under the guard, which ends it when the other end of ``control`` is closed. Raises
    ``OSError``.

    It has a session of its own: the terminal's Ctrl-C reaches us alone, and we end the tree in
    order.
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
