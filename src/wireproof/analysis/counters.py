"""Counters that tell of trouble on a port: retransmissions, drops, pauses."""

from __future__ import annotations

from functools import lru_cache

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
        if delta > 0 and (group := _group(name.rsplit("/", 1)[-1])):
            found.setdefault(group, {})[name] = delta
    return found


@lru_cache(maxsize=4096)
def _group(leaf: str) -> str:
    """Hosts of a cluster have the same names by the thousand."""
    low = leaf.lower()
    return next((name for name, words in _TROUBLE.items() if any(w in low for w in words)), "")
