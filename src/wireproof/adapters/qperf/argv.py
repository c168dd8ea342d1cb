"""The options of qperf."""

from __future__ import annotations

from itertools import pairwise

from wireproof.adapters.options import given, refuse_others
from wireproof.adapters.qperf.benchmarks import known_test
from wireproof.model.errors import BadInput
from wireproof.model.tool import ToolRequest

__all__ = ["argv"]

_ABLE = (
    "server",
    "port",
    "sizes",
    "iterations",
    "seconds",
    "socket_buffer_bytes",
    "cpu",
    "device",
    "mtu",
    "rdma_cm",
)
_RDMA = ("rc_", "uc_", "ud_", "xrc_")


def _sizes(sizes: tuple[int, ...]) -> list[str]:
    """One size, or a loop from the least to the largest with one factor."""
    if len(sizes) <= 1:
        return ["-m", str(sizes[0])] if sizes else []
    ordered = sorted(sizes)
    factor = ordered[1] // ordered[0] if ordered[0] > 0 else 0
    if factor < 2 or any(after != before * factor for before, after in pairwise(ordered)):
        raise BadInput(
            "qperf loops over sizes with one factor between them: ask for such a list, or for one "
            "size."
        )
    return ["-oo", f"msg_size:{ordered[0]}:{ordered[-1]}:*{factor}"]


def _tests(request: ToolRequest) -> list[str]:
    """The tests asked for. Raises BadInput for one that there is not, or that a number of messages
    never ends.
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
            f"qperf never ends {sockets[0]} after a number of messages: ask for seconds."
        )
    return tests


def argv(request: ToolRequest) -> tuple[str, ...]:
    """``qperf SERVER -m 1048576 -ca 6 -vvu tcp_bw``; the server takes no more than its port
    (``qperf -lp 19765``).

    ``-vvu`` lets it print the message size. ``benchmark``: tcp_bw, rc_lat … or several, with blanks
    between.
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
        ("-mt", request.mtu),
        ("-cm", 1 if request.rdma_cm else None),
    )
    sizes = _sizes(request.sizes)
    head = (request.program, request.server, *port, *sizes, *options)
    return (*head, "-vvu", *request.extra, *tests)
