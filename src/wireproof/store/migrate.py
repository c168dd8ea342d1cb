"""Old run.json to the present schema, one step at a time. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from wireproof.model.document import KIND, SCHEMA
from wireproof.model.errors import BadInput, made_by_newer

__all__ = ["MIGRATIONS", "migrate"]

Step = Callable[[dict[str, Any]], dict[str, Any]]

_LOST = re.compile(
    r"(ended|killed) by|\brank \d+\b.*\b(lost|gone|died|killed)\b|peer.*gone", re.IGNORECASE
)
_LATE = re.compile(r"deadline|timed? ?out", re.IGNORECASE)
_OTHER_ENDINGS = ("interrupted", "disk-full", "mismatch", "not-started", "bad-frame")
_NO_RESULT = "the engine sent no result for it"
_NOT_REACHED = "not reached: "


def _coded(sentence: str, ended: object) -> dict[str, Any]:
    """A sentence of schema 1 as code and text, read as the judge of those days read it."""
    reached = not sentence.startswith(_NOT_REACHED)
    if sentence == _NO_RESULT:
        code: object = "no-result"
    elif _LOST.search(sentence):
        code = "rank-lost"
    elif _LATE.search(sentence):
        code = "deadline"
    else:
        code = ended if ended in _OTHER_ENDINGS else "failed"
    return {"code": code, "text": sentence.removeprefix(_NOT_REACHED), "reached": reached}


def _missing_has_codes(document: dict[str, Any]) -> dict[str, Any]:
    """Schema 1 had one sentence for each missing point."""
    missing = document.get("missing")
    if not isinstance(missing, dict):
        return document
    coded = {
        point: _coded(why, document.get("ended")) if isinstance(why, str) else why
        for point, why in missing.items()
    }
    return {**document, "missing": coded}


MIGRATIONS: dict[int, Step] = {1: _missing_has_codes}
"""From schema N to N + 1, under key N. A step never changes its argument and is tested on a stored
old file.
"""


def migrate(
    document: object, name: str, *, steps: Mapping[int, Step] = MIGRATIONS, target: int = SCHEMA
) -> dict[str, Any]:
    """``document`` (decoded JSON of ``name``) in schema ``target``.

    Raises ``BadInput`` when it is not ours, is newer than we are, or has no known migration.
    """
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise BadInput(
            f"{name} was not written by wireproof: give a folder that 'wireproof measure --out' has"
            " made."
        )
    schema = document.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 0:
        raise BadInput(f"{name} has no schema version: the file is damaged.")
    if schema > target:
        raise made_by_newer(name, schema, target)
    while schema < target:
        if schema not in steps:
            raise BadInput(f"{name} has schema {schema}, which this wireproof can no longer read.")
        document = steps[schema](document)
        schema += 1
        document = {**document, "schema": schema}
    return document
