"""What is asked of another benchmark program, before it becomes that program's own options."""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["Role", "ToolRequest"]

Role = Literal["rank", "server", "client"]


class ToolRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One process of one program. What is None or empty is left to the program's own default.

    ``benchmark`` is the program's name for the test (``PingPong``, ``tcp_bw``); ``server`` the
    address that a client talks to; ``device`` an RDMA device or a netdev; ``cpu`` the core to run
    on; times in seconds, sizes in bytes.
    """

    program: str
    benchmark: str = ""
    role: Role = "rank"
    server: str = ""
    port: int | None = None
    sizes: tuple[int, ...] = ()
    iterations: int | None = None
    seconds: float | None = None
    omit_seconds: float | None = None
    window: int | None = None
    socket_buffer_bytes: int | None = None
    cpu: int | None = None
    device: str = ""
    mtu: int | None = None
    rdma_cm: bool = False
    extra: tuple[str, ...] = ()
