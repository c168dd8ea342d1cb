"""Characters that a word processor or a web page put into a command."""

import re
from collections.abc import Iterator

from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.script import Job, jobs
from wireproof.lint.shell import Command, Word, at_word, commands, corrected, edited, segments

_DASHES = "–—−‐‑‒"
_DASH = re.compile(f"([{_DASHES}]{{1,2}})([A-Za-z][\\w-]*.*|[0-9])$", re.DOTALL)
# Programs whose options of two or more letters begin with two hyphens.
_LONG = frozenset(
    ("cpupower", "iperf3", "ethtool", "srun", "sbatch", "dnf", "numactl", "ip", "systemctl")
)
_IN_SENTENCE = re.compile(
    r"\b(taskset|ib_(?:write|read|send|atomic)_(?:bw|lat)|qperf|iperf3?|modprobe|cpupower|mpirun"
    r"|mpiexec|ping|numactl|srun)"
    f"(\\s+)([{_DASHES}])(?=[A-Za-z])"
)
_QUOTES = {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'"}
_INVISIBLE = re.compile("[\u00a0\u2000-\u200d\u202f\u2060\u3000\ufeff]")


def _plain(command: Command) -> bool:
    words = command.words
    return bool(words and re.match(r"[a-z0-9_.~$/-][\w.$/~{}-]*\Z", words[0].text))


def dashes(recipe: Recipe) -> Iterator[Broken]:
    """Find ``–c`` instead of ``-c``."""
    seen: set[int] = set()
    every = commands(recipe)
    innermost = {each.line: each.program for each in every if each.outer and each.words}
    for command in every:
        if command.outer or not _plain(command):
            continue
        seen.update(range(command.line, command.last + 1))
        program = innermost.get(command.line, command.program)
        wrong = [word for word in command.words[1:] if _DASH.match(word.text)]
        edits = [(word, _hyphened(word, program)) for word in wrong if "\n" not in word.raw]
        if edits:
            first, last = edits[0][0], edits[-1][0].line
            fix = corrected(recipe, edits, first.line, last)
            yield at_word("typographic-dash", first, first.text, fix, last)
    yield from _in_sentences(recipe, seen)


def _in_sentences(recipe: Recipe, seen: set[int]) -> Iterator[Broken]:
    for number, line in enumerate(recipe.lines, 1):
        if (
            number in seen
            or line.lstrip().startswith("#")
            or not any(dash in line for dash in _DASHES)
        ):
            continue
        match = _IN_SENTENCE.search(line[:4000])
        if match:
            fix = _IN_SENTENCE.sub(r"\1\2-", line)
            yield Broken("typographic-dash", number, match.start(3) + 1, match.group(), fix)


def _hyphened(word: Word, program: str) -> str:
    match = _DASH.match(word.raw) or _DASH.match(word.text)
    if match is None:
        return word.raw
    name = match[2].partition("=")[0]
    double = (
        len(match[1]) == 2
        or match[1] == "—"
        or (len(name) > 1 and program in _LONG and name.isalpha())
    )
    return ("--" if double else "-") + match[2]


def quotes(recipe: Recipe) -> Iterator[Broken]:
    """Find “a b” instead of "a b"."""
    for command in commands(recipe):
        if command.outer or (command.words and not _plain(command)):
            continue
        for word in (*command.assignments, *command.words):
            if _opens(word):
                fix = _requoted(recipe.lines[word.line - 1], word.column - 1)
                yield at_word("typographic-quote", word, word.text, fix)
                break


def _opens(word: Word) -> bool:
    bare = re.sub(r"\"[^\"]*\"|'[^']*'|<[^>]*>", "", word.raw)
    return bool(re.match(r"[“„‘”]|[\w-]{1,80}=[“„‘”]", bare))


def _requoted(line: str, begin: int) -> str | None:
    """Return the line with ASCII marks for the first typographic pair after ``begin``; None if the
    pair has no end.
    """
    places = [at for at in range(begin, len(line)) if line[at] in _QUOTES][:2]
    if len(places) < 2:
        return None
    first, last = places
    mark = _QUOTES[line[first]]
    inner = line[first + 1 : last]
    return None if mark in inner else line[:first] + mark + inner + mark + line[last + 1 :]


def invisible(recipe: Recipe) -> Iterator[Broken]:
    """Find no-break blanks between words."""
    for part in segments(recipe):
        for number in range(part.first, part.last + 1) if part.script else ():
            line = recipe.lines[number - 1]
            match = _INVISIBLE.search(line)
            if (
                match is None
                or (line.lstrip().startswith("#") and not line.startswith("#SBATCH"))
                or '"' in line
            ):
                continue
            fix = re.sub("[\u200b-\u200d\u2060\ufeff]", "", line)
            fix = _INVISIBLE.sub(" ", fix)
            yield Broken(
                "invisible-character", number, match.start() + 1, f"U+{ord(match.group()):04X}", fix
            )


def backslashes(recipe: Recipe) -> Iterator[Broken]:
    """Find backslashes that do not continue a line."""
    for job in jobs(recipe):
        for command in job.commands:
            if not command.outer and _plain(command):
                for word in command.words:
                    if word.raw == "\\":
                        yield from _backslash(recipe, job, command, word)


def _backslash(recipe: Recipe, job: Job, command: Command, word: Word) -> Iterator[Broken]:
    line = recipe.lines[word.line - 1]
    rest = line[word.column :]
    if not rest.strip():
        if job.part.script:
            yield at_word("blank-after-backslash", word, "", line.rstrip())
        return
    # the markup of a page: "the \\ **-f** flag"
    markup = not job.part.script and any(mark in rest for mark in ("*", "`", "\\ "))
    if not markup and not rest.lstrip().startswith("#"):
        yield edited("backslash-inside-line", recipe, word, "", command.text[:80])


def assignments(recipe: Recipe) -> Iterator[Broken]:
    """Find ``export A = b``."""
    for command in commands(recipe):
        words = command.words
        if (
            command.program == "export"
            and len(words) == 4
            and command.texts[2] == "="
            and words[1].line == words[3].line
        ):
            edits = [(words[1], f"{words[1].raw}={words[3].raw}"), (words[2], ""), (words[3], "")]
            fix = corrected(recipe, edits, command.line)
            yield Broken("assignment-blank", command.line, words[1].column, command.text, fix)


CHECKS = (dashes, quotes, invisible, backslashes, assignments)
