"""Errors that the user sees: one sentence that says what was observed and what to do.

Only ``cli`` maps them to exit statuses (design section 6): 2 usage, 4 could not measure.
"""

import msgspec


class WireproofError(Exception):
    """Base of all errors that are shown to the user as one sentence, without a traceback."""

    exit_status = 4


class BadInput(WireproofError):
    """Input that cannot be used: an unknown NIC, host, size, link kind, file or option."""

    exit_status = 2


class NoResult(BadInput):
    """The file was read, but it contains no result of the kind that was looked for."""


class CouldNotMeasure(WireproofError):
    """The measurement could not be made: no MPI, failed start, deadline reached, disk full."""

    exit_status = 4


def made_by_newer(name: object, found: object, known: int) -> BadInput:
    """Return the error for a stored file whose format only later releases know."""
    return BadInput(
        f"{name} was made by a newer wireproof (format {found}, and this one reads up to {known}):"
        " update wireproof."
    )


class LabError(WireproofError):
    """The machine refuses to build the lab, or the lab is not in the expected state."""


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry of ``errors``: a problem, worded as on standard error, and what it concerns.
    ``rank`` and ``point`` belong to a measurement. Unknown members are left out.
    """

    message: str
    code: str = ""
    file: str = ""
    host: str = ""
    rank: int | None = None
    point: int | None = None


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """The document of ``--json`` if a command ends before it has a result. ``verdict`` is always
    null: nothing was judged, which is never a pass.
    """

    errors: tuple[Problem, ...]
    exit_status: int
