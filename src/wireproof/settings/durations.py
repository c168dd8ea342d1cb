"""Parse durations and dates as people write them."""

import re
from datetime import UTC, datetime

from wireproof.model.errors import BadInput

UNITS = {"ms": 1e-3, "s": 1.0, "": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_CENTURY = 36525
LONGEST_S = 7 * 24 * 3600.0
_FORM = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*([a-z]*)", re.ASCII)


def parse_duration(text: str) -> float:
    """Return seconds for ``"500ms"``, ``"2s"``, ``"1.5"``, ``"10min"``, ``"1h"``; above zero, at
    most a week.

    Raises ``BadInput`` with the allowed forms.
    """
    parts = _FORM.fullmatch(text.strip())
    unit = UNITS.get(parts.group(2)) if parts else None
    if parts is None or unit is None:
        raise BadInput(
            f"duration {text[:40]!r} is not understood: give a number with ms, s, min, h or d,"
            " such as 500ms, 2s, 10min."
        )
    seconds = float(parts.group(1)) * unit
    if not 0 < seconds <= LONGEST_S:
        raise BadInput(
            f"duration {text.strip()} is out of range: give more than 0 and at most"
            f" {LONGEST_S / 3600:.0f}h."
        )
    return seconds


def parse_days(text: str) -> float:
    """Return days for ``"90d"``, ``"36h"`` or ``"2.5"`` (days), up to a hundred years. Raise
    ``BadInput`` for other text.
    """
    parts = _FORM.fullmatch(text.strip())
    unit = UNITS.get(parts.group(2) or "d") if parts else None
    if parts is None or unit is None:
        raise BadInput(
            f"duration {text[:40]!r} is not understood: give days or hours, as 90d, 36h."
        )
    days = float(parts.group(1)) * unit / UNITS["d"]
    if days > _CENTURY:
        raise BadInput(f"duration {text.strip()[:40]} is out of range: give {_CENTURY}d at most.")
    return days


_LIMIT = re.compile(r"(?:([0-9]{1,3})-)?([0-9]{1,6}(?::[0-9]{1,2}){0,2})", re.ASCII)


def time_limit_s(text: str) -> float:
    """Return seconds for a limit in schedulers' notation: ``30`` (minutes), ``30:00``, ``1:00:00``,
    ``1-12:00:00``.
    """
    parts = _LIMIT.fullmatch(text.strip())
    if parts is None:
        raise BadInput(
            f"--time {text[:40]!r} is not a time limit: write 30 (minutes), 30:00, 1:00:00 or"
            " 1-12:00:00."
        )
    days, rest = parts.group(1), [int(part) for part in parts.group(2).split(":")]
    if days is not None:
        units = (3600, 60, 1)
        return int(days) * 86400.0 + sum(
            value * unit for value, unit in zip(rest, units, strict=False)
        )
    units = {1: (60,), 2: (60, 1), 3: (3600, 60, 1)}[len(rest)]  # type: ignore[assignment]
    return float(sum(value * unit for value, unit in zip(rest, units, strict=True)))


def parse_moment(text: str) -> datetime:
    """Parse ``2019-03-04``, ``2019-03-04T12:00`` or, with a zone, ``2019-03-04T12:00+01:00``; the
    default zone is UTC. Raise ``BadInput`` for other text.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise BadInput(
            f"date {text[:40]!r} is not understood: give it as 2019-03-04 or 2019-03-04T12:00"
            " (UTC)."
        ) from error
