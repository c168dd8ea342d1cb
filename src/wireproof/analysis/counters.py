"""Which counter tells a NIC's traffic, and in which unit, by driver.

InfiniBand port counters are 4-byte words; hfi1 fills the same file with 8-byte flits; irdma counts octets of IP; RDMA
does not show in netdev statistics (mlx5, irdma, bnxt), except when RDMA is made in software (rxe, siw).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from wireproof.model.claim import Protocol
from wireproof.model.record import Nic

__all__ = ["SOFT_RDMA", "Direction", "Source", "every_source", "is_stacked", "sources", "trouble_counters"]

Direction = Literal["tx", "rx"]

_RDMA = ("rocev2", "infiniband", "omnipath", "truescale")
SOFT_RDMA = ("rxe", "siw")
# Interfaces that hand their packets to another one: the same bytes are counted twice.
_STACKED = ("bonding", "team", "bridge", "802.1q", "vlan", "macvlan", "ipvlan", "openvswitch", "vxlan", "tun")
_WORDS, _FLITS, _OCTETS = 4, 8, 1


class Source(NamedTuple):
    """Counters to add up, and bytes per count; None = to be calibrated."""

    names: tuple[str, ...]
    unit: int | None


def is_stacked(nic: Nic) -> bool:
    """True for bonds, bridges and VLANs, whose traffic another interface counts again."""
    return any(word in nic.driver.lower() for word in _STACKED)


def sources(nic: Nic, protocol: Protocol | None, direction: Direction) -> list[Source]:
    """Where to read the bytes of ``direction``, the best first."""
    netdev = Source((f"net/{nic.name}/{direction}_bytes",), _OCTETS)
    soft = nic.rdma is not None and nic.rdma.device.startswith(SOFT_RDMA)
    if nic.kind == "loopback" or nic.rdma is None or soft or protocol not in _RDMA:
        return [netdev]
    return _rdma_sources(nic, direction)


def every_source(nic: Nic, direction: Direction) -> list[Source]:
    """All counters that could show traffic of any protocol: for NICs that ought to be quiet."""
    netdev = Source((f"net/{nic.name}/{direction}_bytes",), _OCTETS)
    return [netdev] if nic.rdma is None or nic.kind == "loopback" else [netdev, *_rdma_sources(nic, direction)]


def _rdma_sources(nic: Nic, direction: Direction) -> list[Source]:
    if nic.rdma is None:
        return []
    device, port = nic.rdma.device, nic.rdma.port
    name = "port_xmit_data" if direction == "tx" else "port_rcv_data"
    data = f"ib/{device}/{port}/counters/{name}"
    who = f"{nic.driver} {device}".lower()
    if "hfi1" in who:
        return [Source((data,), _FLITS)]
    if "mlx5" in who:
        phy = Source((f"ethtool/{nic.name}/{direction}_bytes_phy",), _OCTETS)
        return (
            [phy, Source((data,), _WORDS)] if nic.rdma.link_layer.lower() == "ethernet" else [Source((data,), _WORDS)]
        )
    if any(known in who for known in ("mlx4", "qib", "mthca")):
        return [Source((data,), _WORDS)]
    if any(known in who for known in ("irdma", "ice", "i40iw", "i40e")):
        way = "Out" if direction == "tx" else "In"
        return [
            Source(tuple(f"{place}/ip{v}{way}Octets" for v in (4, 6)), _OCTETS)
            for place in (f"ib/{device}/{port}/hw_counters", f"ib/{device}/hw_counters")
        ]
    if "efa" in who or "bnxt" in who:
        return [Source((f"ib/{device}/{port}/hw_counters/{direction}_bytes",), _OCTETS)]
    return [Source((data,), None)]


_TROUBLE = {
    "retransmits": (
        "retrans", "out_of_sequence", "packet_seq_err", "rnr_nak_retry_err", "local_ack_timeout_err", "implied_nak",
        "tx_replay", "rcresend", "rcseqnak", "oos_drop", "max_retry_exceeded",
    ),
    "drops": ("dropped", "discard", "_errors", "out_of_buffer", "indiscards", "symbol_error", "missed", "overrun"),
    "pauses": ("pause", "xoff", "port_xmit_wait", "pfc_ena"),
}  # fmt: skip


def trouble_counters(deltas: dict[str, int]) -> dict[str, dict[str, int]]:
    """Counters that rose and tell of trouble, grouped as retransmits, drops, pauses."""
    found: dict[str, dict[str, int]] = {}
    for name, delta in sorted(deltas.items()):
        leaf = name.rsplit("/", 1)[-1].lower()
        for group, words in _TROUBLE.items():
            if delta > 0 and any(word in leaf for word in words):
                found.setdefault(group, {})[name] = delta
                break
    return found
