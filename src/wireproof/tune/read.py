"""A plan as a file: written by ``tune plan -o``, believed by nobody who reads it. Pure."""

from __future__ import annotations

import msgspec

from wireproof.model.change import Change
from wireproof.model.errors import BadInput
from wireproof.model.tuning import HostPlan, TunePlan

__all__ = ["read_plan"]

_SCHEMA = TunePlan().schema
_VERSION = TunePlan().version


def read_plan(data: bytes, name: str) -> TunePlan:
    """Raises ``BadInput`` with what is wrong. What a host may be asked for is decided there."""
    try:
        found = msgspec.json.decode(data, type=TunePlan)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{name} is no plan of `wireproof tune plan -o`: {error}.") from error
    if found.schema != _SCHEMA or found.version != _VERSION:
        raise BadInput(
            f"{name} is {found.schema[:60]} version {found.version}; {_SCHEMA} version"
            f" {_VERSION} is wanted: make the plan again."
        )
    for host in found.hosts:
        _check(host, name)
    return found


def _check(host: HostPlan, name: str) -> None:
    for one in host.changes:
        if wrong := _wrong(one.change):
            raise BadInput(f"{name}: {one.change.id[:100]!r} of {host.host[:100]!r} {wrong}.")


def _wrong(change: Change) -> str:
    if change.kind == "file":
        return "" if change.path.startswith(("/proc/sys/", "/sys/")) else "is no file of a setting"
    return "" if change.read and change.write and change.key else "has no whole command"
