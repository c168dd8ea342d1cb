"""Plans, records and tables with a plain value in every field that a test does not name."""

from collections.abc import Sequence
from typing import Any

from wireproof.model.located import Blame, Located
from wireproof.model.plan import Plan, Point, RankPlace, Transport
from wireproof.model.record import (
    Clock,
    Estimate,
    GroupResult,
    Open,
    PairResult,
    PointRecord,
    Warmup,
)
from wireproof.model.run import Provenance
from wireproof.model.series import Series, SeriesPoint

PROVENANCE = Provenance(
    wireproof="0", mpi="", engine="", argv=[], environment={}, launcher="", started=""
)
_TIMED: dict[str, Any] = {
    "status": "ok",
    "stop": "precision",
    "operations_per_batch": 1,
    "batch_ns": [1.0],
    "block_batches": [1],
    "warmup": Warmup(operations=1, elapsed_ns=1.0, stationary=True),
    "window_used": 1,
}


def holds(thing: object, **expected: object) -> None:
    """Assert that the fields of ``thing`` have these values."""
    assert {name: getattr(thing, name) for name in expected} == expected


def opened(**changes: Any) -> Open:
    """The first frame of two ranks."""
    whole: dict[str, Any] = {
        "schema": 1,
        "engine": "e",
        "abi": "mpich",
        "transport": "mpi",
        "run_id": "r",
        "seed": 1,
        "ranks": 2,
        "clock": Clock(source="tsc", ns_per_tick=0.4, quantum_ns=1.0, read_cost_ns=8.0),
    }
    return Open(**(whole | changes))


def estimate(median_ns: float, half_width: float = 0.0, **changes: Any) -> Estimate:
    """A stable median of ten blocks."""
    whole: dict[str, Any] = {
        "median_ns": median_ns,
        "low_ns": median_ns * (1 - half_width),
        "high_ns": median_ns * (1 + half_width),
        "blocks": 10,
        "effective_blocks": 10.0,
        "autocorrelation": 0.0,
        "half_width": half_width,
        "label": "stable",
    }
    return Estimate(**(whole | changes))


def pair_result(origin: int = 0, target: int = 1, **changes: Any) -> PairResult:
    """One message in a single batch, nothing back."""
    whole: dict[str, Any] = {
        **_TIMED,
        "messages_forward": 1,
        "messages_backward": 0,
        "payload_forward_bytes": 8,
        "payload_backward_bytes": 0,
    }
    return PairResult(origin=origin, target=target, **(whole | changes))


def group_result(ranks: int, **changes: Any) -> GroupResult:
    """The first ``ranks`` ranks as members; nothing is known of single members."""
    whole: dict[str, Any] = {
        **_TIMED,
        "members": list(range(ranks)),
        "messages_per_operation": 1,
        "member_ns": [],
        "sent_bytes": [],
        "received_bytes": [],
        "exact": True,
    }
    return GroupResult(**(whole | changes))


def point_record(number: int = 0, **changes: Any) -> PointRecord:
    """A stream of 8 bytes, without pairs and counters."""
    whole: dict[str, Any] = {
        "pattern": "stream",
        "form": "stream",
        "message_bytes": 8,
        "window": 1,
        "formula": "robust",
        "started_unix_ns": 0,
        "elapsed_ns": 1.0,
        "pairs": [],
    }
    return PointRecord(id=number, **(whole | changes))


def made_plan(points: Sequence[Point] = (), *hosts: str, kind: str = "mpi", **changes: Any) -> Plan:
    """``points`` between ranks on ``hosts``, n1 and n2 if none is named."""
    names = enumerate(hosts or ("n1", "n2"))
    whole: dict[str, Any] = {
        "run_id": "r",
        "seed": 1,
        "transport": Transport(kind=kind),  # type: ignore[arg-type]
        "ranks": tuple(RankPlace(index=rank, host=host) for rank, host in names),
    }
    return Plan(points=tuple(points), **(whole | changes))


def imb_rates(points: Sequence[SeriesPoint], **changes: Any) -> Series:
    """A table of a stream's rates by IMB."""
    whole: dict[str, Any] = {
        "tool": "imb",
        "benchmark": "Unirandom",
        "metric": "bandwidth",
        "traffic": "stream",
        "formula": "",
        "unit": "",
    }
    return Series(points=list(points), **(whole | changes))


def osu_rates(points: Sequence[SeriesPoint], **changes: Any) -> Series:
    """A table of OSU's bandwidth test."""
    whole = {"tool": "osu", "benchmark": "osu_bw", "window": 64, "unit": "MB/s"}
    return imb_rates(points, **(whole | changes))


def osu_times(points: Sequence[SeriesPoint], **changes: Any) -> Series:
    """A table of OSU's ping-pong."""
    whole = {
        "tool": "osu",
        "benchmark": "osu_latency",
        "metric": "half_round_trip",
        "traffic": "pingpong",
        "waits": True,
        "formula": "round trip / 2",
        "unit": "us",
    }
    return imb_rates(points, **(whole | changes))


def blame(**changes: Any) -> Blame:
    """A sender, n3, that was confirmed alone and reaches 71.4 of 119 MB/s."""
    whole: dict[str, Any] = {
        "kind": "port",
        "subject": "n3",
        "direction": "tx",
        "slowdown": 0.4,
        "low": 0.39,
        "high": 0.41,
        "confidence": 0.9999,
        "stage": "confirmed",
        "value": 71.4e6,
        "expected": 119e6,
    }
    return Blame(**(whole | changes))


def located(**changes: Any) -> Located:
    """A sweep of four nodes that finds a slowdown of 3 % and found nobody."""
    whole: dict[str, Any] = {
        "metric": "goodput",
        "nodes": 4,
        "measured": 4,
        "rounds": 12,
        "samples": 48,
        "noise": 0.01,
        "alpha": 0.01,
        "practical": 0.05,
        "detectable": 0.03,
    }
    return Located(**(whole | changes))
