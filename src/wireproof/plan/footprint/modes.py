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
class JobShape:
    """``mtu``: payload of a packet. ``settings``: every variable of the mode with its value."""

    nodes: int
    ppn: int
    rails: int
    mtu: int
    settings: Mapping[str, int]

    def __getitem__(self, name: str) -> int:
        return self.settings[name]


class Variable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A variable of the library: its default and allowed values."""

    name: str
    default: int
    low: int
    high: int
    meaning: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mode:
    """One transport for a job's messages. ``check`` raises BadInput for settings that the library
    refuses.
    """

    name: str
    title: str
    variables: tuple[Variable, ...]
    parts: Callable[[JobShape], list[FootprintPart]]
    sources: tuple[str, ...]
    validity: tuple[str, ...]
    check: Callable[[JobShape], None]


class _ModeRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mode as written in ``modes.toml``; ``variables`` by name."""

    name: str
    title: str
    variables: tuple[str, ...]
    sources: tuple[str, ...]
    validity: tuple[str, ...]


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


def _endpoints(world: JobShape) -> int:
    return world.rails * world["PSM3_QP_PER_NIC"]


def _psm3_check(world: JobShape) -> None:
    if _endpoints(world) > _RAILS_MOST:
        raise BadInput(
            f"{world.rails} rails x PSM3_QP_PER_NIC={world['PSM3_QP_PER_NIC']} are more than the"
            f" {_RAILS_MOST} that PSM3 allows: give fewer."
        )


def _psm3_ud(world: JobShape) -> list[FootprintPart]:
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


def _psm3_rv(world: JobShape) -> list[FootprintPart]:
    """Return the parts of mode 1: the kernel's connections, one for each pair of nodes and rail."""
    connection, whole = world["PSM3_RV_QP_PER_CONN"], world["PSM3_RV_Q_DEPTH"]
    depth = -(-whole // connection)
    depth = int(depth * 1.05) + 3 if connection > 1 else depth + 3
    qps = connection * world.rails
    size = (SQE + RQE + exactly(2 * 64)).times(qps * depth)
    formula = f"c r; c r x {depth} x (SQE + RQE + 2 CQE of 64 B)"
    rv = _part("kernel RC QPs of rv", formula, size, qps, "RC", per="peer node", assumed=True)
    return [*_psm3_ud(world), rv]


def _user_qps(world: JobShape, queue: Bounds, formula: str) -> FootprintPart:
    ends = _endpoints(world)
    size = queue.times(ends)
    return _part("user RC QPs", formula, size, ends, "RC", per="peer rank", assumed=True)


def _psm3_rendezvous(world: JobShape) -> list[FootprintPart]:
    """Return the parts of mode 2: one small RC QP for each pair of ranks, only for RDMA."""
    receive = 0 if _shared_receive(world) else 33
    queue = _pages(SQE.times(world["PSM3_NUM_SEND_RDMA"] + 1), RQE.times(receive))
    formula = f"r q; (D + 1) SQE + {receive} RQE, in pages"
    return [*_psm3_ud(world), _user_qps(world, queue, formula)]


def _shared_receive(world: JobShape) -> bool:
    return bool(world["PSM3_USE_SRQ"] and world.nodes > 1 and world.nodes * world.ppn >= _SRQ_RANKS)


def _psm3_all_rc(world: JobShape) -> list[FootprintPart]:
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


def _completions(world: JobShape) -> FootprintPart:
    entries = world["FI_UNIVERSE_SIZE"] * 2 * 128
    formula = "FI_UNIVERSE_SIZE x (128 + 128) CQE"
    return _part("completion queue", formula, CQE.times(entries), assumed=True)


def _rxm_connection(world: JobShape, buffers: int) -> FootprintPart:
    posted = exactly(buffers * (world["FI_OFI_RXM_BUFFER_SIZE"] + _HEADER))
    size = posted + _pages(SQE.times(_RXM_QUEUES), RQE.times(_RXM_QUEUES))
    formula = (f"{buffers} x (buffer + 64) + " if buffers else "") + "128 to 384 (SQE + RQE)"
    return _part("RC QPs", formula, size, 1, "RC", per="peer rank", assumed=True)


def _rxm(world: JobShape) -> list[FootprintPart]:
    return [_completions(world), _rxm_connection(world, world["FI_OFI_RXM_MSG_RX_SIZE"])]


def _rxm_shared(world: JobShape) -> list[FootprintPart]:
    pool = exactly(world["FI_OFI_RXM_RX_SIZE"] * (world["FI_OFI_RXM_BUFFER_SIZE"] + _HEADER))
    return [
        _completions(world),
        _part("shared receive pool", "FI_OFI_RXM_RX_SIZE x (buffer + 64)", pool),
        _rxm_connection(world, 0),
    ]


# --- UCX over InfiniBand and RoCE: rc, dc and ud.

_UCX_SQE = SQE.times(Bounds(1, 4))
"""An mlx5 entry has one to four blocks, which inline data and scatter lists share."""
_GROWTH = 1.1
_SEND_BUFFERS = 1024
_DCI_ENTRIES = 128


def _ucx_pool(world: JobShape, buffers: int, size: int) -> FootprintPart:
    low = world.rails * buffers * size
    high = low * _GROWTH + world.rails * _SEND_BUFFERS * size
    formula = f"r x {buffers} x {size} B; 10 % more, and 1024 send buffers, on use"
    return _part("receive and send buffers", formula, Bounds(low, high))


def _ucx_rc(world: JobShape) -> list[FootprintPart]:
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


def _ucx_dc(world: JobShape) -> list[FootprintPart]:
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


def _ucx_ud(world: JobShape) -> list[FootprintPart]:
    receive, rails = world["UCX_UD_RX_QUEUE_LEN"], world.rails
    queues = (SQE.times(256) + RQE.times(receive) + CQE.times(receive + 256)).times(rails)
    formula = "r; 256 SQE + R RQE + (256 + R) CQE"
    return [
        _ucx_pool(world, receive, world.mtu + _HEADER),
        _part("UD QP with its queues", formula, queues, rails, "UD", assumed=True),
    ]


_PARTS: Mapping[str, Callable[[JobShape], list[FootprintPart]]] = {
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


def _modes(text: str, source: str) -> dict[str, Mode]:
    variables = {one.name: one for one in read_rows(text, source, "variable", Variable, ("mode",))}
    return {
        row.name: Mode(
            name=row.name,
            title=row.title,
            variables=tuple(variables[name] for name in row.variables),
            parts=_PARTS[row.name],
            sources=row.sources,
            validity=row.validity,
            check=_psm3_check if row.name.startswith("psm3") else lambda _world: None,
        )
        for row in read_rows(text, source, "mode", _ModeRow, ("variable",))
    }


MODES = _modes(packaged(__package__, "modes.toml"), "modes.toml")


def mode_called(text: str) -> str:
    """Return the mode for a name in documents such as ``PSM3_RDMA=1`` or ``RxM``; other text
    unchanged."""
    letters = _letters(text)
    return next((name for name in MODES if _letters(name) == letters), text)


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))
