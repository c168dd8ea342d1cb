"""Durations as people write them, in seconds inside."""

from __future__ import annotations

import re

from wireproof.model.errors import BadInput

__all__ = ["parse_duration"]

UNITS = {"ms": 1e-3, "s": 1.0, "": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
LONGEST_S = 7 * 24 * 3600.0
_FORM = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*([a-z]*)", re.ASCII)


def parse_duration(text: str) -> float:
    """Seconds of ``"500ms"``, ``"2s"``, ``"1.5"``, ``"10min"``, ``"1h"``; above zero, at most a
    week.

    Raises ``BadInput`` that says what is allowed.
    """
    found = _FORM.fullmatch(text.strip())
    unit = UNITS.get(found.group(2)) if found else None
    if found is None or unit is None:
        raise BadInput(
            f"duration {text[:40]!r} is not understood: give a number with ms, s, min or h, such as 500ms, 2s, 10min."
        )
    seconds = float(found.group(1)) * unit
    if not 0 < seconds <= LONGEST_S:
        raise BadInput(
            f"duration {text.strip()} is out of range: give more than 0 and at most {LONGEST_S / 3600:.0f}h."
        )
    return seconds
