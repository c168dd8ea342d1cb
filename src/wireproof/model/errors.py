"""Errors that a person reads: one sentence that names what was seen and what to do.

``cli`` is the one place that maps them to exit statuses (design section 6): 2 usage, 4 could not
measure.
"""

import msgspec


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


class LabError(WireproofError):
    """The machine refused, or the lab is not what it should be."""


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry of ``errors``: something that went wrong, as standard error says it, and what it is
    about. ``rank`` and ``point``: of a measurement. What is not known is left out.
    """

    message: str
    code: str = ""
    file: str = ""
    host: str = ""
    rank: int | None = None
    point: int | None = None


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """The document of ``--json`` where a command ends before it has one. ``verdict`` is always
    null: nothing was judged, which is never a pass.
    """

    errors: tuple[Problem, ...]
    exit_status: int
