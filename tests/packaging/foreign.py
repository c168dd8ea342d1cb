"""``python foreign.py macos|windows ARGUMENTS``: the command on this Python with what that system's
Python does not have taken away before anything of ours or of our dependencies is imported.

``os.uname`` and what the standard library imports by the name of the platform stay: numpy and
``subprocess`` look at ``sys.platform`` first.
"""

import os
import signal
import socket
import sys
from importlib.abc import MetaPathFinder

LINUX = [
    *("O_PATH", "memfd_create", "pidfd_open", "posix_fallocate", "sched_getaffinity"),
    *("sched_setaffinity", "setns", "unshare", "getrandom"),
]
POSIX = [
    *("O_CLOEXEC", "O_DIRECTORY", "O_NOCTTY", "O_NOFOLLOW", "O_NONBLOCK", "chown", "fchmod"),
    *("fchown", "fork", "getegid", "geteuid", "getgid", "getloadavg", "getpgid", "getuid"),
    *("killpg", "mkfifo", "setsid", "sysconf"),
]
SIGNALS = [
    *("SIGALRM", "SIGCHLD", "SIGCONT", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGSTOP"),
    *("SIGUSR1", "SIGUSR2"),
]
MODULES = frozenset(
    ["curses", "fcntl", "grp", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"]
)


class _Absent(MetaPathFinder):
    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        if fullname in MODULES:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


def _take(module: object, names: list[str]) -> None:
    for name in names:
        if hasattr(module, name):
            delattr(module, name)


def become(system: str) -> None:
    _take(os, LINUX)
    _take(signal, ["pidfd_send_signal"])
    if system == "windows":
        for name in MODULES:
            sys.modules.pop(name, None)
        sys.meta_path.insert(0, _Absent())
        _take(os, POSIX)
        _take(signal, SIGNALS)
        _take(socket, ["AF_UNIX"])
        os.supports_dir_fd = set()


if __name__ == "__main__":
    become(sys.argv.pop(1))
    from wireproof.cli import main

    sys.exit(main())
