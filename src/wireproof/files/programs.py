"""Find programs on this machine, only in absolute folders of PATH, and start them by the path that
was found.

A relative or empty entry of PATH means the current folder, so the owner of that folder would choose
the program. Only this module searches: every call that starts a process uses ``by_path``.
"""

import contextlib
import errno
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from typing import TypedDict

_SYSTEM = "/usr/local/sbin:/usr/sbin:/sbin"


@contextlib.contextmanager
def variable_set(name: str, value: str) -> Iterator[None]:
    """Set a variable of this process within the block."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]
        os.environ |= {} if before is None else {name: before}


class ProcessArguments(TypedDict):
    """Arguments of ``subprocess.run`` and ``Popen``."""

    args: list[str]
    env: dict[str, str]


def search_path(path: str | None) -> str:
    """Return ``path`` without its relative and empty entries; return the system default if nothing
    is left, because an empty PATH also means the current folder.
    """
    return _absolute_entries(path) or os.defpath


def _absolute_entries(path: str | None) -> str:
    entries = (os.defpath if path is None else path).split(os.pathsep)
    return os.pathsep.join(filter(os.path.isabs, entries))


def find_program(
    name: str, environment: Mapping[str, str] | None = None, *, system: bool = False
) -> str | None:
    """Return the absolute path of the program ``name`` from PATH in ``environment`` (default: the
    current environment). With ``system``, also search the folders of administrators' tools, which
    are not on every user's PATH. A name with a slash is a path relative to the current folder.
    """
    if os.path.dirname(name):
        typed = os.path.join(os.getcwd(), name)
        return typed if os.path.isfile(typed) and os.access(typed, os.X_OK) else None
    around = os.environ if environment is None else environment
    folders = [_absolute_entries(around.get("PATH")), _SYSTEM if system else ""]
    path = os.pathsep.join(filter(None, folders))
    found = shutil.which(name, path=path) if path else None
    return found if found is not None and os.path.isabs(found) else None


def by_path(argv: Sequence[str], environment: Mapping[str, str] | None = None) -> ProcessArguments:
    """Return arguments that start ``argv`` in ``environment`` (default: the current environment),
    with a PATH without relative entries: ``subprocess.run(**by_path(argv), ...)``. Raise
    ``FileNotFoundError`` like ``subprocess.run``.
    """
    given = os.environ if environment is None else environment
    around = {**given, "PATH": search_path(given.get("PATH"))}
    name = argv[0]
    program = os.path.join(os.getcwd(), name) if os.path.dirname(name) else None
    program = program or find_program(name, around)
    if program is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    return {"args": [program, *argv[1:]], "env": around}


_TIMEOUT_S = 15.0
_LARGEST = 4 << 20


def printed(
    argv: Sequence[str],
    environment: Mapping[str, str] | None = None,
    *,
    errors: bool = False,
    any_status: bool = False,
) -> str:
    """Return the output of ``argv`` on standard output (with ``errors``, also on standard error),
    bounded; "" if it does not start, does not end in time, or fails (unless ``any_status``).
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


def find_tool(name: str) -> str | None:
    """Return the path of a tool such as ``ip`` or ``tc``, whose folder /usr/sbin is not on every
    user's PATH.
    """
    return find_program(name, system=True)
