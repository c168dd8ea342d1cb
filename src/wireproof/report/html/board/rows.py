"""Rows of the board's tables, as words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from wireproof.model.board import NodeNow
from wireproof.model.finding import Verdict
from wireproof.model.history import Entry
from wireproof.report.gate.lines import age
from wireproof.report.names import clean

__all__ = [
    "PER_PAGE",
    "EntryRow",
    "NodeRow",
    "Turn",
    "entry_rows",
    "node_rows",
    "turned",
    "words_of",
]

PER_PAGE = 100


@dataclass(frozen=True)
class NodeRow:
    """``node``: as it is, for links; ``name``: to be shown. ``age_s``: "" for never."""

    node: str
    name: str
    tone: str
    word: str
    age: str
    age_s: str
    proven: str
    result: str
    reason: str
    group: int


@dataclass(frozen=True)
class EntryRow:
    id: str
    fingerprint: str
    measured: str
    tone: str
    hosts: str
    link: str
    transport: str
    mpi: str
    word: str
    results: int = 0


@dataclass(frozen=True)
class Turn:
    """Where one of several pages leads."""

    words: str
    before: str = ""
    after: str = ""
    before_words: str = "before"
    after_words: str = "next"


def node_rows(nodes: Sequence[NodeNow]) -> list[NodeRow]:
    return [
        NodeRow(
            node=one.node,
            name=clean(one.node, 80),
            tone=one.state,
            word="never measured" if one.state == "never" else one.state,
            age="never" if one.age_s is None else f"{age(one.age_s)} ago",
            age_s="" if one.age_s is None else f"{one.age_s:.0f}",
            proven=clean(one.proven, 40),
            result=one.result,
            reason=clean(one.reason, 300),
            group=one.group,
        )
        for one in nodes
    ]


def entry_rows(
    entries: Sequence[Entry], verdicts: Sequence[Verdict] = (), results: Sequence[int] = ()
) -> list[EntryRow]:
    """``verdicts``: in place of those of the results. ``results``: how many each stands for."""
    return [
        EntryRow(
            id=one.id,
            fingerprint=one.fingerprint,
            measured=clean(one.measured, 40).removesuffix("+00:00"),
            tone=verdicts[at] if verdicts else one.verdict,
            hosts=clean(one.hosts, 60) or ("-" if one.imported else ""),
            link=clean(one.link, 30) or "-",
            transport=clean(one.transport, 20) or "-",
            mpi=_carried(one),
            word=f"imported: {one.verdict}" if one.imported else "",
            results=results[at] if results else 0,
        )
        for at, one in enumerate(entries)
    ]


def _carried(one: Entry) -> str:
    if one.imported is not None:
        return clean(", ".join(one.imported.tools), 40)
    return clean(one.mpi.partition(" (")[0], 40) or "-"


def words_of(nodes: Sequence[NodeNow]) -> str:
    """Since when all of them are proven; "" of none."""
    ages = [one.age_s for one in nodes if one.age_s is not None]
    return f", oldest proof {age(max(ages))} ago" if ages else ""


def turned(place: str, asked: dict[str, str], first: int, count: int, total: int) -> Turn:
    """Rows ``first`` (from 0) to ``first + count`` of ``total``, and the pages beside them."""
    kept = {name: value for name, value in asked.items() if value}

    def at(start: int) -> str:
        return f"{place}?{urlencode(kept | {'from': str(start)})}"

    if total <= count:
        return Turn(f"{total:,} in all")
    return Turn(
        words=f"{first + 1:,} to {first + count:,} of {total:,}",
        before=at(max(0, first - PER_PAGE)) if first else "",
        after=at(first + count) if first + count < total else "",
    )
