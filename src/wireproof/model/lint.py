"""Mistakes in a recipe: one finding per place, with the corrected line."""

from typing import Literal

import msgspec

from wireproof.model.errors import Problem
from wireproof.model.finding import Verdict


class LintFinding(msgspec.Struct, frozen=True, kw_only=True):
    """One mistake.

    ``line`` and ``column`` count from 1 (columns in characters). ``fix``: the corrected line or
    lines, joined by newlines, that replace the lines ``line`` to ``last``; "" if a person must
    decide. ``safe``: ``--fix`` may write it. ``right``: the correct form according to the rule.
    ``whole``: these lines with the fixes of all their mistakes, "" if that equals ``fix``.
    ``setting``: the catalogue entry of the setting concerned, "" for none; ``wanted``: its good
    value; ``setting_until``: the last release that has the setting.
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
    """What ``wireproof lint --json`` prints. ``errors``: files that could not be read."""

    findings: list[LintFinding]
    errors: list[Problem] = msgspec.field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """``fail`` with a finding, ``inconclusive`` if a file could not be checked, otherwise
        ``pass``.
        """
        if self.findings:
            return "fail"
        return "inconclusive" if self.errors else "pass"
