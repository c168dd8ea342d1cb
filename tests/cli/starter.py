"""Starts ``wireproof`` again and again without loading it again: ``python -m tests.cli.starter``.

It loads the program, does nothing else, and forks a process for each request that comes by the
socket on its standard input: JSON with ``argv``, ``cwd`` and ``environment``, beside descriptors
for standard output, standard error and the answer, which is the process id and then its exit
status, a line each. It ends when the socket is closed.
"""

import contextlib
import gc
import importlib
import json
import os
import socket
import sys
import threading
from pathlib import Path

LARGEST = 1 << 18
_SOURCE = Path(__file__).parents[2] / "src"
_LIBRARIES = ("ClusterShell.NodeSet", "click", "duckdb", "jinja2", "msgspec", "numpy")


def _load() -> None:
    folders = (_SOURCE / "wireproof" / name for name in ("cli", "workflow"))
    files = [file for folder in folders for file in sorted(folder.glob("[a-z]*.py"))]
    ours = [".".join(file.relative_to(_SOURCE).with_suffix("").parts) for file in files]
    for name in (*_LIBRARIES, *ours):
        importlib.import_module(name)
    gc.freeze()  # what is shared by all is not looked through by each


def _become(request: bytes, places: list[int]) -> None:
    """What ``python -m wireproof`` finds when it begins."""
    asked = json.loads(request)
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["cwd"])
    null = os.open(os.devnull, os.O_RDONLY)
    for number, place in enumerate((null, *places)):
        os.dup2(place, number)
        os.close(place)
    sys.argv = [str(_SOURCE / "wireproof" / "__main__.py"), *asked["argv"]]


def _keep(child: int, answer: int) -> None:
    os.write(answer, f"{child}\n".encode())
    _, status = os.waitpid(child, 0)
    os.write(answer, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def main() -> None:
    requests = socket.socket(fileno=os.dup(0))
    _load()
    while True:
        request, places, _, _ = socket.recv_fds(requests, LARGEST, 3)
        if not request:
            return
        if os.fork() == 0:
            break
        for place in places:
            os.close(place)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
    requests.close()
    *standard, answer = places
    if child := os.fork():
        for place in standard:
            os.close(place)
        _keep(child, answer)
    os.close(answer)
    _become(request, standard)
    _run()


def _run() -> None:
    """To the exit status, without taking the loaded program apart."""
    from wireproof.cli import main as wireproof

    status = 1
    try:
        status = wireproof()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
