"""The machine parameters that a simulation starts from, measured or given, each with its origin."""

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path

from wireproof.ledger.measured import measure
from wireproof.model.errors import BadInput
from wireproof.model.record import PointRecord
from wireproof.model.run import Run
from wireproof.plan import Parameter
from wireproof.plan.scale.network import MachineCosts
from wireproof.stats.fit import fit_sizes
from wireproof.store.load import DOCUMENT, load_run

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
_SHORT = 64  # message size in bytes up to which the transfer time is negligible
_UNSTEADY = 0.5
_MANY = 8  # ranks on two hosts that are enough to saturate an adapter


def machine_of(
    folder: Path | None,
    given: Mapping[str, float | None],
    more: Mapping[str, float] | None = None,
) -> tuple[MachineCosts, list[Parameter]]:
    """Return the machine and its parameters: ``given`` values take precedence, then values measured
    in the runs below ``folder``, then assumed values (``more`` adds to the defaults).

    Raises ``BadInput`` if none of them has the start-up time or the rate.
    """
    assumed = {**_ASSUMED, **(more or {})}
    measured = _measured(folder) if folder is not None else {}
    values: dict[str, tuple[float, str]] = {}
    for name in UNITS:
        chosen = given.get(name)
        if chosen is not None:
            values[name] = (chosen, "given")
        elif name in measured:
            values[name] = measured[name]
        elif name in assumed:
            values[name] = (assumed[name], "assumed")
        else:
            option = {"start_ns": "--start", "byte_ns": "--rate"}[name]
            reason = f"; {folder} has no ping-pong between hosts" if folder else ""
            raise BadInput(
                f"the time per message or per byte is not known{reason}: give {option}, or --from"
                " with the folder of a `measure pingpong` over several sizes."
            )
    machine = MachineCosts(**{name: value for name, (value, _) in values.items()})
    parameters = [
        Parameter(name=name, value=value, unit=UNITS[name], source=source)
        for name, (value, source) in values.items()
    ]
    return machine, parameters


def _runs(folder: Path) -> list[Run]:
    """Load the runs in ``folder`` and up to two levels below it."""
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder: give the --out folder of a run.")
    runs: list[Run] = []
    for place, names, files in os.walk(folder, followlinks=False):
        if DOCUMENT in files and len(runs) < _MOST_RUNS:
            runs.append(load_run(Path(place)))
        if len(Path(place).relative_to(folder).parts) >= 2:
            names.clear()
        names.sort()
    if not runs:
        raise BadInput(f"{folder} is not a wireproof run: it has no {DOCUMENT}.")
    return runs


@dataclasses.dataclass
class _Times:
    """Times in ns by message size in bytes: half round trips, time per message of one stream, time
    per message of all ranks of a node together; and sigma of short round trips.
    """

    round_trip: dict[int, list[float]] = dataclasses.field(default_factory=dict)
    stream: dict[int, list[float]] = dataclasses.field(default_factory=dict)
    together: dict[int, list[float]] = dataclasses.field(default_factory=dict)
    sigma: list[float] = dataclasses.field(default_factory=list)


def _measured(folder: Path) -> dict[str, tuple[float, str]]:
    """Return the parameters that follow from the runs, by name.

    The time per message of one stream is the processor's overhead (o). The time per message of all
    ranks of a node together is the adapter's gap (g).
    """
    times = _Times()
    for run in _runs(folder):
        host = {entry.rank: entry.host for entry in run.hosts}
        for point in run.points:
            _collect(point, host, times)
    fitted = fit_sizes({size: _median(values) for size, values in times.round_trip.items()})
    if fitted is None:
        return {}
    start = max(0.0, fitted.start_ns)
    line = f"measured: t = start + s / R over {len(times.round_trip)} sizes of ping-pong"
    found = {
        "start_ns": (start, line),
        "byte_ns": (max(0.0, fitted.gap_ns_per_byte), line),
        "noise": _noise(times.sigma),
    }
    for name, by_size, most, what in (
        ("overhead_ns", times.stream, start / 3, "a stream"),
        ("gap_ns", times.together, start / 3, "message_rate, all ranks of a node"),
    ):
        short = min((size for size in by_size if size <= _SHORT), default=None)
        if short is not None:
            source = f"measured: time per message of {what} of {short} B"
            found[name] = (min(_median(by_size[short]), most), source)
    return found


def _collect(point: PointRecord, host: Mapping[int, str], times: _Times) -> None:
    """Add the values that ranks of different hosts measured in the point."""
    size, group = point.message_bytes, point.group
    if point.pattern == "message_rate" and group is not None and group.estimate is not None:
        if len({host.get(rank) for rank in group.members}) == 2 and len(group.members) >= _MANY:
            per_message = group.estimate.median_ns / max(1, group.messages_per_operation)
            times.together.setdefault(size, []).append(per_message)
        return
    for pair in point.pairs:
        found = measure(point, pair)
        if found is None or host.get(pair.origin) == host.get(pair.target):
            continue
        if point.pattern == "pingpong":
            times.round_trip.setdefault(size, []).append(found.time.median_ns)
            times.sigma += [_sigma(pair.batch_ns)] if size <= _SHORT else []
        elif point.pattern == "stream":
            times.stream.setdefault(size, []).append(found.time.median_ns)


def _noise(sigmas: list[float]) -> tuple[float, str]:
    """Return sigma of a message's latency and its source; 0 if the pairs were too variable."""
    sigma = _median(sigmas)
    if sigma > _UNSTEADY:
        return 0.0, f"left out: short ping-pongs were too variable (sigma {sigma:.2g})"
    return sigma, "measured: quartiles of ping-pongs up to 64 B"


def _sigma(batches: list[float]) -> float:
    """Return sigma of the logarithm from the quartiles of the batches, so that rare disturbances
    are not taken for noise.
    """
    import numpy as np

    values = np.asarray(batches, dtype=np.float64)
    values = values[np.isfinite(values) & (values > 0)]
    if values.size < 2:
        return 0.0
    low, high = np.quantile(values, (0.25, 0.75))
    return float(np.log(high / low)) / 1.349


def _median(values: list[float]) -> float:
    from statistics import median

    return median(values) if values else 0.0
