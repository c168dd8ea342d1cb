"""Commands of other programs, as JSON and as documents: recipes, shell commands, results of a run,
and the commands of a check.
"""

from collections.abc import Iterable

import msgspec

from wireproof.logs.document import series_section, statistics_section
from wireproof.logs.json import JudgedSeries
from wireproof.model.finding import Proof, Verdict
from wireproof.model.psm3 import JudgedStatistics
from wireproof.model.quantity import counted
from wireproof.model.series import Role
from wireproof.model.traffic import Traffic, TrafficVerdict
from wireproof.report.document import Document, Facts, Part, Raw, Text
from wireproof.watch.document import answered, watched_parts

# --- Benchmarks of other projects as JSON: their commands and the results.


class RecipeDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The output of ``wireproof run --list --json`` for one recipe."""

    tool: str
    program: str
    benchmark: str
    why: str


class BenchmarkStep(msgspec.Struct, frozen=True, kw_only=True):
    """One command.

    ``host``: the host on which it is started ("" for this machine); ``unset``: inherited variables
    that must be removed from its environment; ``line``: the command to paste into a shell.
    """

    role: Role
    host: str
    argv: tuple[str, ...]
    environment: dict[str, str]
    unset: tuple[str, ...]
    line: str

    @property
    def enclosed(self) -> tuple[str, ...]:
        """Return the command with its environment as arguments of env, because ssh and companions
        pass no environment.
        """
        words = [word for name in self.unset for word in ("-u", name)]
        words += [f"{name}={value}" for name, value in sorted(self.environment.items())]
        return ("env", *words, *self.argv) if words else self.argv


class PreparedDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The output of ``wireproof run --dry-run --json``. ``files``: the texts of files to create, by
    name.
    """

    title: str
    tool: str
    benchmark: str
    why: str
    program: str | None
    mpi: str
    steps: tuple[BenchmarkStep, ...]
    files: dict[str, str]
    root_steps: list[str]
    notes: list[str]


class BenchmarkDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The output of ``wireproof run --json``."""

    verdict: Verdict
    proof: Proof
    recipe: PreparedDocument
    seconds: float
    path: TrafficVerdict
    traffic: Traffic
    series: list[JudgedSeries]
    statistics: JudgedStatistics | None = None


def recipes_document(recipes: Iterable[RecipeDocument]) -> Document:
    """Return each program and benchmark with its purpose."""
    rows = tuple(
        (
            one.program if one.program == one.benchmark else f"{one.program} {one.benchmark}",
            one.why,
        )
        for one in recipes
    )
    return Document("Recipes of benchmarks", "", (Facts(rows),))


def benchmark_document(exit_status: int, found: BenchmarkDocument) -> Document:
    """Return the path and the numbers, with the verdict on both."""
    parts: list[Part] = list(map(series_section, found.series))
    parts += watched_parts(found.traffic, found.path)
    parts += [statistics_section(found.statistics)] if found.statistics else []
    judged = counted(len(found.series), "series", "series")
    ended = f"path: {found.proof}; {judged} judged; the command ended with status {exit_status}"
    reasons = [*found.path.reasons, *(one for series in found.series for one in series.reasons)]
    answer, *more = answered(reasons, found.verdict, ended)
    return Document(found.recipe.title, answer, (*map(Text, more), *parts), found.verdict)


def shell_document(prepared: PreparedDocument) -> Document:
    """Return shell commands; everything else is a comment."""
    lines = [f"# {prepared.title}: {prepared.why}"]
    lines += [f"# {note}" for note in prepared.notes]
    if prepared.root_steps:
        lines.append("# first, as root, on every host (for Omni-Path; wireproof never runs these):")
        lines += [f"#   {step}" for step in prepared.root_steps]
    if prepared.files:
        lines.append(f"# in a separate folder that contains {', '.join(prepared.files)}")
    for step in prepared.steps:
        when = {"server": "start first", "client": "then"}.get(step.role, "")
        if when:
            lines.append(f"# {when}{f', on {step.host}' if step.host else ''}:")
        lines.append(step.line)
    return Document(prepared.title, "", (Raw(tuple(lines)),))
