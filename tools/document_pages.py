"""What docs/reference/json.md takes from the code: every document of ``--json`` with an example.

The examples are written by ``python -m tests.contract.json_documents FOLDER --examples``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from wireproof.report.json import Kind
from wireproof.workflow.documents import KINDS

__all__ = ["documents"]

EXAMPLES = Path(__file__).resolve().parents[1] / "docs" / "reference" / "json"
_WIDTH = 150


def documents() -> str:
    """A paragraph for each kind."""
    return "\n".join(line for kind in KINDS for line in _paragraph(kind)).rstrip() + "\n"


def _paragraph(kind: Kind) -> Iterable[str]:
    name = kind.schema.removeprefix("wireproof.")
    place = EXAMPLES / f"{name}.json"
    if not place.exists():
        raise FileNotFoundError(
            f"{place}: write it by `python -m tests.contract.json_documents FOLDER --examples`"
        )
    example = json.loads(place.read_text(encoding="utf-8"))
    about = " ".join((resolve_name(kind.type).__doc__ or "").split()).replace("``", "`")
    yield f"## {kind.schema}\n"
    yield f"Version {kind.version}. Printed by: {kind.command}. {about}\n"
    yield f"<!-- test: read as document -->\n```json\n{_fitted(example)}\n```\n"


def _fitted(value: Any, indent: int = 0) -> str:
    """JSON that fills its lines: an object or a list stands on one where it fits."""
    line = json.dumps(value)
    if not isinstance(value, dict | list) or (indent and indent + len(line) < _WIDTH):
        return line
    if isinstance(value, list):
        parts = [_fitted(one, indent + 1) for one in value]
        return "[" + f",\n{' ' * indent} ".join(parts) + "]"
    parts = [f"{json.dumps(key)}: {_fitted(one, indent + 1)}" for key, one in value.items()]
    return "{" + _filled(parts, " " * (indent + 1)) + "}"


def _filled(parts: Iterable[str], margin: str) -> str:
    """``parts`` with commas, several on a line where none of them has lines of its own."""
    lines: list[str] = []
    for part in parts:
        whole = f"{lines[-1]}, {part}" if lines else part
        if lines and ("\n" in whole or len(margin) + len(whole) > _WIDTH):
            lines.append(part)
        else:
            lines[-1:] = [whole]
    return f",\n{margin}".join(lines)
