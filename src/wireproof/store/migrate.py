"""Old run.json to the present schema, one step at a time. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from wireproof.model.document import KIND, SCHEMA
from wireproof.model.errors import BadInput

__all__ = ["MIGRATIONS", "migrate"]

Step = Callable[[dict[str, Any]], dict[str, Any]]

MIGRATIONS: dict[int, Step] = {}
"""From schema N to N + 1, under key N. A step never changes its argument and is tested on a stored
old file.
"""


def migrate(
    document: object, name: str, *, steps: Mapping[int, Step] = MIGRATIONS, target: int = SCHEMA
) -> dict[str, Any]:
    """``document`` (decoded JSON of ``name``) in schema ``target``.

    Raises ``BadInput`` when it is not ours, is newer than we are, or has no known way up.
    """
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise BadInput(
            f"{name} was not written by wireproof: give a folder that 'wireproof measure --out' has made."
        )
    schema = document.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 0:
        raise BadInput(f"{name} has no schema version: the file is damaged.")
    if schema > target:
        raise BadInput(
            f"{name} has schema {schema} and this wireproof knows {target}: use a newer wireproof."
        )
    while schema < target:
        if schema not in steps:
            raise BadInput(f"{name} has schema {schema}, which this wireproof can no longer read.")
        document = steps[schema](document)
        schema += 1
        document = {**document, "schema": schema}
    return document
