"""The command line: parse, call the workflow, render. Subcommands are imported on use."""

import atexit
import gc
import os
import sys

__all__ = ["main"]

_OBJECTS_A_COLLECTION = 50_000
"""The default threshold of 700 objects makes the garbage collector run 150 times during a check,
which takes a twentieth of its processor time and frees almost nothing.
"""

atexit.register(gc.freeze)
"""Registered to run last: otherwise the interpreter collects garbage again before it frees the
modules, which takes a tenth of a check's processor time.
"""


def main(argv: list[str] | None = None) -> int:
    """Run one subcommand; return the exit status (0 pass, 1 fail, 2 usage, 3 inconclusive, 4 could
    not measure, 70, 130).
    """
    gc.set_threshold(_OBJECTS_A_COLLECTION)
    try:
        from wireproof.cli.console import run, unless_lost
        from wireproof.cli.subcommands import subcommands
        from wireproof.files.held import use_own_home
        from wireproof.files.programs import search_path
        from wireproof.files.streams import own_streams

        os.environ["PATH"] = search_path(os.environ.get("PATH"))
        use_own_home()
        with own_streams() as result_lost:
            status = run(subcommands, sys.argv[1:] if argv is None else argv)
            return unless_lost(status, result_lost())
    except KeyboardInterrupt:  # before a subcommand has begun, or after it has ended
        sys.stderr.write("wireproof: interrupted by Ctrl-C.\n")
        return 130
