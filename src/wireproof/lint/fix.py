"""Apply the corrections of findings to a text."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from operator import itemgetter

import msgspec

from wireproof.lint.check import lint_text
from wireproof.lint.rule import Kind
from wireproof.model.finding import LintFinding

ROUNDS = 40
"""A line with more mistakes than this is left to a person."""
_LEAST_ROUNDS, _MOST_LETTERS = 3, 128 << 10
"""Limit of characters that are read again for whole lines: in a long text only the first faults are
corrected.
"""


def fixed(text: str, findings: Iterable[LintFinding]) -> str:
    """Return the text with the fixes of the findings. If several findings change the same line, the
    first is applied; ``repaired`` applies the others. Line endings are kept.
    """
    lines = text.split("\n")
    end = "\r" if lines and lines[0].endswith("\r") else ""
    for finding in _apart(findings, len(lines)):
        new = [line + end for line in finding.fix.split("\n")]
        lines[finding.line - 1 : max(finding.line, finding.last)] = new
    return "\n".join(lines)


def _apart(findings: Iterable[LintFinding], count: int) -> list[LintFinding]:
    """Return the findings with a fix, the first for each line, with the last line first."""
    taken: set[int] = set()
    chosen: list[LintFinding] = []
    for finding in findings:
        span = range(finding.line, max(finding.line, finding.last) + 1)
        if finding.fix and finding.last <= count and not taken.intersection(span):
            taken.update(span)
            chosen.append(finding)
    return sorted(chosen, key=lambda one: one.line, reverse=True)


def repaired(text: str, name: str, kind: Kind | None = None, *, every: bool = False) -> str:
    """Return the text after all safe fixes (``every``: all fixes), repeated until
    nothing changes.
    """
    for _ in range(ROUNDS):
        findings = [
            finding
            for finding in lint_text(text, name, kind)
            if finding.fix and (every or finding.safe)
        ]
        changed = fixed(text, findings)
        if changed == text:
            break
        text = changed
    return text


def with_whole_lines(
    findings: Sequence[LintFinding], text: str, kind: Kind | None = None
) -> list[LintFinding]:
    """Return the findings. Each finding with a fix gets ``whole`` if fixes of other faults also
    change its line. Parts that a person must decide stay unchanged.
    """
    lines = {one.line for one in findings if one.fix}
    if not lines:
        return list(findings)
    whole = _whole(text, findings[0].file, kind, lines)
    return [
        msgspec.structs.replace(one, whole=whole[one.line])
        if one.fix and whole[one.line] != one.fix
        else one
        for one in findings
    ]


def _whole(text: str, name: str, kind: Kind | None, lines: set[int]) -> dict[int, str]:
    """Return each of ``lines``, and the lines that belong to it, after all fixes of these lines."""
    flat = [(at, line.removesuffix("\r")) for at, line in enumerate(text.split("\n"), 1)]
    ends = {line: line for line in lines}
    rounds = min(ROUNDS, max(_LEAST_ROUNDS, _MOST_LETTERS // (len(text) + 1)))
    for _ in range(rounds):
        found = lint_text("\n".join(line for _, line in flat), name, kind)
        chosen = _apart((one for one in found if flat[one.line - 1][0] in ends), len(flat))
        if not chosen:
            break
        for one in chosen:
            at, stop = flat[one.line - 1][0], max(one.line, one.last)
            ends[at] = max(ends[at], flat[stop - 1][0])
            flat[one.line - 1 : stop] = [(at, line) for line in one.fix.split("\n")]
    return {line: _between(flat, line, end) for line, end in ends.items()}


def _between(flat: Sequence[tuple[int, str]], first: int, last: int) -> str:
    """Return the text that now replaces the lines ``first`` to ``last``."""
    start = bisect_left(flat, first, key=itemgetter(0))
    stop = bisect_right(flat, last, key=itemgetter(0))
    return "\n".join(line for _, line in flat[start:stop])
