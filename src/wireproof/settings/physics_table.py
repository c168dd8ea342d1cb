"""The table of physics, with the user's own constants over it."""

from __future__ import annotations

from pathlib import Path

from wireproof.files.hostile import read_bounded
from wireproof.model.errors import BadInput
from wireproof.model.toml import LARGEST
from wireproof.physics.table import Table, default_table, override

__all__ = ["read_table"]


def read_table(path: Path | None) -> Table | None:
    """The built-in table overridden by a TOML file; None without a file. Errors name the file and
    the key.
    """
    if path is None:
        return None
    try:
        text = read_bounded(path, LARGEST).decode("utf-8")
    except OSError as error:
        raise BadInput(f"the physics file {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"the physics file {path} is not UTF-8: {error}.") from error
    try:
        return override(default_table(), text)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error
