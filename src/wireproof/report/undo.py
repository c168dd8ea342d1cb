"""What of ours stood on the hosts while they were measured, since when, and the command that takes
it back.
"""

from __future__ import annotations

from collections.abc import Sequence

from wireproof.model.tuning import Standing, StandingSet
from wireproof.report.names import clean, fold

__all__ = ["undo", "undo_lines"]

_MOST_CHANGES = 6
_OF_ITSELF = "This run measured and read counters only."
_UNASKED = (
    "What stands of earlier changes was not looked at: `wireproof tune status` on the hosts says"
    " it."
)
_STATES = {
    "applying": "was broken off while it was applied",
    "armed": "reverts by itself at its deadline",
    "confirmed": "is kept, also after a reboot",
    "partly": "is not reverted whole",
}


def undo(found: Standing | None) -> tuple[str, str, bool]:
    """Short answer, text, and whether it is known. None: the hosts were not asked."""
    if found is None:
        return "This run changed nothing", f"{_OF_ITSELF} {_UNASKED}", True
    known = not found.unread
    lines = [_OF_ITSELF, *undo_lines(found)]
    if found.sets:
        count = len(found.sets)
        return f"{count} change set{'s' if count > 1 else ''} stood", " ".join(lines), known
    if not known:
        return "Unknown", " ".join(lines), known
    if found.hosts:
        lines.append(f"No change by `wireproof tune` stood on {fold(found.hosts)}.")
    return "Nothing was changed", " ".join(lines), known


def undo_lines(found: Standing) -> list[str]:
    """A line for each set that stood, and for the hosts of which nothing is known."""
    return [*(_set(one, found) for one in found.sets), *_unread(found)]


def _where(names: str, found: Standing) -> str:
    """The options that name these hosts."""
    lab = f" --lab {clean(found.lab, 64)}" if found.lab else ""
    return lab if found.here else f"{lab} --hosts '{names}'"


def _set(one: StandingSet, found: Standing) -> str:
    names = fold(one.hosts)
    about = ", ".join([f"on {names}", *([f"since {clean(one.since, 40)}"] if one.since else [])])
    how = _STATES.get(one.state, one.state)
    return (
        f"Change set {clean(one.id, 64)} stood {about}, and {how}: {_changes(one.changes)}."
        f" `wireproof tune revert {clean(one.id, 64)}{_where(names, found)}` takes it back."
    )


def _changes(changes: Sequence[str]) -> str:
    shown = "; ".join(clean(line, 120) for line in changes[:_MOST_CHANGES])
    left = len(changes) - _MOST_CHANGES
    return (shown or "no value could be read") + (f"; {left} more" if left > 0 else "")


def _unread(found: Standing) -> list[str]:
    return [
        f"What stood on {fold(hosts)} is unknown: {clean(reason, 200).rstrip('.')}."
        f" `wireproof tune status{_where(fold(hosts), found)}` as root says it."
        for reason, hosts in found.unread.items()
    ]
