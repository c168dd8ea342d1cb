# pure
"""Words of a command line, the programs that start other programs, here-documents, and the
corrected line of a fix.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType

from wireproof.lint.rule import Broken, Recipe
from wireproof.model import gathered


@dataclass(frozen=True, slots=True)
class Word:
    """A word. ``text`` has its quotes and backslashes removed (variables stay as written); ``raw``
    is the source text, which starts at ``line`` and ``column`` (both from 1, columns in
    characters).
    """

    text: str
    line: int
    column: int
    raw: str


@dataclass(frozen=True, slots=True)
class Redirect:
    """A redirection: ``operator`` is ``>``, ``>>``, ``<``, ``2>`` … ; ``target`` is the file, or
    ``&1``.
    """

    operator: str
    target: Word


@dataclass(frozen=True, slots=True)
class Heredoc:
    """The lines between ``<<EOF`` and ``EOF``; ``line`` is the first of them (from 1). ``quoted``:
    the shell does not expand variables in it.
    """

    line: int
    lines: tuple[str, ...]
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command. ``words[0]`` is the program, or the first option if a document shows only
    options; it is empty if the line only assigns variables. ``line`` to ``last`` are its physical
    lines; ``text`` is its source. ``outer`` are the words of the wrappers that start it (``sudo``,
    ``pdsh -w c1``, ``mpirun -n 2`` …). ``piped``: its output goes to the next command.
    """

    words: tuple[Word, ...]
    line: int
    last: int
    text: str
    assignments: tuple[Word, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    heredoc: Heredoc | None = None
    outer: tuple[Word, ...] = field(default=())
    piped: bool = False

    @property
    def program(self) -> str:
        """The program's name without its folder, "" if there is none."""
        return self.words[0].text.rsplit("/", 1)[-1] if self.words else ""

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of the words."""
        return tuple(word.text for word in self.words)

    def value(self, *names: str) -> Word | None:
        """Return the word after the first of the options ``names``."""
        pairs = pairwise(self.words)
        return next((value for option, value in pairs if option.text in names), None)


_OPENING = re.compile(r"(?<!<)<<-?[ \t]{0,4}(['\"\\]?)([A-Za-z_!%@][\w.!%@+-]{0,60})(?!<)")
_LONGEST_MARK = 70
_LONGEST_LINE = 2000


@lru_cache(maxsize=4)
def heredocs(recipe: Recipe) -> Mapping[int, Heredoc]:
    """Return the here-documents by the number of the line that opens them; a here-document without
    an end is left out.
    """
    places = gathered(
        (line.strip(), number)
        for number, line in enumerate(recipe.lines, 1)
        if len(line) < _LONGEST_MARK
    )
    found: dict[int, Heredoc] = {}
    end = 0
    for number, line in enumerate(recipe.lines, 1):
        if number <= end or "<<" not in line or line.lstrip().startswith("#"):
            continue
        opening = _OPENING.search(line[:_LONGEST_LINE])
        ends = places.get(opening[2], []) if opening else []
        at = bisect_right(ends, number)
        if opening and at < len(ends):
            end = ends[at]
            body = tuple(recipe.lines[number : end - 1])
            found[number] = Heredoc(number + 1, body, quoted=bool(opening[1]))
    return MappingProxyType(found)


@lru_cache(maxsize=4)
def lines_inside(recipe: Recipe) -> frozenset[int]:
    """Return the numbers of the lines inside here-documents: data of the script, not commands."""
    return frozenset(
        number
        for one in heredocs(recipe).values()
        for number in range(one.line, one.line + len(one.lines))
    )


Edit = tuple[Word, str]
"""The replaced word and its new source text; "" removes the word and a space before it.
"""


def corrected(recipe: Recipe, edits: Iterable[Edit], first: int, last: int | None = None) -> str:
    """Return the lines ``first`` to ``last`` (from 1) with the edits applied, joined by newlines: a
    ``fix``.

    All words must be on these lines, each on a single line.
    """
    last = first if last is None else last
    lines = list(recipe.lines[first - 1 : last])
    for word, new in sorted(edits, key=lambda edit: (edit[0].line, edit[0].column), reverse=True):
        at = word.line - first
        if not 0 <= at < len(lines):
            continue
        line, begin = lines[at], word.column - 1
        if line[begin : begin + len(word.raw)] != word.raw:
            continue
        before = line[:begin]
        if not new and before.endswith(" "):
            before = before[:-1]
        lines[at] = before + new + line[begin + len(word.raw) :]
    return "\n".join(lines)


def at_word(
    code: str, word: Word, seen: str = "", fix: str | None = None, last: int | None = None
) -> Broken:
    """Report ``code`` at ``word``."""
    return Broken(code, word.line, word.column, seen, fix, last)


def edited(code: str, recipe: Recipe, word: Word, new: str, seen: str) -> Broken:
    """Report ``code`` at ``word``; the fix has ``new`` in its place."""
    return at_word(code, word, seen, corrected(recipe, [(word, new)], word.line))


def broken(
    code: str,
    recipe: Recipe,
    command: Command,
    word: Word,
    seen: str = "",
    edits: Iterable[Edit] | None = None,
) -> Broken:
    """Report ``code`` at ``word``; with ``edits`` the command's corrected lines are the fix."""
    fix = None if edits is None else corrected(recipe, edits, command.line, command.last)
    last = command.last if fix is not None and command.last > command.line else None
    line = command.line if last else word.line
    if fix is not None and last is None and word.line != command.line:
        fix = None
    return Broken(code, line, word.column, seen or word.text[:160], fix, last)


def whole_number(text: str) -> int | None:
    """Return a plain number of few digits, as used for counts of nodes and ranks."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else None


# --- Programs that start other programs, and which of their options take a value.


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Options that take one value, by wrapper. Options with ``=`` need no entry. Source: each program's
# manual page.
_VALUES: dict[str, frozenset[str]] = {
    name: _words(options)
    for name, options in {
        "sudo": "-u -g -h -p -C -r -t --user --group",
        "env": "-u -C -S --unset --chdir",
        "pdsh": "-w -x -R -l -t -u -f -g -G",
        "clush": "-w -x -g -X -f -t -u -l",
        "ssh": "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w",
        "xdsh": "-l -t",
        "psh": "-l -f",
        "time": "-f -o",
        "timeout": "-s -k --signal --kill-after",
        "nohup": "",
        "nice": "-n",
        "chrt": "-p",
        "ionice": "-c -n",
        "exec": "-a",
        "command": "",
        "stdbuf": "-i -o -e",
        "numactl": "-N -m -C -i -p -P --cpunodebind --membind --physcpubind --interleave "
        "--preferred",
        "taskset": "-c -p",
        "wwsh": "",
        "srun": "-n -N -c -t -p -w -x -J -o -e -i -A -C -D -G -m -L -q -r -Z --ntasks --nodes "
        "--ntasks-per-node --mpi --cpu-bind --partition --time --nodelist --output --error "
        "--job-name --gres --exclude --account --constraint --distribution --export --mem "
        "--cpus-per-task --gpus --gpus-per-node --gpus-per-task --network --chdir --qos "
        "--reservation --kill-on-bad-exit --mem-bind --hint --threads-per-core --cpu-freq --wait "
        "--input",
    }.items()
}
_POSITIONAL = {"ssh": 1, "timeout": 1, "xdsh": 1, "psh": 1, "taskset": 1}
"""Number of words before the program that belong to a wrapper and are not options."""

LAUNCHERS = _words(
    "mpirun mpiexec mpiexec.hydra orterun prterun oshrun mpirun.openmpi mpiexec.openmpi "
    "mpirun.mpich mpiexec.mpich mpirun_rsh mpirun.hydra"
)

_LAUNCH_ONE = _words(
    "-n -np --np -c --n -N --npernode -npernode --npersocket -npersocket -ppn --ppn -perhost -grr "
    "-rr-per -H -host --host -hosts --hosts -hostfile --hostfile -machinefile --machinefile "
    "-machine -f -configfile --app -app -x --map-by -map-by --rank-by -rank-by --bind-to -bind-to "
    "--display --output --output-filename -output-filename --prefix -wdir --wdir -wd -path --tune "
    "-tune --am -am -genvlist -envlist -launcher -launcher-exec -bootstrap -bootstrap-exec -rmk "
    "-iface -binding -topolib -demux -outfile-pattern -errfile-pattern --cpu-set --cpu-list "
    "-cpu-set -cpu-list -rf --rankfile -rankfile --timeout -env-file -usize -localhost --stdin "
    "-stdin --personality --dvm --report-uri -s -umask -tmpdir --max-restarts -ranks-per-proc "
    "-arch -file"
)
_LAUNCH_TWO = _words("-mca --mca -gmca --gmca --prtemca -prtemca --pmixmca --omca -genv -env")
_VALUES |= dict.fromkeys(LAUNCHERS, _LAUNCH_ONE | _LAUNCH_TWO)
_LISTS = {"-c", "--cpu-list", "-p", "–c", "-cp", "-pc"}


def inner(words: tuple[Word, ...]) -> int | None:
    """Return the index of the program that the wrapper or the MPI launcher ``words[0]`` starts;
    None if it starts none.
    """
    name = words[0].text.rsplit("/", 1)[-1] if words else ""
    values, positional = _VALUES.get(name), _POSITIONAL.get(name, 0)
    if name == "taskset" and _LISTS & {word.text for word in words[1:3]}:
        positional = 0  # -c LIST instead of a mask
    at = 1
    while values is not None and at < len(words):
        text = words[at].text
        at += 1
        if text == "--":
            return at if at < len(words) else None
        if text.startswith(("-", "–", "—")) and len(text) > 1:
            at += _taken(text, values, words[at : at + 1])
        elif "=" not in text or name not in ("env", "mpirun_rsh"):
            if not positional:
                return at - 1
            positional -= 1
    return None


def _taken(option: str, values: frozenset[str], following: tuple[Word, ...]) -> int:
    """Return the number of words after an option that are its values; hydra also takes -genv
    NAME=VALUE.
    """
    if option not in values and "-" + option[1:] not in values:
        return 0
    return 2 if option in _LAUNCH_TWO and not any("=" in word.text for word in following) else 1
