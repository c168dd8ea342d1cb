"""iperf3's command lines."""

from __future__ import annotations

import pytest

from wireproof.adapters.iperf3 import ADAPTER
from wireproof.model.errors import BadInput
from wireproof.model.series import ToolRequest


def test_argv() -> None:
    ask = ToolRequest(
        program="iperf3",
        role="client",
        server="10.0.0.2",
        seconds=10,
        omit_seconds=2,
        sizes=(1 << 20,),
        cpu=4,
        socket_buffer_bytes=2 << 20,
    )
    words = "iperf3 -c 10.0.0.2 -t 10 -O 2 -l 1048576 -w 2097152 -J -A 4"
    assert ADAPTER.argv(ask) == tuple(words.split())
    ask = ToolRequest(program="iperf3", role="server", port=5333, cpu=4, sizes=(1 << 20,))
    assert ADAPTER.argv(ask) == ("iperf3", "-s", "-1", "-p", "5333", "-A", "4")
    ask = ToolRequest(
        program="iperf3", role="client", server="b", benchmark="bidir", extra=("-P", "4")
    )
    assert ADAPTER.argv(ask) == ("iperf3", "-c", "b", "--bidir", "-J", "-P", "4")


@pytest.mark.parametrize(
    "ask",
    [
        ToolRequest(program="iperf3", role="client"),
        ToolRequest(program="iperf3", role="client", server="b", benchmark="latency"),
        ToolRequest(program="iperf3", role="client", server="b", sizes=(1, 2)),
        ToolRequest(program="iperf3", role="client", server="b", seconds=1.5),
        ToolRequest(program="iperf3", role="client", server="b", seconds=1, iterations=5),
        ToolRequest(program="iperf3", role="client", server="b", rdma_cm=True),
    ],
)
def test_argv_refuses_what_the_tool_cannot_do(ask: ToolRequest) -> None:
    with pytest.raises(BadInput):
        ADAPTER.argv(ask)
