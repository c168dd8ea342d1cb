"""What the head of an exported file says. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wireproof.model.change import Change
from wireproof.model.tuning import HostPlan

__all__ = ["comment", "head", "left_out"]


def comment(text: str) -> str:
    """One line that no reader takes for more."""
    return "# " + "".join(letter if letter.isprintable() else "?" for letter in text)


def head(hosts: Sequence[str], profile: str) -> str:
    shown = ", ".join(hosts[:8]) + (f" and {len(hosts) - 8} more" if len(hosts) > 8 else "")
    return comment(f"wireproof tune: settings for {profile} of {shown}")


def left_out(plan: HostPlan, changes: Iterable[Change] = ()) -> list[str]:
    """What the form cannot say, and what is done by hand."""
    lines = [comment(f"not in this form: {one.id} = {one.value}") for one in changes]
    lines += [
        comment(f"not in this form: {one.id}: {one.display} = {one.wanted}, by its BMC")
        for one in plan.firmware
    ]
    return lines + [comment(f"by hand: {one.id}: {one.how}") for one in plan.by_hand]
