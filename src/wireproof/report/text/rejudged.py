"""What a judgement by today's rules changes, as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from wireproof.model.finding import Verdict
from wireproof.model.stored import Conclusion
from wireproof.report.names import clean

__all__ = ["change_lines"]

_MOST = 10


def change_lines(
    by: str,
    before: Verdict | None,
    now: Verdict,
    gone: Sequence[Conclusion],
    new: Sequence[Conclusion],
) -> list[str]:
    """One line on the verdict, then what only one of the judgements concludes. ``by``: the version
    that judged before, "" when the result does not say.
    """
    if before is None:
        return ["judged now; this result does not keep its earlier verdict"]
    verdict = (
        f"{now}, as by wireproof {clean(by)}"
        if before == now
        else f"{now} now; wireproof {clean(by)} said {before}"
    )
    same = not gone and not new
    head = f"{verdict}; {'the same findings' if same else 'the findings differ'}"
    return [head, *_listed("no longer", gone), *_listed("new", new)]


def _listed(title: str, found: Sequence[Conclusion]) -> list[str]:
    lines = [
        f"  {title}: {one.severity} {clean(one.code)}"
        + (f" ({clean(one.subject)})" if one.subject else "")
        for one in found[:_MOST]
    ]
    if len(found) > _MOST:
        lines.append(f"  {title}: {len(found) - _MOST} more")
    return lines
