"""A date as people write it."""

from __future__ import annotations

from datetime import UTC, datetime

from wireproof.model.errors import BadInput

__all__ = ["parse_moment"]


def parse_moment(text: str) -> datetime:
    """``2019-03-04``, ``2019-03-04T12:00`` or with a zone, ``2019-03-04T12:00+01:00``; without one
    it is UTC. Raises ``BadInput``.
    """
    try:
        found = datetime.fromisoformat(text.strip())
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise BadInput(
            f"date {text[:40]!r} is not understood: give it as 2019-03-04 or 2019-03-04T12:00"
            " (UTC)."
        ) from error
