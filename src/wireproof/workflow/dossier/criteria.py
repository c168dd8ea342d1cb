"""The criteria of a dossier: every one with its value and where that comes from."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from wireproof.locate.criteria import LocateCriteria
from wireproof.model.claim import LinkClaim
from wireproof.model.dossier import DEFAULT_SOURCE, KNOWN, Agreed, Criterion, threshold_criteria
from wireproof.model.stored import StoredPart
from wireproof.physics.table import default_table
from wireproof.report.names import clean

__all__ = ["criteria_of", "criteria_toml"]

_LOCATE = {
    "alpha": "probability that a sweep of healthy nodes names a culprit",
    "practical_goodput": "least loss of goodput that is called slow",
    "practical_latency": "least added time that is called slow",
    "floor": "spread of healthy ports that is never called a difference",
}


def criteria_of(parts: Sequence[StoredPart], agreed: Agreed | None) -> list[Criterion]:
    """Of a result with ``parts``, which share them: thresholds, how sure a culprit must be, the
    link that is claimed, and the constants of its limits that were set.
    """
    first = parts[0]
    links = {part.run.claim.link for part in parts if part.run.claim.wire}
    return [
        *threshold_criteria(first.criteria, agreed),
        *_located(),
        *(one for link in sorted(links, key=str) if link for one in _link(link)),
        *_constants(first.constants),
    ]


def _located() -> Iterator[Criterion]:
    values = dataclasses.asdict(LocateCriteria())
    for name, about in _LOCATE.items():
        yield Criterion(name=f"locate.{name}", value=values[name], unit="1", about=about)


def _link(link: LinkClaim) -> Iterator[Criterion]:
    chosen, source = link.source.startswith("--"), link.source or DEFAULT_SOURCE
    yield Criterion(
        name="link",
        value=link.name,
        unit="",
        about="the link that the limits are those of",
        chosen=chosen,
        source=source,
    )
    if link.line_rate is not None:
        yield Criterion(
            name="link.rate",
            value=link.line_rate,
            unit="bit/s",
            about="its line rate",
            chosen=chosen,
            source=source,
        )


def _constants(values: Mapping[str, float]) -> Iterator[Criterion]:
    table = default_table()
    for name, value in values.items():
        default = table[name]
        yield Criterion(
            name=f"constant.{name}",
            value=value,
            unit=default.unit,
            about=f"constant of the limits; the default is {default.value:g}",
            chosen=True,
            source="--physics",
        )


def criteria_toml(criteria: Sequence[Criterion]) -> str:
    """The thresholds as a file that ``check --criteria`` reads; the rest as comments."""
    settable = {one.name for one in KNOWN}
    lines = ["# Criteria of this result. `wireproof check --criteria FILE` reads this file."]
    for one in criteria:
        source = clean(f"{one.source}" if one.chosen else DEFAULT_SOURCE, 200)
        lines += ["", f"# {clean(one.about, 200)} ({source})"]
        line = f"{one.name} = {_toml(one.value)}"
        lines.append(line if one.name in settable else f"# {line}")
    return "\n".join([*lines, ""])


def _toml(value: float | str) -> str:
    if isinstance(value, str):
        return f'"{clean(value, 100)}"'
    return repr(int(value)) if float(value).is_integer() else repr(value)
