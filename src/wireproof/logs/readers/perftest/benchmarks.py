# pure
"""The programs of perftest: their options, the operation that each times, the columns or the
document that it prints, and the formula of the number.
"""

import re
from typing import Any

from wireproof.logs.readers.documents import amount, document_at, member, text
from wireproof.logs.readers.page import Page
from wireproof.logs.readers.registry import (
    Benchmark,
    Parsed,
    given,
    refuse_others,
    server_of,
    whole_seconds,
)
from wireproof.logs.readers.rows import as_count, scaled, times
from wireproof.model.errors import BadInput
from wireproof.model.series import IN_GPU, SeriesPoint, ToolRequest, Traffic

TITLE = re.compile(
    r"\b(RDMA_Write|RDMA_Read|Send|Atomic)(?:_imm)? ((?:[A-Za-z_]+ ){0,5}?)(BW|Latency) "
    r"((?:[A-Za-z]+ ){0,2})Test\b"
)
# A web page or a shell may consume the "#".
HEADING = re.compile(r"#?\bbytes +#?(?:iterations|sl)\b")
COMMAND = re.compile(
    r"(?:^|[\s/`'\"$])((?:ib_(?:write|read|send|atomic)|raw_ethernet(?:_burst|_fs|_send)?)_(?:bw"
    r"|lat|rate))"
    r"(?=[\s'\"`]|$)([^\n]{0,400})"
)
_COLUMN = re.compile(
    r"#?\bbytes\b|#?\bsl\b|#?\biterations\b|BW[ _][A-Za-z]\w{0,12} ?\[[\w/]{1,10}\]|"
    r"MsgRate(?: Port\d)? ?\[\w{1,8}\]|"
    r"t_\w{1,12} ?\[\w{1,8}\]|99(?:\.9{1,3})?% percentile ?\[\w{1,8}\]|tps average|CPU_Util"
    r" ?\[%{1,2}\]"
)
_NAMES = {
    "bytes": "size",
    "t_typical": "typical",
    "t_avg": "avg",
    "t_min": "min",
    "t_max": "max",
    "t_stdev": "stdev",
    "tps average": "tps",
    "BW peak": "peak",
    "BW average": "goodput",
    "MsgRate": "rate",
}
_COLUMNS = frozenset(("size", "iterations", "goodput", "rate", "peak"))
_MOST_FLYING = 1e12
_VERBS: dict[str, Traffic] = {"write": "put", "read": "get", "send": "stream", "atomic": "atomic"}


def columns_of(heading: str) -> tuple[list[str], str]:
    """Return the role of each column, and the unit of the bandwidth ("MB/sec", "MiB/sec", "Gb/sec";
    "" for latency).
    """
    roles, unit = [], ""
    for name in _COLUMN.findall(heading):
        plain = name.partition("[")[0].strip().replace("BW_", "BW ")
        if plain.startswith("BW "):
            unit = unit or name.partition("[")[2].rstrip("]")
        if plain.startswith("99"):
            plain = "p" + plain.partition("%")[0]
        plain = plain.lstrip("#")
        roles.append(_NAMES.get(plain, plain.lower().replace(" ", "_")))
    return roles, unit


def _verb_of(title: re.Match[str] | None, command: str) -> str:
    if title is not None:
        return title.group(1).lower().removeprefix("rdma_")
    words = command.split("_")
    return words[1] if len(words) == 3 and words[0] == "ib" else ""


def test_of(title: re.Match[str] | None, command: str, rest: str, roles: list[str]) -> Benchmark:
    """Return the test from the printed title, otherwise from the command line, otherwise from the
    columns.
    """
    verb = _verb_of(title, command)
    name = command or (
        f"ib_{verb}_{'lat' if title and title.group(3) == 'Latency' else 'bw'}"
        if verb
        else "perftest"
    )
    if "avg" in roles or "typical" in roles or (title is not None and title.group(3) == "Latency"):
        return _latency(name, verb)
    both = (
        "Bidirectional" in title.group(2)
        if title is not None
        else bool(re.search(r"\s(?:-b|--bidir\w*)\b", rest))
    )
    formula = "size x iterations x queue pairs / (last completion - first post)"
    if both:
        formula += ", summed over both directions"
        return Benchmark(name, "bidirectional_bandwidth", "exchange", formula, directions=2)
    return Benchmark(name, "bandwidth", _VERBS.get(verb, "stream"), formula)


def _latency(name: str, verb: str) -> Benchmark:
    tail = "; the median, without the two largest samples; t_max is the second largest"
    if verb in ("write", "send"):
        formula = f"(next post - post) / 2, half of a round trip{tail}"
        return Benchmark(name, "half_round_trip", "pingpong", formula, waits=True)
    if verb in ("read", "atomic"):
        formula = f"next post - post: one whole {verb}{tail}"
        return Benchmark(name, "latency", _VERBS[verb], formula, waits=True)
    formula = (
        "next post - post, halved if the program was a send or write test (the log does not "
        f"show this){tail}"
    )
    return Benchmark(name, "latency", "other", formula, waits=True)


def bandwidth_point(
    known: dict[str, float], factor: int, size: int, step: float, line: int
) -> SeriesPoint | None:
    """Return the point of the columns of a bandwidth test; ``factor``: bytes/s of one unit;
    ``step``: value of the last digit in units. A bandwidth printed as 0.00 is below the last digit
    and omitted; its message rate stays.
    """
    goodput, rate = known.get("goodput"), known.get("rate")
    if not (goodput or rate):
        return None
    values = {role: value for role, value in known.items() if value and role not in _COLUMNS}
    if known.get("peak"):
        values["peak_bytes_per_s"] = known["peak"] * factor
    for role in [role for role in values if role.startswith("bw_")]:
        values[f"{role}_bytes_per_s"] = values.pop(role) * factor
    return SeriesPoint(
        message_bytes=size,
        goodput_bytes_per_s=scaled(goodput or None, factor),
        messages_per_s=scaled(rate or None, 1e6),
        iterations=as_count(known.get("iterations")),
        goodput_step=step * factor if goodput else 0.0,
        values=values,
        line=line,
    )


def time_point(
    known: dict[str, float], main: str, size: int, half: bool, step: float, line: int
) -> SeriesPoint | None:
    """Return the point of the columns (us) of a latency test. Its time is ``main``: the median
    (``typical``), or the mean (``avg``), the only time that a run with a fixed duration prints.
    """
    if not known.get(main):
        return None
    hrt, time = times(known[main] * 1e3, half)
    percentiles = {role: value * 1e3 for role, value in known.items() if role.startswith("p99")}
    if main == "typical":
        percentiles["p50"] = known[main] * 1e3
    return SeriesPoint(
        message_bytes=size,
        hrt_ns=hrt,
        time_ns=time,
        time_min_ns=scaled(known.get("min"), 1e3),
        time_max_ns=scaled(known.get("max"), 1e3),
        iterations=as_count(known.get("iterations")),
        time_step_ns=step * 1e3,
        percentiles=percentiles,
        values={f"{role}_ns": known[role] * 1e3 for role in ("avg", "stdev") if role in known},
        line=line,
    )


def window_of(depth: float | None, pairs: float | None) -> int | None:
    """Return the messages in flight: the depth of the send queue times the number of queue
    pairs.
    """
    flying = (depth or 0) * (pairs or 1)
    return int(flying) if 0 < flying < _MOST_FLYING else None


_LARGEST = 1 << 23


def _sizes(request: ToolRequest) -> list[str]:
    """Return the option for one size; several sizes are possible only as the program's sweep of
    powers of two up to 8 MiB.
    """
    if len(request.sizes) <= 1:
        return ["-s", str(request.sizes[0])] if request.sizes else []
    odd = [size for size in request.sizes if size & (size - 1) or not 2 <= size <= _LARGEST]
    if odd:
        raise BadInput(
            f"{request.program} measures one size, or with -a all powers of two from 2 to "
            f"{_LARGEST}, but not {odd[0]}."
        )
    if request.seconds is not None:
        raise BadInput(
            f"{request.program} cannot run all sizes with a fixed duration: request one size or"
            " a number of iterations."
        )
    return ["-a"]


def _amount(request: ToolRequest) -> list[str]:
    seconds, omitted = request.seconds, request.omit_seconds
    if seconds is None and omitted is not None:
        raise BadInput(
            f"{request.program} can omit seconds only from a run with a fixed duration: "
            "request seconds."
        )
    if seconds is not None and request.iterations is not None:
        raise BadInput(f"{request.program} runs for seconds or for iterations, not both.")
    lasting = whole_seconds(seconds, request.program)
    if lasting == 0:
        raise BadInput(f"{request.program} runs for 1 second or longer.")
    return given(("-n", request.iterations), ("-D", lasting), ("-f", omitted))


def argv(request: ToolRequest) -> tuple[str, ...]:
    """Return ``ib_write_bw -F -R -s 1048576 SERVER``. The server takes the same options without an
    address.

    ``-F`` suppresses the error about varying CPU frequency. The core is chosen outside (taskset,
    numactl).
    """
    refuse_others(
        request,
        request.program,
        "server",
        "port",
        "sizes",
        "iterations",
        "seconds",
        "omit_seconds",
        "device",
        "rdma_cm",
    )
    port = given(("-R", request.rdma_cm), ("-d", request.device), ("-p", request.port))
    words = (*port, *_sizes(request), *_amount(request), *request.extra)
    server = server_of(request, request.program)
    return (request.program, "-F", *words, *([server] if server else []))


# --- perftest's ``--out_json`` document.

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
    "the document contains neither MiB/sec nor Gb/sec, and its message rate fits neither: the "
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
