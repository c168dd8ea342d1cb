"""Where the ranks of the tcp transport meet: an address of rank 0's host and a port."""

from __future__ import annotations

import errno
import random
import socket

__all__ = ["meeting_point"]

LOW, HIGH = 20_000, 32_000
"""Below Linux's ephemeral ports (32768), so that no outgoing connection holds the port."""
_TRIES = 64


def meeting_point(address: str) -> str:
    """``ADDRESS:PORT``. A port that is free, if ``address`` is ours; on another host a likely free
    one is drawn.
    """
    draw = random.SystemRandom()
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    shown = f"[{address}]" if family == socket.AF_INET6 else address
    for _ in range(_TRIES):
        port = draw.randrange(LOW, HIGH)
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            try:
                probe.bind((address, port))
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    continue
        return f"{shown}:{port}"
    return f"{shown}:{draw.randrange(LOW, HIGH)}"
