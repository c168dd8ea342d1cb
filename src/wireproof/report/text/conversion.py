"""A rate or a time in every unit, with the arithmetic, for people."""

from __future__ import annotations

from wireproof.model.conversion import Converted

__all__ = ["conversion_lines"]


def conversion_lines(found: Converted) -> list[str]:
    """The arithmetic that leads to the value, the value in every unit, its shares of a link."""
    lines = list(found.arithmetic)
    width = max((len(row.text) for row in found.rows), default=0)
    lines += [f"  {row.text:{width}}   {row.arithmetic}" for row in found.rows]
    if found.bytes_per_s is None:
        lines.append(
            "give --size BYTES for the goodput of one message in this time or at this rate"
        )
    if found.remark:
        lines.append(f"note: {found.remark}")
    if (link := found.link) is not None:
        lines.append(f"{link.kind}:")
        lines += [f"  {line}" for line in (*link.derivation, *link.arithmetic)]
        lines += [f"WARNING: {line}" for line in link.warnings]
    return lines
