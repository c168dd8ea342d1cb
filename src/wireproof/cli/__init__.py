"""The command line: the only composer. One file per verb; strings die here."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main(argv: list[str] | None = None) -> int:
    """Run one verb; returns the exit status (0 pass, 1 fail, 2 usage, 3 inconclusive, 4 could not
    measure, 70, 130).
    """
    from wireproof.cli.group import verbs
    from wireproof.cli.outcome import run_verb

    return run_verb(verbs, sys.argv[1:] if argv is None else argv)
