"""Omni-Path and its ancestors: hfi1 (also under OPX and PSM2), qib, ipath."""

from __future__ import annotations

from wireproof.analysis.catalogue.build import netdev, port_data
from wireproof.analysis.catalogue.row import Family

__all__ = ["OMNIPATH", "of_rate"]

_IPOIB = "linux drivers/infiniband/ulp/ipoib/ipoib_main.c ipoib_get_stats: software"

HFI1 = Family(
    name="Omni-Path 100 (hfi1; PSM2, OPX, verbs)",
    drivers=("hfi1*",),
    rows=(
        port_data(
            "linux drivers/infiniband/hw/hfi1/mad.c pma_get_ib_portcounters_ext: C_DC_XMIT_FLITS "
            "and C_DC_RCV_FLITS copied without conversion, flits of 8 bytes, read from the chip",
            "any",
            "wire",
            unit=8,
            misses="link control; PSM2, OPX, verbs and IPoIB are all in it",
        ),
        netdev(_IPOIB, misses="PSM2, OPX and verbs"),
    ),
    source="linux drivers/infiniband/hw/hfi1",
    note="The same file that holds 4-byte words everywhere else holds 8-byte flits here.",
)

CN5000 = Family(
    name="Cornelis CN5000 (hfi2, or hfi1 faster than 100 Gb/s)",
    drivers=("hfi2*",),
    rows=(netdev(_IPOIB, misses="OPX and verbs"),),
    source="linux drivers/infiniband/hw/hfi2/chip.h (proposed): C_DC_XMIT_FLITS is a counter of "
    "Omni-Path 100 only; unchecked: what fills port_xmit_data on CN5000, and in which unit",
    blind=("rdma", "psm"),
    note="Cornelis' own driver for it is called hfi1, as that of Omni-Path 100; the port's rate "
    "distinguishes them.",
)

QIB = Family(
    name="QLogic and Intel True Scale (qib)",
    drivers=("ib_qib*",),
    rows=(
        port_data(
            "linux drivers/infiniband/hw/qib/qib_mad.c pma_get_portcounters_ext: 4-byte words sent "
            "and received (wordsend, wordrcv) of the port, 64 bits (IB_PMA_CLASS_CAP_EXT_WIDTH), "
            "less what was cleared; the 32-bit form pegs",
            "any",
            "wire",
            width=32,
            pegs=True,
        ),
        netdev(_IPOIB, misses="PSM and verbs"),
    ),
    source="linux drivers/infiniband/hw/qib",
)

IPATH = Family(
    name="QLogic InfiniPath (ipath)",
    drivers=("ib_ipath*",),
    rows=(
        port_data(
            "linux 4.2 drivers/staging/rdma/ipath/ipath_mad.c recv_pma_get_portcounters_ext: "
            "4-byte words; the 32-bit form pegs",
            "any",
            "wire",
            pegs=True,
            width=32,
        ),
        netdev(_IPOIB, misses="PSM and verbs"),
    ),
    source="linux 4.2 drivers/staging/rdma/ipath (removed in 4.4)",
)

OMNIPATH = (HFI1, CN5000, QIB, IPATH)
_OPA100_GBITS = 100.0


def of_rate(family: Family, rate: str) -> Family:
    """hfi1 above 100 Gb/s is CN5000. ``rate``: as the kernel says it, ``400 Gb/sec (4X NDR)``."""
    if family is not HFI1:
        return family
    number = rate.split(" ", 1)[0]
    return (
        CN5000
        if number.replace(".", "", 1).isdecimal() and float(number) > _OPA100_GBITS
        else family
    )
