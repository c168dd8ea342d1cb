"""Resolve options from the command line, the environment (``WIREPROOF_<NAME>``), ``wireproof.toml``
and the default, in this order of precedence.
"""

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from wireproof.files.hostile import read_bounded
from wireproof.model.errors import LARGEST, BadInput, read_toml, suggestion
from wireproof.settings.options import ROWS, Options
from wireproof.settings.row import Given

FILE_NAME = "wireproof.toml"
PREFIX = "WIREPROOF_"
SETTINGS = {name: row for name, row in ROWS.items() if row.parse}
"""The rows that variables and the file can set too."""


def _as_text(value: object, where: str) -> str:
    """Return a TOML value as the equivalent text of the option."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float | str):
        return str(value)
    if isinstance(value, list):
        return ",".join(_as_text(item, where) for item in value)
    raise BadInput(f"{where}: give a text, a number or a list, not a {type(value).__name__}.")


def _line_of(text: str, key: str) -> int:
    """Return the line of ``key`` in the file, which the parser does not tell."""
    for number, line in enumerate(text.splitlines(), start=1):
        if re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
            return number
    return 1


def read_file(path: Path) -> dict[str, tuple[str, str]]:
    """Return the settings of a ``wireproof.toml``: name to (text, ``file:line``).

    Raises ``BadInput`` with file, line and the nearest known key.
    """
    try:
        text = read_bounded(path, LARGEST).decode("utf-8")
    except OSError as error:
        raise BadInput(f"settings file {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"settings file {path} is not TOML: {error}.") from error
    table = read_toml(text, f"settings file {path}")
    values: dict[str, tuple[str, str]] = {}
    for key, value in table.items():
        where = f"{path.name}:{_line_of(text, key)}"
        name = key.replace("-", "_")
        if name not in SETTINGS:
            raise BadInput(
                f"{where}: there is no setting {key[:40]!r}; {suggestion(name, SETTINGS)}"
            )
        values[name] = (_as_text(value, where), where)
        if SETTINGS[name].is_program(values[name][0]):
            option = "--" + name.replace("_", "-")
            known = ", ".join(filter(None, SETTINGS[name].names or ()))
            raise BadInput(
                f"{where}: {key[:40]} names a program, and a file in the current folder may not"
                f" choose one: give {option} or {PREFIX}{name.upper()}, or write {known}."
            )
    return values


def _given(
    name: str,
    options: Mapping[str, Any],
    environment: Mapping[str, str],
    file: Mapping[str, tuple[str, str]],
) -> tuple[Any, Given] | None:
    """Return the text of an option with the highest precedence, and its origin; None if it was not
    given.
    """
    variable = PREFIX + name.upper()
    if options.get(name) is not None:
        return options[name], Given("option", ROWS[name].typed(name))
    if name not in SETTINGS:
        return None
    if variable in environment:
        return environment[variable], Given("environment", variable)
    if name in file:
        return file[name][0], Given("file", file[name][1])
    return None


def misspelt(environment: Iterable[str]) -> list[str]:
    """Return a sentence for each variable whose name is close to that of a setting."""
    known = [PREFIX + name.upper() for name in SETTINGS]
    sentences = []
    for name in sorted(environment):
        near = get_close_matches(name, known, n=1, cutoff=0.9)
        if name.startswith(PREFIX) and near and name not in known:
            sentences.append(f"the variable {name[:60]} is not a setting; did you mean {near[0]}?")
    return sentences


def resolve(
    options: Mapping[str, Any],
    environment: Mapping[str, str],
    file: Mapping[str, tuple[str, str]] | None = None,
) -> Options:
    """Convert every option to its type. ``options`` holds texts as given, and values for rows
    without a parser (``None``: not given; unknown names are ignored). ``file`` comes from
    ``read_file``.

    Raises ``BadInput`` with the option, variable or file and line. Unknown ``WIREPROOF_*`` names
    are ignored.
    """
    values: dict[str, Any] = {}
    given: dict[str, Given] = {}
    for name, row in ROWS.items():
        if (text_and_origin := _given(name, options, environment, file or {})) is not None:
            try:
                values[name] = row.read(text_and_origin[0])
            except BadInput as error:
                raise BadInput(f"{text_and_origin[1].source}: {error}") from error
            if values[name] != row.default or row.parse:
                given[name] = text_and_origin[1]
    return Options(**values, given=given)
