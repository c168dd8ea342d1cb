"""Counters that tell of trouble on a port: retransmissions, drops, pauses."""

from __future__ import annotations

__all__ = ["trouble_counters"]

_TROUBLE = {
    "retransmits": (
        "retrans",
        "out_of_sequence",
        "packet_seq_err",
        "rnr_nak_retry_err",
        "local_ack_timeout_err",
        "implied_nak",
        "tx_replay",
        "rcresend",
        "rcseqnak",
        "oos_drop",
        "max_retry_exceeded",
    ),
    "drops": (
        "dropped",
        "discard",
        "_errors",
        "out_of_buffer",
        "indiscards",
        "symbol_error",
        "missed",
        "overrun",
    ),
    "pauses": ("pause", "xoff", "port_xmit_wait", "pfc_ena"),
}


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
