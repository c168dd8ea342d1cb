"""A plan as a file of other tools. Pure.

Each form takes hosts with the same plan. What a form cannot say stands in it as a comment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wireproof.model.tuning import HostPlan
from wireproof.tune.export.shell import shell
from wireproof.tune.export.tuned import tmpfiles, tuned

__all__ = ["FORMS"]

FORMS: dict[str, Callable[[HostPlan, Sequence[str], str], str]] = {
    "shell": shell,
    "tmpfiles": tmpfiles,
    "tuned": tuned,
}
"""Each takes one host's plan, the names of all that share it, and the profile."""
