"""The interface for messages and progress of a measurement; the workflow itself prints nothing."""

import errno
import logging
import os
import platform
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Protocol

from wireproof.model.plan import Plan
from wireproof.model.record import Frame
from wireproof.report.names import clean
from wireproof.version import version

# --- Report an unforeseen error: a sentence with its place, the traceback in a file, and never the
# exit status of a FAIL.

BUG = 70
"""Exit status for a defect in wireproof: EX_SOFTWARE of sysexits.h."""
_PACKAGE = "wireproof"


_LIMITS = frozenset((errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM))
"""Errors that a limit on processes, open files or memory causes."""
_SHORT = ("failed to map segment from shared object", "can't start new thread")
_OF_THE_SYSTEM = _LIMITS | {
    getattr(errno, name)
    for name in (
        *("EACCES", "EDQUOT", "EIO", "ELOOP", "ENAMETOOLONG", "ENOSPC", "EROFS", "ESTALE"),
        *("EBUSY", "EHOSTDOWN", "EINTR", "ENOTCONN", "EREMOTEIO"),
        *("ESHUTDOWN", "ETIMEDOUT", "EUCLEAN"),
    )
    if hasattr(errno, name)
}
"""Errors caused by a disk, a file server (eviction by Lustre, a FUSE server that has ended) or a
user's path; often without the name of a file, for example from a write.
"""


def is_bug(error: BaseException) -> bool:
    """Return whether an unforeseen error is a defect in wireproof: it is not if memory is short,
    the system cannot read or write a file, or the current folder was removed.
    """
    if isinstance(error, OSError):
        return error.errno not in _OF_THE_SYSTEM and not _is_current_folder_gone(error)
    short = isinstance(error, ImportError | RuntimeError) and str(error).endswith(_SHORT)
    return not (isinstance(error, MemoryError) or short)


def _is_current_folder_gone(error: OSError) -> bool:
    """Return whether a relative path could not be completed, an error that contains no file
    name.
    """
    if not isinstance(error, FileNotFoundError):
        return False
    try:
        os.getcwd()
    except FileNotFoundError:
        return error.filename is None
    return False


def sentence(error: BaseException, what: str = "") -> str:
    """Return one sentence about ``error``: its type, its place, and the file to attach to a bug
    report.

    ``what``: the activity that failed. The traceback is written to a file that only this user can
    read.
    """
    doing = f" while {clean(what, 200)}" if what else ""
    if isinstance(error, OSError) and error.errno in _LIMITS:
        return f"a limit is reached{doing}: {error.strerror} (ulimit -n, ulimit -u, ulimit -v)."
    if isinstance(error, OSError) and not is_bug(error):
        nameless = "a file" if error.errno in _OF_THE_SYSTEM else "the current folder"
        name = clean(error.filename or nameless, 120)
        return f"{name} cannot be used{doing}: {error.strerror}."
    if not is_bug(error):
        return (
            f"there is not enough memory{doing}: raise the limit (ulimit -v), or give less input."
        )
    about = f"{type(error).__name__} at {_place(error)}" + (
        f" ({clean(error, 120)})" if str(error) else ""
    )
    where = _kept(error)
    return (
        f"this is an error of wireproof itself{doing}: {about}."
        + (f" Please report it with {where}." if where else " Please report it.")
        + " It says nothing about the interconnect."
    )


def _place(error: BaseException) -> str:
    """Return file and line of the innermost frame in wireproof, or else of the innermost frame."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if _PACKAGE in Path(frame.filename).parts]
    if not frames:
        return "an unknown place"
    last = (ours or frames)[-1]
    parts = Path(last.filename).parts
    start = len(parts) - 1 - parts[::-1].index(_PACKAGE) if _PACKAGE in parts else len(parts) - 1
    return f"{'/'.join(parts[start:])}:{last.lineno}"


def _kept(error: BaseException) -> str:
    """Write the traceback to a file; return its path, or "" if it cannot be written."""
    from wireproof.files.held import private_file

    system = f"Python {platform.python_version()}, {platform.platform()}"
    head = f"wireproof {version()}, {system}\n{sys.argv}\n\n"
    text = head + "".join(traceback.format_exception(error))
    try:
        return str(
            private_file(
                "wireproof-error-", "traceback.txt", text.encode("utf-8", "backslashreplace")
            )
        )
    except OSError:
        return ""


LOGGER = logging.getLogger("wireproof")
LOGGER.addHandler(logging.NullHandler())
"""Silent unless the calling program configures logging."""


class Reporter(Protocol):
    """The interface through which a workflow reports to its caller.

    The command line writes to stderr; the Python API writes to a logger.
    """

    def say(self, text: str) -> None:
        """Report a piece of information in one sentence."""

    def warn(self, text: str) -> None:
        """Report, in one sentence, an omission or a failure after which the work continues."""

    def progress(self, plan: Plan, title: str) -> AbstractContextManager[Callable[[Frame], None]]:
        """Return a context that shows progress from the frames of ``plan``'s run."""

    def interruption(self) -> str:
        """Return the signal that ended the measurement, such as ``SIGTERM``, or ""."""


def say_all(lines: Iterable[str], reporter: Reporter) -> None:
    """Report each line, such as the notes of a target."""
    for line in lines:
        reporter.say(line)


class LoggingReporter:
    """Writes to the logger ``wireproof``, without progress and signals."""

    def say(self, text: str) -> None:
        LOGGER.info(text)

    def warn(self, text: str) -> None:
        LOGGER.warning(text)

    def progress(self, plan: Plan, title: str) -> AbstractContextManager[Callable[[Frame], None]]:
        LOGGER.info("%s: %d points", title, len(plan.points))
        return nullcontext(_ignore)

    def interruption(self) -> str:
        return ""


class Quiet:
    """Passes on only warnings; used for experiments with many launches."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter

    def say(self, text: str) -> None:
        """Ignore the sentence."""

    def warn(self, text: str) -> None:
        self._reporter.warn(text)

    def progress(self, plan: Plan, title: str) -> AbstractContextManager[Callable[[Frame], None]]:
        return nullcontext(_ignore)

    def interruption(self) -> str:
        return self._reporter.interruption()


def _ignore(_frame: Frame) -> None:
    """Ignore the frame."""
