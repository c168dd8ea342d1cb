# pure
"""Rules for MPI launch lines: the MPI of a launch, the environment of its processes, and mistakes
in the launcher's words.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import chain, takewhile
from operator import itemgetter
from typing import Literal

from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.script import BENCHMARK, Family, Job, Launch, jobs, launched
from wireproof.lint.script.variables import provider_of
from wireproof.lint.shell import LAUNCHERS, Word, at_word, commands, edited

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


def mpi_of(job: Job, launch: Launch) -> Mpi | None:
    """Return the MPI of a launcher by clear signs: its path, its name, files that were sourced,
    modules that were loaded or folders put into PATH before it, variables of an MPI. Return None if
    there is no sign or signs contradict each other.
    """
    command = launch.command
    places = [word.text for word in command.words[:1]]
    places += [word.text for word in command.assignments if word.text.startswith("PATH=")][-1:]
    direct: Mpi | None = next(filter(None, map(_by_place, places)), None)
    # files that are sourced, modules that are loaded and folders that are added to PATH before the
    # line
    signs = _signs(job)
    at = bisect_right(signs, command.line, key=itemgetter(0))
    loaded = takewhile(itemgetter(1), reversed(signs[max(0, at - 20) : at]))
    around = [mpi for _, mpi in loaded if mpi][::-1]
    if direct or around:
        return direct or _fitting(around, launch)
    names = environment(job, launch)
    found = {mpi for prefix, mpi in _PREFIXES if any(name.startswith(prefix) for name in names)}
    if "openmpi" in launch.families:
        found.add("openmpi")
    return found.pop() if len(found) == 1 else None


def _by_place(text: str) -> Mpi | None:
    return next((mpi for pattern, mpi in _PLACES if pattern.search(text[:2000])), None)


def _fitting(around: list[Mpi], launch: Launch) -> Mpi:
    """Return the last MPI; if there are several (branches of an if), the last whose options the
    line uses.
    """
    family: dict[Mpi, Family] = {"openmpi": "openmpi", "intel": "hydra", "mpich": "hydra"}
    fits = [mpi for mpi in around if family.get(mpi) in launch.families]
    return fits[-1] if fits else around[-1]


@lru_cache(maxsize=8)
def _signs(job: Job) -> list[tuple[int, Mpi | None]]:
    """Return the MPIs that lines choose; None for a line that unloads all modules."""
    found: list[tuple[int, Mpi | None]] = []
    for command in job.commands:
        texts = command.texts
        places: list[str] = []
        if texts[:2] in (("module", "purge"), ("ml", "purge")):
            found.append((command.line, None))
        elif command.program in ("source", ".", "module", "ml") and len(texts) > 1:
            places = [" ".join(texts[1:])]
        elif command.program == "export" or not texts:
            places = [
                word.text.partition("=")[2].split(":$PATH")[0]
                for word in (*command.assignments, *command.words[1:])
                if word.text.startswith(_PATH_NAMES)
            ]
        found += [(command.line, mpi) for place in places if (mpi := _by_place(place))]
    return found


def environment(job: Job, launch: Launch) -> dict[str, str]:
    """Return the variables of the ranks that the script sets: name and value."""
    command = launch.command
    return job.before(command.line) | job.within(command.line, command.last)


def several_nodes(job: Job, launch: Launch) -> bool:
    """Return whether the launch is meant for more than one node, according to its options or the
    batch script.
    """
    hosts = launch.value("-hosts", "--hosts", "-host", "--host", "-H", "-w", "--nodelist")
    if (job.count("--nodes") or 0) > 1 or (hosts and {",", "["} & set(hosts.text)):
        return True
    ranks, each = launch.ranks, launch.per_node
    return bool(ranks and each and ranks > each)


# --- Mistakes on the launcher's line.

_QUIET = (
    "--version",
    "-V",
    "--help",
    "-h",
    "-help",
    "-info",
    "-configfile",
    "--app",
    "-app",
    "-version",
    "--info",
)
_GONE = re.compile(
    r"--?(psm2?|PSM2?|tmi|TMI|dapl|DAPL|ofa|OFA|rdma|RDMA|ib|IB|mx|MX|gm|GM|lmt|LMT)\Z"
)
_SHOWN = re.compile(r"-(PSM2?|TMI|DAPL|OFA|RDMA)[,.]?\Z")
_ONLY_OPENMPI = re.compile(
    r"(--?(mca|gmca|omca|prtemca|pmixmca)|-x|--(allow-run-as-root|oversubscribe|report-bindings"
    r"|display-map|display"
    r"|npernode|use-hwthread-cpus|nooversubscribe|tag-output))\Z"
)
_ONLY_HYDRA = re.compile(
    r"-{1,2}(genv|genvall|genvlist|genvnone|ppn|perhost|env|envall|envlist|hosts|launcher"
    r"|launcher-exec|bootstrap|rmk"
    r"|prepend-rank|print-rank-map|iface)\Z"
)
_PREFIX = re.compile(r"(?:--prefix=|(?:^|\s)(?:exec_)?prefix=|--exec-prefix=)(\S+)")


def continuation(recipe: Recipe) -> Iterator[Broken]:
    """Find a launch that ends before its program."""
    for job, launch in launched(recipe):
        command = launch.command
        if launch.program or launch.has(*_QUIET) or not launch.options or launch.is_srun:
            continue
        following, last = job.after(command.last), command.last
        first = "".join(following.texts[:1]) if following and following.line <= last + 2 else ""
        if first.startswith(("/", "./", "~/", "../", "$")) or BENCHMARK.match(first):
            line = recipe.lines[last - 1].rstrip()
            fix = f"{line} \\"
            yield Broken("missing-continuation", last, len(line) + 1, command.text, fix)
        elif launch.ranks is not None:
            yield Broken("program-missing", command.line, command.words[0].column, command.text)


def foreign(recipe: Recipe) -> Iterator[Broken]:
    """Find options of another MPI or of another generation."""
    for job, launch in launched(recipe):
        if launch.is_srun:
            continue
        mpi = mpi_of(job, launch)
        intel = mpi in (None, "intel") and "openmpi" not in launch.families
        for word in _option_words(launch):
            if intel and _GONE.match(word.text):
                if not job.old_intel:
                    yield _removed(recipe, word)
            elif name := _not_of(word, mpi, job):
                yield at_word("option-of-another-mpi", word, f"{word.text} for {name}")
    for command in commands(recipe):  # an option that a document shows without its value: ``-PSM2``
        if len(command.words) == 1 and _SHOWN.match(command.texts[0]):
            yield _removed(recipe, command.words[0])


def _not_of(word: Word, mpi: Mpi | None, job: Job) -> str:
    """Return the MPI that does not know the option, "" if it may know it."""
    if mpi == "openmpi" and _ONLY_HYDRA.match(word.text):
        return "" if word.text.endswith("ppn") and job.open_mpi("5-9") else "Open MPI"
    if mpi in ("intel", "mpich") and _ONLY_OPENMPI.match(word.text):
        return "Intel MPI" if mpi == "intel" else "MPICH"
    return ""


def _option_words(launch: Launch) -> Iterator[Word]:
    """Return the words that are options, not their values."""
    skip = 0
    for word in launch.options:
        if skip:
            skip -= 1
        elif word.text.startswith("-"):
            skip = 2 if re.match(r"--?(mca|gmca|genv|env)\Z", word.text) else 0
            yield word


def _removed(recipe: Recipe, word: Word) -> Broken:
    """Report an option that selected a fabric, with the provider that replaces it; if the provider
    is clear, the fix makes the same choice by a variable.
    """
    right = f"-genv I_MPI_FABRICS ofi -genv FI_PROVIDER {provider_of(word.text)}"
    end = word.raw[len(word.raw.rstrip(",.")) :]
    found = edited("option-removed", recipe, word, f"-genv FI_PROVIDER psm2{end}", word.text)
    clear = re.match(r"--?(PSM2|psm2|TMI|tmi)\b", word.text)
    return replace(found, right=right, fix=found.fix if clear else None)


def nested(recipe: Recipe) -> Iterator[Broken]:
    """Find ``srun mpirun``."""
    for _, launch in launched(recipe):
        name = launch.program[0].text.rsplit("/", 1)[-1] if launch.program else ""
        if launch.is_srun and name in LAUNCHERS and launch.ranks != 1 and not launch.has("--pty"):
            column = launch.command.words[0].column
            yield Broken("srun-starts-mpirun", launch.command.line, column, launch.command.text)


_MOST_PREFIXES = 100
_OSU_PROGRAM = re.compile(r"(\S+?)/libexec/osu-micro-benchmarks/\S*osu_\w+\Z")


def prefixes(recipe: Recipe) -> Iterator[Broken]:
    """Find a benchmark that was installed in another place."""
    installed: dict[str, None] = {}  # in the order of the text, without repeats
    for job in jobs(recipe):
        for command in job.commands:
            builds = command.program in ("configure", "make", "cmake") and not command.outer
            if builds and len(installed) < _MOST_PREFIXES:
                installed |= dict.fromkeys(_PREFIX.findall(command.text)[:20])
        folders = [
            folder.rstrip("/").removesuffix("/libexec/osu-micro-benchmarks") for folder in installed
        ]
        if folders:
            yield from _elsewhere(recipe, job, folders)


def _elsewhere(recipe: Recipe, job: Job, folders: list[str]) -> Iterator[Broken]:
    for command in job.commands:
        match = _OSU_PROGRAM.match(command.texts[0]) if command.words else None
        if match is None or match[1] in folders or "$" in "".join((*folders, match[1])):
            continue
        word = command.words[0]
        new = word.raw.replace(match[1], folders[-1], 1)
        seen = f"{match[1]} instead of {folders[-1]}"
        yield edited("program-other-prefix", recipe, word, new, seen)


def slots(recipe: Recipe) -> Iterator[Broken]:
    """Find more ranks than the hosts of the list, or the job, have slots."""
    for job, launch in launched(recipe):
        by, ranks = launch.value("--map-by", "-map-by"), launch.ranks
        words = [by.text if by else "", *chain.from_iterable(environment(job, launch).items())]
        shared = launch.has("--oversubscribe", "-oversubscribe") or any(
            "oversubscribe" in word.lower() for word in words
        )
        if ranks is None or shared or mpi_of(job, launch) != "openmpi":
            continue
        hosts = launch.value("--host", "-host", "-H")
        nodes, each = job.count("--nodes"), job.count("--ntasks-per-node")
        count = _slots(hosts.text) if hosts else (nodes or 0) * (each or 0)
        if count and ranks > count:
            word, seen = hosts or launch.command.words[0], f"{ranks} ranks, {count} slots"
            yield at_word("more-ranks-than-hosts", word, seen)


def _slots(hosts: str) -> int:
    """Return the slots of ``n1,n2:4``, a slot for each mention of a host; 0 if they are unknown."""
    if not re.fullmatch(r"[\w.-]+(?::\d{1,6})?(?:,[\w.-]+(?::\d{1,6})?)*", hosts):
        return 0
    return sum(int(host.partition(":")[2] or 1) for host in hosts.split(","))


CHECKS = (continuation, foreign, nested, prefixes, slots)
