"""A whole check in one line, for a scheduler's prolog."""

from __future__ import annotations

import os
from collections.abc import Sequence

from wireproof.model.finding import Verdict
from wireproof.report.judged_run import JudgedRun, headline

__all__ = ["one_line"]


def one_line(sections: Sequence[JudgedRun], verdict: Verdict) -> str:
    """The verdict of all, who was measured, and the sentence of the first part that has it."""
    telling = next(one for one in sections if one.judgement.verdict == verdict)
    hosts = len({host.host for host in telling.run.claim.hosts}) if telling.run.claim.wire else 0
    who = f"{hosts} nodes" if hosts else os.uname().nodename
    return f"{verdict}: {who}: {headline(telling)}"
