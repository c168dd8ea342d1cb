"""What ``wireproof plan validate`` prints for people."""

from __future__ import annotations

from wireproof.model.planning.validation import Design, Validation
from wireproof.report.text.scale import time_text

__all__ = ["validation_lines"]


def validation_lines(found: Validation) -> list[str]:
    """What is asked, what it takes, what check does by itself, and other numbers of rounds."""
    wanted = f"{100 * found.slowdown:g} % slower, found with a power of {found.power:g}"
    noise = f"noise {100 * found.noise:g} %, healthy nodes {100 * found.spread:g} % apart"
    again = f"about {found.false_suspects:.2g} healthy ports are suspected per sweep"
    lines = [
        f"{found.nodes:,} nodes, {found.metric}: {wanted}",
        f"{noise}, false alarms {found.false_alarms:g} per sweep",
        "",
        *found.sentences,
        "",
        f"  {'':8} {'rounds':>7} {'pairs':>11}  {'found':>7}  {'finds from':>10}  time",
    ]
    if found.least is not None:
        lines.append(_row("needed", found.least))
    lines.append(_row("check", found.check))
    lines += [_row("", design) for design in found.others]
    lines += [
        "",
        f"messages of {found.message_bytes:,} B",
        f"{again}, and measured again: {found.confirm_s:.0f} s at most each",
    ]
    lines += [
        f"  {one.name:17} {one.value:>10.4g} {one.unit:5} {one.source}" for one in found.parameters
    ]
    lines += [f"source: {line}" for line in found.sources]
    return lines + [f"valid: {line}" for line in found.validity]


def _row(name: str, design: Design) -> str:
    times = [time_text(edge * 1e9) for edge in (design.seconds.low, design.seconds.high)]
    counts = f"{design.rounds:>7,} {design.pairs:>11,}"
    shares = f"{100 * design.found:>5.1f} %  {100 * design.least_slowdown:>8.2f} %"
    return f"  {name:8} {counts}  {shares}  {times[0]} to {times[1]}"
