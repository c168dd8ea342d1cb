# pure
"""Find the mistakes in a recipe. This module evaluates the rules that are rows, except rows about
variables, which ``script.variables`` evaluates.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise

import msgspec

from wireproof.lint import files
from wireproof.lint.admin import addresses, machine, software
from wireproof.lint.fragments import LONGEST_LINE, Fragment, files_written
from wireproof.lint.rule import (
    CONFIGURATION_FILES,
    Broken,
    Check,
    CommandRow,
    Kind,
    LineRow,
    Recipe,
    compiled,
    detected,
    filled,
    has_content,
    kind_of_line,
    views,
)
from wireproof.lint.rules import book, rules
from wireproof.lint.script import BENCHMARK, benchmarks, jobs, mpi, variables, wire, writing
from wireproof.lint.shell import LAUNCHERS, Command, Word, commands
from wireproof.lint.shell import broken as broken_at
from wireproof.lint.tables import libraries, listed, nearest
from wireproof.model import gathered
from wireproof.model.finding import LintFinding


def by_line(recipe: Recipe) -> Iterator[Broken]:
    """Evaluate the rows ``[[line]]``."""
    for row in book().line:
        if recipe.kind in book().rules[row.code].kinds and row.fits(recipe):
            for number, line in enumerate(recipe.lines, start=1):
                yield from _in_line(row, number, line)


def _in_line(row: LineRow, number: int, line: str) -> Iterator[Broken]:
    text = line[:LONGEST_LINE]
    for match in compiled(row.match).finditer(text):
        if row.unless and compiled(row.unless).search(text):
            return
        change = None if row.change is None else match.expand(row.change)
        fix = None if change is None else line[: match.start()] + change + line[match.end() :]
        seen = filled(match.expand(row.seen), match=match.group()[:120])
        yield Broken(row.code, number, match.start() + 1, seen, fix)


def by_command(recipe: Recipe) -> Iterator[Broken]:
    """Evaluate the rows ``[[command]]``."""
    for command in commands(recipe):
        for row in book().command if command.words else ():
            if compiled(row.program).fullmatch(command.program) and _fits(row, recipe, command):
                yield from _in_command(row, recipe, command)


def _fits(row: CommandRow, recipe: Recipe, command: Command) -> bool:
    wanted = compiled(row.where).search(command.text)  # "" is found in any text
    if not wanted or (row.unless and compiled(row.unless).search(command.text)):
        return False
    above = recipe.lines[: command.line - 1] if row.after else ()
    after = not row.after or any(compiled(row.after).search(line[:LONGEST_LINE]) for line in above)
    return after and row.fits(recipe, "".join(command.texts[2:3]))


def _in_command(row: CommandRow, recipe: Recipe, command: Command) -> Iterator[Broken]:
    """Find each wrong word. If the words are corrected, return only the first, with a fix that
    corrects all.
    """
    words = [(word, row.hit(word.raw, word.text)) for word in _words(row, command)]
    changes = [(word, _change(row, word, match)) for word, match in words if match is not None]
    edits = [(word, change) for word, change in changes if change is not None]
    for word, _ in changes[:1] if edits else changes:
        values = str(word.text.count(",") + 1)
        names = {"command": command.text, "program": command.program, "values": values}
        seen = filled(row.seen, word=word.text[:160], **names)
        yield broken_at(row.code, recipe, command, word, seen, edits or None)


def _change(row: CommandRow, word: Word, match: re.Match[str]) -> str | None:
    """Return the replacement of the word; None if a person must decide."""
    if row.choices:
        lower = word.text.lower()
        return row.meant.get(lower) or nearest(lower, row.choices, row.likeness)
    return None if row.change is None else match.expand(row.change)


def _words(row: CommandRow, command: Command) -> tuple[Word, ...]:
    words = command.words
    if row.option:
        return tuple(value for name, value in pairwise(words) if name.text in row.option)
    if row.place:
        return words[row.place : row.place + 1]
    return words[1:] if row.word else words[:1]


def of_scripts(check: Check) -> Check:
    """Return ``check`` limited to scripts, so that it need not test the kind of the recipe."""
    return lambda recipe: check(recipe) if recipe.kind == "script" else iter(())


JUDGES: dict[str, Callable[[Recipe, Command], Iterator[Broken]]] = {
    **addresses.JUDGES,
    **machine.JUDGES,
    **software.JUDGES,
}
"""The check of each command that sets up a cluster, by its program."""


def by_program(recipe: Recipe) -> Iterator[Broken]:
    """Run the check of each command whose program has one."""
    for command in commands(recipe):
        judge = JUDGES.get(command.program)
        if judge is not None:
            yield from judge(recipe, command)


_OF_SCRIPTS: tuple[Check, ...] = (
    *(*writing.CHECKS, *variables.CHECKS, *mpi.CHECKS, *wire.CHECKS, *benchmarks.CHECKS),
    *(by_program, *addresses.CHECKS, *software.CHECKS, by_command),
)
CHECKS: tuple[Check, ...] = (*map(of_scripts, _OF_SCRIPTS), *files.CHECKS, by_line)

MOST = 1000
"""Largest number of findings for a file; more are not useful."""

EXPANDED = ("sbatch-variable",)
"""Rules about names of variables, which do not apply if a shell has inserted their values."""


def lint_text(text: str, name: str, kind: Kind | None = None) -> list[LintFinding]:
    """Return the mistakes in a recipe, in the order of its lines. ``name`` is its path, which also
    determines the kind; ``kind`` overrides the detected kind. Any text is accepted.
    """
    lines = tuple(line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n"))
    recipe = Recipe(name, kind or detected(name, lines), lines)
    found: dict[tuple[int, int, str], LintFinding] = {}
    for broken in (*_line_ends(text, recipe), *_broken(recipe)):
        if not _allowed(lines, broken):
            place = (broken.line, broken.column, broken.code)
            found.setdefault(place, _finding(recipe, broken))
    return [found[place] for place in sorted(found)[:MOST]]


def _broken(recipe: Recipe) -> Iterator[Broken]:
    for view in views(recipe):
        yield from _checked(view)
        if view.kind == "script":
            for file in files_written(view):
                if file.kind == "script" and file.lines:  # an empty text has no mistakes
                    yield from _inside(view, file)


def _inside(view: Recipe, file: Fragment) -> Iterator[Broken]:
    """Return the broken rules in scripts that the script writes, with their positions in the
    recipe. Other checks cover other files that it writes.
    """
    above = file.lines[0].number - 1
    inner = Recipe(view.name, "script", tuple(line.with_text(line.text) for line in file.lines))
    for broken in _checked(inner):
        if not (file.expanded and broken.code in EXPANDED):
            last = broken.last and broken.last + above
            yield replace(broken, line=broken.line + above, last=last)


def _line_ends(text: str, recipe: Recipe) -> Iterator[Broken]:
    """Check the line endings, which the lines of a recipe no longer contain."""
    head = recipe.lines[0]
    dos = text.startswith(f"{head}\r\n") and head.startswith(("#!", "#SBATCH"))
    if dos and recipe.kind == "script":
        yield Broken("dos-line-ends", 1, len(head) + 1)


def _checked(view: Recipe) -> Iterator[Broken]:
    found = (broken for check in CHECKS for broken in islice(check(view), MOST))
    yield from (broken for broken in found if view.kind in rules()[broken.code].kinds)


def _finding(recipe: Recipe, broken: Broken) -> LintFinding:
    rule = rules()[broken.code]
    return LintFinding(
        code=rule.code,
        file=recipe.name,
        line=broken.line,
        column=broken.column,
        last=broken.last or broken.line,
        message=f"{rule.sentence.removesuffix('.')}: {broken.seen[:200]}"
        if broken.seen
        else rule.sentence,
        fix=broken.fix or "",
        right=broken.right or rule.right,
        why=rule.why,
        source=rule.source,
        severity=rule.severity,
        safe=rule.safe and broken.fix is not None,
    )


_ALLOW = re.compile(r"wireproof:\s{0,9}allow\s+([\w, -]{1,400})")


def _allowed(lines: tuple[str, ...], broken: Broken) -> bool:
    """Return whether ``wireproof: allow CODE`` is in the line or in the previous line."""
    found = map(_ALLOW.search, lines[max(0, broken.line - 2) : broken.line])
    return any(match and broken.code in re.split("[, ]", match[1]) for match in found)


_STATE = re.compile(r"\s{0,40}(?:PortState:|Current Configuration:)\s", re.IGNORECASE)
"""A line of opainfo, or of QCU, that a rule reads."""
_BATCH = ("#SBATCH", "#PBS", "#BSUB", "#flux:")


def why_unjudged(text: str, name: str, kind: Kind | None = None) -> str:
    """Return the reason why no rule applies to a text, so that "no problems found" would mean
    nothing; "" if the text is a recipe. Its path determines the kind, unless ``kind`` is given.
    """
    lines = tuple(line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n"))
    which = kind or detected(name, lines)
    if not any(which in rule.kinds for rule in rules().values()):
        return f"no rule covers files of the kind {which}"
    if which in CONFIGURATION_FILES:
        empty = kind is None and all(not line.strip() or line[:1] in "#;" for line in lines)
        fits = empty or has_content(which, lines)
        return "" if fits else f"no line has the form of the kind {which}"
    if (kind is None and which != "unknown") or _is_recipe(lines, name):
        return ""
    if kind is not None:
        return "no command, job option or variable that lint knows is in it"
    return (
        "no command, job option or line of a configuration file that lint knows is in it; if it is"
        " one, say which with --kind"
    )


def _is_recipe(lines: tuple[str, ...], name: str) -> bool:
    """Return whether a line is a batch option, a line of a configuration file, a variable or a
    command with a rule. A log, a table or a list of users contains none of these.
    """
    recipe, programs = Recipe(name, "script", lines), LAUNCHERS | listed("programs")
    names = (command.program for command in commands(recipe))
    variables = (each.name for job in jobs(recipe) for each in job.settings)
    prefixes = tuple(library.prefix for library in libraries())
    return (
        any(line.startswith(_BATCH) or kind_of_line(line) or _STATE.match(line) for line in lines)
        or any(name in programs or BENCHMARK.match(name) for name in names)
        or any(name.startswith(prefixes) for name in variables)
    )


# --- Applies the corrections of findings to a text.


ROUNDS = 40
"""A line with more mistakes than this is left to a person."""
_LEAST_ROUNDS, _MOST_LETTERS = 3, 128 << 10
"""Limit on the characters that are read again for whole lines: in a long text only the first
mistakes are corrected.
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


def repaired(text: str, name: str, kind: Kind | None = None) -> str:
    """Return the text after all safe fixes, repeated until nothing changes."""
    for _ in range(ROUNDS):
        findings = [one for one in lint_text(text, name, kind) if one.fix and one.safe]
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
    whole = _whole(text, findings[0].file, kind, lines) if lines else {}
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
    now = gathered(flat)
    return {
        line: "\n".join(text for at in range(line, end + 1) for text in now.get(at, ()))
        for line, end in ends.items()
    }
