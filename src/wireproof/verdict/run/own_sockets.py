"""Advice for our own TCP transport: no MPI library is in it, so no variable of one changes
anything. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from wireproof.model.finding import Finding
from wireproof.verdict.context import Context

__all__ = ["for_own_sockets"]

_OF_A_LIBRARY = re.compile(r"\b(UCX_|FI_|I_MPI_|PSM3_|MPIR_|OMPI_|btl_|LD_LIBRARY_PATH)")
_ADVICE = (
    "These are our own sockets, bound to the claimed NIC's address: look at the routes of both "
    "hosts (ip route get PEER"
    " from ADDRESS, ip rule) and claim the NIC that is to be measured (--nic)."
)


def for_own_sockets(ctx: Context, findings: Iterable[Finding]) -> list[Finding]:
    """``findings`` without advice about MPI libraries, where the sockets were our own."""
    own = ctx.run.open is not None and ctx.run.open.transport == "tcp"
    return [
        msgspec.structs.replace(one, advice=_ADVICE)
        if own and _OF_A_LIBRARY.search(one.advice)
        else one
        for one in findings
    ]
