"""A finding as lint makes it: with the last line of what its fix replaces."""

from __future__ import annotations

from wireproof.model.lint import LintFinding

__all__ = ["Finding"]


class Finding(LintFinding, frozen=True, kw_only=True):
    """``last`` is the last line that ``fix`` replaces (``line`` when it is one). ``right`` is the
    rule's right form.
    """

    last: int = 0
    right: str = ""
