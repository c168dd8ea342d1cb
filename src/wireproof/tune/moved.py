"""Whether what a plan was made from still stands. Pure."""

from __future__ import annotations

from wireproof.audit.facts import HostFacts
from wireproof.model.tuning import HostPlan
from wireproof.tune.standing import shown_value, standing, text_of_file

__all__ = ["moved"]


def moved(plan: HostPlan, facts: HostFacts) -> str:
    """One sentence for the first value or drop-in that is another now; "" when none is."""
    for one in plan.changes:
        now = standing(facts, one.change)
        if one.was is not None and now != one.was:
            was, is_ = shown_value(one.change, one.was), shown_value(one.change, now)
            return f"{one.change.id} was {was!r} when the plan was made and is {is_!r} now"
    for each in plan.keeps:
        try:
            text = text_of_file(facts, each.keep.path)
        except ValueError as error:
            return f"{each.keep.path} {error}"
        if text != each.was:
            return f"{each.keep.path} is another than when the plan was made"
    return ""
