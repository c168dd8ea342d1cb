"""The tests of ucx_perftest: by name (``tag_lat``), by the title in its box, or by what its table
is headed with.
"""

from __future__ import annotations

from wireproof.adapters.benchmark import Benchmark
from wireproof.model.series import Traffic

__all__ = ["test_of", "test_titled"]


_HALF = (
    "time / iterations / 2: half of a mean round trip; bandwidth and rate count both messages of "
    "a round trip, which is size / half round trip"
)
_STREAM = "size x iterations / time; MB = 2^20 bytes; overhead is time / iterations"
_ONE_SIDED = ("put", "get")
_ATOMIC = ("add", "fadd", "swap", "cswap", "add_mr")

# the title in the box -> name, protocol layer first (``ucp_``), then transport layer
_TITLES = {
    "active message latency": "am_lat",
    "active message bandwidth / message rate": "am_bw",
    "put latency": "ucp_put_lat",
    "put bandwidth": "ucp_put_bw",
    "put bandwidth / message rate": "put_bw",
    "get latency / bandwidth / message rate": "ucp_get",
    "tag match latency": "tag_lat",
    "tag match bandwidth": "tag_bw",
    "tag sync match latency": "tag_sync_lat",
    "tag sync match bandwidth": "tag_sync_bw",
    "stream latency": "stream_lat",
    "stream bandwidth": "stream_bw",
    "am latency": "ucp_am_lat",
    "am bandwidth": "ucp_am_bw",
    "am bandwidth / message rate": "ucp_am_bw",
}


def test_titled(title: str) -> str:
    """The test's name for the title in the box; "" when it is not known."""
    plain = title.strip().lower()
    if plain in _TITLES:
        return _TITLES[plain]
    return "ucp_fadd" if plain.startswith("atomic") else ""


def _kind(plain: str) -> Traffic:
    for kind in _ONE_SIDED:
        if plain.startswith(kind):
            return "put" if kind == "put" else "get"
    return "atomic" if plain in _ATOMIC else "stream"


def test_of(name: str, heading: str) -> Benchmark:
    """The test of a name. Without one, ``heading`` (``latency`` or ``overhead``) tells a ping-pong
    from a stream.

    A batch's lines have names of the user's own and always ``overhead`` above them: then ``lat`` or
    ``bw`` in it tells.
    """
    plain = name.removeprefix("ucp_")
    words, kind = plain.split("_"), _kind(plain)
    known = name or f"ucx_perftest {heading}"
    window = None if plain.startswith(("am_", "get")) or kind == "atomic" else 32
    if "lat" in words or "latency" in words or (not name and heading == "latency"):
        return Benchmark(known, "half_round_trip", "pingpong", _HALF, waits=True)
    if kind == "atomic":
        return Benchmark(known, "latency", "atomic", "time / iterations of one atomic operation")
    if heading == "latency":
        return Benchmark(known, "latency", kind, "time / iterations, not halved; MB = 2^20 bytes")
    if name and kind == "stream" and not {"bw", "mr"} & set(words):
        return Benchmark(
            known, "time", "other", "not known: a batch's line may be any test; MB = 2^20 bytes"
        )
    return Benchmark(known, "bandwidth", kind, _STREAM, window=window)
