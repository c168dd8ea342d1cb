"""The model transport's world and its planted faults, from text."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from wireproof.model.errors import BadInput
from wireproof.model.plan import ModelFault, ModelWorld

__all__ = ["faults_of", "model_of"]


def model_of(text: str) -> ModelWorld:
    """``latency_ns=1500,gap_ns_per_byte=0.08,...`` as the world of the model transport."""
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
            f"--model {text!r}: {error}; there is {known}, latency_ns and gap_ns_per_byte are"
            " needed."
        ) from error


def faults_of(texts: Sequence[str]) -> tuple[ModelFault, ...]:
    """``rank=77,tx=0.8`` each: that rank sends at four fifths of the rate."""
    found: list[ModelFault] = []
    for text in texts:
        fields = dict(part.strip().partition("=")[::2] for part in text.split(","))
        try:
            fault = msgspec.convert(fields, ModelFault, strict=False)
        except msgspec.ValidationError as error:
            known = ", ".join(ModelFault.__struct_fields__)
            raise BadInput(
                f"--model-fault {text[:60]!r}: {error}; there is {known}, rank is needed."
            ) from error
        if set(fields) - set(ModelFault.__struct_fields__):
            raise BadInput(
                f"--model-fault {text[:60]!r}: there is {', '.join(ModelFault.__struct_fields__)}."
            )
        shares = 0 < fault.tx <= 1 and 0 < fault.rx <= 1
        if fault.rank < 0 or not shares or not fault.latency_ns >= 0:
            raise BadInput(
                f"--model-fault {text[:60]!r}: give a rank from 0, and shares above 0 and up to 1."
            )
        found.append(fault)
    return tuple(found)
