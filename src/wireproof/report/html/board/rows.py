"""Rows of the board's tables, as words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from wireproof.model.finding import Verdict
from wireproof.model.history import Entry, NodeNow
from wireproof.report.gate.lines import age
from wireproof.report.html.board.places import file_of, numbered
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

PER_PAGE = 500


@dataclass(frozen=True)
class NodeRow:
    """``place``: its page; ``run``: that of its last result, "" if there is none. ``age_s``: "" for
    never.
    """

    place: str
    name: str
    tone: str
    word: str
    age: str
    age_s: str
    proven: str
    result: str
    run: str
    reason: str
    group: str


@dataclass(frozen=True)
class EntryRow:
    """``place``: the page of the result, ``compare``: that of its comparison with the one before,
    ``of_set``: that of its set; "" if there is none.
    """

    id: str
    place: str
    compare: str
    of_set: str
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


def node_rows(nodes: Sequence[NodeNow], places: Collection[str] = ()) -> list[NodeRow]:
    """``places``: pages of results and comparisons that are there."""
    return [
        NodeRow(
            place=file_of("node", one.node),
            name=clean(one.node, 80),
            tone=one.state,
            word="never measured" if one.state == "never" else one.state,
            age="never" if one.age_s is None else f"{age(one.age_s)} ago",
            age_s="" if one.age_s is None else f"{one.age_s:.0f}",
            proven=clean(one.proven, 40),
            result=one.result,
            run=_there("run", one.result, places),
            reason=clean(one.reason, 300),
            group=file_of("group", str(one.group)),
        )
        for one in nodes
    ]


def entry_rows(
    entries: Sequence[Entry],
    places: Collection[str] = (),
    verdicts: Sequence[Verdict] = (),
    results: Sequence[int] = (),
) -> list[EntryRow]:
    """``places``: pages of results and comparisons that are there. ``verdicts``: in place of those
    of the results. ``results``: how many each stands for.
    """
    return [
        EntryRow(
            id=one.id,
            place=_there("run", one.id, places),
            compare=_there("compare", one.id, places),
            of_set=file_of("set", one.fingerprint),
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


def _there(kind: str, name: str, places: Collection[str]) -> str:
    place = file_of(kind, name)
    return place if place in places else ""


def _carried(one: Entry) -> str:
    if one.imported is not None:
        return clean(", ".join(one.imported.tools), 40)
    return clean(one.mpi.partition(" (")[0], 40) or "-"


def words_of(nodes: Sequence[NodeNow]) -> str:
    """Since when all of them are proven; "" of none."""
    ages = [one.age_s for one in nodes if one.age_s is not None]
    return f", oldest proof {age(max(ages))} ago" if ages else ""


def turned(page: str, number: int, count: int, total: int) -> Turn:
    """Page ``number`` (from 1) of a list of ``total`` rows, itself with ``count`` rows, and its
    neighbours.
    """
    if total <= count:
        return Turn(f"{total:,} in all")
    first = (number - 1) * PER_PAGE
    return Turn(
        words=f"{first + 1:,} to {first + count:,} of {total:,}",
        before=numbered(page, number - 1) if number > 1 else "",
        after=numbered(page, number + 1) if first + count < total else "",
    )
