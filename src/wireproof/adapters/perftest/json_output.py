"""perftest's ``--out_json`` document. It does not name its unit, which is derived from the message
rate.
"""

import re
from typing import Any

from wireproof.adapters.documents import amount, document_at, member, text
from wireproof.adapters.page import Page
from wireproof.adapters.perftest.benchmarks import bandwidth_point, test_of, time_point, window_of
from wireproof.adapters.registry import Parsed
from wireproof.model.series import IN_GPU, SeriesPoint

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
_ROLES = {
    "n_iterations": "iterations",
    "BW_average": "goodput",
    "BW_peak": "peak",
    "MsgRate": "rate",
    "t_min": "min",
    "t_max": "max",
    "t_avg": "avg",
    "t_stdev": "stdev",
    "t_typical": "typical",
    "percentile_99": "p99",
    "percentile_99.9": "p99.9",
}
_LAST_DIGIT = 0.01
_DOUBT = (
    "the document does not name MiB/sec or Gb/sec, and its message rate fits neither: the "
    "bandwidth is left out"
)


def _unit(known: dict[str, float], size: int) -> str:
    """Return the unit that the document must have used; "" if the message rate fits none."""
    printed, rate = known.get("goodput"), known.get("rate")
    if not printed or not rate:
        return ""
    agree = _AGREE + _RATE_STEP / 2 / rate
    fits = (
        unit
        for unit, factor in _FACTORS.items()
        if abs(printed * factor / (rate * 1e6 * size) - 1) <= agree
    )
    return next(fits, "")


def _known(results: dict[str, Any]) -> dict[str, float]:
    """Return the numbers of the columns that the table of the same run has."""
    values = {role: amount(results.get(name)) for name, role in _ROLES.items()}
    return {
        role: value
        for role, value in values.items()
        if value is not None and (value or role not in ("iterations", "typical"))
    }


def _point(
    results: dict[str, Any], size: int, half: bool, timed: bool, line: int
) -> tuple[SeriesPoint | None, str]:
    """Return the point, and the unit of a bandwidth."""
    known = _known(results)
    if timed:
        main = "typical" if "typical" in known else "avg"
        return time_point(known, main, size, half, _LAST_DIGIT, line), ""
    unit = _unit(known, size)
    if not unit:
        known = {role: value for role, value in known.items() if role in ("rate", "iterations")}
    return bandwidth_point(known, _FACTORS.get(unit, 0), size, _LAST_DIGIT, line), unit


def _notes(info: dict[str, Any]) -> list[str]:
    notes = [
        f"{name.replace('_', ' ')}: {text(str(info[name]))}" for name in _NAMED if name in info
    ]
    if any(info.get(name) not in (None, "OFF") for name in _GPU):
        notes.append(IN_GPU)
    return notes


def parse_document(page: Page, start: int) -> Parsed:
    """Parse the document whose ``test_info`` is on line index ``start``."""
    document = document_at(page, start, DOCUMENT)
    info, results = member(document.value, "test_info"), member(document.value, "results")
    title = _TEST.search(text(info.get("test")).replace("_", " ").replace("RDMA ", "RDMA_"))
    roles = ["typical"] if "t_typical" in results or "t_avg" in results else []
    test = test_of(title, "", "", roles)
    size = int(amount(results.get("MsgSize")) or 0)
    point, unit = None, ""
    if size:
        point, unit = _point(results, size, test.half_round_trip, bool(roles), start + 1)
    rated = "bandwidth" in test.metric
    missing = "" if point is not None else "the document has no result with a message size"
    depth, pairs = amount(info.get("TX_depth")), amount(info.get("Number_of_qps"))
    series = test.series(
        "perftest",
        [point],
        unit=unit or ("unknown" if rated else "us"),
        window=window_of(depth, pairs) if rated else None,
        protocol="rdma",
        incomplete=document.why or missing,
        unit_doubt=_DOUBT if rated and point is not None and not unit else "",
        notes=_notes(info),
        last_line=min(document.after, len(page.lines)),
    )
    return Parsed([series], document.after)
