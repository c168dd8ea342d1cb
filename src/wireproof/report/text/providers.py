"""The libfabrics of a machine and the MPIs' choices, for people."""

from __future__ import annotations

from collections.abc import Iterator

from wireproof.model.providers import Libfabric, Provider, ProviderChoice, ProviderReport
from wireproof.report.names import clean

__all__ = ["provider_lines"]

_MARKS = {"usable": "ok     ", "other-endpoints": "partly ", "missing": "missing"}


def provider_lines(found: ProviderReport) -> list[str]:
    """A block for each library, then a line for each MPI with the steps that lead to its choice."""
    lines = [line for one in found.libfabrics for line in _library(one)]
    if found.choices:
        lines.append("what each MPI takes between hosts:")
    return [*lines, *(line for one in found.choices for line in _choice(one))]


def _library(one: Libfabric) -> Iterator[str]:
    if one.problem:
        yield f"{clean(one.path)} ({clean(one.origin)}): cannot be used: {clean(one.problem)}"
        return
    yield f"libfabric {clean(one.version)}: {clean(one.path)} ({clean(one.origin)})"
    for provider in one.providers:
        yield from _provider(provider)
    for warning in one.warnings:
        yield f"  warns: {clean(warning)}"


def _provider(one: Provider) -> Iterator[str]:
    layered = [clean(name) for name in one.names if name != one.name]
    names = f" (as {', '.join(layered)})" if layered else ""
    domains = f" on {', '.join(clean(name) for name in one.domains)}" if one.domains else ""
    reason = f": {clean(one.reason)}" if one.reason else ""
    yield f"  {_MARKS[one.state]} {clean(one.name)}{names}{domains}{reason}"
    for warning in one.warnings:
        yield f"            warns: {clean(warning)}"


def _choice(one: ProviderChoice) -> Iterator[str]:
    yield f"  {clean(one.mpi)}: {clean(one.provider) or 'no provider of libfabric'}"
    for step in one.why:
        yield f"      {clean(step)}"
