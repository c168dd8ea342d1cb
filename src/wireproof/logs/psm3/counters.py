# pure
"""Totals of PSM3's counters by process, host and NIC. Pure.

The names are those of psm_mq.c and ips_proto.c (libfabric 1.14 to 2.6). Everything that is neither
``shm`` nor ``self`` reached a NIC; a NIC's bytes are the sum over all send methods.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from wireproof.model import gathered
from wireproof.model.psm3 import Counted, CountedHost, CounterSection, NicCounted, Statistics

_SUMMARY = "MPI_Statistics_Summary"
_LOW_LEVEL = "PSM_low-level_protocol_stats"
_TABLE = "MQ"
_WAY = r"(?:_[A-Za-z0-9]+){1,3}"
_SENT = re.compile(rf"(?:tiny|short|eager|rndv_(?:rts|long|rdma)){_WAY}_i?send_bytes", re.A)
_RECEIVED = re.compile(rf"(?:tiny|short|eager|rndv_(?:rts|long|rdma)){_WAY}_recv_bytes", re.A)
_ORDERED = re.compile(r"rndv_[a-z]+_i?send_bytes", re.A)
"""``rndv_cpu_send_bytes`` counts messages whose bytes another counter lists by protocol."""
_STALLS = ("pio_no_flow_credits", "pio_no_flow_credit_bytes")
_AGAIN = ("send_rexmit", "rdma_rexmit_(*)")
_LOSSES = ("nak_recv",)
_LATE = ("err_chk_send", "err_chk_recv", "err_chk_rdma_send_(*)", "err_chk_rdma_recv_(*)")
"""Requests after PSM3_ERRCHK_TIMEOUT without an answer: if packets were lost, their
retransmission is counted elsewhere; otherwise the peer was slow.
"""
ERRORS = (
    "unknown_packets_(**)",
    "stray_packets_(*)",
    "post_send_fail_(*)",
    "connections_lost",
    "reconnect_started",
    "connect_req_rej",
    "rep_proc_err",
    "recv_wc_error",
    "send_wc_error",
    "rdma_wc_error",
    "drain_wc_error",
)


def _sum(counters: Mapping[str, int], names: Iterable[str]) -> int:
    return sum(counters.get(name, 0) for name in names)


def _matching(counters: Mapping[str, int], form: re.Pattern[str]) -> int:
    return sum(
        value
        for name, value in counters.items()
        if form.fullmatch(name) and not _ORDERED.fullmatch(name)
    )


def _nic(section: CounterSection, mtu: int | None) -> NicCounted:
    found = section.counters
    sent = _matching(found, _SENT)
    rdma = {name: value for name, value in found.items() if name.startswith("rndv_rdma_")}
    long = {name: value for name, value in found.items() if name.startswith("rndv_long_")}
    by_rdma = _matching(rdma, _SENT)
    return NicCounted(
        name=section.nic,
        sent_bytes=sent,
        received_bytes=_matching(found, _RECEIVED),
        packets=max(found.get("scb_alloc", 0), (sent - by_rdma) // mtu if mtu else 0),
        again=_sum(found, _AGAIN),
        losses=_sum(found, _LOSSES),
        late=_sum(found, _LATE),
        stalls=_sum(found, _STALLS),
        rdma_bytes=by_rdma,
        long_bytes=_matching(long, _SENT),
        errors={name: found[name] for name in ERRORS if found.get(name)},
    )


def _added(one: NicCounted, other: NicCounted) -> NicCounted:
    names = [name for name in NicCounted.__struct_fields__ if name not in ("name", "errors")]
    sums = {name: getattr(one, name) + getattr(other, name) for name in names}
    errors = {
        name: one.errors.get(name, 0) + other.errors.get(name, 0)
        for name in {**one.errors, **other.errors}
    }
    return NicCounted(name=one.name, errors=errors, **sums)


def _by_name(nics: Iterable[NicCounted]) -> list[NicCounted]:
    found: dict[str, NicCounted] = {}
    for nic in nics:
        found[nic.name] = _added(found[nic.name], nic) if nic.name in found else nic
    return list(found.values())


def _mtu(one: Statistics) -> int | None:
    """Return the payload bytes of a packet, if the file states a number that PSM3 accepts."""
    values = [setting.value for setting in one.settings if setting.name == "PSM3_MTU"]
    plain = [int(value) for value in values if value.isascii() and value.isdigit()]
    return plain[-1] if plain and plain[-1] >= 256 else None


def counted(one: Statistics) -> Counted:
    """Add up one process, by path and by NIC."""
    groups: dict[str, dict[str, int]] = {}
    for section in one.sections:
        if section.heading in (_SUMMARY, _TABLE):
            whole = groups.setdefault(section.heading, {})
            for name, value in section.counters.items():
                whole[name] = whole.get(name, 0) + value
    place: dict[str, Any] = {"who": one.who, "host": one.host, "rank": one.identity.rank}
    if _TABLE in groups:
        return Counted(**place, **_of_table(groups[_TABLE]))
    mtu = _mtu(one)
    nics = [_nic(section, mtu) for section in one.sections if section.heading == _LOW_LEVEL]
    return Counted(**place, **_of_summary(groups.get(_SUMMARY, {})), nics=_by_name(nics))


def _of_summary(found: Mapping[str, int]) -> dict[str, Any]:
    shm, own = found.get("shm_count_sent", 0), found.get("self_count_sent", 0)
    shm_bytes, own_bytes = found.get("shm_bytes_sent", 0), found.get("self_bytes_sent", 0)
    sent, total = found.get("Total_count_sent", 0), found.get("Total_bytes_sent", 0)
    return {
        "sent": sent,
        "sent_bytes": total,
        "received": found.get("Total_count_recv", 0),
        "received_bytes": found.get("Total_bytes_recv", 0),
        "shm_sent": shm,
        "shm_bytes": shm_bytes,
        "self_sent": own,
        "self_bytes": own_bytes,
        "nic_sent": max(0, sent - shm - own),
        "nic_bytes": max(0, total - shm_bytes - own_bytes),
        "unexpected": found.get("Unexpected_count_recv", 0),
        "rendezvous": found.get("Rendezvous_count_sent", 0),
        "rendezvous_bytes": found.get("Rendezvous_bytes_sent", 0),
        "search": found.get("Expected_avg_search_cmp", 0),
    }


def _of_table(found: Mapping[str, int]) -> dict[str, Any]:
    """Return the totals of a table, which counts messages through shared memory but not their
    bytes."""
    sent, shm = found.get("tx_num", 0), found.get("tx_shm_num", 0)
    return {
        "sent": sent,
        "sent_bytes": found.get("tx_eager_bytes", 0) + found.get("tx_rndv_bytes", 0),
        "received": found.get("rx_user_num", 0),
        "received_bytes": found.get("rx_user_bytes", 0),
        "shm_sent": shm,
        "nic_sent": max(0, sent - shm),
        "rendezvous": found.get("tx_rndv_num", 0),
        "rendezvous_bytes": found.get("tx_rndv_bytes", 0),
        "unexpected": found.get("rx_sysbuf_num", 0),
    }


def _total(values: Iterable[int | None]) -> int | None:
    """Return the sum; None if any value is unknown."""
    known = list(values)
    return None if None in known else sum(filter(None, known))


def by_host(processes: Sequence[Counted]) -> list[CountedHost]:
    """Group the processes by host, in the order of the hosts' first processes."""
    groups = gathered((one.host, one) for one in processes)
    return [
        CountedHost(
            host=host,
            processes=len(group),
            sent=sum(one.sent for one in group),
            sent_bytes=sum(one.sent_bytes for one in group),
            received_bytes=sum(one.received_bytes for one in group),
            shm_bytes=_total(one.shm_bytes for one in group),
            self_bytes=_total(one.self_bytes for one in group),
            nic_bytes=_total(one.nic_bytes for one in group),
            nics=_by_name(nic for one in group for nic in one.nics),
        )
        for host, group in groups.items()
    ]


def unaccounted_bytes(one: Counted) -> int | None:
    """Return bytes that the summary attributes to NICs but no NIC counted, or the reverse
    (negative).

    None if either is missing: only files with default settings contain both.
    """
    if one.nic_bytes is None or not one.nics:
        return None
    return one.nic_bytes - sum(nic.sent_bytes for nic in one.nics)
