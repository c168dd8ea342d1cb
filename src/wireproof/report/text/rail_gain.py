"""What several rails gain, for people: a line for each pattern and size."""

from __future__ import annotations

import textwrap

from wireproof.model import quantity
from wireproof.model.rail_gain import GainRow, RailGain, Span
from wireproof.report.text.look import Look

__all__ = ["gain_text"]

_MOST = 2400
_WORDS = {"pass": "PASS", "fail": "FAIL", "inconclusive": "INCONCLUSIVE"}


def gain_text(gain: RailGain, look: Look) -> str:
    """The verdict and the answer, a table, the findings, how it was measured."""
    lines = _wrapped(f"{_WORDS[gain.verdict]}  {gain.answer}", look, "  ")
    for finding in gain.findings:
        lines += _wrapped(f"{finding.severity.upper()} {finding.message} [{finding.code}]", look)
        lines += _wrapped(f"next: {finding.advice}", look, "    ")
    for row in gain.rows:
        lines += ["", *_row(row, look)]
    told = ", ".join(f"{name}={value}" for name, value in gain.told.items())
    said = (
        f"{' - '.join(gain.hosts)}{f' ({gain.link})' if gain.link else ''};"
        f" {quantity.counted(gain.rounds, 'round')} in"
        f" {quantity.duration(gain.seconds)}, in random order, seed {gain.seed};"
        f" settings with all rails: {told or 'none'}; intervals are of 95 %"
    )
    return "\n".join([*lines, "", *_wrapped(said, look)])


def _row(row: GainRow, look: Look) -> list[str]:
    size = quantity.size(row.message_bytes)
    lines = [look.say(f"{row.pattern} of {size}, {row.origin} -> {row.target}", 200)]
    names = [one.rail or "together" for one in (*row.alone, row.together)]
    width = max(map(len, names))
    for name, one in zip(names, (*row.alone, row.together), strict=True):
        share = f"{one.goodput.value / one.limit:.0%} of its limit" if one.limit else "no limit"
        text = f"  {look.say(name):<{width}}  {_rate(one.goodput):<26} {share:<20} {one.proof}"
        lines.append(text.rstrip())
    shares = f"; {row.striping}" if row.striping else ""
    gained = f"  gain {_times(row.gain)} the best alone, {_share(row.of_sum)} of the sum"
    waits = "; waits for each message" if row.pattern == "pingpong" else ""
    return [*lines, *textwrap.wrap(f"{gained}{shares}{waits}", look.width, subsequent_indent="  ")]


def _rate(span: Span) -> str:
    low, high = quantity.megabytes(span.low), quantity.megabytes(span.high)
    return f"{quantity.megabytes(span.value)} MB/s [{low}, {high}]"


def _times(span: Span) -> str:
    return f"{span.value:.2f} [{span.low:.2f}, {span.high:.2f}] times"


def _share(span: Span) -> str:
    return f"{span.value:.0%} [{span.low:.0%}, {span.high:.0%}]"


def _wrapped(text: str, look: Look, indent: str = "  ") -> list[str]:
    return textwrap.wrap(look.say(text, _MOST), look.width, subsequent_indent=indent)
