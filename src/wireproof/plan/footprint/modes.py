# pure
"""The modes by name, and the arithmetic of their parts. Pure.

``modes.toml`` contains their variables, sources and ranges of validity.

PSM3: counts are from libfabric's prov/psm3 (4.1; 3.x has the same defaults) and the rv module of
the Ethernet Fabric Suite.

verbs;ofi_rxm: counts are from libfabric's prov/rxm; the pool of the shared context differs between
the code (4096 buffers) and the output of ``fi_info -e`` in some releases.

UCX: counts are from UCX's src/uct/ib. rc shares one receive queue per process and rail
(RX_QUEUE_LEN=4095, SEG_SIZE=8256; the pool has 10 % more). dc has NUM_DCI=8 initiators of 128
entries and one target, whatever the number of peers. ud has one QP with 4096 receive buffers of one
packet each.

Sizes of queue entries are assumed.
"""

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from wireproof.model.errors import BadInput
from wireproof.model.site import packaged
from wireproof.model.toml import read_rows
from wireproof.plan import Bounds, FootprintPart, Unit, exactly

PAGE = 4096
SQE, RQE, CQE = Bounds(64, 128), Bounds(32, 64), Bounds(32, 128)
"""Bytes per entry of a send, receive and completion queue on common adapters."""
_HEADER = 64
"""Bytes before the payload of a receive buffer for headers of the library or of UD."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class PlannedJob:
    """``mtu``: payload of a packet (256 to 4096), or the MTU of the Ethernet interface.

    ``peers``: remote ranks that each rank talks to; ``node_pairs``: pairs of nodes that talk.
    ``settings``: variables of the library that differ from its defaults. ``max_qps``, ``device`` (a
    file with the output of ``ibv_devinfo -v``): the adapter's limit. ``observed``: a file with the
    output of ``rdma resource show`` on one node of a real run; ``seen_qps``, ``seen_memory``
    (bytes): of a whole job.

    The parts of a mode are computed with the payload of a packet, and with every variable of the
    mode in ``settings``.
    """

    nodes: int
    ppn: int
    rails: int = 1
    mtu: int = 4096
    peers: int | None = None
    node_pairs: int | None = None
    settings: Mapping[str, int] | None = None
    max_qps: int | None = None
    device: Path | str | None = None
    observed: Path | str | None = None
    seen_qps: int | None = None
    seen_memory: int | None = None

    def __getitem__(self, name: str) -> int:
        return (self.settings or {})[name]


class Variable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A variable of the library: its default and allowed values."""

    name: str
    default: int
    low: int
    high: int
    meaning: str


class Mode(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One transport for a job's messages, as written in ``modes.toml``; ``variables``: the names of
    its ``VARIABLES``.
    """

    name: str
    title: str
    variables: tuple[str, ...]
    sources: tuple[str, ...]
    validity: tuple[str, ...]

    def parts(self, world: PlannedJob) -> list[FootprintPart]:
        """Return the parts of the job's footprint. Raises ``BadInput`` for settings that the
        library refuses.
        """
        return _PARTS[self.name](world)


def _part(
    name: str,
    formula: str,
    size: Bounds,
    qps: Bounds | int = 0,
    kind: str = "",
    *,
    per: Unit = "rank",
    assumed: bool = False,
) -> FootprintPart:
    return FootprintPart(
        name=name,
        per=per,
        qps=exactly(qps) if isinstance(qps, int) else qps,
        bytes=size,
        formula=formula,
        basis="assumed" if assumed else "source",
        kind=kind,
    )


def _pages(*queues: Bounds) -> Bounds:
    """Return the bytes of queues that each start on a separate page."""
    return Bounds(
        sum(-(-int(queue.low) // PAGE) * PAGE for queue in queues),
        sum(-(-int(queue.high) // PAGE) * PAGE for queue in queues),
    )


# --- PSM3's four RDMA modes.

_RAILS_MOST = 32
_BOUNCE = 1024 * 8192
_DESCRIPTORS = 3 * 4096 * 410
_SHM = 2 * (1024 * 64 + 256 * 8192)
_SRQ_RANKS = 5


def _endpoints(world: PlannedJob) -> int:
    endpoints = world.rails * world["PSM3_QP_PER_NIC"]
    if endpoints > _RAILS_MOST:
        raise BadInput(
            f"{world.rails} rails x PSM3_QP_PER_NIC={world['PSM3_QP_PER_NIC']} are more than the"
            f" {_RAILS_MOST} that PSM3 allows: give fewer."
        )
    return endpoints


def _psm3_ud(world: PlannedJob) -> list[FootprintPart]:
    """Return the parts of the UD endpoint, which every mode has."""
    ends, mtu = _endpoints(world), world.mtu
    send, receive = world["PSM3_NUM_SEND_WQES"], world["PSM3_NUM_RECV_WQES"]
    entries = send + receive + world["PSM3_NUM_SEND_RDMA"] + 2032
    queues = (SQE.times(send + 1) + RQE.times(receive) + CQE.times(entries)).times(ends)
    formula = "r q; (S + 1) SQE + R RQE + (S + R + D + 2032) CQE"
    descriptors = Bounds(ends * _DESCRIPTORS, ends * (_DESCRIPTORS + _BOUNCE))
    return [
        _part("UD QP with its queues", formula, queues, ends, "UD", assumed=True),
        _part("send buffers", "r q x S x M", exactly(ends * (send // 8 * 8) * mtu)),
        _part("receive buffers", "r q x R x (M + 64)", exactly(ends * receive * (mtu + _HEADER))),
        _part(
            "bounce buffers and descriptors",
            "r q x (1024 x 8192, touched on use, + 3 x 4096 x about 0.4 kB)",
            descriptors,
            assumed=True,
        ),
        _part(
            "shared memory segment",
            "2 x (1024 x 64 + 256 x 8192), touched on use",
            Bounds(0, _SHM),
        ),
    ]


def _psm3_rv(world: PlannedJob) -> list[FootprintPart]:
    """Return the parts of mode 1: the kernel's connections, one for each pair of nodes and rail."""
    connection, whole = world["PSM3_RV_QP_PER_CONN"], world["PSM3_RV_Q_DEPTH"]
    depth = -(-whole // connection)
    depth = int(depth * 1.05) + 3 if connection > 1 else depth + 3
    qps = connection * world.rails
    size = (SQE + RQE + exactly(2 * 64)).times(qps * depth)
    formula = f"c r; c r x {depth} x (SQE + RQE + 2 CQE of 64 B)"
    rv = _part("kernel RC QPs of rv", formula, size, qps, "RC", per="peer node", assumed=True)
    return [*_psm3_ud(world), rv]


def _user_qps(world: PlannedJob, queue: Bounds, formula: str) -> FootprintPart:
    ends = _endpoints(world)
    size = queue.times(ends)
    return _part("user RC QPs", formula, size, ends, "RC", per="peer rank", assumed=True)


def _psm3_rendezvous(world: PlannedJob) -> list[FootprintPart]:
    """Return the parts of mode 2: one small RC QP for each pair of ranks, only for RDMA."""
    receive = 0 if _shared_receive(world) else 33
    queue = _pages(SQE.times(world["PSM3_NUM_SEND_RDMA"] + 1), RQE.times(receive))
    formula = f"r q; (D + 1) SQE + {receive} RQE, in pages"
    return [*_psm3_ud(world), _user_qps(world, queue, formula)]


def _shared_receive(world: PlannedJob) -> bool:
    return bool(world["PSM3_USE_SRQ"] and world.nodes > 1 and world.nodes * world.ppn >= _SRQ_RANKS)


def _psm3_all_rc(world: PlannedJob) -> list[FootprintPart]:
    """Return the parts of mode 3: an RC QP for each pair of ranks, for everything except
    control."""
    receive = world["PSM3_NUM_RECV_WQES"]
    sends = world["PSM3_NUM_SEND_WQES"] + world["PSM3_NUM_SEND_RDMA"] + 2
    queue, formula = _pages(SQE.times(sends)), "r q; (S + D + 2) SQE"
    parts = _psm3_ud(world)
    if _shared_receive(world):
        size = exactly(_endpoints(world) * receive * world.mtu)
        parts.append(_part("receive buffers of the SRQ", "r q x R x M", size))
    else:
        own = receive // 4
        queue += exactly(own * world.mtu) + (RQE + CQE).times(own)
        formula += " + R / 4 x (M + RQE + CQE)"
    return [*parts, _user_qps(world, queue, formula)]


# --- libfabric's verbs;ofi_rxm, with and without a shared receive context.

_RXM_QUEUES = Bounds(128, 384)
"""Entries of a QP's queues: the number that rxm requests, and the default of verbs."""


def _rxm_parts(world: PlannedJob, buffers: int, *shared: FootprintPart) -> list[FootprintPart]:
    """Return the completion queue, the ``shared`` parts, and connections with ``buffers`` each."""
    entries = world["FI_UNIVERSE_SIZE"] * 2 * 128
    completions = "FI_UNIVERSE_SIZE x (128 + 128) CQE"
    posted = exactly(buffers * (world["FI_OFI_RXM_BUFFER_SIZE"] + _HEADER))
    size = posted + _pages(SQE.times(_RXM_QUEUES), RQE.times(_RXM_QUEUES))
    formula = (f"{buffers} x (buffer + 64) + " if buffers else "") + "128 to 384 (SQE + RQE)"
    return [
        _part("completion queue", completions, CQE.times(entries), assumed=True),
        *shared,
        _part("RC QPs", formula, size, 1, "RC", per="peer rank", assumed=True),
    ]


def _rxm(world: PlannedJob) -> list[FootprintPart]:
    return _rxm_parts(world, world["FI_OFI_RXM_MSG_RX_SIZE"])


def _rxm_shared(world: PlannedJob) -> list[FootprintPart]:
    pool = exactly(world["FI_OFI_RXM_RX_SIZE"] * (world["FI_OFI_RXM_BUFFER_SIZE"] + _HEADER))
    part = _part("shared receive pool", "FI_OFI_RXM_RX_SIZE x (buffer + 64)", pool)
    return _rxm_parts(world, 0, part)


# --- UCX over InfiniBand and RoCE: rc, dc and ud.

_UCX_SQE = SQE.times(Bounds(1, 4))
"""An mlx5 entry has one to four blocks, which inline data and scatter lists share."""
_GROWTH = 1.1
_SEND_BUFFERS = 1024
_DCI_ENTRIES = 128


def _ucx_pool(world: PlannedJob, buffers: int, size: int) -> FootprintPart:
    low = world.rails * buffers * size
    high = low * _GROWTH + world.rails * _SEND_BUFFERS * size
    formula = f"r x {buffers} x {size} B; 10 % more, and 1024 send buffers, on use"
    return _part("receive and send buffers", formula, Bounds(low, high))


def _ucx_rc(world: PlannedJob) -> list[FootprintPart]:
    rails = world.rails
    queues = _pages(_UCX_SQE.times(world["UCX_RC_TX_QUEUE_LEN"])).times(rails)
    return [
        _ucx_pool(world, world["UCX_RC_RX_QUEUE_LEN"], world["UCX_RC_SEG_SIZE"]),
        _part(
            "UD QP that connects the others",
            "r, while it is needed",
            Bounds(0, rails * 256 * (world.mtu + _HEADER)),
            Bounds(0, rails),
            "UD",
            assumed=True,
        ),
        _part(
            "RC QPs",
            "r; UCX_RC_TX_QUEUE_LEN entries of 64 to 512 B",
            queues,
            rails,
            "RC",
            per="peer rank",
            assumed=True,
        ),
    ]


def _ucx_dc(world: PlannedJob) -> list[FootprintPart]:
    count, rails = world["UCX_DC_MLX5_NUM_DCI"], world.rails
    return [
        _ucx_pool(world, world["UCX_RC_RX_QUEUE_LEN"], world["UCX_RC_SEG_SIZE"]),
        _part(
            "DC initiators and the target",
            "r (UCX_DC_MLX5_NUM_DCI + 1, and one more for keep-alive on use)",
            _pages(_UCX_SQE.times(_DCI_ENTRIES)).times(rails * count),
            Bounds(rails * (count + 1), rails * (count + 2)),
            "DC",
            assumed=True,
        ),
    ]


def _ucx_ud(world: PlannedJob) -> list[FootprintPart]:
    receive, rails = world["UCX_UD_RX_QUEUE_LEN"], world.rails
    queues = (SQE.times(256) + RQE.times(receive) + CQE.times(receive + 256)).times(rails)
    formula = "r; 256 SQE + R RQE + (256 + R) CQE"
    return [
        _ucx_pool(world, receive, world.mtu + _HEADER),
        _part("UD QP with its queues", formula, queues, rails, "UD", assumed=True),
    ]


_PARTS: Mapping[str, Callable[[PlannedJob], list[FootprintPart]]] = {
    "psm3-rdma0": _psm3_ud,
    "psm3-rdma1": _psm3_rv,
    "psm3-rdma2": _psm3_rendezvous,
    "psm3-rdma3": _psm3_all_rc,
    "rxm": _rxm,
    "rxm-srx": _rxm_shared,
    "ucx-rc": _ucx_rc,
    "ucx-dc": _ucx_dc,
    "ucx-ud": _ucx_ud,
}


_FILE = packaged(__package__, "modes.toml")
VARIABLES = {
    row.name: row for row in read_rows(_FILE, "modes.toml", "variable", Variable, ("mode",))
}
MODES = {row.name: row for row in read_rows(_FILE, "modes.toml", "mode", Mode, ("variable",))}


def mode_called(text: str) -> str:
    """Return the mode for a name in documents such as ``PSM3_RDMA=1`` or ``RxM``; other text
    unchanged."""
    letters = {name: "".join(filter(str.isalnum, name.lower())) for name in (*MODES, text)}
    return next((name for name in MODES if letters[name] == letters[text]), text)
