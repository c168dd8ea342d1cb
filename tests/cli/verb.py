"""Runs the command as a user does: a process of its own, bounded in time.

It is forked from one that has loaded the program and done nothing else (``tests/cli/starter.py``):
the start of Python and the loading took longer than what most of these tests look at. Real starts
(``python -m wireproof``) are made by ``tests/docs`` and by those that look at the start itself.
"""

import atexit
import functools
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.processes import ran

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 150
_DECIDED_AT_THE_START = ("LANG", "LC_", "PYTHON")
"""Beginnings of variables that Python reads when it starts."""


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
    words = [str(word) for word in argv]
    around = clean | (environment or {})
    if any(name.startswith(_DECIDED_AT_THE_START) for name in environment or {}):
        return ran(
            [sys.executable, "-m", "wireproof", *words],
            cwd=cwd,
            env=around,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
        )
    return _forked(words, str(cwd or os.getcwd()), around, timeout)


def _forked(
    words: list[str], cwd: str, environment: dict[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    request = json.dumps({"argv": words, "cwd": cwd, "environment": environment}).encode()
    pipes = [os.pipe() for _ in range(3)]
    try:
        socket.send_fds(_starter(), [request], [write for _, write in pipes])
    finally:
        for _, write in pipes:
            os.close(write)
    places = [read for read, _ in pipes]
    try:
        found = _read(places, time.monotonic() + timeout)
    finally:
        for place in places:
            os.close(place)
    number, *status = found[places[2]].decode().split()
    if not status:
        os.kill(int(number), signal.SIGKILL)
        raise subprocess.TimeoutExpired(words, timeout)
    out, err = (found[place].decode().replace("\r\n", "\n") for place in places[:2])
    return subprocess.CompletedProcess(words, int(status[0]), out, err)


@functools.cache
def _starter() -> socket.socket:
    """The socket of a process that lives as long as this one."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = subprocess.Popen([sys.executable, "-m", "tests.cli.starter"], cwd=ROOT, stdin=there)
    there.close()

    def end() -> None:
        here.close()
        process.wait()

    atexit.register(end)
    return here


def _read(places: Sequence[int], deadline: float) -> dict[int, bytearray]:
    """All that is written until every writer is gone, or until the deadline."""
    found = {place: bytearray() for place in places}
    with selectors.DefaultSelector() as ready:
        for place in places:
            ready.register(place, selectors.EVENT_READ)
        while ready.get_map() and (left := deadline - time.monotonic()) > 0:
            for key, _ in ready.select(left):
                if data := os.read(key.fd, 1 << 16):
                    found[key.fd] += data
                else:
                    ready.unregister(key.fd)
    return found


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
