"""The file of agreed criteria (``check --criteria FILE``)."""

from __future__ import annotations

import difflib
import hashlib
import math
from pathlib import Path

import msgspec

from wireproof.files.hostile import read_bounded
from wireproof.model.claim import Criteria
from wireproof.model.dossier import KNOWN, Agreed, Threshold
from wireproof.model.errors import BadInput
from wireproof.model.toml import LARGEST, read_toml

__all__ = ["read_criteria"]

_BY_NAME = {one.name: one for one in KNOWN}


def read_criteria(path: Path | None) -> Agreed | None:
    """The default criteria with those that a TOML file sets, ``min_efficiency = 0.95``; None
    without a file.

    Raises ``BadInput`` that names the file and the line's key: one that is unknown, and a value
    that is no number or beyond what the criterion can be.
    """
    if path is None:
        return None
    where = f"the criteria file {path}"
    try:
        data = read_bounded(path, LARGEST)
        text = data.decode("utf-8")
    except OSError as error:
        raise BadInput(f"{where} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{where} is not UTF-8: {error}.") from error
    found = read_toml(text, where)
    if not found:
        raise BadInput(f"{where} sets nothing: write lines such as min_efficiency = 0.95.")
    values = {name: _value(name, value, where) for name, value in found.items()}
    return Agreed(
        criteria=msgspec.structs.replace(Criteria(), **values),
        chosen=tuple(values),
        source=path.name,
        sha256=hashlib.sha256(data).hexdigest(),
    )


def _value(name: str, value: object, where: str) -> float:
    known = _BY_NAME.get(name)
    if known is None:
        near = difflib.get_close_matches(name, _BY_NAME, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(_BY_NAME)}."
        raise BadInput(f"{where}: no criterion {name[:60]!r}; {hint}")
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
