"""Advice for transports without an MPI: no MPI library is in them, so no variable of one changes
anything. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from wireproof.model.finding import Finding
from wireproof.verdict.context import Context

__all__ = ["OF_A_LIBRARY", "for_own_sockets"]

OF_A_LIBRARY = frozenset(
    {
        "library-mismatch",
        "mixed-paths",
        "nolocal-shm",
        "off-wire",
        "one-host",
        "one-rail",
        "port-uncounted",
        "rdma-instead-of-tcp",
        "slow-start",
        "striped",
        "tcp-instead-of-rdma",
        "traffic-off-wire",
        "traffic-wrong-path",
        "unequal-rails",
        "wrong-path",
    }
)
"""Codes whose advice is about an MPI library's variables."""
_ADVICE = {
    "tcp": (
        "These are our own sockets, bound to the claimed NIC's address: look at the routes of both "
        "hosts (ip route get PEER from ADDRESS, ip rule) and claim the NIC that is to be measured "
        "(--nic)."
    ),
    "ofi": (
        "There is no MPI in it: the record has libfabric's provider, domain and NIC; give "
        "--provider and --nic as `wireproof doctor --providers` lists them, and look at the routes "
        "of both hosts (ip route get PEER from ADDRESS) where the provider uses the kernel's "
        "sockets."
    ),
}


def for_own_sockets(ctx: Context, findings: Iterable[Finding]) -> list[Finding]:
    """``findings`` without advice about MPI libraries, where there was none."""
    advice = _ADVICE.get(ctx.run.open.transport if ctx.run.open else "")
    return [
        msgspec.structs.replace(one, advice=advice) if advice and one.code in OF_A_LIBRARY else one
        for one in findings
    ]
