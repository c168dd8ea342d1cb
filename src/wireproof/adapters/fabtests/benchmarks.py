"""The tests of libfabric's fabtests: what each times and how the printed number is made of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wireproof.model.series import Traffic

__all__ = ["PROGRAM", "FabTest", "test_of"]

# never fi_getinfo() and the like, which fill logs: a program's name tells what it measures
PROGRAM = re.compile(
    r"(?:^|[\s/'\"$=])(fi_(?:[a-z0-9]{1,12}_){0,4}(?:pingpong|bw|bw_mt|rma|atomic|latency|lat"
    r"|mr)(?:_[a-z0-9]{1,12}){0,2})(?=\s|$|:)"
)


@dataclass(frozen=True, slots=True)
class FabTest:
    """``transfers`` per iteration: 2 when both sides send in turn."""

    metric: str
    traffic: Traffic
    formula: str
    transfers: int
    waits: bool = False
    window: int | None = None


_PINGPONG = FabTest(
    "half_round_trip",
    "pingpong",
    "elapsed / (2 x iterations): half of a mean round trip; MB/sec = 2 x iterations x size / "
    "elapsed",
    2,
    waits=True,
)
_STREAM = FabTest(
    "bandwidth",
    "stream",
    "iterations x size / elapsed; each window of messages ends with a short answer",
    1,
    window=64,
)
_BOTH = (
    "iterations x size / elapsed of this side; the other side does the same at the same time and "
    "prints its own"
)


def _rma(rest: str) -> FabTest:
    operation = re.search(r"-o ?(writedata|write|read)\b", rest)
    what = operation.group(1) if operation else "write"
    if what == "writedata":
        return FabTest(
            "bandwidth", "put", "iterations x size / elapsed; one side writes", 1, window=64
        )
    return FabTest("bandwidth", "get" if what == "read" else "put", _BOTH, 1, window=64)


def test_of(program: str, rest: str, transfers: int) -> FabTest:
    """The test that a program's name says; without a name the bytes per iteration (``transfers``)
    tell which it is.
    """
    if "atomic" in program:
        return FabTest("latency", "atomic", "elapsed / iterations of one atomic operation", 1)
    if "rma" in program and "pingpong" not in program:
        return _rma(rest)
    if "pingpong" in program or program.endswith(("_lat", "_latency")):
        return _PINGPONG
    if "_bw" in program:
        return _STREAM
    return _PINGPONG if transfers == 2 else _STREAM
