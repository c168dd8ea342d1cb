"""A plan as a file: written by ``tune plan -o``, believed by nobody who reads it. Pure."""

from __future__ import annotations

import msgspec

from wireproof.model.errors import BadInput
from wireproof.model.tuning import TunePlan
from wireproof.tune.believed import wrong_in

__all__ = ["read_plan"]

_SCHEMA = TunePlan().schema
_VERSION = TunePlan().version


def read_plan(data: bytes, name: str) -> TunePlan:
    """Raises ``BadInput`` with what is wrong. What a host may be asked for is decided there,
    too.
    """
    try:
        found = msgspec.json.decode(data, type=TunePlan)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{name} is no plan of `wireproof tune plan -o`: {error}.") from error
    if found.schema != _SCHEMA or found.version != _VERSION:
        raise BadInput(
            f"{name} is {found.schema[:60]} version {found.version}; {_SCHEMA} version"
            f" {_VERSION} is wanted: make the plan again."
        )
    names = [host.host for host in found.hosts]
    if len(set(names)) < len(names):
        raise BadInput(f"{name} has a host twice: make the plan again.")
    for host in found.hosts:
        if wrong := wrong_in(host):
            raise BadInput(f"{name}: {wrong}: make the plan again.")
    return found
