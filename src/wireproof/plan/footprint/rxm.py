"""libfabric's verbs;ofi_rxm, with and without a shared receive context.

Counts are read from libfabric's prov/rxm; the pool of the shared context differs between the code
(4096 buffers) and what ``fi_info -e`` prints of some releases.
"""

from __future__ import annotations

from wireproof.model.footprint import FootprintPart
from wireproof.model.planning import Bounds, exactly
from wireproof.plan.footprint.world import CQE, RQE, SQE, JobShape, Mode, Variable, pages

__all__ = ["MODES"]

_HEADER = 64
_QUEUES = Bounds(128, 384)
"""Entries of a QP's queues: what rxm asks for, and verbs' own default."""
_BUFFER = Variable(
    name="FI_OFI_RXM_BUFFER_SIZE",
    default=16384,
    low=64,
    high=1 << 30,
    meaning="bytes of an eager buffer",
)
_MESSAGES = Variable(
    name="FI_OFI_RXM_MSG_RX_SIZE",
    default=128,
    low=1,
    high=65536,
    meaning="receive buffers posted on each connection",
)
_POOL = Variable(
    name="FI_OFI_RXM_RX_SIZE",
    default=4096,
    low=1,
    high=1 << 20,
    meaning="receive buffers in the shared pool",
)
_UNIVERSE = Variable(
    name="FI_UNIVERSE_SIZE",
    default=256,
    low=1,
    high=10_000_000,
    meaning="peers that the completion queue is made for",
)
_SOURCE = "libfabric, prov/rxm: one msg endpoint (an RC QP) for each peer, made on first use"
_VALIDITY = (
    "ranks of one node use shared memory by the MPI; else each has P - 1 more connections",
    "one rail: rxm does not stripe",
    "above FI_UNIVERSE_SIZE peers the completion queue may overrun: set it to the number of ranks",
)


def _completions(world: JobShape) -> FootprintPart:
    entries = world["FI_UNIVERSE_SIZE"] * 2 * 128
    return FootprintPart(
        name="completion queue",
        per="rank",
        qps=exactly(0),
        bytes=CQE.times(entries),
        formula="FI_UNIVERSE_SIZE x (128 + 128) CQE",
        basis="assumed",
    )


def _connection(world: JobShape, buffers: int) -> FootprintPart:
    posted = buffers * (world["FI_OFI_RXM_BUFFER_SIZE"] + _HEADER)
    queues = pages(SQE.times(_QUEUES), RQE.times(_QUEUES))
    return FootprintPart(
        name="RC QPs",
        per="peer rank",
        qps=exactly(1),
        bytes=exactly(posted) + queues,
        formula=(f"{buffers} x (buffer + 64) + " if buffers else "") + "128 to 384 (SQE + RQE)",
        basis="assumed",
        kind="RC",
    )


def _plain(world: JobShape) -> list[FootprintPart]:
    return [_completions(world), _connection(world, world["FI_OFI_RXM_MSG_RX_SIZE"])]


def _shared(world: JobShape) -> list[FootprintPart]:
    pool = world["FI_OFI_RXM_RX_SIZE"] * (world["FI_OFI_RXM_BUFFER_SIZE"] + _HEADER)
    return [
        _completions(world),
        FootprintPart(
            name="shared receive pool",
            per="rank",
            qps=exactly(0),
            bytes=exactly(pool),
            formula="FI_OFI_RXM_RX_SIZE x (buffer + 64)",
            basis="source",
        ),
        _connection(world, 0),
    ]


MODES = (
    Mode(
        name="rxm",
        title="verbs;ofi_rxm: an RC QP per pair of ranks, each with its buffers",
        variables=(_BUFFER, _MESSAGES, _UNIVERSE),
        parts=_plain,
        sources=(_SOURCE,),
        validity=_VALIDITY,
    ),
    Mode(
        name="rxm-srx",
        title="verbs;ofi_rxm with FI_OFI_RXM_USE_SRX=1: the buffers are shared",
        variables=(_BUFFER, _POOL, _UNIVERSE),
        parts=_shared,
        sources=(_SOURCE,),
        validity=(*_VALIDITY, "releases differ in the pool's default: see fi_info -e"),
    ),
)
