"""Lines of a library's own log, as settings seen."""

from __future__ import annotations

from collections.abc import Iterable

from wireproof.model.psm3 import Kind, Seen
from wireproof.model.secrets import masked

__all__ = ["once", "seen_at"]

_LONGEST = 300


def seen_at(
    setting: str, value: str, kind: Kind, where: tuple[int, str], source: str, who: str = ""
) -> Seen:
    """One setting at ``where``: line number, from 1, and line. What looks secret is masked."""
    number, line = where
    text = masked(f"{setting}={value.strip()}").removeprefix(f"{setting}=")
    return Seen(
        setting=setting,
        value=text[:_LONGEST],
        kind=kind,
        line=masked(line.strip())[:_LONGEST],
        number=number,
        source=source,
        who=who,
    )


def once(found: Iterable[Seen]) -> list[Seen]:
    """Each setting and value once, where it was said first; ranks repeat each other."""
    unique: dict[tuple[str, str, Kind], Seen] = {}
    for one in found:
        unique.setdefault((one.setting, one.value, one.kind), one)
    return list(unique.values())
