"""Mistakes in recipes as a document, each with its correction."""

from collections import Counter
from collections.abc import Iterator

from wireproof.model.finding import LintFinding, LintReport
from wireproof.model.quantity import counted
from wireproof.report.document import (
    Bar,
    Document,
    Findings,
    Head,
    Item,
    Part,
    Row,
    Table,
    Tone,
)
from wireproof.report.names import clean

_FILES = (
    Head("file", 9, left=True),
    Head("errors", 8),
    Head("warnings", 7),
    Head("", 5, left=True),
)


def lint_document(report: LintReport, files: int, *, errors_shown: bool = False) -> Document:
    """Return the findings. ``files``: number of files that could be read. ``errors_shown``: the
    errors were already shown, so omit them."""
    errors = [] if errors_shown else report.errors
    items = [Item("inconclusive", one.message, word="not read:") for one in errors]
    items += [_item(finding) for finding in report.findings]
    parts: list[Part] = [Findings(tuple(items), most=1_000_000, whole=True)] if items else []
    if len(where := _by_file(report)) > 1:
        parts.append(Table(_FILES, tuple(where), "Findings by file"))
    return Document("Recipes", _mistakes(report, files), tuple(parts), report.verdict)


def _mistakes(report: LintReport, files: int) -> str:
    if not files:
        return "nothing could be read"
    errors = sum(finding.severity == "error" for finding in report.findings)
    warnings = len(report.findings) - errors
    counts = [counted(errors, "error")] if errors else []
    counts += [counted(warnings, "warning")] if warnings else []
    unread = f"; not read: {counted(len(report.errors), 'file')}" if report.errors else ""
    faulty = len({finding.file for finding in report.findings})
    some = f"{faulty} of " if 0 < faulty < files else ""
    return f"{', '.join(counts) or 'no problems found'} in {some}{counted(files, 'file')}{unread}"


def _item(finding: LintFinding) -> Item:
    """Return an item whose place has the form of compiler messages, so that editors jump to it."""
    place = f"{clean(finding.file, 200)}:{finding.line}:{finding.column}: {finding.severity}:"
    tone: Tone = "fail" if finding.severity == "error" else "warning"
    lines = (finding.whole or finding.fix or finding.right).split("\n")
    right = "\n".join(line.strip() for line in lines)
    return Item(tone, finding.message, finding.code, tuple(_details(finding)), place, right)


def _details(finding: LintFinding) -> Iterator[tuple[str, str]]:
    """Yield the reason, and the entry of the catalogue of settings, since outdated advice may still
    be right on some machines.
    """
    yield "why", finding.why
    if finding.setting:
        until = f" (until {finding.setting_until})" if finding.setting_until else ""
        wanted = f": {finding.wanted}" if finding.wanted else ""
        explained = f"wireproof explain {finding.setting}"
        yield "setting", f"{finding.setting}{until}{wanted} ({explained})"


def _by_file(report: LintReport) -> list[Row]:
    count = Counter((finding.file, finding.severity) for finding in report.findings)
    names = {finding.file: None for finding in report.findings}
    rows = [(name, count[name, "error"], count[name, "warning"]) for name in names]
    rows.sort(key=lambda row: (-row[1], -row[2]))
    return [
        Row((name, str(errors), str(warnings), Bar(errors + warnings)))
        for name, errors, warnings in rows
    ]
