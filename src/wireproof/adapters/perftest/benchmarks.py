"""The programs of perftest: what each times, which columns it prints and how the printed number is
made.
"""

from __future__ import annotations

import re

from wireproof.adapters.adapter import Benchmark
from wireproof.model.series import Traffic

__all__ = ["COMMAND", "HEADING", "TITLE", "columns_of", "test_of"]

TITLE = re.compile(
    r"\b(RDMA_Write|RDMA_Read|Send|Atomic)(?:_imm)? ((?:[A-Za-z_]+ ){0,5}?)(BW|Latency) "
    r"((?:[A-Za-z]+ ){0,2})Test\b"
)
# A page or a shell takes a "#" for its own.
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
_VERBS: dict[str, Traffic] = {"write": "put", "read": "get", "send": "stream", "atomic": "atomic"}


def columns_of(heading: str) -> tuple[list[str], str]:
    """The role of each column and the unit of the bandwidth ("MB/sec", "MiB/sec", "Gb/sec"; "" for
    latency).
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
    """From the title that the program printed, else from its command line, else from the columns
    alone.
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
        return Benchmark(name, "half_round_trip", "pingpong", formula)
    if verb in ("read", "atomic"):
        return Benchmark(name, "latency", _VERBS[verb], f"next post - post: one whole {verb}{tail}")
    formula = (
        "next post - post, halved if the program was a send or write test (the log does not "
        f"say){tail}"
    )
    return Benchmark(name, "latency", "other", formula)
