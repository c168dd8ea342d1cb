"""Errors that a person reads: one sentence that names what was seen and what to do.

``cli`` is the one place that maps them to exit statuses (design section 6): 2 usage, 4 could not
measure.
"""

from __future__ import annotations

__all__ = ["BadInput", "CouldNotMeasure", "WireproofError", "made_by_newer"]


class WireproofError(Exception):
    """Base of all errors that the user sees as one sentence, without a traceback."""

    exit_status = 4


class BadInput(WireproofError):
    """What the user gave cannot be used: unknown NIC, host, size, link kind, file, option."""

    exit_status = 2


class NoResult(BadInput):
    """A file that was read and holds nothing of what was looked for."""


class CouldNotMeasure(WireproofError):
    """The measurement did not happen: no MPI, no start, deadline, full disk."""

    exit_status = 4


def made_by_newer(name: object, found: object, known: int) -> BadInput:
    """A stored file of a format that only later releases know."""
    return BadInput(
        f"{name} was made by a newer wireproof (format {found}, and this one reads up to {known}):"
        " update wireproof."
    )
