"""PSM3's four RDMA modes.

Counts are read from libfabric's prov/psm3 (4.1; the defaults are those of 3.x too) and the rv
module of the Ethernet Fabric Suite; sizes of queue entries are assumed (``world``).
"""

from __future__ import annotations

from wireproof.model.errors import BadInput
from wireproof.model.footprint import FootprintPart
from wireproof.model.planning import Bounds, exactly
from wireproof.plan.footprint.world import CQE, RQE, SQE, JobShape, Mode, Variable, pages

__all__ = ["MODES"]

_RAILS_MOST = 32
_HEADER = 64
_BOUNCE = 1024 * 8192
_DESCRIPTORS = 3 * 4096 * 410
_SHM = 2 * (1024 * 64 + 256 * 8192)
_SRQ_RANKS = 5
_UD = (
    Variable(
        name="PSM3_QP_PER_NIC",
        default=1,
        low=1,
        high=32,
        meaning="UD endpoints per process and NIC",
    ),
    Variable(
        name="PSM3_NUM_SEND_WQES",
        default=4080,
        low=8,
        high=65536,
        meaning="depth of the UD send queue and its buffers",
    ),
    Variable(
        name="PSM3_NUM_RECV_WQES",
        default=4095,
        low=8,
        high=65536,
        meaning="depth of the UD receive queue and its buffers",
    ),
    Variable(
        name="PSM3_NUM_SEND_RDMA",
        default=128,
        low=1,
        high=65536,
        meaning="RDMA writes under way per endpoint",
    ),
)
_RV = (
    Variable(
        name="PSM3_RV_QP_PER_CONN",
        default=4,
        low=1,
        high=16,
        meaning="kernel RC QPs per pair of nodes and rail (rv's num_conn)",
    ),
    Variable(
        name="PSM3_RV_Q_DEPTH",
        default=4000,
        low=1,
        high=1_000_000,
        meaning="entries of a connection, divided among its QPs (rv's q_depth)",
    ),
)
_SRQ = (
    Variable(
        name="PSM3_USE_SRQ",
        default=1,
        low=0,
        high=1,
        meaning="shared receive queue (needs 2 nodes and 5 ranks or more)",
    ),
)
_SOURCE = (
    "libfabric, prov/psm3: UD QP, CQs and buffer pools of an endpoint (verbs HAL); connections are"
    " made on first use (PSM3_MULTI_EP)"
)
_RV_SOURCE = (
    "rv: num_conn = 4 and q_depth = 4000 are module defaults since the release of January 2021; a"
    " connection belongs to a pair of nodes, a rail and one user's job"
)
_SHARED_MEMORY = "ranks of one node use shared memory (PSM3_DEVICES has shm, the default)"


def _endpoints(world: JobShape) -> int:
    return world.rails * world["PSM3_QP_PER_NIC"]


def _check(world: JobShape) -> None:
    if _endpoints(world) > _RAILS_MOST:
        raise BadInput(
            f"{world.rails} rails x PSM3_QP_PER_NIC={world['PSM3_QP_PER_NIC']} are more than the"
            f" {_RAILS_MOST} that PSM3 takes: give fewer."
        )


def _ud(world: JobShape) -> list[FootprintPart]:
    """The UD endpoint that every mode has."""
    ends, mtu = _endpoints(world), world.mtu
    send, receive = world["PSM3_NUM_SEND_WQES"], world["PSM3_NUM_RECV_WQES"]
    entries = send + receive + world["PSM3_NUM_SEND_RDMA"] + 2032
    queues = SQE.times(send + 1) + RQE.times(receive) + CQE.times(entries)
    return [
        _part(
            "UD QP with its queues",
            ends,
            queues.times(ends),
            "r q; (S + 1) SQE + R RQE + (S + R + D + 2032) CQE",
            assumed=True,
            kind="UD",
        ),
        _part("send buffers", 0, exactly(ends * (send // 8 * 8) * mtu), "r q x S x M"),
        _part(
            "receive buffers", 0, exactly(ends * receive * (mtu + _HEADER)), "r q x R x (M + 64)"
        ),
        _part(
            "bounce buffers and descriptors",
            0,
            Bounds(ends * _DESCRIPTORS, ends * (_DESCRIPTORS + _BOUNCE)),
            "r q x (1024 x 8192, touched on use, + 3 x 4096 x about 0.4 kB)",
            assumed=True,
        ),
        _part(
            "shared memory segment",
            0,
            Bounds(0, _SHM),
            "2 x (1024 x 64 + 256 x 8192), touched on use",
        ),
    ]


def _part(
    name: str, qps: int, size: Bounds, formula: str, *, assumed: bool = False, kind: str = ""
) -> FootprintPart:
    return FootprintPart(
        name=name,
        per="rank",
        qps=exactly(qps),
        bytes=size,
        formula=formula,
        basis="assumed" if assumed else "source",
        kind=kind,
    )


def _rv(world: JobShape) -> list[FootprintPart]:
    """Mode 1: the kernel's connections, one for each pair of nodes and rail."""
    connection, whole = world["PSM3_RV_QP_PER_CONN"], world["PSM3_RV_Q_DEPTH"]
    depth = -(-whole // connection)
    depth = int(depth * 1.05) + 3 if connection > 1 else depth + 3
    entry = SQE + RQE + exactly(2 * 64)
    return [
        *_ud(world),
        FootprintPart(
            name="kernel RC QPs of rv",
            per="peer node",
            qps=exactly(connection * world.rails),
            bytes=entry.times(connection * world.rails * depth),
            formula=f"c r; c r x {depth} x (SQE + RQE + 2 CQE of 64 B)",
            basis="assumed",
            kind="RC",
        ),
    ]


def _user_rc(world: JobShape) -> list[FootprintPart]:
    """Mode 2: one small RC QP for each pair of ranks, for RDMA alone."""
    ends = _endpoints(world)
    receive = 0 if _shared_receive(world) else 33
    queue = pages(SQE.times(world["PSM3_NUM_SEND_RDMA"] + 1), RQE.times(receive))
    return [
        *_ud(world),
        FootprintPart(
            name="user RC QPs",
            per="peer rank",
            qps=exactly(ends),
            bytes=queue.times(ends),
            formula=f"r q; (D + 1) SQE + {receive} RQE, in pages",
            basis="assumed",
            kind="RC",
        ),
    ]


def _shared_receive(world: JobShape) -> bool:
    return bool(world["PSM3_USE_SRQ"] and world.nodes > 1 and world.nodes * world.ppn >= _SRQ_RANKS)


def _all_rc(world: JobShape) -> list[FootprintPart]:
    """Mode 3: an RC QP for each pair of ranks that carries everything but control."""
    ends, receive = _endpoints(world), world["PSM3_NUM_RECV_WQES"]
    sends = world["PSM3_NUM_SEND_WQES"] + world["PSM3_NUM_SEND_RDMA"] + 2
    queue, formula = pages(SQE.times(sends)), "r q; (S + D + 2) SQE"
    parts = _ud(world)
    if _shared_receive(world):
        parts.append(
            _part(
                "receive buffers of the SRQ", 0, exactly(ends * receive * world.mtu), "r q x R x M"
            )
        )
    else:
        own = receive // 4
        queue += exactly(own * world.mtu) + (RQE + CQE).times(own)
        formula += " + R / 4 x (M + RQE + CQE)"
    parts.append(
        FootprintPart(
            name="user RC QPs",
            per="peer rank",
            qps=exactly(ends),
            bytes=queue.times(ends),
            formula=formula,
            basis="assumed",
            kind="RC",
        )
    )
    return parts


MODES = (
    Mode(
        name="psm3-rdma0",
        title="PSM3_RDMA=0: UD alone",
        variables=_UD,
        parts=_ud,
        check=_check,
        sources=(_SOURCE,),
        validity=(_SHARED_MEMORY, "QPs and memory do not depend on who talks to whom"),
    ),
    Mode(
        name="psm3-rdma1",
        title="PSM3_RDMA=1: UD, and RC QPs of the kernel module rv for rendezvous",
        variables=_UD + _RV,
        parts=_rv,
        check=_check,
        sources=(
            _SOURCE,
            _RV_SOURCE,
        ),
        validity=(
            _SHARED_MEMORY,
            "two jobs on one node share no connection: add them",
            "a mode that is not compiled in falls back to 0: read it back (PSM3_IDENTIFY=1)",
        ),
    ),
    Mode(
        name="psm3-rdma2",
        title="PSM3_RDMA=2: UD, and a user RC QP per pair of ranks for rendezvous",
        variables=_UD + _SRQ,
        parts=_user_rc,
        check=_check,
        sources=(_SOURCE, "libfabric, prov/psm3: RC QPs of 129 send and 33 receive entries"),
        validity=(_SHARED_MEMORY, "modes 2 and 3 are compiled in on request (USE_RC)"),
    ),
    Mode(
        name="psm3-rdma3",
        title="PSM3_RDMA=3: a user RC QP per pair of ranks for all data, UD for control",
        variables=_UD + _SRQ,
        parts=_all_rc,
        check=_check,
        sources=(_SOURCE, "libfabric, prov/psm3: RC QPs with S + D + 2 send entries, SRQ or R / 4"),
        validity=(_SHARED_MEMORY, "modes 2 and 3 are compiled in on request (USE_RC)"),
    ),
)
