"""Which page answers which address. Everything that an address names is looked up; nothing of it
becomes a path.
"""

from __future__ import annotations

import dataclasses
import re
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import parse_qsl

import msgspec

from wireproof.model import quantity
from wireproof.model.board import NodeNow, SeriesLine
from wireproof.model.comparison import Comparison
from wireproof.model.errors import BadInput, CouldNotMeasure, WireproofError
from wireproof.model.history import Entry
from wireproof.report.html.board.cluster import cluster_page
from wireproof.report.html.board.comparison import comparison_page
from wireproof.report.html.board.frame import Page, report_policy
from wireproof.report.html.board.lists import (
    Asked,
    log_page,
    node_page,
    nodes_page,
    results_page,
    sets_page,
)
from wireproof.report.html.board.trends import trends_page
from wireproof.report.names import clean, natural
from wireproof.settings.hosts import parse_hosts
from wireproof.store.history import RESULTS
from wireproof.workflow.serve import jobs
from wireproof.workflow.serve.apart import apart
from wireproof.workflow.serve.board import Board
from wireproof.workflow.serve.history import ServedHistory

__all__ = ["NotThere", "Pages"]

HEADLINES = (("pingpong", 8), ("stream", 1 << 20))
"""Drawn first of a set's numbers."""
_MOST_DRAWN = 2
_AT_ONCE = 2
"""Results that are judged at once; who comes then waits his turn."""
_SECONDS = 60.0
_MOST_FIELDS = 16
_LONGEST = 4000
_NODES = re.compile(r"[A-Za-z0-9._,/!&^\[\] -]*", re.ASCII)
"""A node set without groups and files: these would run commands and open what the asker names."""
_NUMBER = re.compile(r"[0-9]{1,12}", re.ASCII)
_VERDICTS = ("", "pass", "inconclusive", "fail", "never")
_Query = Mapping[str, str]


class NotThere(Exception):
    """An address that leads nowhere, in one sentence."""


class Pages:
    """The pages of one history."""

    def __init__(self, history: ServedHistory) -> None:
        self._history = history
        self._turns = threading.BoundedSemaphore(_AT_ONCE)
        self._pages: dict[str, Callable[[Board, _Query], Page]] = {
            "": self._cluster,
            "nodes": self._nodes,
            "node": self._node,
            "results": self._results,
            "run": self._run,
            "trends": self._trends,
            "compare": self._compare,
        }

    @property
    def root(self) -> Path:
        return self._history.root

    def troubles(self) -> list[str]:
        """What could not be read."""
        return self._history.board().digest.troubles

    def summary(self) -> str:
        """How much is shown, for who starts it."""
        board = self._history.board()
        results = quantity.counted(len(board.entries), "result")
        return f"{results} of {quantity.counted(len(board.digest.nodes), 'node')}"

    def answer(self, name: str, query: str) -> Page:
        """The page ``name`` for a query as it stands in the address. Raises ``NotThere``."""
        page = self._pages.get(name)
        if page is None:
            raise NotThere("There is no such page.")
        try:
            fields = parse_qsl(query, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
        except ValueError as error:
            raise NotThere("The address asks for too much at once.") from error
        return page(self._history.board(), dict(fields))

    def _cluster(self, board: Board, asked: _Query) -> Page:
        return cluster_page(board.overview(), behind=self._history.behind)

    def _nodes(self, board: Board, query: _Query) -> Page:
        asked, names = _asked(query)
        groups = board.groups()
        if asked.group:
            at = int(asked.group)
            groups = groups[at : at + 1]
        nodes = [
            one
            for group in groups
            for one in group.nodes
            if (names is None or one.node in names) and asked.verdict in ("", one.state)
        ]
        return nodes_page(board.digest.root, asked, [] if asked.trouble else _sorted(nodes, asked))

    def _node(self, board: Board, query: _Query) -> Page:
        name = query.get("name", "")
        node = next(
            (one for all_ in board.groups() for one in all_.nodes if one.node == name), None
        )
        if node is None:
            raise NotThere(f"The history has no node {clean(name, 80)!r}.")
        return node_page(board.digest.root, node, _first(query), board.verdicts_of(name))

    def _results(self, board: Board, query: _Query) -> Page:
        asked, names = _asked(query)
        found = [] if asked.trouble else board.with_any_of(names, asked.verdict)
        return results_page(board.digest.root, asked, found)

    def _run(self, board: Board, query: _Query) -> Page:
        entry = _result(board, query.get("id", ""))
        if entry.imported is not None:
            text = self._apart(jobs.log_text, self.root, entry, entry.imported)
            return log_page(board.digest.root, entry.id, text.decode())
        html = self._apart(jobs.run_page, self._folder(entry))
        return Page(html.decode(), report_policy())

    def _compare(self, board: Board, query: _Query) -> Page:
        a, b = (_result(board, query.get(name, "")) for name in ("a", "b"))
        if a.id == b.id:
            raise NotThere("A and B are the same result: choose two.")
        if any(one.imported for one in (a, b)):
            raise NotThere("A log claims numbers without intervals: only results are compared.")
        data = self._apart(jobs.comparison, self._folder(a), self._folder(b))
        found = msgspec.msgpack.decode(data, type=Comparison)
        return comparison_page(board.digest.root, a.id, b.id, found)

    def _trends(self, board: Board, query: _Query) -> Page:
        fingerprint = query.get("set", "")
        root = board.digest.root
        if not fingerprint:
            return sets_page(root, _first(query), board.sets)
        known = next((one for one in board.sets if one.newest.fingerprint == fingerprint), None)
        if known is None:
            raise NotThere("The history has no such set of hosts.")
        series = board.series(fingerprint)
        until = _number(query.get("until", ""))
        drawn = _drawn(series, query)
        return trends_page(root, known.newest, series, [board.trend(one, until) for one in drawn])

    def _folder(self, entry: Entry) -> Path:
        """The name is one of the index, which is never more than a name."""
        return self._history.root / RESULTS / entry.id

    def _apart(self, job: Callable[..., bytes], *given: object) -> bytes:
        if not self._turns.acquire(timeout=_SECONDS):
            raise CouldNotMeasure("too many results are being judged at once: reload in a minute.")
        try:
            return apart(job, *given, seconds=_SECONDS)
        finally:
            self._turns.release()


def _asked(query: _Query) -> tuple[Asked, frozenset[str] | None]:
    """What a list was asked for, and the names that it means; None for all."""
    nodes, group = query.get("nodes", "").strip(), query.get("group", "")
    verdict, sort = query.get("verdict", ""), query.get("sort", "")
    asked = Asked(
        nodes=clean(nodes, _LONGEST),
        verdict=verdict if verdict in _VERDICTS else "",
        group=group if _number(group) is not None else "",
        sort=sort,
        first=_first(query),
    )
    if not nodes:
        return asked, None
    try:
        if len(nodes) > _LONGEST or not _NODES.fullmatch(nodes):
            raise BadInput("give node names such as n1,n2 or ranges such as n[1-4].")
        return asked, frozenset(parse_hosts(nodes))
    except WireproofError as error:
        return dataclasses.replace(asked, trouble=str(error)), frozenset()


def _sorted(nodes: list[NodeNow], asked: Asked) -> list[NodeNow]:
    if asked.sort == "name":
        return sorted(nodes, key=lambda one: natural(one.node))
    worst = asked.sort == "worst"
    rank = {"fail": 0, "inconclusive": 1, "never": 2, "pass": 3}
    return sorted(nodes, key=lambda one: (rank[one.state] if worst else 0, one.proven))


def _drawn(series: list[SeriesLine], query: _Query) -> list[SeriesLine]:
    """The number that was asked for, else the headlines, else the first that has two results."""
    if "number" in query:
        wanted = query["number"], query.get("size", ""), query.get("window", "0")
        return [one for one in series if _key(one) == wanted]
    first = [one for one in series if (one.number.name, one.number.message_bytes) in HEADLINES] or [
        one for one in series if one.results > 1
    ]
    return first[:_MOST_DRAWN]


def _key(one: SeriesLine) -> tuple[str, str, str]:
    return one.number.name, str(one.number.message_bytes), str(one.number.window)


def _result(board: Board, name: str) -> Entry:
    found = board.entry(name)
    if found is None:
        raise NotThere(f"The history has no result {clean(name, 80)!r}.")
    return found


def _number(text: str) -> int | None:
    return int(text) if _NUMBER.fullmatch(text) else None


def _first(query: _Query) -> int:
    return _number(query.get("from", "")) or 0
