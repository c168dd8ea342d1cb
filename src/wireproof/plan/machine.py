"""The machine parameters that a simulation starts from, measured or given, each with its origin."""

import os
import statistics
from collections.abc import Iterator, Mapping
from pathlib import Path

from wireproof.ledger.measured import measure
from wireproof.model import gathered
from wireproof.model.errors import BadInput
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
_SIGMA = ("sigma", 0)
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


def _measured(folder: Path) -> dict[str, tuple[float, str]]:
    """Return the parameters that follow from the runs, by name.

    The time per message of one stream is the processor's overhead (o). The time per message of all
    ranks of a node together is the adapter's gap (g).
    """
    times = gathered(each for run in _runs(folder) for each in _times(run))
    half_trips = {
        size: _median(values) for (what, size), values in times.items() if what == "pingpong"
    }
    fitted = fit_sizes(half_trips)
    if fitted is None:
        return {}
    start = max(0.0, fitted.start_ns)
    line = f"measured: t = start + s / R over {len(half_trips)} sizes of ping-pong"
    sigma, source = _median(times.get(_SIGMA, [])), "measured: quartiles of ping-pongs up to 64 B"
    if sigma > _UNSTEADY:
        source = f"left out: short ping-pongs were too variable (sigma {sigma:.2g})"
    found = {
        "start_ns": (start, line),
        "byte_ns": (max(0.0, fitted.gap_ns_per_byte), line),
        "noise": (0.0 if sigma > _UNSTEADY else sigma, source),
    }
    for name, pattern, what in (
        ("overhead_ns", "stream", "a stream"),
        ("gap_ns", "message_rate", "message_rate, all ranks of a node"),
    ):
        short = min((size for each, size in times if each == pattern), default=_SHORT + 1)
        if short <= _SHORT:
            source = f"measured: time per message of {what} of {short} B"
            found[name] = (min(_median(times[pattern, short]), start / 3), source)
    return found


def _times(run: Run) -> Iterator[tuple[tuple[str, int], float]]:
    """Return the times in ns that ranks of different hosts measured, by pattern and message size in
    bytes: half round trips, time per message of one stream, time per message of all ranks of a node
    together; and sigma of short round trips.
    """
    host = {entry.rank: entry.host for entry in run.hosts}
    for point in run.points:
        size, group = point.message_bytes, point.group
        if point.pattern == "message_rate" and group is not None and group.estimate is not None:
            if len({host.get(rank) for rank in group.members}) == 2 and len(group.members) >= _MANY:
                per_message = group.estimate.median_ns / max(1, group.messages_per_operation)
                yield (point.pattern, size), per_message
            continue
        for pair in point.pairs if point.pattern in ("pingpong", "stream") else ():
            found = measure(point, pair)
            if found is None or host.get(pair.origin) == host.get(pair.target):
                continue
            yield (point.pattern, size), found.time.median_ns
            if point.pattern == "pingpong" and size <= _SHORT:
                yield _SIGMA, _sigma(pair.batch_ns)


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
    return statistics.median(values) if values else 0.0
