"""Says no, in one sentence, to what a program has no option for."""

from __future__ import annotations

from wireproof.model.errors import BadInput
from wireproof.model.tool import ToolRequest

__all__ = ["refuse_others"]

# field of ToolRequest: what it asks for, in a reader's words
_WORDS = {
    "server": "a server's address",
    "port": "a port",
    "sizes": "message sizes",
    "iterations": "a number of iterations",
    "seconds": "a duration",
    "omit_seconds": "seconds to leave out",
    "window": "a window",
    "socket_buffer_bytes": "a socket buffer's size",
    "cpu": "a core to run on",
    "device": "a device",
    "mtu": "an MTU",
    "rdma_cm": "rdma_cm",
}


def refuse_others(request: ToolRequest, tool: str, *able: str) -> None:
    """Raises BadInput for the first thing asked for that is not in ``able`` (names of ToolRequest's
    fields).
    """
    for name, words in _WORDS.items():
        if name not in able and getattr(request, name) not in (None, "", (), False):
            raise BadInput(f"{tool} has no option for {words}: leave it out.")
