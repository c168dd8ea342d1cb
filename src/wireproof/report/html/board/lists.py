"""Pages of a history that are lists: nodes, one node, results, sets of hosts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TypeVar

from wireproof.model.finding import Verdict
from wireproof.model.history import Entry, HostSet, NodeNow
from wireproof.report.html.board.frame import framed
from wireproof.report.html.board.places import RESULTS, TRENDS, numbered
from wireproof.report.html.board.rows import (
    PER_PAGE,
    EntryRow,
    NodeRow,
    entry_rows,
    node_rows,
    turned,
)
from wireproof.report.names import clean

__all__ = ["log_page", "node_page", "nodes_pages", "results_pages", "sets_pages"]

_Pages = Iterator[tuple[str, str]]
"""File name and text of each."""
_T = TypeVar("_T")


def nodes_pages(
    root: str, page: str, title: str, nodes: Sequence[NodeNow], places: Collection[str]
) -> _Pages:
    """A list of nodes in the order given."""
    return _pages("nodes", title, root, page, nodes, lambda rows: node_rows(rows, places))


def results_pages(root: str, entries: Sequence[Entry], places: Collection[str]) -> _Pages:
    """All results, in the order given."""
    return _pages(
        "results", "Results", root, RESULTS, entries, lambda rows: entry_rows(rows, places)
    )


def sets_pages(root: str, sets: Sequence[HostSet]) -> _Pages:
    """What may be compared over time."""

    def rows_of(sets: Sequence[HostSet]) -> list[EntryRow]:
        return entry_rows([one.newest for one in sets], results=[one.results for one in sets])

    return _pages("sets", "Trends", root, TRENDS, sets, rows_of)


def _pages(
    template: str,
    title: str,
    root: str,
    page: str,
    found: Sequence[_T],
    rows_of: Callable[[Sequence[_T]], list[NodeRow] | list[EntryRow]],
) -> _Pages:
    for number, first in enumerate(range(0, max(1, len(found)), PER_PAGE), start=1):
        rows = found[first : first + PER_PAGE]
        turn = turned(page, number, len(rows), len(found))
        here = numbered(page, number)
        yield here, framed(template, title, root, page, rows=rows_of(rows), page=turn)


def node_page(
    root: str,
    node: NodeNow,
    results: Sequence[tuple[Entry, Verdict]],
    total: int,
    places: Collection[str],
) -> str:
    """One node, and the newest of its ``total`` results."""
    (now,) = node_rows([node], places)
    verdicts = [verdict for _, verdict in results]
    return framed(
        "node",
        clean(node.node, 80),
        root,
        "",
        scripted=False,
        node=now,
        shown=f"the newest {len(results)} of {total:,}" if total > len(results) else "",
        rows=entry_rows([one for one, _ in results], places, verdicts),
    )


def log_page(root: str, name: str, text: str) -> str:
    """An imported log, judged; ``text`` as a terminal shows it."""
    return framed("log", clean(name, 80), root, "", text=text)
