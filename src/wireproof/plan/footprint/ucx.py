"""UCX over InfiniBand and RoCE: rc, dc and ud.

Counts are read from UCX's src/uct/ib: rc shares one receive queue per process and rail
(RX_QUEUE_LEN=4095, SEG_SIZE=8256; the pool has 10 % more), dc has NUM_DCI=8 initiators of 128
entries and one target whatever the number of peers, ud one QP with 4096 receive buffers of a
packet each.
"""

from __future__ import annotations

from wireproof.model.footprint import FootprintPart
from wireproof.model.planning import Bounds, exactly
from wireproof.plan.footprint.world import CQE, RQE, SQE, JobShape, Mode, Variable, pages

__all__ = ["MODES"]

_SEND = SQE.times(Bounds(1, 4))
"""An entry of mlx5 is one to four blocks: inline data and scatter lists share it."""
_GROWTH = 1.1
_SEND_BUFFERS = 1024
_HEADER = 64
_DCI_ENTRIES = 128
_SEGMENT = Variable(
    name="UCX_RC_SEG_SIZE", default=8256, low=64, high=1 << 20, meaning="bytes of an eager buffer"
)
_RECEIVE = Variable(
    name="UCX_RC_RX_QUEUE_LEN",
    default=4095,
    low=1,
    high=1 << 20,
    meaning="buffers of the shared receive queue",
)
_SENDS = Variable(
    name="UCX_RC_TX_QUEUE_LEN", default=256, low=1, high=1 << 16, meaning="entries of a send queue"
)
_DCIS = Variable(
    name="UCX_DC_MLX5_NUM_DCI",
    default=8,
    low=1,
    high=128,
    meaning="DC initiators per process and rail",
)
_UD_RECEIVE = Variable(
    name="UCX_UD_RX_QUEUE_LEN", default=4096, low=1, high=1 << 20, meaning="receive buffers"
)
_SHARED_MEMORY = "ranks of one node use shared memory (UCX_TLS has sm)"
_RAILS = "--rails: adapters that one process uses (UCX_MAX_RNDV_RAILS, 2 unless set)"


def _pool(world: JobShape, buffers: int, size: int, name: str) -> FootprintPart:
    low = world.rails * buffers * size
    return FootprintPart(
        name=name,
        per="rank",
        qps=exactly(0),
        bytes=Bounds(low, low * _GROWTH + world.rails * _SEND_BUFFERS * size),
        formula=f"r x {buffers} x {size} B; 10 % more, and 1024 send buffers, on use",
        basis="source",
    )


def _rc(world: JobShape) -> list[FootprintPart]:
    queue = pages(_SEND.times(world["UCX_RC_TX_QUEUE_LEN"]))
    return [
        _pool(
            world,
            world["UCX_RC_RX_QUEUE_LEN"],
            world["UCX_RC_SEG_SIZE"],
            "receive and send buffers",
        ),
        FootprintPart(
            name="UD QP that connects the others",
            per="rank",
            qps=Bounds(0, world.rails),
            bytes=Bounds(0, world.rails * 256 * (world.mtu + _HEADER)),
            formula="r, while it is needed",
            basis="assumed",
            kind="UD",
        ),
        FootprintPart(
            name="RC QPs",
            per="peer rank",
            qps=exactly(world.rails),
            bytes=queue.times(world.rails),
            formula="r; UCX_RC_TX_QUEUE_LEN entries of 64 to 512 B",
            basis="assumed",
            kind="RC",
        ),
    ]


def _dc(world: JobShape) -> list[FootprintPart]:
    count = world["UCX_DC_MLX5_NUM_DCI"]
    queues = pages(_SEND.times(_DCI_ENTRIES)).times(world.rails * count)
    return [
        _pool(
            world,
            world["UCX_RC_RX_QUEUE_LEN"],
            world["UCX_RC_SEG_SIZE"],
            "receive and send buffers",
        ),
        FootprintPart(
            name="DC initiators and the target",
            per="rank",
            qps=Bounds(world.rails * (count + 1), world.rails * (count + 2)),
            bytes=queues,
            formula="r (UCX_DC_MLX5_NUM_DCI + 1, and one more for keep-alive on use)",
            basis="assumed",
            kind="DC",
        ),
    ]


def _ud(world: JobShape) -> list[FootprintPart]:
    receive = world["UCX_UD_RX_QUEUE_LEN"]
    queues = (SQE.times(256) + RQE.times(receive) + CQE.times(receive + 256)).times(world.rails)
    return [
        _pool(world, receive, world.mtu + _HEADER, "receive and send buffers"),
        FootprintPart(
            name="UD QP with its queues",
            per="rank",
            qps=exactly(world.rails),
            bytes=queues,
            formula="r; 256 SQE + R RQE + (256 + R) CQE",
            basis="assumed",
            kind="UD",
        ),
    ]


MODES = (
    Mode(
        name="ucx-rc",
        title="UCX rc: an RC QP per pair of ranks and rail, shared receive queue",
        variables=(_SEGMENT, _RECEIVE, _SENDS),
        parts=_rc,
        sources=("UCX, src/uct/ib/rc/base/rc_iface.c and base/ib_iface.c: defaults",),
        validity=(
            _SHARED_MEMORY,
            _RAILS,
            "from UCX_RC_MAX_NUM_EPS=256 endpoints on UCX chooses dc or ud unless UCX_TLS says rc",
        ),
    ),
    Mode(
        name="ucx-dc",
        title="UCX dc: initiators that are shared by all peers",
        variables=(_SEGMENT, _RECEIVE, _DCIS),
        parts=_dc,
        sources=("UCX, src/uct/ib/mlx5/dc/dc_mlx5.c: NUM_DCI=8, IB_TX_QUEUE_LEN=128, one DCT",),
        validity=(_SHARED_MEMORY, _RAILS, "mlx5 adapters alone have DC"),
    ),
    Mode(
        name="ucx-ud",
        title="UCX ud: one UD QP per process and rail",
        variables=(_UD_RECEIVE,),
        parts=_ud,
        sources=("UCX, src/uct/ib/ud: one QP, RX_QUEUE_LEN=4096 of base/ib_iface.c",),
        validity=(_SHARED_MEMORY, _RAILS, "state of the software reliability per peer is left out"),
    ),
)
