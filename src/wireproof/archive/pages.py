"""Write a history as pages that any web server, or a browser alone, can show.

Expensive pages (a run's report, a comparison, a node's results) are rewritten only if their content
has changed: the folder contains a list of its pages, each with a key that identifies its sources.
"""

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path

import msgspec

from wireproof.archive.apart import apart
from wireproof.archive.board import Board
from wireproof.archive.board_document import (
    CLUSTER,
    NODES,
    STYLE,
    TRENDS,
    cluster_document,
    compared_document,
    file_of,
    framed,
    list_pages,
    node_document,
    node_table,
    result_table,
    set_document,
    set_table,
)
from wireproof.archive.board_document import (
    RESULTS as RESULT_PAGES,
)
from wireproof.files.held import held_folder, open_until_end
from wireproof.files.hostile import read_bounded, replace_in
from wireproof.model.errors import BadInput, CouldNotMeasure, WireproofError, decode_json, writing
from wireproof.model.finding import Verdict
from wireproof.model.history import Comparison, Entry, Imported, NodeNow, SeriesLine
from wireproof.report.document import Document, Text
from wireproof.report.html.document import stylesheet
from wireproof.report.names import natural
from wireproof.report.reporter import LoggingReporter, Reporter
from wireproof.store.history import RESULTS, refuse_other_than_history
from wireproof.target.resolve import read_fabric
from wireproof.version import version

MOST_SERIES = 200
"""Limit on the series of one log that its page shows."""


def run_page(folder: Path) -> bytes:
    """Return the report of a result, judged by the rules of this version."""
    from wireproof.measure.export import page_of
    from wireproof.measure.report import report

    (again,) = report([folder], LoggingReporter(), pages=False)
    return page_of(again.sections, again.title, home="index.html").encode()


def log_page(root: Path, entry: Entry, imported: Imported) -> bytes:
    """Return the page of an imported log, judged by the rules of this version."""
    from wireproof.archive.history_document import log_document
    from wireproof.archive.logs import judged_again

    judged = judged_again(root, entry, imported)
    more = len(judged.series) - MOST_SERIES
    shown = msgspec.structs.replace(judged, series=judged.series[:MOST_SERIES])
    document = log_document(entry, shown)
    if more > 0:
        rest = Text(f"and {more} more: `wireproof history show` shows them all", "note")
        document = msgspec.structs.replace(document, parts=(*document.parts, rest))
    return framed(document, str(root)).encode()


def comparison(a: Path, b: Path) -> bytes:
    """Return the comparison of two results as MessagePack."""
    from wireproof.archive.compare import compare

    return msgspec.msgpack.encode(compare(a, b, LoggingReporter()))


FOLDER = "pages"
"""Default folder of the pages inside the history."""
STATE = "wireproof-pages.json"
RUNS = 50
_SECONDS = 60.0
_LARGEST = 64 << 20
_HEADLINES = (("pingpong", 8), ("stream", 1 << 20))
"""The numbers of a set of hosts that are drawn first."""
_MOST_DRAWN = 8
_VERDICTS = ("fail", "inconclusive", "never", "pass")
_PER_NODE = 25


def write_pages(
    root: Path,
    reporter: Reporter,
    *,
    folder: Path | None = None,
    topology: Path | None = None,
    runs: int = RUNS,
) -> tuple[Path, int, int]:
    """Write the pages that have changed, and remove those that are obsolete; return the first page
    and the numbers of pages that were written and kept.

    ``folder`` None: the folder ``pages`` of the history ``root``. ``topology``: a description of
    the fabric that replaces those of the results. ``runs``: number of newest results that get a
    report; existing reports stay. Raises ``BadInput`` if ``root`` is not a history, the folder
    contains other files, or the topology cannot be read, and ``CouldNotMeasure`` if a page cannot
    be written.
    """
    refuse_other_than_history(root)
    leaf = read_fabric(topology).leaves if topology is not None else None
    board = Board(root, leaf)
    place = folder or root / FOLDER
    for trouble in board.troubles:
        reporter.warn(trouble)
    with _opened(place) as opened:
        site = _Site(board, opened, reporter)
        with writing(place, CouldNotMeasure):
            site.write(runs)
    return place / CLUSTER, site.written, len(site.now) - site.written


@contextlib.contextmanager
def _opened(place: Path) -> Iterator[int]:
    """Yield the folder's descriptor.

    The folder is created if necessary; a folder with other files is refused.
    """
    if place.is_symlink():
        raise BadInput(f"{place} cannot be written to: it is a symbolic link.")
    with writing(place), held_folder(place, make=0o755) as held:
        folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=held)
    with open_until_end(folder):
        names = os.listdir(folder)
        if names and STATE not in names:
            raise BadInput(
                f"{place} contains {names[0][:60]!r}, which is not a page of a history: give an"
                " empty folder."
            )
        yield folder


class _Site:
    def __init__(self, board: Board, folder: int, reporter: Reporter) -> None:
        self.board, self.folder, self.reporter = board, folder, reporter
        self.root = board.root
        self.before = self._state()
        self.now: dict[str, str] = {}
        self.written = 0
        mask = os.umask(0)
        os.umask(mask)
        self.mode = 0o644 & ~mask

    def _state(self) -> dict[str, str]:
        """Return the pages of the previous call, each with the key of its sources ("" for a page
        that is always rewritten); return no pages if the list is damaged, so that all pages are
        rewritten.
        """
        with contextlib.suppress(OSError, ValueError, KeyError, msgspec.MsgspecError):
            data = read_bounded(STATE, _LARGEST, follow=False, folder=self.folder)
            return decode_json(data, dict[str, dict[str, str]])["pages"]
        return {}

    def _keep_state(self, pages: dict[str, str]) -> None:
        replace_in(STATE, self.folder, msgspec.json.encode({"pages": pages}))

    def write(self, runs: int) -> None:
        """Write all pages. The list of pages is stored even if an error occurs during the block."""
        self._keep_state(self.before)
        try:
            self._runs(runs)
            self._nodes()
            self._sets()
            self._lists()
        finally:
            left = self.before.keys() - self.now.keys()
            whole = CLUSTER in self.now
            kept = {} if whole else {name: self.before[name] for name in left}
            self._keep_state(kept | self.now)
        for name in left:
            if name.endswith(".html") and "/" not in name:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=self.folder)

    def _put(self, name: str, key: Sequence[object], made: Callable[[], str]) -> None:
        """Write page ``name`` unless it exists and its sources are unchanged."""
        known = hashlib.sha256(repr((version(), key)).encode()).hexdigest()[:32]
        self.now[name] = known
        if self.before.get(name) == known and _is_there(name, self.folder):
            return
        self._write(name, made())

    def _write(self, name: str, text: str) -> None:
        replace_in(name, self.folder, text.encode(), self.mode)
        self.now.setdefault(name, "")
        self.written += 1

    def _folder_of(self, entry: Entry) -> Path:
        """Return the folder of an entry. The index allows only plain names. Raises ``BadInput``."""
        folder = Path(self.root) / RESULTS / entry.id
        if not folder.is_dir():
            raise BadInput(f"the history no longer contains the records of {entry.id}.")
        return folder

    def _runs(self, newest: int) -> None:
        """Write the reports of the newest results and of those that already had a report, and the
        comparison of each with its predecessor in its set.
        """
        last: dict[str, Entry] = {}
        first = len(self.board.entries) - newest
        for at, entry in enumerate(self.board.entries):
            before = last.get(entry.fingerprint)
            if entry.imported is None:
                last[entry.fingerprint] = entry
            name = file_of("run", entry.id)
            if at < first and name not in self.before:
                continue
            self._put(name, [entry.id, entry.verdict], partial(self._run, entry))
            if before is not None and entry.imported is None:
                self._compared(before, entry)

    def _run(self, entry: Entry) -> str:
        self.reporter.say(f"report of {entry.id}, measured {entry.measured}")
        try:
            if entry.imported is None:
                return apart(run_page, self._folder_of(entry), seconds=_SECONDS).decode()
            given = (Path(self.root), entry, entry.imported)
            return apart(log_page, *given, seconds=_SECONDS).decode()
        except WireproofError as error:
            return self._not_shown(entry, f"This result cannot be shown: {error}")

    def _not_shown(self, entry: Entry, why: str) -> str:
        return framed(Document(entry.id, why, (), "inconclusive"), self.root)

    def _compared(self, a: Entry, b: Entry) -> None:
        def made() -> str:
            try:
                first, second = self._folder_of(a), self._folder_of(b)
                data = apart(comparison, first, second, seconds=_SECONDS)
            except WireproofError as error:
                return self._not_shown(b, f"This comparison cannot be shown: {error}")
            compared = msgspec.msgpack.decode(data, type=Comparison)
            return framed(compared_document(a.id, b.id, compared, self.now), self.root)

        self._put(file_of("compare", b.id), [a.id, b.id], made)

    def _nodes(self) -> None:
        latest = self.board.latest(_PER_NODE)
        for group in self.board.groups():
            for node in group.nodes:
                results, total = latest(node.node)
                seen = [(entry.id, verdict) for entry, verdict in results]
                there = [file_of("run", name) in self.now for name, _ in seen]
                key = [node.state, node.proven, node.reason, node.group, total, seen, there]
                made = partial(self._node, node, results, total)
                self._put(file_of("node", node.node), key, made)

    def _node(self, node: NodeNow, results: list[tuple[Entry, Verdict]], total: int) -> str:
        return framed(node_document(node, results, total, self.now), self.root)

    def _sets(self) -> None:
        for newest, results in self.board.sets:
            name = file_of("set", newest.fingerprint)
            self._put(name, [newest.id, results], partial(self._set, newest))

    def _set(self, newest: Entry) -> str:
        series = self.board.series(newest.fingerprint)
        trends = [(line, self.board.trend(line)) for line in _drawn(series)]
        return framed(set_document(newest, series, trends, self.now), self.root, TRENDS)

    def _lists(self) -> None:
        """Write the lists on every call, because they show ages."""
        board, places = self.board, self.now
        groups = board.groups()
        nodes = sorted(
            (node for group in groups for node in group.nodes), key=lambda node: natural(node.node)
        )
        lists = [(NODES, "Nodes", nodes)]
        for verdict in _VERDICTS:
            named = (node for node in nodes if node.state == verdict)
            chosen = sorted(named, key=lambda node: node.proven)
            lists.append((file_of("nodes", verdict), f"Nodes: {verdict}", chosen))
        for number, group in enumerate(groups):
            lists.append((file_of("group", str(number)), f"Nodes: {group.name}", group.nodes))
        linked = partial(node_table, places=places)
        compared = partial(result_table, places=places, compared=True)
        newest, none = board.entries[::-1], "The history has no result."
        place = RESULT_PAGES
        for name, text in chain(
            *(
                list_pages(self.root, page, title, page, chosen, linked, "There is no such node.")
                for page, title, chosen in lists
            ),
            list_pages(self.root, place, "Results", place, newest, compared, none),
            list_pages(self.root, TRENDS, "Trends", TRENDS, board.sets, set_table, none),
        ):
            self._write(name, text)
        self._write(STYLE, stylesheet())
        written = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
        document = cluster_document(board, groups, places, written)
        self._write(CLUSTER, framed(document, self.root, CLUSTER))


def _is_there(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return True


def _drawn(series: Sequence[SeriesLine]) -> list[SeriesLine]:
    """Return the headlines, then the other series with at least two results."""
    several = [line for line in series if line.results > 1]
    return sorted(
        several, key=lambda line: (line.number.name, line.number.message_bytes) not in _HEADLINES
    )[:_MOST_DRAWN]
