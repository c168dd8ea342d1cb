"""The programs of perftest: their options, what each times, the columns that it prints, and how the
printed number is calculated.
"""

import re

from wireproof.adapters.options import given, refuse_others, server_of, whole_seconds
from wireproof.adapters.registry import Benchmark
from wireproof.adapters.rows import as_count, scaled, times
from wireproof.model.errors import BadInput
from wireproof.model.series import SeriesPoint, ToolRequest, Traffic

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
        f"say){tail}"
    )
    return Benchmark(name, "latency", "other", formula, waits=True)


def bandwidth_point(
    known: dict[str, float], factor: int, size: int, step: float, line: int
) -> SeriesPoint | None:
    """Return the point of the columns of a bandwidth test; ``factor``: bytes/s of one unit, of
    which ``step`` are the last digit. A bandwidth printed as 0.00 is below the last digit and
    omitted; its message rate stays.
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
    (``typical``), or the mean (``avg``), which is all that a run of given duration prints.
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
_ABLE = (
    "server",
    "port",
    "sizes",
    "iterations",
    "seconds",
    "omit_seconds",
    "device",
    "rdma_cm",
)


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
            f"{request.program} cannot run all sizes for a given time: request one size or"
            " a number of iterations."
        )
    return ["-a"]


def _amount(request: ToolRequest) -> list[str]:
    seconds, omitted = request.seconds, request.omit_seconds
    if seconds is None and omitted is not None:
        raise BadInput(
            f"{request.program} leaves seconds out only of a run of given duration: request "
            "seconds."
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
    refuse_others(request, request.program, *_ABLE)
    port = given(("-R", request.rdma_cm), ("-d", request.device), ("-p", request.port))
    words = (*port, *_sizes(request), *_amount(request), *request.extra)
    server = server_of(request, request.program)
    return (request.program, "-F", *words, *([server] if server else []))
