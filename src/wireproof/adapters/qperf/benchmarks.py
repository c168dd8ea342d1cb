"""The tests of qperf: what each name means, what carries it, and how the printed number is
calculated.
"""

import re
from itertools import pairwise
from typing import Literal

from wireproof.adapters.options import given, refuse_others
from wireproof.adapters.registry import Benchmark
from wireproof.model.errors import BadInput
from wireproof.model.series import ToolRequest, Traffic

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
    """Return True if qperf has a test with this name."""
    return _KNOWN.fullmatch(name) is not None


def default_size(name: str) -> int:
    """Return the message size in bytes that qperf uses by default."""
    if name.endswith("lat"):
        return 1
    if name.endswith("_mr"):
        return 8
    return {"udp_bw": 32 << 10, "ud_bw": 2 << 10, "ud_bi_bw": 2 << 10}.get(name, 64 << 10)


def protocol_of(name: str) -> Protocol:
    """Return what carries the bytes of a test."""
    return _PROTOCOLS.get(name.partition("_")[0], "")


def test_of(name: str) -> Benchmark:
    """Return the test for a name; a test without a metric is not a measurement (``ver_*``
    verify).
    """
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


# --- The options of qperf.

_ABLE = (
    "server",
    "port",
    "sizes",
    "iterations",
    "seconds",
    "socket_buffer_bytes",
    "cpu",
    "device",
    "rdma_cm",
)
_RDMA = ("rc_", "uc_", "ud_", "xrc_")


def _sizes(sizes: tuple[int, ...]) -> list[str]:
    """Return the options for one size, or for a loop from the smallest to the largest with a
    constant factor.
    """
    if len(sizes) <= 1:
        return ["-m", str(sizes[0])] if sizes else []
    ordered = sorted(sizes)
    factor = ordered[1] // ordered[0] if ordered[0] > 0 else 0
    if factor < 2 or any(after != before * factor for before, after in pairwise(ordered)):
        raise BadInput(
            "qperf loops over sizes with a constant factor: request such a list, or one size."
        )
    return ["-oo", f"msg_size:{ordered[0]}:{ordered[-1]}:*{factor}"]


def _tests(request: ToolRequest) -> list[str]:
    """Return the requested tests. Raise BadInput for an unknown test, or a test that a number of
    messages never ends.
    """
    tests = request.benchmark.split()
    odd = [name for name in tests if not known_test(name)]
    if odd or not tests:
        raise BadInput(
            f"qperf has no test {odd[0] if odd else ''!r}: name one, as tcp_bw, tcp_lat, rc_bw or "
            "rc_lat."
        )
    sockets = [name for name in tests if not name.startswith(_RDMA)]
    if request.iterations is not None and sockets:
        raise BadInput(
            f"qperf never ends {sockets[0]} after a number of messages: request seconds."
        )
    return tests


def argv(request: ToolRequest) -> tuple[str, ...]:
    """Return ``qperf SERVER -m 1048576 -ca 6 -vvu tcp_bw``; the server takes only its port (``qperf
    -lp 19765``).

    ``-vvu`` prints the message size. ``benchmark``: tcp_bw, rc_lat … or several, separated by
    blanks.
    """
    refuse_others(request, "qperf", *_ABLE)
    port = given(("-lp", request.port))
    if request.role != "client":
        return (request.program, *port, *request.extra)
    if not request.server:
        raise BadInput("qperf's client needs the server's address.")
    tests = _tests(request)
    options = given(
        ("-t", request.seconds),
        ("-n", request.iterations),
        ("-sb", request.socket_buffer_bytes),
        ("-ca", request.cpu),
        ("-i", request.device),
        ("-cm", 1 if request.rdma_cm else None),
    )
    sizes = _sizes(request.sizes)
    head = (request.program, request.server, *port, *sizes, *options)
    return (*head, "-vvu", *request.extra, *tests)
