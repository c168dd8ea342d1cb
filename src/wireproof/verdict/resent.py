"""Segments that the kernel's TCP sent again during the run: a path that loses frames is slower than it measures. Pure.

The counters are of a whole network namespace and of the whole run; a busy host sends a few segments again for nothing.
"""

from __future__ import annotations

from wireproof.model.record import Total
from wireproof.verdict.context import Context
from wireproof.verdict.issue import Issue

__all__ = ["resent_issues"]

_GRAVE = 1e-3  # of the segments: a healthy path stays far below
_AGAIN, _SENT = "ip/Tcp/RetransSegs", "ip/Tcp/OutSegs"


def resent_issues(ctx: Context) -> list[Issue]:
    """One remark for each host that sent segments again: a warning above 0.1 % of them, else a note."""
    return [
        issue
        for total in ctx.run.totals
        if total.shared_with is None and (issue := _of(ctx.name(total.rank), total)) is not None
    ]


def _of(host: str, total: Total) -> Issue | None:
    again, sent = _rise(total, _AGAIN), _rise(total, _SENT)
    if again <= 0:
        return None
    # What is sent again is not among OutSegs.
    share = again / (again + sent) if sent > 0 else 1.0
    of = f" of {sent + again} ({share:.2%})" if sent > 0 else ""
    text = f"{host} sent {again} TCP segments again during the run{of}: frames were lost, or came too late"
    severity = "warning" if share > _GRAVE else "note"
    evidence = {"retransmitted_segments": again, "sent_segments": sent, "share": share}
    return Issue("retransmits", severity, host, text, {**evidence}, weight=float(again))


def _rise(total: Total, name: str) -> int:
    before, after = total.counters.get(name, (0, 0))
    return max(0, after - before)
