"""What stands before ucx_perftest's table: the command, the box that the server prints, a script's
banner.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from wireproof.adapters.page import Page
from wireproof.adapters.registry import Benchmark, starts_result
from wireproof.adapters.rows import integer
from wireproof.model.series import Traffic

__all__ = ["Setup", "setup_before", "test_of"]

# --- The tests of ucx_perftest: by name (``tag_lat``), by the title in its box, or by what its
# table is headed with.

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


_BANNER = re.compile(r"^\s*={4,} (\w{2,40}) ={4,}\s*$")
_BOX = re.compile(r"^\s*(API|Test|Message size): +(\S.{0,80}?)\s*$")
_TLS = re.compile(r"\bUCX_TLS=(\S{1,80})")
_LOOK_BACK = 80
_RDMA = {
    "rc",
    "rc_x",
    "rc_v",
    "rc_verbs",
    "rc_mlx5",
    "ud",
    "ud_x",
    "ud_verbs",
    "ud_mlx5",
    "dc",
    "dc_x",
    "dc_mlx5",
}
_LONGEST_LINE = 500


@dataclass(slots=True)
class Setup:
    """What the lines before the table say."""

    test: str = ""
    size: int | None = None
    iterations: int | None = None
    window: int | None = None
    protocol: Literal["", "tcp", "rdma"] = ""


def _option(rest: str, letter: str) -> str:
    match = re.search(rf"(?:^|\s)-{letter} ?([^\s-]\S{{0,60}})", rest)
    return match.group(1) if match else ""


def _protocol(transports: str) -> Literal["", "tcp", "rdma"]:
    names = set(transports.strip("'\"").split(",")) - {"self"}
    if names == {"tcp"}:
        return "tcp"
    return "rdma" if names and names <= _RDMA else ""


def _read_command(setup: Setup, line: str) -> None:
    rest = line.partition("ucx_perftest")[2][:_LONGEST_LINE]
    setup.test = setup.test or _option(rest, "t")
    if setup.size is None:
        setup.size = _sum_of(_option(rest, "s"))
    setup.iterations = setup.iterations or integer(_option(rest, "n"))
    setup.window = setup.window or integer(_option(rest, "O"))
    transports = _TLS.search(line)
    if transports and not setup.protocol:
        setup.protocol = _protocol(transports.group(1))


def _sum_of(sizes: str) -> int | None:
    """The sum of ``8,16,32``; None when one is no number."""
    total = 0
    for text in sizes.split(","):
        size = integer(text)
        if size is None:
            return None
        total += size
    return total


def _read_box(setup: Setup, name: str, value: str) -> None:
    """A line of the server's box."""
    if name == "API":
        if value.startswith("transport"):
            setup.test = setup.test.removeprefix("ucp_")
    elif name == "Test":
        setup.test = setup.test or test_titled(value)
    elif setup.size is None:
        setup.size = integer(value)


def setup_before(page: Page, start: int) -> Setup:
    """Looks back from the heading to the last line of the test before."""
    setup = Setup()
    for index in range(start - 1, max(-1, start - _LOOK_BACK), -1):
        line = page.lines[index]
        if "Final:" in line or starts_result(line):
            break
        box, banner = _BOX.match(line), _BANNER.match(line)
        if box is not None:
            _read_box(setup, box.group(1), box.group(2))
        elif banner is not None:
            setup.test = setup.test or banner.group(1)
        elif "ucx_perftest" in line:
            _read_command(setup, line)
    return setup
