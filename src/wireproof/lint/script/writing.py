# pure
"""Rules for how a script is written: the head of a batch script (the first line and the #SBATCH
lines), and characters that a word processor or a web page put into a command.
"""

import difflib
import re
from collections.abc import Iterator

from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.script import Job, SetVariable, jobs
from wireproof.lint.shell import Command, Word, at_word, commands, corrected, edited, segments
from wireproof.lint.tables import listed

_SHEBANG = re.compile(r"#!\s*(\S*/)?(env\s+)?(ba|z|k|da)?sh((?:\s+\S+){1,4})\s*$")
_LETTERS = {
    "ba": "abefhkmnptuvxBCEHPTilrsDcO",
    "z": "",
    "k": "",
    "da": "abCefhiIlmnsuvVxEc",
    None: "",
}
_MISSPELT = re.compile(r"#(\s{0,2})([A-Za-z]{4,9}):?\s+(-{1,2}[A-Za-z][\w-]*)")
_EQUALS = re.compile(
    r"(#SBATCH(?=\s).*?)(?:(\s-[A-Za-z])\s?=\s?|(\s--[a-z-]+)(?:\s+=\s*|=\s+))(?=\S)"
)
_VARIABLE = re.compile(r"\$\{?[A-Za-z_]\w*\}?|\$\(")


def shebang(recipe: Recipe) -> Iterator[Broken]:
    """Find an unknown option of the shell, such as ``#!/bin/bash -I``."""
    for number, line in enumerate(recipe.lines, 1):
        match = _SHEBANG.match(line.strip("\ufeff \t")) if len(line) <= 200 else None
        letters = _LETTERS.get(match[3], "") if match and not match[2] else ""
        for word in match[4].split() if match and letters else ():
            yield from _shell_option(number, line, word, letters)


def _shell_option(number: int, line: str, word: str, letters: str) -> Iterator[Broken]:
    """Report an option that is not among the ``letters`` of the shell."""
    if word[:1] not in "-–—" or word.startswith("--"):
        return
    if word[0] != "-" or any(letter not in letters for letter in word[1:]):
        new = "-" + word[1:].replace("I", "l")
        known = all(letter in letters for letter in new[1:])
        fix = line.replace(word, new) if known else None
        yield Broken("shebang-option", number, line.index(word) + 1, line.strip(), fix)


def first_line(recipe: Recipe) -> Iterator[Broken]:
    """Find a ``#!`` that is missing or too late."""
    first = next((number for number, line in enumerate(recipe.lines, 1) if line.strip()), 0)
    line = recipe.lines[first - 1] if first else ""
    whole = [job for job in jobs(recipe) if job.part.script]
    if len(whole) != 1 or whole[0].part.first != 1:
        return
    if line.lstrip().startswith("#!") and (first > 1 or line.startswith((" ", "\t"))):
        yield Broken("shebang-not-first", first, 1, line.strip())
    elif line.startswith("#SBATCH") and whole[0].commands:
        yield Broken("shebang-missing", first, 1, line.strip(), "#!/bin/bash\n" + line, first)


def late(recipe: Recipe) -> Iterator[Broken]:
    """Find #SBATCH after the first command."""
    for job in _scripts(recipe):
        first = min((command.line for command in job.commands), default=len(recipe.lines))
        for number in (option.word.line for option in job.sbatch if option.word.line > first):
            seen = f"{recipe.lines[number - 1].strip()} (line {first} is a command)"
            yield Broken("sbatch-after-command", number, 1, seen)


def misspelt(recipe: Recipe) -> Iterator[Broken]:
    """Find ``# SBATCH``, ``#SBTACH``."""
    for job in _scripts(recipe):
        for number in range(job.part.first, job.part.last + 1):
            line = recipe.lines[number - 1]
            match = _MISSPELT.match(line[:200])
            if match is None or line.startswith("#SBATCH ") or match[2].lower() == "bsub":
                continue
            near = difflib.SequenceMatcher(None, match[2].upper(), "SBATCH").ratio() >= 0.8
            if near and (match[2] != "SBATCH" or match[1] or ":" in match.group()):
                fix = "#SBATCH " + line[match.start(3) :]
                yield Broken("sbatch-misspelt", number, 1, line.strip(), fix)


def options(recipe: Recipe) -> Iterator[Broken]:
    """Find unknown options, misplaced equals signs and variables."""
    for job in _scripts(recipe):
        for option in job.sbatch:
            yield from _unknown(recipe, option)
        for number in sorted({option.word.line for option in job.sbatch}):
            line = recipe.lines[number - 1]
            match = _EQUALS.match(line[:1000])
            if match:
                written = f"{match[2]} " if match[2] else f"{match[3]}="
                fix = line[: match.end(1)] + written + line[match.end() :]
                yield Broken("sbatch-equals", number, match.end(1) + 1, line.strip(), fix)
            variable = _VARIABLE.search(line.split(" #")[0])
            if variable and "--wrap" not in line:
                new = re.sub(r"\$\{?SLURM_JOB_?ID\}?", "%j", line)
                changed, column = new if new != line else None, variable.start() + 1
                yield Broken("sbatch-variable", number, column, variable.group(), changed)


def _unknown(recipe: Recipe, option: SetVariable) -> Iterator[Broken]:
    name, known = option.name, [f"--{each}" for each in sorted(listed("sbatch-options"))]
    if not name.startswith("--") or any(each.startswith(name) for each in known):
        return
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.8)
    if near:
        line, begin = recipe.lines[option.word.line - 1], option.word.column - 1
        fix = line[:begin] + near[0] + line[begin + len(name) :]
        yield at_word("sbatch-unknown-option", option.word, f"{name}; did you mean {near[0]}?", fix)


_MAY_REPEAT = ("--gres", "--constraint", "--mail-type", "--export")


def counts(recipe: Recipe) -> Iterator[Broken]:
    """Find repeated options and contradictory counts."""
    for job in _scripts(recipe):
        before: dict[str, SetVariable] = {}
        for option in job.sbatch:
            known = before.setdefault(option.name, option)
            if known.value != option.value and option.name not in _MAY_REPEAT:
                first = f"{known.value} in line {known.word.line}"
                seen = f"{option.name} is {first} and {option.value} here"
                yield at_word("sbatch-repeated", option.word, seen)
        yield from _too_many_tasks(job)


def _too_many_tasks(job: Job) -> Iterator[Broken]:
    nodes, tasks, each = (job.count(name) for name in ("--nodes", "--ntasks", "--ntasks-per-node"))
    fixed = job.given.get("--nodes", "").isdigit()
    if nodes and tasks and each and fixed and tasks > nodes * each:
        last = next(option for option in reversed(job.sbatch) if option.name == "--ntasks")
        seen = f"{tasks} tasks on {nodes} nodes with {each} each"
        yield at_word("sbatch-counts-disagree", last.word, seen)


def _scripts(recipe: Recipe) -> Iterator[Job]:
    yield from (job for job in jobs(recipe) if job.part.script)


# --- Characters that a word processor or a web page put into a command.

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
        comment = number in seen or line.isascii() or line.lstrip().startswith("#")
        if not comment and (match := _IN_SENTENCE.search(line[:4000])):
            fix = _IN_SENTENCE.sub(r"\1\2-", line)
            yield Broken("typographic-dash", number, match.start(3) + 1, match.group(), fix)


def _hyphened(word: Word, program: str) -> str:
    match = _DASH.match(word.raw) or _DASH.match(word.text)
    if match is None:
        return word.raw
    name = match[2].partition("=")[0]
    long = len(name) > 1 and program in _LONG and name.isalpha()
    return ("--" if long or len(match[1]) == 2 or match[1] == "—" else "-") + match[2]


def quotes(recipe: Recipe) -> Iterator[Broken]:
    """Find “a b” instead of "a b"."""
    for command in commands(recipe):
        if command.outer or (command.words and not _plain(command)):
            continue
        for word in (*command.assignments, *command.words):
            bare = re.sub(r"\"[^\"]*\"|'[^']*'|<[^>]*>", "", word.raw)
            if re.match(r"[“„‘”]|[\w-]{1,80}=[“„‘”]", bare):
                fix = _requoted(recipe.lines[word.line - 1], word.column - 1)
                yield at_word("typographic-quote", word, word.text, fix)
                break


def _requoted(line: str, begin: int) -> str | None:
    """Return the line with ASCII marks for the first typographic pair after ``begin``; None if the
    pair has no end.
    """
    marks = "".join(_QUOTES)
    pair = re.compile(f"([{marks}])([^{marks}]*)[{marks}]").search(line, begin)
    mark = _QUOTES[pair[1]] if pair else ""
    if pair is None or mark in pair[2]:
        return None
    return line[: pair.start()] + mark + pair[2] + mark + line[pair.end() :]


def invisible(recipe: Recipe) -> Iterator[Broken]:
    """Find no-break spaces between words."""
    for part in segments(recipe):
        for number in range(part.first, part.last + 1) if part.script else ():
            line = recipe.lines[number - 1]
            match = _INVISIBLE.search(line)
            comment = line.lstrip().startswith("#") and not line.startswith("#SBATCH")
            if match and not comment and '"' not in line:
                fix = _INVISIBLE.sub(" ", re.sub("[\u200b-\u200d\u2060\ufeff]", "", line))
                seen = f"U+{ord(match.group()):04X}"
                yield Broken("invisible-character", number, match.start() + 1, seen, fix)


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
    first = not line[: word.column - 1].strip()  # a string of YAML that continues
    markup = not job.part.script and (first or any(mark in rest for mark in ("*", "`", "\\ ")))
    if not markup and not rest.lstrip().startswith("#"):
        yield edited("backslash-inside-line", recipe, word, "", command.text[:80])


CHECKS = (
    *(dashes, quotes, invisible, backslashes),
    *(shebang, first_line, late, misspelt, options, counts),
)
