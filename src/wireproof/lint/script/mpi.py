"""Rules for MPI launch lines: what the launcher itself gets wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.script.job import Job, jobs
from wireproof.lint.script.launch import BENCHMARK, Launch
from wireproof.lint.script.whose import old_intel, seen, whose
from wireproof.lint.shell import Command, Word, corrected
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
        mpi = whose(job, launch)
        for word in _option_words(launch):
            if (
                _GONE.match(word.text)
                and mpi in (None, "intel")
                and "openmpi" not in launch.families
            ):
                if not old_intel(job):
                    yield Broken(
                        "option-removed",
                        word.line,
                        word.column,
                        word.text,
                        _by_provider(recipe, word),
                    )
            elif (
                mpi == "openmpi"
                and _ONLY_HYDRA.match(word.text)
                and not (word.text.endswith("ppn") and _five(job))
            ):
                yield Broken(
                    "option-of-another-mpi", word.line, word.column, f"{word.text} for Open MPI"
                )
            elif mpi in ("intel", "mpich") and _ONLY_OPENMPI.match(word.text):
                name = "Intel MPI" if mpi == "intel" else "MPICH"
                yield Broken(
                    "option-of-another-mpi", word.line, word.column, f"{word.text} for {name}"
                )
    yield from _shown_options(recipe)


def _five(job: Job) -> bool:
    """The text names an Open MPI 5 or later, whose launcher is another program."""
    return bool(re.search(r"open-?mpi[^\n]{0,12}[/_-]v?[5-9]\.", job.text, re.IGNORECASE))


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
    for job in jobs(recipe) if recipe.kind == "script" else ():
        for command in job.commands:
            if len(command.words) == 1 and re.match(
                r"-(PSM2?|TMI|DAPL|OFA|RDMA)[,.]?\Z", command.texts[0]
            ):
                word = command.words[0]
                yield Broken(
                    "option-removed", word.line, word.column, word.text, _by_provider(recipe, word)
                )


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
                yield Broken("mca-equals", following.line, following.column, following.text, fix)
    yield from _components(recipe)


def _components(recipe: Recipe) -> Iterator[Broken]:
    for job in jobs(recipe) if recipe.kind == "script" else ():
        for setting in job.settings:
            if not setting.name.startswith("OMPI_MCA_"):
                continue
            name, word = setting.name[9:], setting.value_word
            parts = setting.value.lstrip("^").split(",")
            if (
                name == "btl"
                and not setting.value.startswith("^")
                and "self" not in parts
                and "$" not in setting.value
            ):
                new = word.raw.replace(setting.value, "self," + setting.value, 1)
                fix = corrected(recipe, [(word, new)], word.line)
                yield Broken(
                    "btl-without-self", word.line, word.column, f"{name} {setting.value}", fix
                )
            gone = {"btl": {"openib"}, "pml": {"yalla", "mxm"}, "mtl": {"mxm", "psm", "mx"}}.get(
                name, set()
            )
            if not setting.value.startswith("^") and gone.intersection(parts) and _maybe_new(job):
                yield Broken("component-removed", word.line, word.column, f"{name} {setting.value}")


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


def prefixes(recipe: Recipe) -> Iterator[Broken]:
    """A benchmark that was installed elsewhere."""
    if recipe.kind != "script":
        return
    installed: dict[str, None] = {}  # in the order of the text, each once
    for job in jobs(recipe):
        for command in job.commands:
            if command.program in ("configure", "make", "cmake") and not command.outer:
                installed |= dict.fromkeys(
                    _PREFIX.findall(command.text)[:20] if len(installed) < 100 else ()
                )
        for command in job.commands:
            word = command.words[0] if command.words else None
            match = (
                re.match(r"(\S+?)/libexec/osu-micro-benchmarks/\S*osu_\w+\Z", word.text)
                if word
                else None
            )
            if word is None or match is None or not installed:
                continue
            folders = [
                folder.rstrip("/").removesuffix("/libexec/osu-micro-benchmarks")
                for folder in installed
            ]
            if match[1] not in folders and not any(
                "$" in folder for folder in (*folders, match[1])
            ):
                fix = corrected(
                    recipe, [(word, word.raw.replace(match[1], folders[-1], 1))], word.line
                )
                yield Broken(
                    "program-other-prefix",
                    word.line,
                    word.column,
                    f"{match[1]}, not {folders[-1]}",
                    fix,
                )


def paths(recipe: Recipe) -> Iterator[Broken]:
    """``export PATH=/x/bin``."""
    for job in jobs(recipe) if recipe.kind == "script" else ():
        for setting in job.settings:
            if (
                setting.name != "PATH"
                or setting.how != "export"
                or "$" in setting.value
                or "`" in setting.value
            ):
                continue
            if not re.search(
                r"(^|:)/(usr/)?bin/?(:|$)", setting.value
            ) and setting.value.startswith("/"):
                word, bare = setting.word, setting.word.raw.rstrip("\"'")
                fix = corrected(
                    recipe, [(word, bare + ":$PATH" + word.raw[len(bare) :])], word.line
                )
                yield Broken("path-overwritten", word.line, word.column, word.text, fix)


def slots(recipe: Recipe) -> Iterator[Broken]:
    """More ranks than hosts, for Open MPI without slots."""
    for job, launch in _launches(recipe):
        hosts = launch.value("--host", "-host", "-H")
        if hosts is None or launch.ranks is None or whose(job, launch) != "openmpi":
            continue
        if launch.has("--oversubscribe", "-oversubscribe") or not re.fullmatch(
            r"[\w.-]+(,[\w.-]+)*", hosts.text
        ):
            continue
        by = launch.value("--map-by", "-map-by")
        if by is not None and "oversubscribe" in by.text.lower():
            continue
        if any(
            "oversubscribe" in f"{name}={value}".lower()
            for name, value in seen(job, launch).items()
        ):
            continue
        count = len(hosts.text.split(","))
        if launch.ranks > count:
            yield Broken(
                "more-ranks-than-hosts",
                hosts.line,
                hosts.column,
                f"{launch.ranks} ranks, {count} slots",
            )


def _launches(recipe: Recipe) -> Iterator[tuple[Job, Launch]]:
    if recipe.kind == "script":
        yield from ((job, launch) for job in jobs(recipe) for launch in job.launches)


CHECKS = (continuation, foreign, components, nested, prefixes, paths, slots)
