"""The result as JSON inside the page, limited in size: parts that do not fit are omitted and
named.
"""

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from wireproof.report.flows import NicTraffic
from wireproof.report.html.shell import in_script
from wireproof.report.json.encode import plain
from wireproof.report.json.result import VERSION, document
from wireproof.report.judged_run import JudgedRun

BUDGET = 500_000
"""Characters of JSON in a page."""

# Parts are omitted in this order: first what other tables of the page contain, or only programs
# need.
_ORDER = (
    "samples",
    "groups",
    "results",
    "traffic",
    "hosts",
    "claim.hosts",
    "group_results",
    "errors",
    "missing",
    "located.missing",
    "findings",
    "disclosure.items",
)
_LEAST_BYTES = {"samples": 300, "results": 250}
_FINDINGS = 100


def embedded(run: JudgedRun, seen: Sequence[NicTraffic], name: str) -> str:
    """Return the element ``name``-data with the object, and a sentence that names omitted parts."""
    pairs = max(len(run.judgement.pairs), sum(len(point.pairs) for point in run.run.points))
    left_out = [part for part, each in _LEAST_BYTES.items() if each * pairs > BUDGET]
    kept = _whole(run, seen, left_out)
    sizes = {key: len(_text(value)) for key, value in kept.items()}
    total = sum(sizes.values())
    for part in _ORDER:
        if total <= BUDGET:
            break
        if part not in left_out and (before := _size_of(kept, part)):
            _drop(kept, part)
            left_out.append(part)
            total -= before - _size_of(kept, part)
    text = in_script(_text({"document": kept, "left_out": left_out}))
    missing = f" Too long for this page and left out: {', '.join(left_out)}." if left_out else ""
    return (
        '<p class="muted">The numbers are embedded for machines as JSON (wireproof.result, version'
        f" {VERSION}) in this page.{missing}</p>"
        f'<script type="application/json" id="{name}-data">{text}</script>'
    )


def _whole(run: JudgedRun, seen: Sequence[NicTraffic], left_out: Sequence[str]) -> dict[str, Any]:
    judgement = run.judgement
    if "results" in left_out:
        judgement = msgspec.structs.replace(judgement, pairs=[])
    samples = "samples" not in left_out
    whole = document(
        run.run,
        judgement,
        run.limits,
        run.criteria,
        run.located,
        seen=seen,
        samples=samples,
    )
    whole = msgspec.structs.replace(whole, disclosure=run.disclosure)
    found: dict[str, Any] = plain(whole)
    return found


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _places(kept: dict[str, Any], name: str) -> list[tuple[dict[str, Any], str]]:
    """Return where a part is: ``claim.hosts`` is in the claim, ``located.missing`` in each entry of
    ``located``.
    """
    outer, _, inner = name.rpartition(".")
    if not outer:
        return [(kept, inner)]
    holder = kept[outer] or []
    return [(one, inner) for one in (holder if isinstance(holder, list) else [holder])]


def _size_of(kept: dict[str, Any], name: str) -> int:
    return sum(len(_text(holder[key])) for holder, key in _places(kept, name))


def _drop(kept: dict[str, Any], name: str) -> None:
    """Empty a part; the first findings stay, without their lists of names."""
    for holder, key in _places(kept, name):
        if name == "findings":
            holder[key] = [
                one | {"evidence": _short(one["evidence"])} for one in holder[key][:_FINDINGS]
            ]
        else:
            holder[key] = type(holder[key])()


def _short(evidence: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value[:20] if isinstance(value, list) else value for key, value in evidence.items()
    }
