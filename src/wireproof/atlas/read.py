"""Read a file of the atlas as sources. A bad row is reported with file, line and field. Pure."""

import re
from typing import Literal

import msgspec

from wireproof.model.atlas import RATE_UNITS, TIME_UNITS, Publication, Published
from wireproof.model.claim import LinkClaim
from wireproof.model.errors import BadInput, read_toml
from wireproof.physics.bounds import CurveBounds, bounds_of
from wireproof.physics.claims import PATHS, claim_from_text
from wireproof.physics.table import PhysicsError

_PLACE = re.compile(r"\$\.source\[(\d+)\](?:\.series\[(\d+)\])?(?:\.(\w+))?(?:\[(\d+)\])?")
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
    try:
        found = msgspec.convert(read_toml(text, name, largest=_LARGEST), _SourcesFile).source
    except msgspec.ValidationError as error:
        raise BadInput(_sentence_of(str(error), text, name)) from error
    seen: set[str] = set()
    for number, source in enumerate(found):
        if source.id in seen:
            line = _line(text, number, None, "id")
            raise BadInput(f"{name}:{line}: id: {source.id!r} appears twice.")
        seen.add(source.id)
        for place, series in enumerate(source.series):
            if wrong := trouble(series):
                field, why = wrong
                line = _line(text, number, place, field)
                raise BadInput(f"{name}:{line}: {field}: {why}.")
    return found


def _sentence_of(error: str, text: str, name: str) -> str:
    """Return msgspec's sentence with the line of the value that it refers to."""
    match = _PLACE.search(error)
    what = error.partition(" - at ")[0]
    if match is None:
        return f"{name}: {what}."
    series = int(match[2]) if match[2] else None
    field = match[3] or (
        unknown[1] if (unknown := re.search(r"unknown field `(\w+)", what)) else ""
    )
    row = f" (row {int(match[4]) + 1})" if match[4] and field == "rows" else ""
    line = _line(text, int(match[1]), series, field)
    return f"{name}:{line}: {field or 'source'}{row}: {what}."


def _line(text: str, source: int, series: int | None, field: str) -> int:
    """Return the line of a field, or of the table that should have it; the parser reports no
    lines.
    """
    wanted = (source, -1 if series is None else series)
    sources, inside, at = -1, -1, 1
    for number, line in enumerate(text.splitlines(), 1):
        plain = line.replace(" ", "")
        if plain.startswith("[[source]]"):
            sources, inside = sources + 1, -1
        elif plain.startswith("[[source.series]]"):
            inside += 1
        elif field and (sources, inside) == wanted and plain.startswith(f"{field}="):
            return number
        if plain.startswith("[[") and (sources, inside) == wanted:
            at = number
    return at


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
