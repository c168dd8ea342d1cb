"""Benchmarks as text: their recipes, commands that a shell would take, and what came of them."""

from __future__ import annotations

from collections.abc import Iterable

from wireproof.report.documents.judgement import series_section, statistics_section
from wireproof.report.json.benchmark import BenchmarkDocument, PreparedDocument, RecipeDocument
from wireproof.report.text.document import part_text
from wireproof.report.text.look import Look
from wireproof.report.text.watched import lines as path_lines

__all__ = ["recipe_lines", "result_text", "shell_text"]


def recipe_lines(recipes: Iterable[RecipeDocument]) -> list[str]:
    """One line each."""
    lines = []
    for one in recipes:
        what = one.program if one.program == one.benchmark else f"{one.program} {one.benchmark}"
        lines.append(f"{what:24} {one.why}")
    return lines


def result_text(exit_status: int, document: BenchmarkDocument, look: Look) -> str:
    """Each series, the path of the bytes, and the verdict, below what the tool itself printed."""
    series = "".join(part_text(series_section(one), look) for one in document.series)
    path = "\n".join(path_lines(exit_status, document.traffic, document.path))
    counted = document.statistics
    own = part_text(statistics_section(counted), look) if counted else ""
    return f"\n{series}{path}\n{own}{document.verdict.upper()}"


def shell_text(prepared: PreparedDocument) -> str:
    """Everything that is no command is a comment."""
    lines = [f"# {prepared.title}: {prepared.why}"]
    lines += [f"# {note}" for note in prepared.notes]
    if prepared.root_steps:
        lines.append("# first, as root, on every host (for Omni-Path; wireproof never runs these):")
        lines += [f"#   {step}" for step in prepared.root_steps]
    if prepared.files:
        lines.append(f"# in a folder of its own that holds {', '.join(prepared.files)}")
    for step in prepared.steps:
        when = {"server": "start first", "client": "then"}.get(step.role, "")
        if when:
            lines.append(f"# {when}{f', on {step.host}' if step.host else ''}:")
        lines.append(step.line)
    return "\n".join(lines)
