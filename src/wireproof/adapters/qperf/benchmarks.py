"""The tests of qperf: what each name means, what carries it and how the printed number is made."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from wireproof.model.series import Traffic

__all__ = ["TITLE", "QperfTest", "default_size", "known_test", "test_of"]

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


@dataclass(frozen=True, slots=True)
class QperfTest:
    """``metric`` "" is no measurement (``ver_*`` verify, they do not time)."""

    metric: str
    traffic: Traffic
    formula: str
    protocol: Protocol
    half: bool = False
    waits: bool = False
    directions: int = 1


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


def test_of(name: str) -> QperfTest:
    """The meaning of a test's name."""
    protocol = _PROTOCOLS.get(name.partition("_")[0], "")
    if name.startswith("ver_"):
        return QperfTest("", "other", "", protocol)
    if name.endswith("_mr"):
        return QperfTest(
            "message_rate", "atomic", "operations that completed / elapsed time", protocol
        )
    if name.endswith("rdma_read_lat"):
        return QperfTest(
            "latency", "get", "elapsed time / reads: one whole read", protocol, waits=True
        )
    if name.endswith("lat"):
        formula = "elapsed time / messages of both directions: half of a round trip"
        return QperfTest("half_round_trip", "pingpong", formula, protocol, half=True, waits=True)
    if name.endswith("bi_bw"):
        formula = f"{_RATE}, both directions added"
        return QperfTest("bidirectional_bandwidth", "exchange", formula, protocol, directions=2)
    traffic: Traffic = "put" if "rdma_write" in name else "get" if "rdma_read" in name else "stream"
    return QperfTest("bandwidth", traffic, _RATE, protocol)
