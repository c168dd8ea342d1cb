"""The commands of a benchmark as text that a shell would take."""

from __future__ import annotations

from wireproof.report.json.benchmark import PreparedDocument

__all__ = ["shell_lines"]


def shell_lines(prepared: PreparedDocument) -> list[str]:
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
    return lines
