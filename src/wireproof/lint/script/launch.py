"""An MPI launch: which launcher starts which program, with how many ranks, on which nodes."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from wireproof.lint.shell import LAUNCHERS, Command, Word, whole_number
from wireproof.lint.shell.command import inner

Family = Literal["openmpi", "hydra"]

BENCHMARK = re.compile(r"(osu_\w+|I[MP]B-[\w-]+|fi_\w+|ib_\w+|ucx_perftest|mpiGraph|\w+_perf)\Z")

_COUNTS = ("-n", "-np", "--np", "--n", "-c")
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
        for word in self.program[:12]:
            name = word.text.rsplit("/", 1)[-1]
            if BENCHMARK.match(name):
                return name
        return ""

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
        return _number(self.value(*_COUNTS, "--ntasks"))

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
        """The MPIs whose options the line has."""
        found: set[Family] = set()
        if self.is_srun:
            return found
        for word in self.options:
            text = word.text.partition("=")[0]
            if _OPENMPI.match(text) or (
                text == "-x" and not self.command.program.endswith("hydra")
            ):
                found.add("openmpi")
            elif _HYDRA.match(text):
                found.add("hydra")
        return found


def _number(word: Word | None) -> int | None:
    return whole_number(word.text) if word else None


def launches(every: Iterable[Command]) -> Iterator[Launch]:
    """Return the commands that start MPI ranks."""
    for command in every:
        if command.program in LAUNCHERS or command.program == "srun":
            start = inner(command.words)
            yield Launch(command, command.words[start:] if start is not None else ())
