"""The last lines of the demo: whether what was injected was found."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap

from wireproof.report.text.look import Look

__all__ = ["ending_lines"]

_INDENT = "  "


def ending_lines(found: Mapping[str, str], look: Look) -> list[str]:
    """``found``: each injected fault and what was said of it, "" when it was missed."""
    hits = sum(bool(said) for said in found.values())
    good = hits == len(found)
    lines = [f"Demo {'OK' if good else 'FAILED'}: {hits} of {len(found)} injected faults found."]
    for fault, said in found.items():
        lines += wrap(
            f"{'found' if said else 'MISSED'}: {fault}{f': {said}' if said else ''}",
            look.width,
            initial_indent=_INDENT,
            subsequent_indent=_INDENT * 2,
        )
    if good:
        lines += wrap(
            "What fails above are these faults: the judgement did not know them.", look.width
        )
    return ["", *lines]
