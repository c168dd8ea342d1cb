"""Reports an unforeseen error: one sentence with its place, the traceback in a file, and never the
exit status of a FAIL.
"""

import platform
import sys
import traceback
from pathlib import Path

from wireproof.report.names import clean
from wireproof.version import version

BUG = 70
"""Exit status of a defect of wireproof: EX_SOFTWARE of sysexits.h."""
_PACKAGE = "wireproof"


def sentence(error: BaseException, what: str = "") -> str:
    """Return one sentence about ``error``: what and where it was, and the file to attach to a
    report.

    ``what`` was being done. The traceback is written to a file that only this user can read.
    """
    about = f"{type(error).__name__} at {_place(error)}" + (
        f" ({clean(error, 120)})" if str(error) else ""
    )
    doing = f" while {clean(what, 200)}" if what else ""
    where = _kept(error)
    return (
        f"this is an error of wireproof itself{doing}: {about}."
        + (f" Please report it with {where}." if where else " Please report it.")
        + " It says nothing about the interconnect."
    )


def _place(error: BaseException) -> str:
    """Return file and line of the innermost frame in wireproof, or of the innermost of all."""
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
