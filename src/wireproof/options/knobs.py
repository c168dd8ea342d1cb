"""Parse the arguments of ``study`` and ``tune try``: knobs with their values, and where to find a
number in a command's output.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import msgspec

from wireproof.model.errors import BadInput, suggestion
from wireproof.model.experiment import TriedKnob

# --- ``study``.


def names_of(text: str, option: str) -> tuple[str, ...]:
    """Return the names of ``A,B``, each once; () for "". Raise ``BadInput`` for an empty name."""
    names = tuple(part.strip() for part in text.split(",")) if text else ()
    if any(not name for name in names):
        raise BadInput(f"{option}: a name between two commas is empty.")
    return tuple(dict.fromkeys(names))


def values_of(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Parse texts ``NAME=A,B``. A ``|`` in the values replaces the comma as separator. Raise
    ``BadInput`` for other text.
    """
    values_of_name: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, equals, rest = text.partition("=")
        values = tuple(rest.split("|" if "|" in rest else ","))
        if not equals or not name or not all(values):
            raise BadInput(f"--values: {text[:60]!r} is not NAME=A,B: give a name and its values.")
        if name in values_of_name:
            raise BadInput(f"--values: {name[:60]} is given twice: give all its values at once.")
        values_of_name[name] = values
    return values_of_name


# --- ``tune try``.

FAMILIES = ("PSM3_", "PSM2_", "FI_", "UCX_", "I_MPI_", "OMPI_MCA_", "MPIR_CVAR_", "HFI_")
"""Prefixes of variables that an MPI, or a library below it, reads."""
MOST_VALUES = 8
LONGEST_VALUE = 1024
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
_STEP = re.compile(r"([^.\[\]]+)|\[([0-9]{1,6})\]", re.ASCII)

Reader = Callable[[str], float | None]
"""Returns the number in a command's output; None if it is missing."""


def is_of_a_fabric(name: str) -> bool:
    """Return whether a variable affects the engine's runs, because the MPI below them reads it."""
    return name.startswith(FAMILIES)


def knob_of(text: str, settings: Collection[str], environment: Mapping[str, str]) -> TriedKnob:
    """Parse ``VAR=A,B``, ``VAR=A`` (compared with the current value), ``VAR=,A`` (compared with
    unset), ``ID=A,B`` or ``ID``. A ``|`` in the values replaces the comma as separator, so that
    values can contain commas.

    ``settings``: the catalogue's ids, which may be followed by ``/INSTANCE``. A name with a dot or
    slash is a sysctl or a file. Raises ``BadInput`` for other text.
    """
    name, equals, rest = text.partition("=")
    if name.partition("/")[0] in settings or _is_file(name):
        return _setting(name, rest if equals else None)
    if not equals or _VARIABLE.fullmatch(name) is None:
        raise BadInput(_unknown(text, settings))
    values = _values(name, rest)
    if len(values) == 1:
        values = (environment.get(name), *values)
    return _checked(TriedKnob(name=name, kind="variable", values=values))


def _is_file(name: str) -> bool:
    return name.isprintable() and not name.startswith(".") and ("." in name or "/" in name)


def _setting(name: str, rest: str | None) -> TriedKnob:
    values = _values(name, rest) if rest is not None else ()
    if len(values) < 2:
        values = (None, *values)
    if None in values[1:]:
        raise BadInput(f"{name}: a value between two commas is empty.")
    return _checked(TriedKnob(name=name, kind="setting", values=values), least=1)


def _values(name: str, text: str) -> tuple[str | None, ...]:
    parts = text.split("|" if "|" in text else ",")
    for part in parts:
        if len(part) > LONGEST_VALUE or not all(letter.isprintable() for letter in part):
            raise BadInput(
                f"{name}: {part[:40]!r} cannot be a value: give up to {LONGEST_VALUE} printable"
                " characters."
            )
    return tuple(part if part else None for part in parts)


def _checked(knob: TriedKnob, least: int = 2) -> TriedKnob:
    if len(set(knob.values)) != len(knob.values) or len(knob.values) < least:
        same = next((value for value in knob.values if knob.values.count(value) > 1), None)
        raise BadInput(
            f"{knob.name}: {same or 'nothing'!r} is given twice, or is already set: give "
            "different values."
        )
    if len(knob.values) > MOST_VALUES:
        raise BadInput(f"{knob.name}: give at most {MOST_VALUES} values, not {len(knob.values)}.")
    return knob


def _unknown(text: str, settings: Collection[str]) -> str:
    listed = "`wireproof audit --list` names the settings."
    return (
        f"{text[:60]!r} is neither a setting of the catalogue (ID or ID=A,B) nor a variable with"
        f" values (VAR=A,B); {suggestion(text.partition('=')[0], settings, listed)}"
    )


def metric_reader(text: str) -> Reader:
    """Parse ``json:KEY.KEY[2].KEY`` or a regular expression, whose group (or whole match) is the
    number; the last match counts. Raise ``BadInput`` for other text.
    """
    if text.startswith("json:"):
        steps = _steps(text.removeprefix("json:"))
        return lambda output: _in_json(output, steps)
    try:
        pattern = re.compile(text, re.MULTILINE)
    except re.error as error:
        raise BadInput(f"--metric {text[:60]!r} is not a regular expression ({error}).") from error
    if pattern.groups > 1:
        raise BadInput(
            f"--metric {text[:60]!r} has {pattern.groups} groups: give one, for the number."
        )
    return lambda output: _last(pattern, output)


def _last(pattern: re.Pattern[str], output: str) -> float | None:
    matches = pattern.findall(output)
    return _number(matches[-1]) if matches else None


def _steps(text: str) -> list[str | int]:
    steps = [(match[1] or int(match[2])) for match in _STEP.finditer(text)]
    if not steps:
        raise BadInput("--metric json: names nothing: give a path such as json:end.sum.seconds.")
    return steps


def _in_json(output: str, steps: list[str | int]) -> float | None:
    try:
        value: Any = msgspec.json.decode(output.encode("utf-8", "replace"))
        for step in steps:
            value = value[step]
    except (msgspec.DecodeError, RecursionError, KeyError, IndexError, TypeError):
        return None
    return _number(value)


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
