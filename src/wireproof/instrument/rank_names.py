"""The ranks of a plan by the names that a launcher may call them: host, short host, address,
process id. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from wireproof.instrument.talk import clean_text
from wireproof.model.plan import Plan
from wireproof.model.record import Frame, Host

__all__ = ["RankNames"]


class RankNames:
    """The plan's ranks by every name that a launcher may use."""

    def __init__(self, plan: Plan, frames: Sequence[Frame]) -> None:
        named = {place.index: place.host for place in plan.ranks}
        for point in plan.points:
            for rank in (*(rank for pair in point.pairs for rank in pair), *point.members):
                named.setdefault(rank, "")
        self.host = named
        self._by_name: dict[str, set[int]] = {}
        self._by_pid: dict[tuple[int, int], int] = {}
        for place in plan.ranks:
            self._know(place.index, place.host, place.address)
        for frame in frames:
            if isinstance(frame, Host) and frame.rank in named:
                self._know(frame.rank, frame.hostname)
                self._by_pid[frame.rank, frame.pid] = frame.rank

    def _know(self, rank: int, *names: str) -> None:
        for name in names:
            for form in {name.lower(), _short(name)} - {""}:
                self._by_name.setdefault(form, set()).add(rank)

    def on(self, host: str, pid: int = 0) -> set[int]:
        """Ranks of a host; of that process alone when the frames have the pids."""
        host = host.strip("[]'\",.:;").lower()
        ranks = self._by_name.get(host) or self._by_name.get(_short(host)) or set()
        return {rank for rank in ranks if (rank, pid) in self._by_pid} or set(ranks)

    def title(self, rank: int) -> str:
        host = clean_text(self.host.get(rank, "").encode("utf-8", "replace"), 80)
        return f"rank {rank} on {host}" if host else f"rank {rank}"


def _short(name: str) -> str:
    """The name before the domain; numeric addresses stay whole."""
    return (
        name.lower()
        if name.replace(".", "").isdigit() or ":" in name
        else name.lower().split(".", 1)[0]
    )
