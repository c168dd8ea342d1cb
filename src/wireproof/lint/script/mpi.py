"""Rules for MPI launch lines: what the launcher itself gets wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.script.job import Job, jobs
from wireproof.lint.script.launch import BENCHMARK, Launch
from wireproof.lint.script.mpi_family import Mpi, environment, mpi_of, old_intel, open_mpi_5
from wireproof.lint.script.variables import provider_of
from wireproof.lint.shell import Command, Word, at_word, corrected
from wireproof.lint.shell.wrap import LAUNCHERS

__all__ = ["CHECKS"]


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
    """A launch that ends before its program."""
    for job, launch in _launches(recipe):
        command = launch.command
        if launch.program or launch.has(*_QUIET) or not launch.options or launch.is_srun:
            continue
        following = job.after(command.last)
        if following is not None and following.line <= command.last + 2 and _is_program(following):
            line = recipe.lines[command.last - 1].rstrip()
            yield Broken(
                "missing-continuation", command.last, len(line) + 1, command.text, f"{line} \\"
            )
        elif launch.ranks is not None:
            yield Broken("program-missing", command.line, command.words[0].column, command.text)


def _is_program(command: Command) -> bool:
    first = command.words[0].text if command.words else ""
    return first.startswith(("/", "./", "~/", "../", "$")) or bool(BENCHMARK.match(first))


def foreign(recipe: Recipe) -> Iterator[Broken]:
    """Options of another MPI or of another generation."""
    for job, launch in _launches(recipe):
        if launch.is_srun:
            continue
        mpi = mpi_of(job, launch)
        for word in _option_words(launch):
            if _is_gone(word, mpi, launch):
                if not old_intel(job):
                    yield _removed(recipe, word)
                continue
            name = _not_of(word, mpi, job)
            if name:
                yield at_word("option-of-another-mpi", word, f"{word.text} for {name}")
    yield from _shown_options(recipe)


def _is_gone(word: Word, mpi: Mpi | None, launch: Launch) -> bool:
    """An option that chose a fabric in Intel MPI before 2019."""
    intel = mpi in (None, "intel") and "openmpi" not in launch.families
    return intel and _GONE.match(word.text) is not None


def _not_of(word: Word, mpi: Mpi | None, job: Job) -> str:
    """The MPI that does not know the option, "" when it may."""
    if mpi == "openmpi" and _ONLY_HYDRA.match(word.text):
        return "" if word.text.endswith("ppn") and open_mpi_5(job) else "Open MPI"
    if mpi in ("intel", "mpich") and _ONLY_OPENMPI.match(word.text):
        return "Intel MPI" if mpi == "intel" else "MPICH"
    return ""


def _option_words(launch: Launch) -> Iterator[Word]:
    """The words that are options, not their values."""
    skip = 0
    for word in launch.options:
        if skip:
            skip -= 1
        elif word.text.startswith("-"):
            skip = 2 if re.match(r"--?(mca|gmca|genv|env)\Z", word.text) else 0
            yield word


def _shown_options(recipe: Recipe) -> Iterator[Broken]:
    """A document that shows an option alone: ``-PSM2``."""
    for job in jobs(recipe):
        for command in job.commands:
            if len(command.words) == 1 and re.match(
                r"-(PSM2?|TMI|DAPL|OFA|RDMA)[,.]?\Z", command.texts[0]
            ):
                word = command.words[0]
                yield _removed(recipe, word)


def _removed(recipe: Recipe, word: Word) -> Broken:
    """An option that chose a fabric, with the provider that took its place."""
    found = at_word("option-removed", word, word.text, _by_provider(recipe, word))
    right = f"-genv I_MPI_FABRICS ofi -genv FI_PROVIDER {provider_of(word.text)}"
    return replace(found, right=right)


def _by_provider(recipe: Recipe, word: Word) -> str | None:
    """The same choice by a variable, where it is clear which provider follows."""
    if not re.match(r"--?(PSM2|psm2|TMI|tmi)\b", word.text):
        return None
    end = word.raw[len(word.raw.rstrip(",.")) :]
    return corrected(recipe, [(word, f"-genv FI_PROVIDER psm2{end}")], word.line)


def components(recipe: Recipe) -> Iterator[Broken]:
    """MCA parameters of Open MPI."""
    for _, launch in _launches(recipe):
        for at, word in enumerate(launch.command.words[:-1]):
            following = launch.command.words[at + 1]
            if word.text in ("-mca", "--mca") and "=" in following.text:
                edits = [(following, following.raw.replace("=", " ", 1))]
                fix = corrected(recipe, edits, following.line)
                yield at_word("mca-equals", following, following.text, fix)
    yield from _components(recipe)


_REMOVED = {"btl": {"openib"}, "pml": {"yalla", "mxm"}, "mtl": {"mxm", "psm", "mx"}}


def _components(recipe: Recipe) -> Iterator[Broken]:
    for job in jobs(recipe):
        for setting in job.settings:
            if not setting.name.startswith("OMPI_MCA_") or setting.value.startswith("^"):
                continue
            name, word = setting.name[9:], setting.value_word
            parts = setting.value.split(",")
            if name == "btl" and "self" not in parts and "$" not in setting.value:
                new = word.raw.replace(setting.value, "self," + setting.value, 1)
                fix = corrected(recipe, [(word, new)], word.line)
                yield at_word("btl-without-self", word, f"{name} {setting.value}", fix)
            if _REMOVED.get(name, set()).intersection(parts) and _maybe_new(job):
                yield at_word("component-removed", word, f"{name} {setting.value}")


def _maybe_new(job: Job) -> bool:
    """The text does not name an Open MPI before 5."""
    return not re.search(r"open-?mpi[^\n]{0,12}[/_-]v?[1-4]\.", job.text, re.IGNORECASE)


def nested(recipe: Recipe) -> Iterator[Broken]:
    """``srun mpirun``."""
    for _, launch in _launches(recipe):
        name = launch.program[0].text.rsplit("/", 1)[-1] if launch.program else ""
        if launch.is_srun and name in LAUNCHERS and launch.ranks != 1 and not launch.has("--pty"):
            yield Broken(
                "srun-starts-mpirun",
                launch.command.line,
                launch.command.words[0].column,
                launch.command.text,
            )


_MOST_PREFIXES = 100
_OSU_PROGRAM = re.compile(r"(\S+?)/libexec/osu-micro-benchmarks/\S*osu_\w+\Z")


def prefixes(recipe: Recipe) -> Iterator[Broken]:
    """A benchmark that was installed elsewhere."""
    installed: dict[str, None] = {}  # in the order of the text, each once
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
    """Programs that are started from none of the ``folders``."""
    for command in job.commands:
        match = _OSU_PROGRAM.match(command.texts[0]) if command.words else None
        if match is None or match[1] in folders:
            continue
        if any("$" in folder for folder in (*folders, match[1])):
            continue
        word = command.words[0]
        edits = [(word, word.raw.replace(match[1], folders[-1], 1))]
        fix = corrected(recipe, edits, word.line)
        yield at_word("program-other-prefix", word, f"{match[1]}, not {folders[-1]}", fix)


def paths(recipe: Recipe) -> Iterator[Broken]:
    """``export PATH=/x/bin``."""
    for job in jobs(recipe):
        for setting in job.settings:
            if setting.name == "PATH" and setting.how == "export" and _overwrites(setting.value):
                word, bare = setting.word, setting.word.raw.rstrip("\"'")
                edits = [(word, bare + ":$PATH" + word.raw[len(bare) :])]
                fix = corrected(recipe, edits, word.line)
                yield at_word("path-overwritten", word, word.text, fix)


def _overwrites(path: str) -> bool:
    """A PATH without what was in it before and without the system's folders."""
    if "$" in path or "`" in path or not path.startswith("/"):
        return False
    return re.search(r"(^|:)/(usr/)?bin/?(:|$)", path) is None


def slots(recipe: Recipe) -> Iterator[Broken]:
    """More ranks than hosts, for Open MPI without slots."""
    for job, launch in _launches(recipe):
        hosts = launch.value("--host", "-host", "-H")
        if hosts is None or launch.ranks is None or mpi_of(job, launch) != "openmpi":
            continue
        if not re.fullmatch(r"[\w.-]+(,[\w.-]+)*", hosts.text) or _oversubscribes(job, launch):
            continue
        count = len(hosts.text.split(","))
        if launch.ranks > count:
            yield at_word("more-ranks-than-hosts", hosts, f"{launch.ranks} ranks, {count} slots")


def _oversubscribes(job: Job, launch: Launch) -> bool:
    if launch.has("--oversubscribe", "-oversubscribe"):
        return True
    by = launch.value("--map-by", "-map-by")
    values = [f"{name}={value}" for name, value in environment(job, launch).items()]
    return any("oversubscribe" in text.lower() for text in (by.text if by else "", *values))


def _launches(recipe: Recipe) -> Iterator[tuple[Job, Launch]]:
    yield from ((job, launch) for job in jobs(recipe) for launch in job.launches)


CHECKS = (continuation, foreign, components, nested, prefixes, paths, slots)
