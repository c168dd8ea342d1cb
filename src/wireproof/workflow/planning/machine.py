"""The machine that a simulation starts from: measured in a run, or given, each number with its
origin.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from wireproof.analysis.fit import fit_sizes
from wireproof.analysis.measured import measure
from wireproof.model.errors import BadInput
from wireproof.model.planning.scale import Parameter
from wireproof.model.record import PointRecord
from wireproof.model.run import Run
from wireproof.plan.scale.machine import Machine
from wireproof.store.load import DOCUMENT, load_run

__all__ = ["UNITS", "machine_of"]

UNITS = {
    "start_ns": "ns",
    "byte_ns": "ns/B",
    "overhead_ns": "ns",
    "gap_ns": "ns",
    "hop_ns": "ns",
    "local_start_ns": "ns",
    "local_byte_ns": "ns/B",
    "local_overhead_ns": "ns",
    "noise": "sigma",
}
_ASSUMED = {
    "overhead_ns": 0.0,
    "gap_ns": 0.0,
    "hop_ns": 150.0,
    "local_start_ns": 300.0,
    "local_byte_ns": 0.1,
    "local_overhead_ns": 100.0,
    "noise": 0.0,
}
_MOST_RUNS = 1000
_SHORT = 64  # bytes of a message that has no length to speak of


def machine_of(
    folder: Path | None,
    given: Mapping[str, float | None],
    more: Mapping[str, float] | None = None,
) -> tuple[Machine, list[Parameter]]:
    """``given`` values come first, then what was measured in the runs below ``folder``, then what
    is assumed (``more``: beside what always is).

    Raises ``BadInput`` when the start or the rate is in none of them.
    """
    assumed = {**_ASSUMED, **(more or {})}
    measured = _measured(folder) if folder is not None else {}
    values: dict[str, tuple[float, str]] = {}
    for name in UNITS:
        own = given.get(name)
        if own is not None:
            values[name] = (own, "given")
        elif name in measured:
            values[name] = measured[name]
        elif name in assumed:
            values[name] = (assumed[name], "assumed")
        else:
            option = {"start_ns": "--start", "byte_ns": "--rate"}[name]
            where = f"{folder} has no ping-pong between hosts" if folder else "nothing says"
            raise BadInput(
                f"{where}: how long a message takes to start, or a byte, is not known; give"
                f" {option}, or --from with the folder of a measure of pingpong over sizes."
            )
    machine = Machine(**{name: value for name, (value, _) in values.items()})
    parameters = [
        Parameter(name=name, value=value, unit=UNITS[name], source=source)
        for name, (value, source) in values.items()
    ]
    return machine, parameters


def _runs(folder: Path) -> list[Run]:
    """The runs in ``folder`` and one or two levels below it."""
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder: give the --out folder of a run.")
    found: list[Run] = []
    for place, names, files in os.walk(folder, followlinks=False):
        if DOCUMENT in files and len(found) < _MOST_RUNS:
            found.append(load_run(Path(place)))
        if len(Path(place).relative_to(folder).parts) >= 2:
            names.clear()
        names.sort()
    if not found:
        raise BadInput(f"{folder} is not a run of wireproof: it has no {DOCUMENT}.")
    return found


def _measured(folder: Path) -> dict[str, tuple[float, str]]:
    """What the runs say of the machine, by the name of the parameter."""
    round_trips: dict[int, list[float]] = {}
    streams: dict[int, list[float]] = {}
    spreads: list[float] = []
    for run in _runs(folder):
        host = {one.rank: one.host for one in run.hosts}
        for point in run.points:
            _collect(point, host, round_trips, streams, spreads)
    found: dict[str, tuple[float, str]] = {}
    fitted = fit_sizes({size: _median(times) for size, times in round_trips.items()})
    if fitted is not None:
        count = len(round_trips)
        origin = f"measured: t = start + s / R over {count} sizes of ping-pong"
        found["start_ns"] = (max(0.0, fitted.start_ns), origin)
        found["byte_ns"] = (max(0.0, fitted.gap_ns_per_byte), origin)
        found["noise"] = (_median(spreads), "measured: p95 / p50 of ping-pongs up to 64 B")
    short = [size for size in streams if size <= _SHORT]
    if short and fitted is not None:
        gap = min(_median(streams[min(short)]), fitted.start_ns / 3)
        found["gap_ns"] = found["overhead_ns"] = (
            gap,
            f"measured: time per message of a stream of {min(short)} B",
        )
    return found


def _collect(
    point: PointRecord,
    host: Mapping[int, str],
    round_trips: dict[int, list[float]],
    streams: dict[int, list[float]],
    spreads: list[float],
) -> None:
    """Adds the point's pairs of different hosts to what it measures."""
    for pair in point.pairs:
        if host.get(pair.origin) == host.get(pair.target):
            continue
        found = measure(point, pair)
        if found is None:
            continue
        if point.pattern == "pingpong":
            round_trips.setdefault(point.message_bytes, []).append(found.time.median_ns)
            if point.message_bytes <= _SHORT:
                spreads.append(_sigma(pair.batch_ns))
        elif point.pattern == "stream":
            streams.setdefault(point.message_bytes, []).append(found.time.median_ns)


def _sigma(batches: list[float]) -> float:
    """Sigma of the logarithm, by the 95 % quantile and the median of the batches."""
    import numpy as np

    values = np.asarray(batches, dtype=np.float64)
    values = values[np.isfinite(values) & (values > 0)]
    if values.size < 2:
        return 0.0
    middle, high = np.quantile(values, (0.5, 0.95))
    return float(np.log(high / middle)) / 1.6449


def _median(values: list[float]) -> float:
    from statistics import median

    return median(values) if values else 0.0
