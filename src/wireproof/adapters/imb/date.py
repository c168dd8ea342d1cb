"""When a run of IMB was started, by its head."""

from __future__ import annotations

import re
from datetime import UTC, datetime

__all__ = ["date_of"]

_DATE = re.compile(
    r"^# Date {1,40}: ([A-Z][a-z]{2} [A-Z][a-z]{2} [0-9 ][0-9] [0-9:]{8} [0-9]{4})\s*$"
)


def date_of(text: str) -> datetime | None:
    """The first line such as ``# Date : Fri Nov 20 19:48:53 2026``; it has no time zone, and is
    read as UTC. None without one.
    """
    for line in text.splitlines():
        if line.startswith("# Date ") and (found := _DATE.match(line)):
            try:
                when = datetime.strptime(found.group(1), "%a %b %d %H:%M:%S %Y")
            except ValueError:
                continue
            return when.replace(tzinfo=UTC)
    return None
