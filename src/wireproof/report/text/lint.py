"""What is wrong in recipes, for people."""

from __future__ import annotations

from collections.abc import Sequence

from wireproof.model.lint import LintFinding
from wireproof.report.names import clean

__all__ = ["count_text", "finding_lines"]


def finding_lines(finding: LintFinding) -> list[str]:
    """Place and message as a compiler prints them, then why, then what is right."""
    place = f"{clean(finding.file, 200)}:{finding.line}:{finding.column}"
    mended = finding.whole or finding.fix
    right = mended.split("\n") if mended else [finding.right] if finding.right else []
    return [
        f"{place}: {finding.severity}: {clean(finding.message)} [{finding.code}]",
        f"    why:   {clean(finding.why)}",
        *(f"    right: {clean(line.strip())}" for line in right),
        *_setting_lines(finding),
    ]


def _setting_lines(finding: LintFinding) -> list[str]:
    """What the catalogue of settings says: advice that has aged is right on some machines only."""
    if not finding.setting:
        return []
    until = f" (until {finding.setting_until})" if finding.setting_until else ""
    said = f"{finding.setting}{until}" + (f": {finding.wanted}" if finding.wanted else "")
    return [f"    setting: {clean(said, 400)} (wireproof explain {finding.setting})"]


def count_text(findings: Sequence[LintFinding], files: int) -> str:
    """``2 errors, 1 warning in 3 files``."""
    errors = sum(finding.severity == "error" for finding in findings)
    warnings = len(findings) - errors
    found = f"{errors} error{'s' * (errors != 1)}, {warnings} warning{'s' * (warnings != 1)}"
    return f"{found if findings else 'no problems found'} in {files} file{'s' * (files != 1)}"
