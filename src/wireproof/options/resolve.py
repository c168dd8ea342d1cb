"""Resolve options from the command line, the environment (``WIREPROOF_<NAME>``), ``wireproof.toml``
and the default, in this order of precedence; read what options name or contain: agreed criteria,
physical constants, and the model's world.
"""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec

from wireproof.files.hostile import read_bounded
from wireproof.model.claim import Criteria
from wireproof.model.dossier import KNOWN, Agreed
from wireproof.model.errors import BadInput, reading, suggestion
from wireproof.model.plan import ModelFault, ModelWorld
from wireproof.model.toml import LARGEST, line_at, read_toml
from wireproof.options.row import Given
from wireproof.options.table import ROWS, Options
from wireproof.physics.table import Table, default_table, override

# --- The file of agreed criteria (``check --criteria FILE``).

_BY_NAME = {one.name: one for one in KNOWN}


def read_criteria(path: Path | None) -> Agreed | None:
    """Return the default criteria with those that a TOML file sets, ``min_efficiency = 0.95``; None
    without a file.

    Raises ``BadInput`` with the file and the key if the key is unknown, or the value is not a
    number or out of range.
    """
    if path is None:
        return None
    where = f"the criteria file {path}"
    with reading(where):
        data = read_bounded(path, LARGEST)
        text = data.decode("utf-8")
    table = read_toml(text, where)
    if not table:
        raise BadInput(f"{where} sets nothing: write lines such as min_efficiency = 0.95.")
    values = {name: _value(name, value, where) for name, value in table.items()}
    return Agreed(
        criteria=msgspec.structs.replace(Criteria(), **values),
        chosen=tuple(values),
        source=path.name,
        sha256=hashlib.sha256(data).hexdigest(),
    )


def _value(name: str, value: object, where: str) -> float:
    known = _BY_NAME.get(name)
    if known is None:
        raise BadInput(f"{where}: no criterion {name[:60]!r}; {suggestion(name, _BY_NAME)}")
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    if not known.least <= number <= known.most:
        unit = "bytes" if known.unit == "B" else "a share"
        raise BadInput(
            f"{where}: {known.name} is {value!r}: give {unit} from {known.least:g} to"
            f" {known.most:g} ({known.about})."
        )
    if known.unit != "B":
        return float(number)
    if number != int(number):
        raise BadInput(f"{where}: {known.name} is {value!r}: give a whole number of bytes.")
    return int(number)


# --- The table of physical constants, with the user's overrides.


def read_table(path: Path | None) -> Table | None:
    """Return the built-in table overridden by a TOML file; None without a file. Errors name the
    file and the key.
    """
    if path is None:
        return None
    with reading(f"the physics file {path}"):
        text = read_bounded(path, LARGEST).decode("utf-8")
    return override(default_table(), text, str(path))


# --- The world of the model transport and its injected faults, from text.


def model_of(text: str) -> ModelWorld:
    """Parse ``latency_ns=1500,gap_ns_per_byte=0.08,...`` as the world of the model transport."""
    fields: dict[str, str] = {}
    for part in text.split(","):
        name, separator, value = part.partition("=")
        if not separator:
            raise BadInput(
                f"--model {part[:40]!r} is not NAME=NUMBER: give"
                f" {', '.join(ModelWorld.__struct_fields__)}."
            )
        fields[name.strip()] = value
    try:
        return msgspec.convert(fields, ModelWorld, strict=False)
    except msgspec.ValidationError as error:
        known = ", ".join(ModelWorld.__struct_fields__)
        raise BadInput(
            f"--model {text!r}: {error}; the names are {known}; latency_ns and gap_ns_per_byte are"
            " required."
        ) from error


def faults_of(texts: Sequence[str]) -> tuple[ModelFault, ...]:
    """Parse ``rank=77,tx=0.8`` and the like: that rank sends at four fifths of the rate."""
    faults: list[ModelFault] = []
    known = ", ".join(ModelFault.__struct_fields__)
    for text in texts:
        fields = dict(part.strip().partition("=")[::2] for part in text.split(","))
        try:
            fault = msgspec.convert(fields, ModelFault, strict=False)
        except msgspec.ValidationError as error:
            raise BadInput(
                f"--model-fault {text[:60]!r}: {error}; the names are {known}; rank is required."
            ) from error
        if set(fields) - set(ModelFault.__struct_fields__):
            raise BadInput(f"--model-fault {text[:60]!r}: the names are {known}.")
        shares = 0 < fault.tx <= 1 and 0 < fault.rx <= 1
        if fault.rank < 0 or not shares or not fault.latency_ns >= 0:
            raise BadInput(
                f"--model-fault {text[:60]!r}: give a rank from 0, and shares above 0 and up to 1."
            )
        faults.append(fault)
    return tuple(faults)


# --- Sources of options, in their order of precedence.

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


def read_file(path: Path) -> dict[str, tuple[str, str]]:
    """Return the settings of a ``wireproof.toml``: name to (text, ``file:line``).

    Raises ``BadInput`` with file, line and the nearest known key.
    """
    with reading(f"settings file {path}"):
        text = read_bounded(path, LARGEST).decode("utf-8")
    table = read_toml(text, f"settings file {path}")
    values: dict[str, tuple[str, str]] = {}
    for key, value in table.items():
        where = f"{path.name}:{line_at(text, [(key, None)])}"
        name = key.replace("-", "_")
        if name not in SETTINGS:
            raise BadInput(
                f"{where}: there is no setting {key[:40]!r}; {suggestion(name, SETTINGS)}"
            )
        values[name] = (_as_text(value, where), where)
        if SETTINGS[name].is_program(values[name][0]):
            option = "--" + name.replace("_", "-")
            known = ", ".join(filter(None, SETTINGS[name].names or ()))
            rest = f", or write {known}" if known else ""
            raise BadInput(
                f"{where}: {key[:40]} names a program, and a file in the current folder must "
                f"not choose one: give {option} or {PREFIX}{name.upper()}{rest}."
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
        return options[name], ("option", ROWS[name].typed(name))
    if name not in SETTINGS:
        return None
    if variable in environment:
        return environment[variable], ("environment", variable)
    if name in file:
        return file[name][0], ("file", file[name][1])
    return None


def misspelt(environment: Iterable[str]) -> list[str]:
    """Return a sentence for each variable that is named like a setting, or after an option that a
    variable cannot set.
    """
    known = [PREFIX + name.upper() for name in SETTINGS]
    sentences = []
    for name in sorted(name for name in environment if name.startswith(PREFIX)):
        option = name.removeprefix(PREFIX).lower()
        near = get_close_matches(name, known, n=1, cutoff=0.9)
        if option in ROWS.keys() - SETTINGS.keys():
            given = ROWS[option].typed(option)
            sentences.append(f"the variable {name} is not a setting; give the option {given}.")
        elif near and name not in known:
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
            text, origin = text_and_origin
            try:
                values[name] = row.read(text)
            except BadInput as error:
                raise BadInput(f"{origin[1]}: {error}") from error
            if values[name] != row.default or row.parse:
                given[name] = origin
    return Options(**values, given=given)
