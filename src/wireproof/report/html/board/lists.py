"""Pages of the board that are lists: nodes, one node, results, sets of hosts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wireproof.model.board import HostSet, NodeNow
from wireproof.model.finding import Verdict
from wireproof.model.history import Entry
from wireproof.report.html.board.frame import Page, framed
from wireproof.report.html.board.rows import PER_PAGE, entry_rows, node_rows, turned
from wireproof.report.names import clean

__all__ = [
    "NODE_SORTS",
    "Asked",
    "log_page",
    "node_page",
    "nodes_page",
    "results_page",
    "sets_page",
]

_VERDICTS = (("", "any"), ("pass", "pass"), ("inconclusive", "inconclusive"), ("fail", "fail"))
NODE_SORTS = (("oldest", "proven longest ago first"), ("worst", "worst first"), ("name", "name"))


@dataclass(frozen=True)
class Asked:
    """What a list was asked for. ``first``: its first row, from 0. ``trouble``: why the question
    has no answer.
    """

    nodes: str = ""
    verdict: str = ""
    group: str = ""
    sort: str = ""
    first: int = 0
    trouble: str = ""

    def kept(self) -> dict[str, str]:
        """What a link to the next page repeats."""
        return {
            "nodes": self.nodes,
            "verdict": self.verdict,
            "group": self.group,
            "sort": self.sort,
        }


def nodes_page(root: str, asked: Asked, nodes: Sequence[NodeNow]) -> Page:
    """``nodes``: all that were asked for, in order."""
    rows = nodes[asked.first : asked.first + PER_PAGE]
    return framed(
        "nodes",
        "Nodes",
        root,
        "nodes",
        asked=asked,
        states=(*_VERDICTS, ("never", "never measured")),
        sorts=NODE_SORTS,
        rows=node_rows(rows),
        page=turned("nodes", asked.kept(), asked.first, len(rows), len(nodes)),
    )


def node_page(
    root: str, node: NodeNow, first: int, results: Sequence[tuple[Entry, Verdict]]
) -> Page:
    """One node now, and its results."""
    rows = results[first : first + PER_PAGE]
    (now,) = node_rows([node])
    return framed(
        "node",
        clean(node.node, 80),
        root,
        "",
        node=now,
        rows=entry_rows([one for one, _ in rows], [verdict for _, verdict in rows]),
        page=turned("node", {"name": node.node}, first, len(rows), len(results)),
    )


def results_page(root: str, asked: Asked, entries: Sequence[Entry]) -> Page:
    """``entries``: all that were asked for, in order."""
    rows = entries[asked.first : asked.first + PER_PAGE]
    return framed(
        "results",
        "Results",
        root,
        "results",
        asked=asked,
        states=_VERDICTS,
        rows=entry_rows(rows),
        page=turned("results", asked.kept(), asked.first, len(rows), len(entries)),
    )


def log_page(root: str, name: str, text: str) -> Page:
    """An imported log, judged; ``text`` as a terminal shows it."""
    return framed("log", clean(name, 80), root, "", text=text)


def sets_page(root: str, first: int, sets: Sequence[HostSet]) -> Page:
    """What may be compared over time."""
    rows = sets[first : first + PER_PAGE]
    return framed(
        "sets",
        "Trends",
        root,
        "trends",
        rows=entry_rows([one.newest for one in rows], results=[one.results for one in rows]),
        page=turned("trends", {}, first, len(rows), len(sets)),
    )
