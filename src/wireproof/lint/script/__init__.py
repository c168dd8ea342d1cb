# pure
"""A script as the rules see it: its #SBATCH options, the variables that it sets, the MPI launches,
and the MPI of each.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain, islice
from operator import attrgetter
from typing import Literal

from wireproof.lint.rule import Recipe
from wireproof.lint.shell import (
    LAUNCHERS,
    Command,
    Segment,
    Word,
    commands,
    lines_inside,
    segments,
    whole_number,
)
from wireproof.lint.shell.command import inner

# --- An MPI launch: which launcher starts which program, with how many ranks, on which nodes.

Family = Literal["openmpi", "hydra"]

BENCHMARK = re.compile(r"(osu_\w+|I[MP]B-[\w-]+|fi_\w+|ib_\w+|ucx_perftest|mpiGraph|\w+_perf)\Z")

_PER_NODE = (
    "-ppn",
    "--ppn",
    "-perhost",
    "--perhost",
    "-N",
    "--npernode",
    "-npernode",
    "--ntasks-per-node",
)
_OPENMPI = re.compile(
    r"--?(mca|gmca|omca|prtemca|allow-run-as-root|oversubscribe|report-bindings|display-map"
    r"|npernode)\Z"
)
_HYDRA = re.compile(
    r"-(genv|genvall|genvlist|genvnone|perhost|ppn|hosts|launcher|launcher-exec|bootstrap|iface"
    r"|env)\Z"
)


@dataclass(eq=False)
class Launch:
    """An MPI launch. ``command.words[0]`` is the launcher (``mpirun``, ``srun`` …), ``program`` the
    words that it starts, () if there is no program.
    """

    command: Command
    program: tuple[Word, ...]

    @cached_property
    def options(self) -> tuple[Word, ...]:
        """The words of the launcher, without those of the program."""
        return self.command.words[1 : len(self.command.words) - len(self.program)]

    @cached_property
    def is_srun(self) -> bool:
        """Whether the launcher is Slurm's, not that of an MPI."""
        return self.command.program == "srun"

    @cached_property
    def benchmark(self) -> str:
        """The name of the program if it measures a network, else ""."""
        names = (word.text.rsplit("/", 1)[-1] for word in self.program[:12])
        return next(filter(BENCHMARK.match, names), "")

    def value(self, *names: str) -> Word | None:
        """Return the value of the first of these options, also in the form ``--name=value``."""
        for at, word in enumerate(self.options):
            if word.text in names and at + 1 < len(self.options):
                return self.options[at + 1]
            name, equals, value = word.text.partition("=")
            if equals and name in names:
                return Word(value, word.line, word.column, word.raw)
        return None

    def has(self, *names: str) -> bool:
        """Return whether one of these options is present."""
        return any(word.text.partition("=")[0] in names for word in self.options)

    @cached_property
    def ranks(self) -> int | None:
        """The number of ranks, if it is a plain number."""
        return _number(self.value("-n", "-np", "--np", "--n", "-c", "--ntasks"))

    @cached_property
    def per_node(self) -> int | None:
        """The ranks per node, if the line gives them as a plain number."""
        if self.is_srun:
            return _number(self.value("--ntasks-per-node"))
        found = _number(self.value(*_PER_NODE))
        by = self.value("--map-by", "-map-by")
        match = re.match(r"ppr:(\d{1,6}):node", by.text) if by else None
        return int(match[1]) if match else found

    @cached_property
    def families(self) -> set[Family]:
        """The MPIs whose options the line uses."""
        words = () if self.is_srun else self.options
        names = {word.text.partition("=")[0] for word in words}
        exports = "-x" in names and not self.command.program.endswith("hydra")
        found: dict[Family, bool] = {
            "openmpi": exports or any(map(_OPENMPI.match, names)),
            "hydra": any(map(_HYDRA.match, names)),
        }
        return {family for family, named in found.items() if named}


def _number(word: Word | None) -> int | None:
    return whole_number(word.text) if word else None


def launches(every: Iterable[Command]) -> Iterator[Launch]:
    """Return the commands that start MPI ranks."""
    for command in every:
        if command.program in LAUNCHERS or command.program == "srun":
            start = inner(command.words)
            yield Launch(command, command.words[start:] if start is not None else ())


MOST = 500
"""Largest number of launches that are checked in a script."""

_WORD = re.compile(r"\S+")
_SBATCH = re.compile(r"#SBATCH[ \t]+")
_SHORT = {
    "-N": "--nodes",
    "-n": "--ntasks",
    "-c": "--cpus-per-task",
    "-t": "--time",
    "-p": "--partition",
    "-J": "--job-name",
    "-o": "--output",
    "-e": "--error",
    "-A": "--account",
    "-C": "--constraint",
    "-w": "--nodelist",
    "-x": "--exclude",
    "-D": "--chdir",
    "-q": "--qos",
    "-L": "--licenses",
    "-d": "--dependency",
    "-G": "--gpus",
    "-a": "--array",
    "-m": "--distribution",
    "-i": "--input",
    "-S": "--core-spec",
    "-B": "--extra-node-info",
    "-b": "--begin",
    "-M": "--clusters",
    "-F": "--nodefile",
}
_HEADS = ("#PBS", "#BSUB", "#flux:")
_LONGEST = 1000
_OF_OTHERS = {
    "--nodes": re.compile(r"(?:#PBS .*?\b(?:select|nodes)=|#flux: (?:-N ?|--nodes=))(\d+)(?!.*\+)"),
    "--ntasks": re.compile(r"(?:#BSUB -n |#flux: (?:-n ?|--ntasks=))(\d+)"),
    "--ntasks-per-node": re.compile(r"(?:#PBS .*?\b(?:mpiprocs|ppn)|#BSUB .*?\bptile)=(\d+)"),
}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_OLD_INTEL = re.compile(
    r"(?:\b(?:impi|intel-?mpi|intelmpi)[/_-]v?(?:[1-5]\.|201[0-8])|intel/(?:201[0-8]|1[0-8]\.)"
    r"|parallel_studio_xe_201[0-8]"
    r"|compilers_and_libraries_201[0-8]|bin64/mpivars)",
    re.IGNORECASE,
)
_HIDING = ("module", "ml", "spack", "eval", "conda", "micromamba")
_OF_INTEL = re.compile(r"(setvars|env/vars|mpivars|mpivars\.release)\.c?sh$")


@dataclass(frozen=True, slots=True)
class SetVariable:
    """A variable that gets a value: by assignment, ``export``, ``-genv``, ``-x``; or the option of
    an #SBATCH line, by its long name, with its value ("" if it has none). ``value_word`` is the
    word that contains the value (the same as ``word`` for ``NAME=value``). ``how``: assignment,
    export, genv, x, mca, sbatch.
    """

    name: str
    value: str
    word: Word
    value_word: Word
    how: str


@dataclass(eq=False)  # compared by identity, because derived values are cached
class Job:
    """The commands of a segment, in order, with their context."""

    recipe: Recipe
    part: Segment
    commands: tuple[Command, ...]
    settings: tuple[SetVariable, ...] = field(default=())

    @cached_property
    def text(self) -> str:
        """The segment's text without comment lines."""
        lines = self.recipe.lines[self.part.first - 1 : self.part.last]
        return "\n".join(line for line in lines if not line.lstrip().startswith("#"))

    @cached_property
    def sbatch(self) -> tuple[SetVariable, ...]:
        """The options of all #SBATCH lines, including those that come too late."""
        return tuple(_sbatch(self.recipe, self.part))

    @cached_property
    def slurm(self) -> bool:
        """Whether the job runs under Slurm."""
        return bool(self.sbatch) or "SLURM_" in self.text

    @cached_property
    def given(self) -> dict[str, str]:
        """The last value of each #SBATCH option, by its long name."""
        alias = {"--tasks-per-node": "--ntasks-per-node"}
        return {alias.get(each.name, each.name): each.value for each in self.sbatch}

    @cached_property
    def _counts(self) -> dict[str, int | None]:
        """The counts in the lines of PBS, LSF and Flux, by the names of Slurm's options."""
        lines = self.recipe.lines[self.part.first - 1 : self.part.last]
        text = "\n".join(line[:_LONGEST] for line in lines if line.startswith(_HEADS))
        found = {name: pattern.search(text) for name, pattern in _OF_OTHERS.items()}
        counts = {name: whole_number(match[1]) for name, match in found.items() if match}
        tasks, each = counts.get("--ntasks"), counts.get("--ntasks-per-node")
        if tasks and each:
            counts.setdefault("--nodes", tasks // each)
        return counts

    def count(self, name: str) -> int | None:
        """Return the value of an #SBATCH option, or of the equivalent option of another scheduler,
        if it is a plain number (the smaller of ``2-4``).
        """
        number = whole_number(self.given.get(name, "").split("-")[0])
        return self._counts.get(name) if number is None else number

    @cached_property
    def old_intel(self) -> bool:
        """Whether the job names an Intel MPI before 2019, which had other fabrics and options."""
        return bool(_OLD_INTEL.search(self.text))

    def open_mpi(self, versions: str) -> bool:
        """Return whether the job names an Open MPI of these major ``versions``, a range
        of digits.
        """
        return bool(re.search(rf"(?i)open-?mpi[^\n]{{0,12}}[/_-]v?[{versions}]\.", self.text))

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """The MPI launches; the first ones if there are very many."""
        return tuple(islice(launches(self.commands), MOST))

    def after(self, line: int) -> Command | None:
        """Return the first command that begins after a line."""
        at = bisect_right(self.commands, line, key=attrgetter("line"))
        return self.commands[at] if at < len(self.commands) else None

    @cached_property
    def exported(self) -> dict[str, int]:
        """The names in ``export``, with the line of the first occurrence."""
        exports = (command for command in self.commands[::-1] if command.program == "export")
        return {text.partition("=")[0]: one.line for one in exports for text in one.texts[1:]}

    @cached_property
    def _general(self) -> tuple[SetVariable, ...]:
        return tuple(
            setting for setting in self.settings if setting.how in ("export", "assignment")
        )

    def before(self, line: int) -> dict[str, str]:
        """Return the variables that are set in earlier lines, not by the options of a
        launch line.
        """
        end = bisect_left(self._general, line, key=lambda setting: setting.word.line)
        return {setting.name: setting.value for setting in self._general[:end]}

    def within(self, first: int, last: int) -> dict[str, str]:
        """Return the variables that are set in these lines."""
        begin = bisect_left(self.settings, first, key=lambda setting: setting.word.line)
        end = bisect_right(self.settings, last, key=lambda setting: setting.word.line)
        return {setting.name: setting.value for setting in self.settings[begin:end]}

    @cached_property
    def hidden(self) -> bool:
        """Whether something invisible may set more variables: a sourced file, a module, ``set -a``,
        an environment file.
        """
        programs = {command.program for command in self.commands}
        sourced = (one.texts[1:2] for one in self.commands if one.program in ("source", "."))
        return not programs.isdisjoint(_HIDING) or any(
            not _OF_INTEL.search(name) for texts in sourced for name in texts
        )


@lru_cache(maxsize=4)
def jobs(recipe: Recipe) -> tuple[Job, ...]:
    """Return the recipe's segments as jobs."""
    every = commands(recipe)
    found, begin = [], 0
    for part in segments(recipe):
        end = bisect_right(every, part.last, begin, key=attrgetter("line"))
        found.append(Job(recipe, part, every[begin:end], _settings(every[begin:end])))
        begin = end
    return tuple(found)


def launched(recipe: Recipe) -> Iterator[tuple[Job, Launch]]:
    """Return every launch with its job."""
    yield from ((job, launch) for job in jobs(recipe) for launch in job.launches)


def _sbatch(recipe: Recipe, part: Segment) -> Iterator[SetVariable]:
    inside = lines_inside(recipe)
    head = recipe.lines[part.first - 1]
    indent = len(head) - len(head.lstrip())  # for a script that a page shows indented
    for number in range(part.first, part.last + 1):
        line = recipe.lines[number - 1]
        apart = not line[:indent].strip() and number not in inside
        match = _SBATCH.match(line, indent) if apart else None
        if match is not None:
            remark = line.find(" #", indent + 7)
            words = _WORD.finditer(line, match.end(), remark if remark >= 0 else len(line))
            yield from _options(
                [Word(word.group(), number, word.start() + 1, word.group()) for word in words]
            )


def _options(words: list[Word]) -> Iterator[SetVariable]:
    for at, word in enumerate(words):
        text = word.text
        name, equals, value = text.partition("=")
        following = words[at + 1].text if at + 1 < len(words) else ""
        after = "" if following.startswith("-") else following
        if text.startswith("--"):
            yield SetVariable(name, value if equals else after, word, word, "sbatch")
        elif text.startswith("-") and len(text) > 1:
            long = _SHORT.get(text[:2], text[:2])
            yield SetVariable(long, text[2:] or after, word, word, "sbatch")


def _settings(every: tuple[Command, ...]) -> tuple[SetVariable, ...]:
    """Return the variables that the commands set: the first setting at each place."""
    found: dict[tuple[int, int], SetVariable] = {}
    for setting in chain.from_iterable(map(_of, every)):
        found.setdefault((setting.word.line, setting.word.column), setting)
    return tuple(found.values())


def _of(command: Command) -> Iterator[SetVariable]:
    program, words = command.program, command.words
    yield from (_assigned(word, "assignment") for word in command.assignments)
    if program == "setenv" and len(words) == 3:
        yield SetVariable(words[1].text, words[2].text, words[1], words[2], "export")
    if program in ("export", "declare", "env", "setenv", "set"):
        yield from (_assigned(word, "export") for word in words[1:] if _sets(word))
    for at in range(len(words) - 1):
        yield from _by_option(words[at : at + 3])


def _by_option(words: tuple[Word, ...]) -> Iterator[SetVariable]:
    """Return variables of ``-genv NAME VALUE``, ``-x NAME=VALUE``, ``--mca NAME VALUE``."""
    option, name = words[0].text, words[1]
    value = words[2] if len(words) > 2 else None
    if option in ("-genv", "-env", "--genv", "--env"):
        if "=" in name.text:
            yield _assigned(name, "genv")
        elif value is not None:
            yield SetVariable(name.text, value.text.rstrip(","), name, value, "genv")
    elif option == "-x":
        if _sets(name):
            yield _assigned(name, "x")
    elif option in ("-mca", "--mca", "-gmca", "--gmca") and value is not None:
        yield SetVariable("OMPI_MCA_" + name.text, value.text, name, value, "mca")


def _sets(word: Word) -> bool:
    name, equals, _ = word.text.partition("=")
    return bool(equals) and _NAME.match(name) is not None


def _assigned(word: Word, how: str) -> SetVariable:
    name, _, value = word.text.partition("=")
    return SetVariable(name.removesuffix("+"), value, word, word, how)
