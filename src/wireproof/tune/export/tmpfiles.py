"""Lines of tmpfiles.d(5) that write the values at each boot. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from wireproof.model.tuning import HostPlan
from wireproof.tune.export.comments import head, left_out

__all__ = ["tmpfiles"]


def tmpfiles(plan: HostPlan, hosts: Sequence[str], profile: str) -> str:
    """``w PATH - - - - VALUE``; a percent sign is doubled."""
    changes = [one.change for one in plan.changes]
    lines = [head(hosts, profile)]
    for one in changes:
        if one.kind == "file":
            lines.append(f"w {_escaped(one.path)} - - - - {_escaped(one.value)}")
    others = [one for one in changes if one.kind != "file"]
    return "\n".join([*lines, *left_out(plan, others), ""])


def _escaped(text: str) -> str:
    return text.replace("%", "%%").replace("\\", "\\\\")
