"""The tests of qperf: what each name means, what carries it and how the printed number is made."""

from __future__ import annotations

import re
from typing import Literal

from wireproof.adapters.benchmark import Benchmark
from wireproof.model.series import Traffic

__all__ = ["TITLE", "default_size", "known_test", "protocol_of", "test_of"]

TITLE = re.compile(r"^ *((?:tcp|udp|sctp|sdp|rds|rc|uc|ud|xrc|ver_rc)_[a-z_]{2,24}): *$")
_KNOWN = re.compile(
    r"(?:tcp|udp|sctp|sdp|rds|rc|uc|ud|xrc)_(?:bw|lat)|(?:rc|uc|ud|xrc)_bi_bw|"
    r"(?:rc|uc)_rdma_write_(?:bw|lat|poll_lat)|rc_rdma_read_(?:bw|lat)|"
    r"rc_(?:compare_swap|fetch_add)_mr|ver_rc_(?:compare_swap|fetch_add)"
)

Protocol = Literal["", "tcp", "udp", "rdma"]
_PROTOCOLS: dict[str, Protocol] = {
    "tcp": "tcp",
    "sdp": "",
    "udp": "udp",
    "rc": "rdma",
    "uc": "rdma",
    "ud": "rdma",
    "xrc": "rdma",
    "ver": "rdma",
}
_RATE = "bytes that arrived / elapsed time of the sender's test"


def known_test(name: str) -> bool:
    """True for the name of a test that qperf has."""
    return _KNOWN.fullmatch(name) is not None


def default_size(name: str) -> int:
    """The message size in bytes that qperf takes when none is asked for."""
    if name.endswith("lat"):
        return 1
    if name.endswith("_mr"):
        return 8
    return {"udp_bw": 32 << 10, "ud_bw": 2 << 10, "ud_bi_bw": 2 << 10}.get(name, 64 << 10)


def protocol_of(name: str) -> Protocol:
    """What carries the bytes of a test."""
    return _PROTOCOLS.get(name.partition("_")[0], "")


def test_of(name: str) -> Benchmark:
    """The meaning of a test's name; without a metric it is no measurement (``ver_*`` verify)."""
    if name.startswith("ver_"):
        return Benchmark(name, "", "other", "")
    if name.endswith("_mr"):
        formula = "operations that completed / elapsed time"
        return Benchmark(name, "message_rate", "atomic", formula)
    if name.endswith("rdma_read_lat"):
        formula = "elapsed time / reads: one whole read"
        return Benchmark(name, "latency", "get", formula, waits=True)
    if name.endswith("lat"):
        formula = "elapsed time / messages of both directions: half of a round trip"
        return Benchmark(name, "half_round_trip", "pingpong", formula, waits=True)
    if name.endswith("bi_bw"):
        formula = f"{_RATE}, both directions added"
        return Benchmark(name, "bidirectional_bandwidth", "exchange", formula, directions=2)
    traffic: Traffic = "put" if "rdma_write" in name else "get" if "rdma_read" in name else "stream"
    return Benchmark(name, "bandwidth", traffic, _RATE)
