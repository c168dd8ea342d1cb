"""Read what options name or contain: agreed criteria, physical constants, and the model's world."""

import hashlib
import math
from collections.abc import Sequence
from pathlib import Path

import msgspec

from wireproof.files.hostile import read_bounded
from wireproof.model.claim import Criteria
from wireproof.model.dossier import KNOWN, Agreed, Threshold
from wireproof.model.errors import LARGEST, BadInput, read_toml, reading, suggestion
from wireproof.model.plan import ModelFault, ModelWorld
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
    return _within(known, value, where)


def _within(known: Threshold, value: object, where: str) -> float:
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
    try:
        return override(default_table(), text)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error


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
