"""perftest's command lines."""

from __future__ import annotations

import pytest

from wireproof.adapters.perftest import ADAPTER
from wireproof.model.errors import BadInput
from wireproof.model.series import ToolRequest


def test_argv() -> None:
    ask = ToolRequest(
        program="ib_write_bw",
        role="client",
        server="10.0.0.2",
        sizes=(1 << 20,),
        rdma_cm=True,
        mtu=8192,
    )
    assert ADAPTER.argv(ask) == ("ib_write_bw", "-F", "-R", "-s", "1048576", "10.0.0.2")
    ask = ToolRequest(
        program="ib_send_lat", role="server", device="mlx5_0", port=18515, mtu=4096, sizes=(2, 4, 8)
    )
    assert ADAPTER.argv(ask) == (
        "ib_send_lat",
        "-F",
        "-d",
        "mlx5_0",
        "-p",
        "18515",
        "-m",
        "4096",
        "-a",
    )
    ask = ToolRequest(program="ib_write_bw", role="server", seconds=10, omit_seconds=2, window=64)
    assert ADAPTER.argv(ask) == ("ib_write_bw", "-F", "-D", "10", "-f", "2", "-t", "64")


@pytest.mark.parametrize(
    "ask",
    [
        ToolRequest(program="ib_write_bw", role="client"),
        ToolRequest(program="ib_write_bw", mtu=9000),
        ToolRequest(program="ib_write_bw", sizes=(3, 5)),
        ToolRequest(program="ib_write_bw", sizes=(2, 4), seconds=5),
        ToolRequest(program="ib_write_bw", seconds=5, iterations=7),
        ToolRequest(program="ib_write_bw", seconds=0.5),
        ToolRequest(program="ib_write_bw", cpu=3),
    ],
)
def test_argv_refuses_what_the_tool_cannot_do(ask: ToolRequest) -> None:
    with pytest.raises(BadInput):
        ADAPTER.argv(ask)
