"""Intel: E810 and its kin (ice), X710 and X722 (i40e); RDMA of both by irdma."""

from __future__ import annotations

from wireproof.analysis.pfc.family import Dropped, Names, PfcFamily, names

__all__ = ["INTEL"]

_HW = ("ib/{device}/{port}/hw_counters/", "ib/{device}/hw_counters/")


def _hw(counters: str) -> Names:
    """Of the port, or of the device as older drivers have them."""
    return names(*(" ".join(place + one for one in counters.split()) for place in _HW))


IRDMA_DROPS = (
    Dropped("rx", _hw("ip4InDiscards ip6InDiscards"), proves=False),
    Dropped("rx", _hw("ip4InTruncatedPkts ip6InTruncatedPkts"), proves=False),
)
IRDMA_LOST = (_hw("tcpRetransSegs"), _hw("RetransSegs"))
IRDMA_MARKS = (_hw("cnpSent"), _hw("cnpHandled"), _hw("RxECNMrkd"))
_IRDMA = "linux drivers/infiniband/hw/irdma/verbs.c irdma_hw_stat_descs"

ICE = PfcFamily(
    name="Intel E810, E822, E825, E830 (ice)",
    drivers=("ice", "ice.*"),
    xoff=(
        names("tx_priority_{p}_xoff.nic", "port-tx-xoff_prio-{p}_events"),
        names("rx_priority_{p}_xoff.nic", "port-rx-xoff_prio-{p}_events"),
    ),
    xon=(
        names("tx_priority_{p}_xon.nic", "port-tx-xon_prio-{p}_events"),
        names("rx_priority_{p}_xon.nic", "port-rx-xon_prio-{p}_events"),
    ),
    drops=(
        Dropped("rx", names("rx_dropped.nic", "port-rx-dropped_pkts")),
        Dropped("rx", names("rx_dropped", "rx-dropped_pkts"), proves=False),
        Dropped("tx", names("tx_errors.nic", "port-tx_errors")),
        Dropped(
            "tx", names("tx_dropped_link_down.nic", "port-tx-dropped_link-down_pkts"), proves=False
        ),
        *IRDMA_DROPS,
    ),
    lost=IRDMA_LOST,
    marks=IRDMA_MARKS,
    link=(
        names("link_xoff_tx.nic", "port-tx-xoff_events"),
        names("link_xoff_rx.nic", "port-rx-xoff_events"),
    ),
    unison=True,
    source="linux drivers/net/ethernet/intel/ice/ice_ethtool.c ice_get_strings; Intel's own driver "
    f"src/ice_ethtool.h PORT_TX_PRIO_XOFF (both spellings); {_IRDMA}",
    unchecked=("that tx_errors.nic counts every packet that the port could not send",),
    note="All priorities of a traffic class that PFC is on for count in unison (Intel's guide of "
    "the 800 series): equal counts are one class. No counter separates traffic by priority.",
)

I40E = PfcFamily(
    name="Intel X710, XL710, X722 (i40e)",
    drivers=("i40e",),
    xoff=(
        names("port.tx_priority_{p}_xoff_tx", "port.tx_priority_{p}_xoff"),
        names("port.rx_priority_{p}_xoff_rx", "port.rx_priority_{p}_xoff"),
    ),
    xon=(
        names("port.tx_priority_{p}_xon_tx", "port.tx_priority_{p}_xon"),
        names("port.rx_priority_{p}_xon_rx", "port.rx_priority_{p}_xon"),
    ),
    drops=(
        Dropped("rx", names("port.rx_dropped")),
        Dropped("rx", names("rx_dropped"), proves=False),
        Dropped("tx", names("port.tx_errors")),
        Dropped("tx", names("port.tx_dropped_link_down"), proves=False),
        *IRDMA_DROPS,
    ),
    lost=IRDMA_LOST,
    marks=IRDMA_MARKS,
    link=(
        names("port.link_xoff_tx", "port.tx_flow_control_xoff"),
        names("port.link_xoff_rx", "port.rx_flow_control_xoff"),
    ),
    unison=True,
    source="linux drivers/net/ethernet/intel/i40e/i40e_ethtool.c i40e_gstrings_pfc_stats (since "
    f"4.19 with _tx and _rx at their end), i40e_gstrings_stats; {_IRDMA}",
    unchecked=(
        "that tx_errors counts every packet that the port could not send",
        "that priorities of a traffic class count in unison as with ice",
    ),
    note="No counter separates traffic by priority.",
)

INTEL = (ICE, I40E)
