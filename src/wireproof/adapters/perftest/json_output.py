"""perftest's ``--out_json`` document. It does not name its unit, which is derived from the message
rate.
"""

import re
from typing import Any

import msgspec

from wireproof.adapters.documents import amount, document_at, member, text
from wireproof.adapters.page import Page
from wireproof.adapters.perftest.benchmarks import test_of
from wireproof.adapters.registry import Benchmark, Parsed
from wireproof.adapters.rows import as_count, times
from wireproof.model.series import IN_GPU, Series, SeriesPoint

DOCUMENT = re.compile(r'"test_info" ?: ?\{')
_TEST = re.compile(
    r"(RDMA_Write|RDMA_Read|Send|Atomic)(?:_imm)? ((?:[A-Za-z_]+ ){0,5}?)(BW|Latency) ((?:\w+ "
    r"){0,2})Test"
)
_FACTORS = {"MiB/sec": 1 << 20, "Gb/sec": 125_000_000}
_AGREE = 0.02
_RATE_STEP = 1e-6  # Mpps: the last digit of the message rate
_NAMED = (
    "Device",
    "Number_of_qps",
    "Connection_type",
    "Transport_type",
    "Mtu",
    "Link_type",
    "rdma_cm_QPs",
)
_GPU = ("cuda_device", "musa_device", "Use_ROCm_memory", "Use_MUSA_memory")
_MICRO = {"t_min": "min", "t_max": "max", "t_avg": "avg", "t_stdev": "stdev"}


def _scaled(results: dict[str, Any], size: float) -> tuple[float | None, str]:
    """Return the goodput in bytes per second, and the unit that the document must have used."""
    printed, rate = amount(results.get("BW_average")), amount(results.get("MsgRate"))
    if not printed or not rate:
        return None, ""
    agree = _AGREE + _RATE_STEP / 2 / rate
    for unit, factor in _FACTORS.items():
        if abs(printed * factor / (rate * 1e6 * size) - 1) <= agree:
            return printed * factor, unit
    return None, ""


def _bandwidth(results: dict[str, Any], size: float, line: int) -> tuple[SeriesPoint | None, str]:
    goodput, unit = _scaled(results, size)
    rate, iterations = amount(results.get("MsgRate")), amount(results.get("n_iterations"))
    peak = amount(results.get("BW_peak"))
    if goodput is None and not rate:
        return None, unit
    factor = _FACTORS.get(unit, 0)
    point = SeriesPoint(
        message_bytes=int(size),
        goodput_bytes_per_s=goodput,
        messages_per_s=rate * 1e6 if rate else None,
        iterations=int(iterations) if iterations else None,
        goodput_step=0.01 * factor,
        values={"peak_bytes_per_s": peak * factor} if peak and factor else {},
        line=line,
    )
    return point, unit


def _time(results: dict[str, Any], size: float, half: bool, line: int) -> SeriesPoint | None:
    typical = amount(results.get("t_typical"))
    middle = typical or amount(results.get("t_avg"))
    if not middle:
        return None
    known = {short: amount(results.get(name)) for name, short in _MICRO.items()}
    tails = {f"p{tail}": amount(results.get(f"percentile_{tail}")) for tail in ("99", "99.9")}
    found = {name: value * 1e3 for name, value in (known | tails).items() if value is not None}
    percentiles = {name: found[name] for name in tails if name in found}
    if typical:
        percentiles["p50"] = typical * 1e3
    hrt, time = times(middle * 1e3, half)
    return SeriesPoint(
        message_bytes=int(size),
        hrt_ns=hrt,
        time_ns=time,
        time_min_ns=found.get("min"),
        time_max_ns=found.get("max"),
        iterations=as_count(amount(results.get("n_iterations")) or None),
        time_step_ns=10.0,
        percentiles=percentiles,
        values={f"{name}_ns": found[name] for name in ("avg", "stdev") if name in found},
        line=line,
    )


def _series(
    page: Page, start: int, test: Benchmark, point: SeriesPoint | None, unit: str, why: str
) -> Series:
    doubt = ""
    if test.metric.endswith("bandwidth") and point is not None and not unit:
        doubt = (
            "the document does not name MiB/sec or Gb/sec, and its message rate fits neither: the "
            "bandwidth is left out"
        )
    return Series(
        tool="perftest",
        benchmark=test.name,
        metric=test.metric,
        traffic=test.traffic,
        points=[point] if point is not None else [],
        formula=test.formula,
        unit=unit or ("us" if "bandwidth" not in test.metric else "unknown"),
        directions=test.directions,
        waits=test.metric in ("half_round_trip", "latency"),
        protocol="rdma",
        complete=not why,
        incomplete=why,
        unit_doubt=doubt,
        source=page.source,
        first_line=start + 1,
    )


def parse_document(page: Page, start: int) -> Parsed:
    """Parse the document whose ``test_info`` is on line index ``start``."""
    document = document_at(page, start, DOCUMENT)
    info, results = member(document.value, "test_info"), member(document.value, "results")
    title = _TEST.search(text(info.get("test")).replace("_", " ").replace("RDMA ", "RDMA_"))
    roles = ["typical"] if "t_typical" in results or "t_avg" in results else []
    test = test_of(title, "", "", roles)
    size = amount(results.get("MsgSize"))
    point, unit = None, ""
    if size and roles:
        point = _time(results, size, test.half_round_trip, start + 1)
    elif size:
        point, unit = _bandwidth(results, size, start + 1)
    missing = "" if point is not None else "the document has no result with a message size"
    series = _series(page, start, test, point, unit, document.why or missing)
    notes = [
        f"{name.replace('_', ' ')}: {text(str(info[name]))}" for name in _NAMED if name in info
    ]
    if any(info.get(name) not in (None, "OFF") for name in _GPU):
        notes.append(IN_GPU)
    window = _window(info) if "bandwidth" in test.metric else None
    last = min(document.after, len(page.lines))
    return Parsed(
        [msgspec.structs.replace(series, notes=notes, window=window, last_line=last)],
        document.after,
    )


def _window(info: dict[str, Any]) -> int | None:
    """Return the messages in flight: the depth of the send queue times the number of queue
    pairs.
    """
    flying = (amount(info.get("TX_depth")) or 0) * (amount(info.get("Number_of_qps")) or 1)
    return int(flying) if 0 < flying < 1e12 else None
