# pure
"""Compute the share of the line rate that remains for payload, by protocol and MTU."""

from typing import NamedTuple

from wireproof.model import quantity
from wireproof.model.claim import LinkClaim
from wireproof.physics.table import PhysicsError, Table, default_table

_ROCE_MTUS = (256, 512, 1024, 2048, 4096)
# The kernel (iboe_get_mtu) leaves room for GRH 40, UDP 8, BTH 12, XRC 4, atomic 28 and ICRC 4 in an
# interface's MTU.
ROCE_ROOM = 96
LEAST_HEADER = 20
"""Header bytes per message of any protocol: local route and transport headers as counted by
InfiniBand's port counters.
"""
_IB_GENERATIONS_2K = ("sdr", "ddr", "qdr")
# The common MTUs, by the constant that assumes the largest of them.
_USUAL_MTUS = {
    "tcp.mtu": (1500, 9000),
    "iwarp.mtu": (1500, 9000),
    "rocev2.mtu": (1024, 2048, 4096),
    "psm3.mtu": (1024, 2048, 4096),
    "ipoib.mtu": (2044, 4092, 65520),
    "infiniband.mtu_qdr": (2048, 4096),
    "omnipath.mtu": (8192, 10240),
}
_SMALLEST_MTU, _LARGEST_MTU = 256, 65536


def possible_mtu(mtu: int) -> bool:
    """Return False for an MTU that no supported link has."""
    return _SMALLEST_MTU <= mtu <= _LARGEST_MTU


def roce_path_mtu(mtu: int) -> int:
    """Return RoCE's path MTU over an interface of ``mtu`` bytes, as the kernel chooses it: 1500 ->
    1024.
    """
    return max((size for size in _ROCE_MTUS if size + ROCE_ROOM <= mtu), default=_ROCE_MTUS[0])


class Framing(NamedTuple):
    """Payload bytes/s of one rail for one set of unknown options.

    ``option``: these options, or "".
    """

    rate: float
    line: str
    mtu: int | None
    option: str


def path_mtu(link: LinkClaim, table: Table) -> tuple[int, str]:
    """Return the MTU for the computation, and a remark if it was not given."""
    if link.mtu is not None and not possible_mtu(link.mtu):
        raise PhysicsError(f"MTU {link.mtu} is outside {_SMALLEST_MTU} to {_LARGEST_MTU} bytes")
    if link.protocol in ("rocev2", "psm3") and link.mtu is not None:
        # 4096 may mean a path MTU, so the ceiling must be the higher one.
        return link.mtu if link.mtu in _ROCE_MTUS else roce_path_mtu(link.mtu), ""
    if link.mtu is not None:
        return link.mtu, ""
    key = _mtu_key(link)
    return int(table[key].value), f" (MTU unknown: {table[key].value:g} assumed)"


def _mtu_key(link: LinkClaim) -> str:
    if over_fabric(link):
        return "ipoib.mtu"
    if link.protocol == "infiniband" and link.kind.partition("-")[0] in _IB_GENERATIONS_2K:
        return "infiniband.mtu_qdr"
    return f"{link.protocol}.mtu"


_WITH_RATE = {
    "infiniband": "infiniband:100, edr or hdr200",
    "omnipath": "opa100 or cn5000",
}


def _name_a_rate(link: LinkClaim) -> str:
    """Return what the user should write for a family that was claimed without a rate."""
    some = _WITH_RATE.get(link.kind, f"{link.kind}:100")
    return f"; state its rate, as in {some} (`wireproof explain --links` lists all)"


def goodput(link: LinkClaim, table: Table) -> tuple[float | None, str]:
    """Return payload bytes/s in one direction of one rail and the arithmetic; None if there is no
    line rate.
    """
    rate = link.rate_bits_per_s
    if rate is None or link.protocol in ("shm", "loopback"):
        named = "" if link.protocol in ("shm", "loopback") else _name_a_rate(link)
        return None, f"{link.kind}: no line rate, so no ceiling{named}"
    if not rate > 0:
        raise PhysicsError(f"line rate {rate!r} bit/s of {link.kind!r} is not positive")
    if link.protocol == "truescale":
        value = min(rate / 8, table["truescale.goodput"].value)
        return value, f"{link.kind}: limited by the adapter, {value / 1e9:.2f} GB/s"
    if link.protocol == "fabric":
        return rate / 8, f"{link.kind}: {quantity.rate(rate / 8)}, headers not subtracted"
    mtu, remark = path_mtu(link, table)
    if over_fabric(link) and remark:
        remark = f" (MTU unknown: {mtu} of connected mode assumed)"
    return _carried(link, mtu, table["tcp.timestamp_option"].value, remark, table)


def framings(link: LinkClaim, table: Table) -> tuple[Framing, ...]:
    """Return every usual combination of unknown options (MTU, TCP timestamps), the slowest first.

    () without a line rate. The last is the upper bound of the link; the first that a number fits
    determines the expectation.
    """
    rate, line = goodput(link, table)
    if rate is None:
        return ()
    if link.protocol in ("truescale", "fabric"):
        return (Framing(rate, line, None, ""),)
    mtus = _mtus(link, table)
    stamps = [table["tcp.timestamp_option"].value]
    if link.protocol == "tcp" and _built_in(table, "tcp.timestamp_option"):
        stamps.append(0.0)
    found = []
    for mtu in mtus:
        for stamp in stamps:
            named = [f"MTU {mtu}"] if len(mtus) > 1 else []
            named += [f"tcp_timestamps={1 if stamp else 0}"] if len(stamps) > 1 else []
            value, how = _carried(link, mtu, stamp, "", table)
            found.append(Framing(value, how, mtu, ", ".join(named)))
    return tuple(sorted(found))


def _built_in(table: Table, key: str) -> bool:
    """Return False for a constant that the user has set, since it is then known."""
    return table[key] is default_table()[key]


def _mtus(link: LinkClaim, table: Table) -> list[int]:
    """Return the possible MTUs: the given MTU, or the usual ones up to the largest in the table."""
    assumed, _ = path_mtu(link, table)
    if link.mtu is not None:
        # An interface's MTU includes the headers; a path MTU is the payload.
        roce = link.protocol in ("rocev2", "psm3") and link.mtu in _ROCE_MTUS
        return sorted({roce_path_mtu(link.mtu), link.mtu}) if roce else [assumed]
    key = _mtu_key(link)
    return sorted({*_USUAL_MTUS.get(key, ()), assumed}) if _built_in(table, key) else [assumed]


def over_fabric(link: LinkClaim) -> bool:
    """Return True for kernel TCP over InfiniBand or Omni-Path: ``ipoib-edr``,
    ``ipofabric-opa100``.
    """
    return link.protocol == "tcp" and link.kind.startswith(("ipoib", "ipofabric"))


def _carried(
    link: LinkClaim, mtu: int, stamp: float, remark: str, table: Table
) -> tuple[float, str]:
    """Return payload bytes/s at this MTU and size of TCP's timestamp option, and the arithmetic."""
    payload, wire = (_ip_over_fabric if over_fabric(link) else _packet)(link, mtu, stamp, table)
    rate = link.rate_bits_per_s or 0.0
    value = rate / 8 * payload / wire
    return (
        value,
        f"{link.kind}: {rate / 8e6:g} MB/s x {payload:g}/{wire:g} = {quantity.rate(value)}{remark}",
    )


def _ip_over_fabric(link: LinkClaim, mtu: int, stamp: float, table: Table) -> tuple[float, float]:
    """Return payload and line bytes of an IP packet of MTU bytes with 4 B of encapsulation (RFC
    4391, RFC 4755).

    The fabric cuts it into its own packets.
    """
    fabric = "omnipath" if link.kind.startswith("ipofabric") else "infiniband"
    carried = mtu + table["ipoib.encapsulation"].value
    packets = -(-carried // table[f"{fabric}.mtu"].value)
    wire = carried + packets * table[f"{fabric}.header"].value
    return mtu - table["tcp.ip_header"].value - table["tcp.header"].value - stamp, wire


def _packet(link: LinkClaim, mtu: int, stamp: float, table: Table) -> tuple[float, float]:
    """Return payload bytes and line bytes of one full packet."""
    if link.protocol == "psm3":
        return mtu - table["psm3.inner_header"].value, mtu + table["psm3.header"].value
    if link.protocol not in ("tcp", "iwarp"):
        return float(mtu), mtu + table[f"{link.protocol}.header"].value
    headers = table["tcp.ip_header"].value + table["tcp.header"].value
    # Adapters with TCP offload send no timestamps.
    headers += table["iwarp.header"].value if link.protocol == "iwarp" else stamp
    frame = mtu + table["ethernet.header"].value
    if link.preamble_counted:
        frame += table["ethernet.fcs"].value + table["ethernet.gap"].value
    return mtu - headers, frame
