"""The counter files that many adapters have: of the kernel, of an RDMA port, of ethtool."""

from typing import Any

from tests.zoo.parts import KERNEL, File, both_directions

IB_HEADER, ROCE_HEADER, TCP_HEADER, OPA_HEADER = 26, 62, 66, 40


WHOLE = (1.0, 1.0)


def netdev(
    level: str = "stack", counts: frozenset[str] = KERNEL, age_ms: float = 0.0
) -> tuple[File, ...]:
    """The interface's own statistics; a driver that sums its rings in software counts the kernel's
    packets alone.
    """
    made = [
        *both_directions("net/{nic}/{way}_bytes", counts, level, header=TCP_HEADER, age_ms=age_ms),
        *both_directions("net/{nic}/{way}_packets", counts, level, what="packets", age_ms=age_ms),
    ]
    return tuple(made)


def port_data(
    counts: frozenset[str],
    level: str,
    *,
    unit: int = 4,
    header: int = IB_HEADER,
    width: int = 64,
    pegs: bool = False,
) -> tuple[File, ...]:
    """``port_xmit_data`` and its three companions."""
    where = "ib/{device}/{port}/counters/{way}"
    data, packets = ("port_xmit_data", "port_rcv_data"), ("port_xmit_packets", "port_rcv_packets")
    first = both_directions(
        where, counts, level, names=data, unit=unit, header=header, width=width, pegs=pegs
    )
    return (
        *first,
        *both_directions(
            where, counts, level, names=packets, what="packets", width=width, pegs=pegs
        ),
    )


def ethtool(
    name_tx: str,
    name_rx: str,
    counts: frozenset[str],
    level: str,
    *,
    header: int = ROCE_HEADER,
    age_ms: float = 0.0,
    what: str = "bytes",
) -> tuple[File, ...]:
    """A pair of the driver's statistics."""
    return both_directions(
        "ethtool/{nic}/{way}",
        counts,
        level,
        names=(name_tx, name_rx),
        header=header,
        age_ms=age_ms,
        what=what,
    )


def hw(
    name_tx: str,
    name_rx: str,
    counts: frozenset[str],
    level: str = "function",
    *,
    folder: str = "{port}/hw_counters",
    **more: Any,
) -> tuple[File, ...]:
    """A pair of the RDMA device's hardware counters."""
    template = "ib/{device}/" + folder + "/{way}"
    fields = {"header": ROCE_HEADER, **more}
    return both_directions(template, counts, level, names=(name_tx, name_rx), **fields)
