"""What went wrong, as every document of ``--json`` says it, and the document of a command that has
no result.
"""

from __future__ import annotations

import msgspec

__all__ = ["Failure", "Problem"]


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
