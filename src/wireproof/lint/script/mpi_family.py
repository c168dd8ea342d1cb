"""Whose MPI a launch is, and what its processes see in their environment."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from typing import Literal

from wireproof.lint.script.job import Job
from wireproof.lint.script.launch import Family, Launch

__all__ = ["Mpi", "environment", "mpi_of", "old_intel", "open_mpi_5", "several_nodes"]

Mpi = Literal["openmpi", "intel", "mpich", "mvapich"]

_PLACES: tuple[tuple[re.Pattern[str], Mpi], ...] = (
    (re.compile(r"open-?mpi|\bompi|hpc-?x", re.IGNORECASE), "openmpi"),
    (
        re.compile(
            r"/intel/|intel-?mpi|\bimpi|oneapi|mpivars|setvars|/mpi/[\w.]+/env/vars", re.IGNORECASE
        ),
        "intel",
    ),
    (re.compile(r"mvapich", re.IGNORECASE), "mvapich"),
    (re.compile(r"mpich", re.IGNORECASE), "mpich"),
)
_PREFIXES: tuple[tuple[str, Mpi], ...] = (
    ("OMPI_", "openmpi"),
    ("I_MPI_", "intel"),
    ("MV2_", "mvapich"),
)
_PATH_NAMES = ("PATH=", "MPI_HOME=", "MPI_ROOT=", "I_MPI_ROOT=", "MPI_DIR=")
_OLD = re.compile(
    r"(?:\b(?:impi|intel-?mpi|intelmpi)[/_-]v?(?:[1-5]\.|201[0-8])|intel/(?:201[0-8]|1[0-8]\.)"
    r"|parallel_studio_xe_201[0-8]"
    r"|compilers_and_libraries_201[0-8]|bin64/mpivars)",
    re.IGNORECASE,
)


def mpi_of(job: Job, launch: Launch) -> Mpi | None:
    """Whose launcher it is by clear signs: its path, its name, what was sourced, loaded or put into
    PATH before it, variables of one MPI; None when there is no sign or when signs contradict.
    """
    command = launch.command
    places = [word.text for word in command.words[:1]]
    places += [word.text for word in command.assignments if word.text.startswith("PATH=")][-1:]
    direct = [mpi for place in places if (mpi := _by_place(place)) is not None]
    if direct:
        return direct[0]
    around = _around(job, command.line)
    if around:
        return _fitting(around, launch)
    signs = _of_variables(job, launch)
    if "openmpi" in launch.families:
        signs.add("openmpi")
    return next(iter(signs)) if len(signs) == 1 else None


def _of_variables(job: Job, launch: Launch) -> set[Mpi]:
    names = environment(job, launch)
    return {mpi for prefix, mpi in _PREFIXES if any(name.startswith(prefix) for name in names)}


def _by_place(text: str) -> Mpi | None:
    return next((mpi for pattern, mpi in _PLACES if pattern.search(text[:2000])), None)


def _around(job: Job, line: int) -> list[Mpi]:
    """The MPIs whose files are sourced, whose modules are loaded or whose folders are put into PATH
    before the line.
    """
    signs = _signs(job)
    at = bisect_right(signs, line, key=lambda sign: sign[0])
    return [mpi for _, mpi in signs[max(0, at - 20) : at]]


def _fitting(around: list[Mpi], launch: Launch) -> Mpi:
    """The last one; where several are there (branches of an if), the last whose options the line
    has.
    """
    family: dict[Mpi, Family] = {"openmpi": "openmpi", "intel": "hydra", "mpich": "hydra"}
    fits = [mpi for mpi in around if family.get(mpi) in launch.families]
    return fits[-1] if fits else around[-1]


@lru_cache(maxsize=8)
def _signs(job: Job) -> list[tuple[int, Mpi]]:
    found: list[tuple[int, Mpi]] = []
    for command in job.commands:
        texts = command.texts
        places: list[str] = []
        if command.program in ("source", ".", "module", "ml") and len(texts) > 1:
            places = [" ".join(texts[1:])]
        elif command.program == "export" or not texts:
            words = (*command.assignments, *command.words[1:])
            places = [
                word.text.partition("=")[2].split(":$PATH")[0]
                for word in words
                if word.text.startswith(_PATH_NAMES)
            ]
        for place in places:
            mpi = _by_place(place)
            if mpi:
                found.append((command.line, mpi))
    return found


def old_intel(job: Job) -> bool:
    """The script names an Intel MPI before 2019, whose fabrics and options were others."""
    return bool(_OLD.search(job.text))


def open_mpi_5(job: Job) -> bool:
    """The text names an Open MPI 5 or later, whose launcher is another program."""
    return bool(re.search(r"open-?mpi[^\n]{0,12}[/_-]v?[5-9]\.", job.text, re.IGNORECASE))


def environment(job: Job, launch: Launch) -> dict[str, str]:
    """The variables that the ranks get, as far as the script sets them: name and value."""
    command = launch.command
    return job.before(command.line) | job.within(command.line, command.last)


def several_nodes(job: Job, launch: Launch) -> bool:
    """The launch is meant for more than one node, by what it or the batch script says."""
    nodes = job.count("--nodes")
    if nodes is not None and nodes > 1:
        return True
    hosts = launch.value("-hosts", "--hosts", "-host", "--host", "-H", "-w", "--nodelist")
    if hosts and ("," in hosts.text or "[" in hosts.text):
        return True
    ranks, each = launch.ranks, launch.per_node
    return bool(ranks and each and ranks > each)
