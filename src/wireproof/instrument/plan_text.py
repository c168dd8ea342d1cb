"""Write the text form of plans (docs/reference/engine-interface.md). Pure."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from wireproof.model.pattern import TWO_FORMS, is_remote
from wireproof.model.plan import (
    FactRequest,
    Libfabric,
    ModelCounter,
    ModelWorld,
    Plan,
    Point,
    Policy,
    RankPlace,
    Transport,
    WitnessPolicy,
)

_RESERVED = frozenset(b"%= ,")


def encode_value(text: str) -> str:
    """Percent-encode characters that would break a line or a list: space, %, =, comma and control
    characters.
    """
    return "".join(
        chr(byte) if 32 < byte < 127 and byte not in _RESERVED else f"%{byte:02X}"
        for byte in text.encode("utf-8", "surrogateescape")
    )


def _statement(keyword: str, **fields: object) -> str:
    """Return a line; fields that are None or "" are left out (the engine's default holds)."""
    words = [keyword]
    for key, value in fields.items():
        if value is None or value == "":
            continue
        words.append(f"{key}={value}")
    return " ".join(words)


def _rank(place: RankPlace) -> str:
    return _statement(
        "rank",
        index=place.index,
        host=encode_value(place.host),
        nic=encode_value(place.nic),
        address=encode_value(place.address),
    )


def _values(
    struct: Libfabric | Policy | ModelCounter | ModelWorld,
) -> dict[str, object]:
    """Return fields under the names of the text form, numbers unchanged, texts encoded."""
    named = msgspec.to_builtins(struct)
    return {
        key: encode_value(value) if isinstance(value, str) else value
        for key, value in named.items()
    }


def _fact(request: FactRequest) -> str:
    return _statement(
        "fact",
        kind=request.kind,
        path=encode_value(request.path),
        argv=",".join(encode_value(word) for word in request.argv),
        limit_bytes=request.limit_bytes,
        timeout_ms=request.timeout_ms,
    )


def _pairs(pairs: Iterable[tuple[int, int]]) -> str:
    return ",".join(f"{origin}-{target}" for origin, target in pairs)


def _ranks(members: Sequence[int]) -> str:
    """Return ``0:3,8``: runs of successive ranks as ranges, because a list of ten
    thousand is long.
    """
    runs: list[list[int]] = []
    for rank in members:
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    return ",".join(f"{first}:{last}" if last > first else str(first) for first, last in runs)


def _point(point: Point) -> str:
    return _statement(
        "point",
        id=point.id,
        pattern=point.pattern,
        form=point.form if point.pattern in TWO_FORMS else None,
        message_bytes=point.message_bytes,
        window=point.window,
        formula=point.formula,
        window_kind=point.window_kind if is_remote(point.pattern) else None,
        repeat=point.repeat or None,
        pairs=_pairs(point.pairs) or None,
        members=_ranks(point.members) or None,
        load=_pairs(point.load) or None,
        load_bytes=point.load_bytes if point.pattern == "congestion" else None,
        order=point.order if point.pattern == "ring" else None,
        blocking=None if point.blocking else 0,
        threads=point.threads if point.threads > 1 else None,
        partitions=point.partitions if point.partitions > 1 else None,
        detail="brief" if point.detail == "brief" else None,
        budget_ms=point.budget_ms,
        iterations=point.iterations or None,
        least_operations=point.least_operations or None,
    )


def _witness(policy: WitnessPolicy) -> str:
    late = [f"{encode_value(driver)}:{ms}" for driver, ms in policy.late]
    return _statement(
        "witness",
        idle_ms=policy.idle_ms,
        settle_ms=policy.settle_ms,
        root=encode_value(policy.root),
        late=",".join(late),
    )


def _transport(transport: Transport) -> str:
    asked = _values(transport.ofi) if transport.ofi else {}
    return _statement(
        "transport",
        kind=transport.kind,
        expect=encode_value(transport.expect),
        **asked,
    )


def _lines(plan: Plan) -> Iterator[str]:
    yield "wireproof-plan 1"
    yield _statement("run", id=encode_value(plan.run_id), seed=plan.seed)
    yield _transport(plan.transport)
    yield from map(_rank, plan.ranks)
    yield _statement("policy", **_values(plan.policy))
    yield _witness(plan.witness)
    if plan.model is not None:
        yield _statement("model", **_values(plan.model))
    for fault in plan.model_faults:
        yield _statement(
            "model_fault", rank=fault.rank, tx=fault.tx, rx=fault.rx, latency_ns=fault.latency_ns
        )
    for counter in plan.model_counters:
        yield _statement("model_counter", **_values(counter))
    yield from map(_fact, plan.facts)
    yield from map(_point, plan.points)


def write_plan(plan: Plan) -> str:
    """Return the text that the engine reads on standard input; it ends with a newline."""
    return "\n".join(_lines(plan)) + "\n"


def write_requests(requests: Iterable[FactRequest]) -> str:
    """Return the input of the engine's ``facts``: a plan of which only the requests are used."""
    return "\n".join(["wireproof-plan 1", *map(_fact, requests), ""])
