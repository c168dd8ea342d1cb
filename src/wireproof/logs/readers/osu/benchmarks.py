# pure
"""The tests of the OSU suite: the meaning of each title, the timed operation, and the formula of
the printed number.
"""

import re

from wireproof.logs.readers.registry import Benchmark
from wireproof.model.series import Traffic

_HALF = "mean time of one send and its reply / 2"


def _latency(name: str, formula: str = _HALF) -> Benchmark:
    return Benchmark(name, "half_round_trip", "pingpong", formula, waits=True)


# title without the library's name, in lower case -> test
_TWO_SIDED: dict[str, Benchmark] = {
    "latency": Benchmark("osu_latency", "half_round_trip", "pingpong", _HALF, waits=True),
    "bandwidth": Benchmark(
        "osu_bw",
        "bandwidth",
        "stream",
        "size x window x windows / time; a window ends with a short reply",
        window=64,
    ),
    "bi-directional bandwidth": Benchmark(
        "osu_bibw",
        "bidirectional_bandwidth",
        "exchange",
        "2 x size x window x windows / time, both directions",
        directions=2,
        window=64,
    ),
    "multiple bandwidth / message rate": Benchmark(
        "osu_mbw_mr",
        "message_rate",
        "rate",
        "pairs x size x window x windows / mean time of the senders: a slow pair is averaged away",
        window=64,
    ),
    "multi latency": _latency("osu_multi_lat", f"{_HALF}, averaged over the pairs"),
    "multi-threaded latency": _latency("osu_latency_mt"),
    "multi-process latency": _latency("osu_latency_mp"),
    "latency persistent": _latency("osu_latency_persistent"),
    "persistent latency": _latency("osu_latency_persistent"),
}

_ONE_SIDED: dict[str, Traffic] = {
    "put": "put",
    "get": "get",
    "accumulate": "atomic",
    "get_accumulate": "atomic",
    "fetch_and_op": "atomic",
    "compare_and_swap": "atomic",
}
_SHORT = {
    "get_accumulate": "get_acc",
    "accumulate": "acc",
    "fetch_and_op": "fop",
    "compare_and_swap": "cas",
}


def _one_sided(kind: str, what: str, heading: str) -> Benchmark:
    name = _SHORT.get(kind, kind)
    traffic = _ONE_SIDED[kind]
    if "bandwidth" in what:
        both = "bi" in what
        return Benchmark(
            f"osu_{name}_{'bibw' if both else 'bw'}",
            "bidirectional_bandwidth" if both else "bandwidth",
            "exchange" if both else traffic,
            f"{'2 x ' if both else ''}size x window x windows / time; each window ends with one "
            "synchronization",
            directions=2 if both else 1,
            window=64,
        )
    halved = "fence" in heading.lower() or "post/start" in heading.lower()
    # MPI_Win_flush_local ends when the origin may reuse its buffer: the bytes may not have left it.
    local = "flush_local" in heading and kind in ("put", "accumulate")
    formula = f"time of one {kind} and its synchronization" + (
        ", both ranks in turn / 2" if halved else ""
    )
    formula += ", which is complete at the origin only" if local else ""
    # This time is local to the origin, so no link bounds it.
    return Benchmark(
        f"osu_{name}_latency", "latency", "other" if local else traffic, formula, waits=not local
    )


# The title in words, and the program's name for it.
_PROGRAMS = re.compile(r"all-to-all(v|w)?(?: personalized exchange)?|broadcast|neighborhood ")


def _program(title: re.Match[str]) -> str:
    if title.group().startswith("all"):
        return f"alltoall{title.group(1) or ''}"
    return "bcast" if title.group() == "broadcast" else "neighbor "


def _collective(what: str) -> Benchmark:
    blocking = not what.startswith("non-blocking ")
    plain = what.removeprefix("non-blocking ").removesuffix(" latency")
    name = _PROGRAMS.sub(_program, plain).replace(" ", "_").replace("-", "_")
    text = "mean over the ranks of each rank's mean time of one call"
    metric = "time" if blocking else "overlap"
    return Benchmark(f"osu_{'' if blocking else 'i'}{name}", metric, "collective", text)


def by_title(title: str, heading: str) -> Benchmark:
    """Return the test for a title such as ``MPI_Put Bandwidth`` or ``MPI-CUDA Latency``; ``other``
    if it is unknown.
    """
    # Up to version 4 a one-sided title began with "MPI One Sided", or with "One Sided" alone.
    words = title.rpartition("One Sided ")[2].split()
    library, what = words[0], " ".join(words[1:]).lower()
    kind = library.lower().removeprefix("mpi_").partition("-")[0]
    if library.lower().startswith("mpi_") and kind in _ONE_SIDED:
        return _one_sided(kind, what, heading)
    found = _TWO_SIDED.get(what.replace("bidirectional", "bi-directional"))
    if found is not None:
        return found
    if library.upper().startswith(("MPI", "NCCL", "RCCL")) and what.endswith("latency"):
        return _collective(what)
    return Benchmark(f"osu {title}"[:60], "other", "other", "unknown to wireproof")


def by_name(program: str) -> Benchmark | None:
    """Return the test for a program's name (``osu_put_bw``); None if it is unknown."""
    for test in _TWO_SIDED.values():
        if test.name == program:
            return test
    kind, _, what = program.removeprefix("osu_").rpartition("_")
    long = {short: name for name, short in _SHORT.items()}.get(kind, kind)
    if long not in _ONE_SIDED:
        return None
    return _one_sided(
        long, {"bw": "bandwidth", "bibw": "bi-directional bandwidth"}.get(what, what), ""
    )
