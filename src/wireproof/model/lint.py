"""What is wrong in a recipe: one finding per place, with the corrected line."""

from typing import Literal

import msgspec

from wireproof.model.errors import Problem
from wireproof.model.finding import Verdict


class LintFinding(msgspec.Struct, frozen=True, kw_only=True):
    """``line`` and ``column`` count from 1 (columns in characters). ``fix`` is the corrected line,
    "" when a person must decide; several lines are joined by newlines; it replaces the lines
    ``line`` to ``last``. ``safe``: ``--fix`` may write it. ``right``: the rule's right form.
    ``whole``: these lines after the fixes of all their faults, "" where that is ``fix``.
    ``setting``: the entry of the catalogue of settings that it is about, "" for none, what that
    ``wanted`` is, and until which release the setting counts.
    """

    code: str
    file: str
    line: int
    column: int
    message: str
    fix: str = ""
    why: str = ""
    source: str = ""
    severity: Literal["error", "warning"] = "error"
    safe: bool = False
    last: int = 0
    right: str = ""
    whole: str = ""
    setting: str = ""
    wanted: str = ""
    setting_until: str = ""


class LintReport(msgspec.Struct, frozen=True, kw_only=True):
    """The document that ``wireproof lint --json`` prints. ``errors``: files that cannot be read."""

    findings: list[LintFinding]
    errors: list[Problem] = msgspec.field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """``fail`` with a finding, ``inconclusive`` where a file was not looked at."""
        if self.findings:
            return "fail"
        return "inconclusive" if self.errors else "pass"
