"""Read a file of the atlas as sources. A bad row is reported with file, line and field. Pure."""

from typing import Literal

import msgspec

from wireproof.model.atlas import RATE_UNITS, TIME_UNITS, Publication, Published
from wireproof.model.claim import LinkClaim
from wireproof.model.errors import BadInput
from wireproof.model.toml import line_at, read_struct
from wireproof.physics.bounds import CurveBounds, bounds_of
from wireproof.physics.claims import PATHS, claim_from_text
from wireproof.physics.table import PhysicsError

_LARGEST = 4 << 20
_VERBS = ("ib_", "raw_ethernet", "qperf rc", "qperf uc", "qperf ud", "rdma_", "ibv_")
_SOCKETS = ("iperf", "netperf", "qperf tcp", "sockperf", "nuttcp", "ntttcp", "netpipe tcp", "nttcp")
Layer = Literal["mpi", "verbs", "sockets"]
"""What the program calls: a message takes longer through MPI than through verbs, and a stream of
sockets is not comparable with MPI over sockets.
"""
_TOLERANCE = 0.02


class _SourcesFile(msgspec.Struct):
    source: list[Publication]


def sources_of(text: str, name: str) -> list[Publication]:
    """Return the sources in a TOML text.

    Raises ``BadInput`` that names ``name``, the line and the field: for an invalid format, an
    unknown link, a duplicate source, and a row that the link's limits exclude.
    """
    found = read_struct(text, name, _SourcesFile, largest=_LARGEST).source
    seen: set[str] = set()
    for number, source in enumerate(found):
        if source.id in seen:
            line = line_at(text, [("source", number), ("id", None)])
            raise BadInput(f"{name}, line {line}: id: {source.id!r} appears twice.")
        seen.add(source.id)
        for place, series in enumerate(source.series):
            if wrong := trouble(series):
                field, why = wrong
                line = line_at(text, [("source", number), ("series", place), (field, None)])
                raise BadInput(f"{name}, line {line}: {field}: {why}.")
    return found


def layer_of_tool(tool: str) -> Layer:
    """Return the layer by the program's name: ``ib_write_bw`` calls verbs, ``iperf3`` sockets."""
    name = tool.lower()
    if name.startswith(_VERBS):
        return "verbs"
    return "sockets" if name.startswith(_SOCKETS) else "mpi"


def link_of(series: Published) -> LinkClaim:
    """Return the claim of the series' link, as its path uses it. Raises PhysicsError."""
    path = series.path if series.path in PATHS else ""
    return claim_from_text(series.link, path=path)


def bounds_of_series(series: Published) -> CurveBounds:
    """Return the limits of the series' link."""
    return bounds_of(link_of(series), verbs=layer_of_tool(series.tool) == "verbs")


def time_of(series: Published, size: int, value: float) -> float | None:
    """Return the ns of one operation; None for a rate of messages in flight together."""
    if series.unit in TIME_UNITS:
        return value * TIME_UNITS[series.unit]
    if series.pattern == "pingpong" and size:
        return size / (value * RATE_UNITS[series.unit]) * 1e9
    return None


def goodput_of(series: Published, size: int, value: float) -> float | None:
    """Return the bytes/s of one direction; None if the value is the time of an empty message."""
    if series.unit in TIME_UNITS:
        return size / (value * TIME_UNITS[series.unit]) * 1e9 if size else None
    ways = series.directions or (2 if series.pattern == "exchange" else 1)
    return value * RATE_UNITS[series.unit] / ways


def trouble(series: Published) -> tuple[str, str] | None:
    """Return (field, reason) if a series cannot be a number over its link, else None.

    A value that is faster than the wire allows is shared memory or a mistake.
    """
    try:
        bounds = bounds_of_series(series)
    except PhysicsError as error:
        field = "path" if "path" in str(error)[:20] else "link"
        return field, str(error).rstrip(".")
    if not bounds.wire:
        return "link", f"{series.link} is not a wire"
    if series.nodes < 2:
        return "nodes", "a single node uses no wire"
    if series.pattern == "ring" and series.ranks_per_node > 1:
        return "ranks_per_node", "neighbours of a ring on one node share memory"
    for size, value in series.rows:
        if why := _excluded(series, bounds, size, value):
            return "rows", f"{value:g} {series.unit} at {size} B {why}"
    return None


def _excluded(series: Published, bounds: CurveBounds, size: int, value: float) -> str:
    goodput, time = goodput_of(series, size, value), time_of(series, size, value)
    if series.unit in TIME_UNITS and series.pattern in ("pingpong", "put", "get"):
        doubt = bounds.too_quick(time or 0.0, size)
        if doubt in ("fail", "inconclusive"):
            least = bounds.floor / 1e3
            return f"is faster than {bounds.link.name} can be ({least:.3g} us and the transfer)"
    if bounds.most is not None and goodput is not None:
        most = bounds.most
        if goodput > most * (1 + _TOLERANCE) and series.pattern not in ("rate", "ring"):
            return f"is more than the {most / 1e6:.0f} MB/s that {bounds.link.name} can carry"
    return ""
