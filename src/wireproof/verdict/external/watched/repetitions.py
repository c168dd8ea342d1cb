"""Are the bytes that crossed those of a program's repetitions, printed or usual? Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from wireproof.model.quantity import volume
from wireproof.model.series import Series
from wireproof.model.traffic import Printed, Traffic
from wireproof.verdict.external.watched.carried import START_UP_BYTES, Carried
from wireproof.verdict.external.watched.doubts import MANY_TIMES
from wireproof.verdict.external.watched.ports import WatchedPorts

CHANGES = 4.0
"""Number of counter refreshes that are needed to show a rate."""


@dataclass(frozen=True)
class Repetitions:
    """The printed rows, and what crossed the claimed ports."""

    ports: WatchedPorts
    claimed: Carried
    printed: Printed

    def as_usual(self, share: float) -> bool:
        """Return whether the bytes suffice for the usual repetitions of rows without a rate, such
        as those of collectives.
        """
        usual = self.printed.repeated_bytes
        return usual is not None and self.claimed.covers(share * usual[0], self.ports.late_share())

    def far_above(self) -> bool:
        """Return whether many times the bytes of all repetitions crossed: another job's."""
        most = self._most()
        return most is not None and self.claimed.bytes > MANY_TIMES * most + 4 * START_UP_BYTES

    def _most(self) -> float | None:
        return self.printed.repeated_bytes[1] if self.printed.repeated_bytes else None

    def unbounded(self) -> str:
        """Return a sentence if nothing bounds the bytes of collectives from above; else ""."""
        if self.printed.rate_bytes_per_s is not None or self._most() is not None:
            return ""
        return (
            " The number of processes is unknown, so another job's bytes may be among them: start"
            " the launcher directly, so that its -n is known."
        )

    def as_repeated(self, wanted: float, share: float) -> bool:
        """Return whether the bytes are those of the rows' repetitions and few more: proof without
        the rate.

        More bytes may be another flow's alone, fewer a part of the command's. Acknowledgements of
        another flow can be many, too, so a ping-pong's repetitions must be printed.
        """
        if self.ports.both_ways:
            if self.printed.most_bytes is None or wanted < 4 * START_UP_BYTES:
                return False
            return self.claimed.below(2 * self.printed.most_bytes + START_UP_BYTES)
        most = self._most()
        if most is None:
            return False
        return self.as_usual(share) and self.claimed.below(most + 4 * START_UP_BYTES)

    def whose_bytes(self, wanted: float, traffic: Traffic, series: Sequence[Series]) -> str:
        """Explain what the bytes that crossed may be, and what evidence would settle it."""
        rows = f"the rows account for {volume(wanted)}"
        if self.printed.repeated_bytes is not None and not self.ports.both_ways:
            least, most = self.printed.repeated_bytes
            by = "printed" if self.printed.counted else "tool's usual"
            span = f" to {volume(most)}" if most is not None else " or more"
            rows = f"the {by} repetitions make {volume(least)}{span}"
        seconds = CHANGES * max(self.ports.refresh_s(), traffic.window_s)
        known = ""
        if any(table.tool == "osu" for table in series) and not self.printed.counted:
            known = "start OSU's program directly, not in a script, so that its -i is known, or "
        return (
            f"{volume(self.claimed.bytes)} crossed and {rows}, so the bytes may be another job's "
            f"or a part of the command's: {known}let each size run for {seconds:.2g} s or longer "
            "(-i, -iter, -t)."
        )
