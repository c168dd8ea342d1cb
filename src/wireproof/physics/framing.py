"""Share of the line rate that is left for payload, by protocol and MTU."""

from __future__ import annotations

from wireproof.model.claim import LinkClaim
from wireproof.physics.errors import PhysicsError
from wireproof.physics.table import Table

__all__ = ["goodput", "over_fabric", "path_mtu", "roce_path_mtu"]

_ROCE_MTUS = (256, 512, 1024, 2048, 4096)
# The kernel (iboe_get_mtu) leaves room for GRH 40, UDP 8, BTH 12, XRC 4, atomic 28 and ICRC 4 in an interface's MTU.
_ROCE_ROOM = 96
_IB_GENERATIONS_2K = ("sdr", "ddr", "qdr")
_SMALLEST_MTU, _LARGEST_MTU = 256, 65536


def roce_path_mtu(mtu: int) -> int:
    """Path MTU of RoCE over an interface of ``mtu`` bytes, as the kernel chooses it: 1500 -> 1024, 4096 -> 2048."""
    return max((size for size in _ROCE_MTUS if size + _ROCE_ROOM <= mtu), default=_ROCE_MTUS[0])


def path_mtu(link: LinkClaim, table: Table) -> tuple[int, str]:
    """The MTU to compute with, and a remark when it was not given."""
    if link.mtu is not None and not _SMALLEST_MTU <= link.mtu <= _LARGEST_MTU:
        raise PhysicsError(f"MTU {link.mtu} is outside {_SMALLEST_MTU} to {_LARGEST_MTU} bytes")
    if link.protocol in ("rocev2", "psm3") and link.mtu is not None:
        # 4096 may be meant as a path MTU: the ceiling must then be the higher one.
        return link.mtu if link.mtu in _ROCE_MTUS else roce_path_mtu(link.mtu), ""
    if link.mtu is not None:
        return link.mtu, ""
    key = f"{link.protocol}.mtu"
    if link.protocol == "infiniband" and link.kind in _IB_GENERATIONS_2K:
        key = "infiniband.mtu_qdr"
    return int(table[key].value), f" (MTU unknown: {table[key].value:g} assumed)"


def goodput(link: LinkClaim, table: Table) -> tuple[float | None, str]:
    """Payload bytes/s in one direction at the line rate, and the line of arithmetic; None when there is no line."""
    rate = link.rate_bits_per_s
    if rate is None or link.protocol in ("shm", "loopback"):
        return None, f"{link.kind}: no line rate, so no ceiling"
    if not rate > 0:
        raise PhysicsError(f"line rate {rate!r} bit/s of {link.kind!r} is not positive")
    if link.protocol == "truescale":
        value = min(rate / 8, table["truescale.goodput"].value)
        return value, f"{link.kind}: bound by the adapter, {value / 1e9:.2f} GB/s"
    if over_fabric(link):
        return _ip_over_fabric(link, rate, table)
    mtu, remark = path_mtu(link, table)
    payload, wire = _packet(link, mtu, table)
    value = rate / 8 * payload / wire
    return value, f"{link.kind}: {rate / 8e6:g} MB/s x {payload:g}/{wire:g} = {value / 1e6:.1f} MB/s{remark}"


def over_fabric(link: LinkClaim) -> bool:
    """True for kernel TCP over InfiniBand or Omni-Path: ``ipoib-edr``, ``ipofabric-opa100``."""
    return link.protocol == "tcp" and link.kind.startswith(("ipoib", "ipofabric"))


def _ip_over_fabric(link: LinkClaim, rate: float, table: Table) -> tuple[float, str]:
    """An IP packet of MTU bytes and 4 B of encapsulation, cut into packets of the fabric (RFC 4391, RFC 4755)."""
    fabric = "omnipath" if link.kind.startswith("ipofabric") else "infiniband"
    mtu = link.mtu if link.mtu is not None else int(table["ipoib.mtu"].value)
    remark = "" if link.mtu is not None else f" (MTU unknown: {mtu} of connected mode assumed)"
    carried = mtu + table["ipoib.encapsulation"].value
    packets = -(-carried // table[f"{fabric}.mtu"].value)
    wire = carried + packets * table[f"{fabric}.header"].value
    payload = mtu - table["tcp.ip_header"].value - table["tcp.header"].value - table["tcp.timestamp_option"].value
    value = rate / 8 * payload / wire
    return value, f"{link.kind}: {rate / 8e6:g} MB/s x {payload:g}/{wire:g} = {value / 1e6:.1f} MB/s{remark}"


def _packet(link: LinkClaim, mtu: int, table: Table) -> tuple[float, float]:
    """Payload bytes and line bytes of one full packet."""
    if link.protocol == "psm3":
        return mtu - table["psm3.inner_header"].value, mtu + table["psm3.header"].value
    if link.protocol not in ("tcp", "iwarp"):
        return float(mtu), mtu + table[f"{link.protocol}.header"].value
    headers = table["tcp.ip_header"].value + table["tcp.header"].value
    # Adapters that end TCP themselves leave the timestamps out.
    headers += table["iwarp.header" if link.protocol == "iwarp" else "tcp.timestamp_option"].value
    frame = mtu + table["ethernet.header"].value
    if link.preamble_counted:
        frame += table["ethernet.fcs"].value + table["ethernet.gap"].value
    return mtu - headers, frame
