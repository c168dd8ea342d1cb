# pure
"""The benchmarks of IMB (MPI1, P2P, RMA, EXT, NBC, MPI4, MT): the timed operation, and the formulas
of the numbers.
"""

from dataclasses import dataclass, replace

from wireproof.logs.readers.registry import Benchmark
from wireproof.model.series import Traffic


@dataclass(frozen=True, slots=True)
class ImbTest(Benchmark):
    """One benchmark; its name is in the table's heading.

    ``clock``: the column with the time of the row, from which the bandwidth is calculated if it has
    one. ``messages``: the printed bandwidth is ``messages`` x pairs x size / time (0: no such
    relation). ``per_pair``: the bandwidth is the sum over the pairs of processes. ``one_size``: the
    benchmark has only one size.
    """

    clock: str = "t_max"
    messages: int = 0
    per_pair: bool = False
    one_size: bool = False


_PINGPONG = ImbTest(
    "",
    "half_round_trip",
    "pingpong",
    "t = (loop time / 2 / repetitions), the slowest process's; bandwidth = size / t, one direction",
    messages=1,
    waits=True,
)
_PINGPING = ImbTest(
    "",
    "bandwidth",
    "exchange",
    "t = loop time / repetitions while both send at once, not halved; bandwidth = size / t counts "
    "one direction only",
    messages=1,
)
_SENDRECV = ImbTest(
    "",
    "bidirectional_bandwidth",
    "exchange",
    "bandwidth of one process = 2 x size / t_max: one message out and one in at the same time",
    messages=2,
    directions=2,
)
_EXCHANGE = ImbTest(
    "",
    "bidirectional_bandwidth",
    "exchange",
    "bandwidth of one process = 4 x size / t_max: one message out and one in with each of two "
    "neighbours",
    messages=4,
    directions=2,
    window=2,
)
_UNIBAND = ImbTest(
    "",
    "bandwidth",
    "stream",
    "rate = window x pairs / the slowest process's time of a window; bandwidth = rate x size, sum "
    "over the pairs",
    per_pair=True,
    window=256,
)
_BIBAND = ImbTest(
    "",
    "bidirectional_bandwidth",
    "exchange",
    "rate = 2 x window x pairs / the slowest process's time of a window; bandwidth = rate x size, "
    "both directions, sum over the pairs",
    directions=2,
    per_pair=True,
    window=256,
)
_COLLECTIVE = ImbTest(
    "",
    "time",
    "collective",
    "mean time of one call per process; t_min, t_max, t_avg over the processes",
    clock="t_avg",
)
_LOCAL = replace(
    _COLLECTIVE, traffic="other", formula="mean time of one call within a process: nothing is sent"
)
_OVERLAP = ImbTest(
    "",
    "overlap",
    "collective",
    "overlap = (t_pure + t_CPU - t_ovrl) / max(t_pure, t_CPU), limited to 0 to 100 %; the time "
    "is t_pure",
    clock="t_pure",
)

# P2P: time is the mean over the processes; rate = messages of all processes / time of the slowest
# process.
_ALL = "bandwidth = messages of all processes x size / the slowest process's time; t = mean time"
_P2P: dict[str, ImbTest] = {
    "pingpong": replace(
        _PINGPONG,
        clock="t",
        per_pair=True,
        formula=(
            "t = mean over the processes of loop time / 2 / repetitions; bandwidth = pairs x size "
            "/ half a round trip of the slowest; every message is written before it is sent and "
            "read after it arrives"
        ),
    ),
    "pingping": replace(
        _PINGPING,
        clock="t",
        metric="bidirectional_bandwidth",
        messages=2,
        directions=2,
        per_pair=True,
        formula=f"{_ALL} of one exchange: both directions are counted",
    ),
    "sendrecv_replace": ImbTest(
        "",
        "bandwidth",
        "ring",
        f"{_ALL} of one step to the right of a ring of all processes",
        clock="t",
        messages=1,
        per_pair=True,
    ),
    "unirandom": ImbTest(
        "", "message_rate", "other", f"{_ALL}; one random pair at a time", clock="t"
    ),
    "birandom": ImbTest(
        "",
        "message_rate",
        "other",
        f"{_ALL}; one random pair at a time, both directions",
        clock="t",
    ),
    "corandom": ImbTest(
        "", "message_rate", "other", f"{_ALL}; a random ring for each step", clock="t"
    ),
    "stencil2d": ImbTest("", "message_rate", "other", f"{_ALL}; 4 neighbours at once", clock="t"),
    "stencil3d": ImbTest("", "message_rate", "other", f"{_ALL}; 6 neighbours at once", clock="t"),
}

_MPI1: dict[str, ImbTest] = {
    "pingpong": _PINGPONG,
    "pingpongspecificsource": _PINGPONG,
    "pingponganysource": _PINGPONG,
    "pingping": _PINGPING,
    "pingpingspecificsource": _PINGPING,
    "pingpinganysource": _PINGPING,
    "sendrecv": _SENDRECV,
    "exchange": _EXCHANGE,
    "uniband": _UNIBAND,
    "biband": _BIBAND,
    "reduce_local": _LOCAL,
}

_THREADS = "size = sum over the threads; bandwidth = {} / the slowest thread's time"
_MT: dict[str, ImbTest] = {
    "pingpongmt": replace(_PINGPONG, formula=_THREADS.format("size") + ", half a round trip"),
    "pingpingmt": replace(
        _PINGPING, formula=_THREADS.format("size") + " while both send: one direction is counted"
    ),
    "sendrecvmt": replace(_SENDRECV, formula=_THREADS.format("2 x size") + ": out and in"),
    "exchangemt": replace(
        _EXCHANGE, formula=_THREADS.format("4 x size") + ": out and in with two neighbours"
    ),
    "unibandmt": replace(
        _UNIBAND,
        window=64,
        clock="",
        formula="size x pairs / the slowest thread's time per message",
    ),
    "bibandmt": replace(
        _BIBAND,
        window=64,
        clock="",
        formula="2 x size x pairs / the slowest thread's time per message, both directions",
    ),
}

_ATOMIC = {"accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap"}
_ONE_SIZE = {"fetch_and_op", "compare_and_swap"}
_COLLECTIVES = {
    "allreduce",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_block",
    "allgather",
    "allgatherv",
    "gather",
    "gatherv",
    "scatter",
    "scatterv",
    "alltoall",
    "alltoallv",
    "bcast",
    "barrier",
}
_ALL_RMA = {
    "put_all_local",
    "get_all_local",
    "one_put_all",
    "one_get_all",
    "all_put_all",
    "all_get_all",
}


def _one_sided(name: str, mode: str, active: bool) -> ImbTest | None:
    """Return the one-sided test. ``mode``: AGGREGATE, NON-AGGREGATE or ""; ``active``: IMB-EXT,
    which synchronizes with a fence.
    """
    way, _, verb = name.partition("_")
    if name in _ATOMIC:
        return _synchronized(name, name, "atomic", mode, active)
    if way in ("unidir", "bidir") and verb in ("put", "get"):
        kind: Traffic = "put" if verb == "put" else "get"
        return _synchronized(name, verb, "exchange" if way == "bidir" else kind, mode, active)
    if name in ("put_local", "get_local"):
        text = (
            f"t = time of one {way} until the buffer may be used again (local completion); "
            "bandwidth = size / t"
        )
        return ImbTest("", "bandwidth", "other", text, clock="t", messages=1)
    if name in ("exchange_put", "exchange_get"):
        text = f"time of one {verb} with each of two neighbours"
        return replace(_COLLECTIVE, traffic="other", formula=text)
    if name in _ALL_RMA:
        text = (
            "time of one transfer with every other process; a printed bandwidth counts the size "
            "once"
        )
        return ImbTest("", "time", "other", text, clock="t")
    if name == "truly_passive_put":
        text = "t_pure: put while the target waits in MPI; t_ovrl: put while it computes first"
        return ImbTest("", "overlap", "other", text, clock="t_pure")
    return None


def _synchronized(name: str, verb: str, traffic: Traffic, mode: str, active: bool) -> ImbTest:
    """Return the test for one operation with its synchronization, each time or once at the end."""
    each = mode != "AGGREGATE"
    end = ("a fence" if active else "a flush") + (" each" if each else " once, after the last")
    text = f"t = time of one {verb} with {end}; bandwidth = size / t"
    return ImbTest(
        "",
        "latency" if each else "bandwidth",
        traffic,
        text + (", one of the two directions" if traffic == "exchange" else ""),
        clock="t",
        messages=1,
        waits=each,
        one_size=name in _ONE_SIZE,
    )


def _collective(name: str) -> ImbTest | None:
    plain = name.removesuffix("_pure").removesuffix("_persist").removesuffix("mt")
    blocking = plain in _COLLECTIVES
    nonblocking = plain.startswith("i") and plain[1:] in _COLLECTIVES
    if (nonblocking or name.endswith("_persist")) and not name.endswith("_pure"):
        return _OVERLAP
    return _COLLECTIVE if blocking or nonblocking else None


def _unknown(columns: list[str]) -> ImbTest:
    clock = next((name for name in ("t", "t_max", "t_avg", "t_pure") if name in columns), "")
    return ImbTest(
        "",
        "other",
        "other",
        "a benchmark that wireproof does not know: its numbers as printed",
        clock=clock,
    )


def described(
    name: str, columns: list[str], mode: str = "", part: str = "", version: tuple[int, int] = (0, 0)
) -> ImbTest:
    """Return the test named in ``# Benchmarking NAME``.

    ``columns``: the table's columns (``bytes``, ``t``, ``rate`` ...), which distinguish tests of
    two programs with the same name. ``mode``: the text after ``# MODE:``; ``part``: the program in
    the title; ``version``: its number ((0, 0): not printed).
    """
    plain = name.split("(")[0].strip().lower().removeprefix("multi-")
    if plain in _P2P and ("P2P" in part or {"t", "rate"} <= set(columns)):
        return _P2P[plain]
    if plain in _MT:
        return _MT[plain]
    test = (
        _MPI1.get(plain)
        or _one_sided(plain, mode, "MPI-2" in part or "EXT" in part)
        or _collective(plain)
    )
    if test is None:
        return _unknown(columns)
    if test.window == _UNIBAND.window and version < (2021, 2):  # 64 messages until 2021.1, then 256
        return replace(test, window=64 if version[0] else None)
    return test
