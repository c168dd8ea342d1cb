"""Hosts with adapters that pause and are paused: what each driver would print of a known truth.

Names are written from the drivers' sources, never from the product's table: the two check each
other. A world is what happened; an adapter says how its driver counts that.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.zoo.animals import ZOO
from tests.zoo.frames import nics_of
from tests.zoo.ramp import Machine
from tests.zoo.scene import Move, Scene

from wireproof.model.record import Nic

NIC = "hsn0"
SECONDS = 10
LOSSLESS = 3
BASE = 1 << 20
Rises = dict[str, int]


@dataclass(frozen=True)
class Happened:
    """The truth of one host in ``SECONDS``: by priority, pause frames that it sent (``tx``) and got
    (``rx``), and those that took them back; microseconds of pause; bytes of each priority.
    """

    tx_xoff: Mapping[int, int] = field(default_factory=dict)
    tx_xon: Mapping[int, int] = field(default_factory=dict)
    rx_xoff: Mapping[int, int] = field(default_factory=dict)
    rx_xon: Mapping[int, int] = field(default_factory=dict)
    tx_us: Mapping[int, int] = field(default_factory=dict)
    rx_us: Mapping[int, int] = field(default_factory=dict)
    bytes_of: Mapping[int, int] = field(default_factory=dict)
    rx_dropped: int = 0
    tx_dropped: int = 0
    lost: int = 0
    link_frames: int = 0
    alarms: int = 0


def _each(text: str, counts: Mapping[int, int]) -> Rises:
    return {text.format(p=priority): counts.get(priority, 0) for priority in range(8)}


def _both(first: Mapping[int, int], second: Mapping[int, int]) -> dict[int, int]:
    return {one: first.get(one, 0) + second.get(one, 0) for one in range(8)}


def _ice(happened: Happened, *, unified: bool = False) -> Rises:
    """ice_get_strings; the other spelling is that of Intel's driver with UNIFIED_STATS."""
    form = "port-{way}-{what}_prio-{{p}}_events" if unified else "{way}_priority_{{p}}_{what}.nic"
    rises: Rises = {}
    for way, what, counts in _frames(happened):
        rises |= _each(form.format(way=way, what=what), counts)
    if unified:
        names = ("port-rx-dropped_pkts", "port-tx_errors", "port-tx-xoff_events")
    else:
        names = ("rx_dropped.nic", "tx_errors.nic", "link_xoff_tx.nic")
    counts = (happened.rx_dropped, happened.tx_dropped, happened.link_frames)
    return rises | dict(zip(names, counts, strict=True))


def _frames(happened: Happened) -> list[tuple[str, str, Mapping[int, int]]]:
    return [
        ("tx", "xoff", happened.tx_xoff),
        ("tx", "xon", happened.tx_xon),
        ("rx", "xoff", happened.rx_xoff),
        ("rx", "xon", happened.rx_xon),
    ]


def _i40e(happened: Happened, *, new: bool = False) -> Rises:
    """i40e_gstrings_pfc_stats; since 4.19 the direction stands at the end, too."""
    rises: Rises = {
        "port.rx_dropped": happened.rx_dropped,
        "port.tx_errors": happened.tx_dropped,
        "port.link_xoff_rx": happened.link_frames,
        "port.link_xoff_tx": 0,
    }
    for way, what, counts in _frames(happened):
        end = f"_{way}" if new else ""
        rises |= _each(f"port.{way}_priority_{{p}}_{what}{end}", counts)
    return rises


def _mlx5(happened: Happened) -> Rises:
    """en_stats.c: pauses of priorities whose PFC is on alone; one frame counter."""
    on = {LOSSLESS} | {
        one
        for counts in (happened.tx_xoff, happened.rx_xoff)
        for one, count in counts.items()
        if count
    }
    rises: Rises = {
        **_each("rx_prio{p}_bytes", happened.bytes_of),
        **_each("tx_prio{p}_bytes", happened.bytes_of),
        **_each("rx_prio{p}_discards", {LOSSLESS: happened.rx_dropped}),
        "rx_discards_phy": happened.rx_dropped,
        "tx_discards_phy": happened.tx_dropped,
        "tx_pause_storm_warning_events": happened.alarms,
        "tx_pause_storm_error_events": 0,
    }
    for one in sorted(on):
        rises |= {
            f"rx_prio{one}_pause": happened.rx_xoff.get(one, 0) + happened.rx_xon.get(one, 0),
            f"rx_prio{one}_pause_duration": happened.rx_us.get(one, 0),
            f"rx_prio{one}_pause_transition": happened.rx_xon.get(one, 0),
            f"tx_prio{one}_pause": happened.tx_xoff.get(one, 0) + happened.tx_xon.get(one, 0),
            f"tx_prio{one}_pause_duration": happened.tx_us.get(one, 0),
        }
    if happened.link_frames:
        rises["rx_global_pause"] = happened.link_frames
    return rises


def _mlx4(happened: Happened) -> Rises:
    """en_ethtool.c main_strings."""
    return {
        **_each("tx_pause_prio_{p}", _both(happened.tx_xoff, happened.tx_xon)),
        **_each("rx_pause_prio_{p}", _both(happened.rx_xoff, happened.rx_xon)),
        **_each("tx_pause_transition_prio_{p}", happened.tx_xon),
        **_each("rx_pause_transition_prio_{p}", happened.rx_xon),
        **_each("tx_pause_duration_prio_{p}", happened.tx_us),
        **_each("rx_pause_duration_prio_{p}", happened.rx_us),
        **_each("tx_prio_{p}_bytes", happened.bytes_of),
        **_each("rx_prio_{p}_bytes", happened.bytes_of),
        "rx_over_errors": happened.rx_dropped,
        "rx_dropped": 0,
        "tx_dropped": happened.tx_dropped,
        "rx_pause": happened.link_frames,
        "tx_pause": 0,
    }


def _bnxt(happened: Happened) -> Rises:
    """bnxt_ethtool.c: frames of both kinds, and transitions of both ways."""
    return {
        **_each("tx_pfc_ena_frames_pri{p}", _both(happened.tx_xoff, happened.tx_xon)),
        **_each("rx_pfc_ena_frames_pri{p}", _both(happened.rx_xoff, happened.rx_xon)),
        **_each("pfc_pri{p}_tx_transitions", _transitions(happened.tx_xoff, happened.tx_xon)),
        **_each("pfc_pri{p}_rx_transitions", _transitions(happened.rx_xoff, happened.rx_xon)),
        **_each("pfc_pri{p}_tx_duration_us", happened.tx_us),
        **_each("pfc_pri{p}_rx_duration_us", happened.rx_us),
        **_each("tx_bytes_pri{p}", happened.bytes_of),
        **_each("rx_bytes_pri{p}", happened.bytes_of),
        "rx_stat_discard": happened.rx_dropped,
        "tx_stat_discard": happened.tx_dropped,
        "rx_pause_frames": happened.link_frames,
        "tx_pause_frames": 0,
        "rx_pfc_frames": sum(happened.rx_xoff.values()),
        "tx_pfc_frames": sum(happened.tx_xoff.values()),
        "continuous_pause_events": happened.alarms,
    }


def _transitions(xoff: Mapping[int, int], xon: Mapping[int, int]) -> dict[int, int]:
    """Each pause that was taken back has a beginning and an end; the last may have begun alone."""
    return {
        one: 2 * xon.get(one, 0) if xon.get(one, 0) else min(1, xoff.get(one, 0))
        for one in range(8)
    }


def _cxgb4(happened: Happened, *, old: bool = False) -> Rises:
    """stats_strings: padded with blanks."""
    names = (
        ("TxPPP{p}Frames", "RxPPP{p}Frames") if old else ("tx_ppp{p}_frames", "rx_ppp{p}_frames")
    )
    plain = {
        **_each(names[0], _both(happened.tx_xoff, happened.tx_xon)),
        **_each(names[1], _both(happened.rx_xoff, happened.rx_xon)),
        **{f"rx_bg{group}_frames_dropped": 0 for group in range(4)},
        "tx_frames_dropped": happened.tx_dropped,
        "rx_pause_frames": happened.link_frames,
        "tx_pause_frames": 0,
    }
    plain["rx_bg1_frames_dropped"] = happened.rx_dropped
    return {f"{name:<23}": rise for name, rise in plain.items()}


def _ionic(happened: Happened) -> Rises:
    """ionic_port_stats_desc: time and packets by priority, frames of all together."""
    return {
        **_each("tx_pripause_{p}_1us_count", happened.tx_us),
        **_each("rx_pripause_{p}_1us_count", happened.rx_us),
        **_each("frames_tx_pri_{p}", happened.bytes_of),
        **_each("frames_rx_pri_{p}", happened.bytes_of),
        "frames_tx_pripause": sum(happened.tx_xoff.values()),
        "frames_rx_pripause": sum(happened.rx_xoff.values()),
        "frames_rx_dropped": happened.rx_dropped,
        "hw_tx_dropped": happened.tx_dropped,
        "frames_rx_pause": happened.link_frames,
        "frames_tx_pause": 0,
    }


def _qede(happened: Happened) -> Rises:
    """qede_stats_arr: PFC frames of all priorities together."""
    return {
        "rx_pfc_frames": sum(happened.rx_xoff.values()),
        "tx_pfc_frames": sum(happened.tx_xoff.values()),
        "rx_pause_frames": happened.link_frames,
        "tx_pause_frames": 0,
        "brb_discards": happened.rx_dropped,
        "brb_truncates": 0,
        "tx_err_drop_pkts": happened.tx_dropped,
    }


@dataclass(frozen=True)
class Adapter:
    """``zoo``: the animal whose ports it has. ``lost``: where it counts what was sent again (by
    RDMA, else by TCP); ``arrived``: its count of bytes that came in. ``proves``: conditions that
    its counters can show at all; ``tx_xon``: they show that a pause which the host sent has ended;
    ``shows_no_xon``: that none ended; ``rated``: how much arrived is known.
    """

    key: str
    zoo: str
    statistics: Callable[[Happened], Rises]
    lost: str = "ip/Tcp/RetransSegs"
    arrived: str = "rx_bytes"
    proves: frozenset[str] = frozenset({"no-drops", "xon-xoff", "priority", "link-pause"})
    tx_xon: bool = True
    shows_no_xon: bool = True
    by_priority: bool = True
    rated: bool = True

    @property
    def able(self) -> bool:
        return len(self.proves) == 4

    def nics(self) -> list[Nic]:
        animal = next(one for one in ZOO if one.key == self.zoo)
        scene = Scene(animal, Move(claimed=1.0, carrier=animal.carrier))
        return nics_of(scene, Machine(animal.ports))

    def rises(self, happened: Happened) -> Rises:
        """In the engine's spelling."""
        found = {f"ethtool/{NIC}/{name}": rise for name, rise in self.statistics(happened).items()}
        bytes_in = sum(happened.bytes_of.values())
        arrived = f"ethtool/{NIC}/{self.arrived}" if self.arrived else f"net/{NIC}/rx_bytes"
        return {**found, self.lost: happened.lost, arrived: bytes_in}


_IRDMA = "ib/rocep24s0f0/1/hw_counters/RetransSegs"
_MLX5, _BNXT = (f"ib/{device}/1/hw_counters/" for device in ("mlx5_0", "bnxt_re0"))
_FEW = frozenset({"no-drops", "link-pause"})
_NO_XON = _FEW | {"priority"}
ADAPTERS: tuple[Adapter, ...] = (
    Adapter("ice", "irdma-e810", _ice, _IRDMA, "rx_bytes.nic"),
    Adapter(
        "ice-unified",
        "irdma-e810",
        lambda one: _ice(one, unified=True),
        _IRDMA,
        "port-rx_bytes",
        rated=False,
    ),
    Adapter("i40e", "i40e", _i40e, arrived="port.rx_bytes"),
    Adapter("i40e-new", "irdma-x722", lambda one: _i40e(one, new=True), arrived="port.rx_bytes"),
    Adapter("mlx5", "mlx5-roce-pf", _mlx5, f"{_MLX5}out_of_sequence", "rx_bytes_phy", tx_xon=False),
    Adapter("mlx4", "mlx4-roce", _mlx4),
    Adapter("bnxt_en", "bnxt_re", _bnxt, f"{_BNXT}to_retransmits", shows_no_xon=False),
    Adapter("cxgb4", "cxgb4", _cxgb4, arrived="", proves=_NO_XON, tx_xon=False),
    Adapter(
        "cxgb4-old",
        "cxgb4",
        lambda one: _cxgb4(one, old=True),
        arrived="",
        proves=_NO_XON,
        tx_xon=False,
    ),
    Adapter("ionic", "ionic", _ionic, proves=_NO_XON, tx_xon=False),
    Adapter("qede", "qedr", _qede, proves=_FEW, tx_xon=False, by_priority=False),
)
