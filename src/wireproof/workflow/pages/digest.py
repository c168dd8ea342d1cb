"""A compact form of a history, from which its pages are made.

Ten thousand results of a large cluster are more than 100 MB of text. Repeated data (names of nodes,
conditions, participants) is stored once, and numbers are columns.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from array import array
from collections.abc import Callable, Iterator, Mapping
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal

import msgspec

from wireproof.model.errors import BadInput, CouldNotMeasure, WireproofError
from wireproof.model.finding import Verdict
from wireproof.model.history import Entry
from wireproof.model.located import Fabric
from wireproof.model.site import CatalogueFile, site_studies, site_texts, use_site
from wireproof.store.history import INDEX, RESULTS, each_entry
from wireproof.store.result import read_fabrics
from wireproof.workflow.reporter import sentence

VERDICTS: tuple[Verdict, ...] = ("pass", "inconclusive", "fail")
Unit = Literal["ns", "bytes_per_s"]
MOST_TROUBLES = 20
MOST_FABRICS = 3
"""Maximum number of results whose topologies are joined; the newest wins if they differ."""


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """The participants of a result, as an index into the digest's ``members``, and the verdict on
    each (an index into ``VERDICTS``, uint8).
    """

    nodes: int
    verdicts: bytes


class Columns(msgspec.Struct, frozen=True, kw_only=True):
    """Every number of every result: the result's and the kind's index (uint32), the number of the
    run's results behind it (uint32), and value, low, high (float64).
    """

    result: bytes
    kind: bytes
    results: bytes
    value: bytes
    low: bytes
    high: bytes


class Digest(msgspec.Struct, frozen=True, kw_only=True):
    """``entries``: oldest first, without the data in the other fields: ``conditions`` (each
    distinct set once; ``condition_of`` gives the set of each entry), ``shares`` likewise, and
    ``columns`` with ``kinds`` (name, size, window, unit). ``members``: indices of nodes (uint32)
    for shares. ``reasons``: for each entry, sentence to indices of nodes. ``leaf``: node to the
    switch above it.
    """

    root: str
    entries: list[Entry]
    conditions: list[dict[str, str]]
    condition_of: list[int]
    members: list[bytes]
    shares: list[Share]
    share_of: list[int]
    nodes: list[str]
    reasons: list[dict[str, list[int]]]
    kinds: list[tuple[str, int, int, Unit]]
    columns: Columns
    leaf: dict[str, str]
    troubles: list[str]
    troubled: int


def digest_of(root: Path, topology: Mapping[str, str] | None = None) -> Digest:
    """Return everything that can be read; ``troubles`` names what cannot be read.

    ``topology``: node to switch, instead of the topology in the results.
    """
    troubles: list[str] = []
    making = _Making()
    if not (root / INDEX).is_dir():
        what = (
            "is not a history: it has no folder" if root.is_dir() else "does not exist: no folder"
        )
        troubles.append(
            f"{root} {what} {INDEX}. `wireproof check --history {root}` adds the first result."
        )
    for entry in each_entry(root, troubles.append):
        making.add(entry)
    leaf = dict(topology) if topology is not None else _leaves(root, making, troubles)
    return making.made(root, troubles[:MOST_TROUBLES], len(troubles), leaf)


def _leaves(root: Path, making: _Making, troubles: list[str]) -> dict[str, str]:
    """Return the switch of each node, from the newest results with a topology."""
    switch_of: dict[str, str] = {}
    known = sorted((entry for entry in making.entries if entry.fabric), key=_when, reverse=True)
    for entry in known[:MOST_FABRICS]:
        try:
            for fabric in read_fabrics(root / RESULTS / entry.id):
                switch_of = leaves_of(fabric) | switch_of
        except BadInput as error:
            troubles.append(str(error))
    return switch_of


def leaves_of(fabric: Fabric) -> dict[str, str]:
    """Return the switch of each node's first attachment."""
    return {link.node: link.switch for link in reversed(fabric.attachments)}


def _when(entry: Entry) -> tuple[str, str]:
    return entry.measured, entry.id


class _Making:
    """Collects entries in any order and then sorts them by time."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.conditions: dict[tuple[tuple[str, str], ...], int] = {}
        self.condition_of: list[int] = []
        self.members: dict[bytes, int] = {}
        self.shares: dict[tuple[int, bytes], int] = {}
        self.share_of: list[int] = []
        self.nodes: dict[str, int] = {}
        self.reasons: list[dict[str, list[int]]] = []
        self.kinds: dict[tuple[str, int, int, Unit], int] = {}
        self.result, self.of, self.count = array("I"), array("I"), array("I")
        self.value, self.low, self.high = array("d"), array("d"), array("d")

    def add(self, entry: Entry) -> None:
        key = tuple(entry.conditions.items())
        self.condition_of.append(self.conditions.setdefault(key, len(self.conditions)))
        who = array("I", (self._node(name) for name in entry.nodes))
        how = bytes(map(VERDICTS.index, entry.nodes.values()))
        share = self.members.setdefault(who.tobytes(), len(self.members)), how
        self.share_of.append(self.shares.setdefault(share, len(self.shares)))
        self.reasons.append(
            {why: [self._node(name) for name in names] for why, names in entry.reasons.items()}
        )
        for number in entry.numbers:
            kind = (number.name, number.message_bytes, number.window, number.unit)
            self.result.append(len(self.entries))
            self.of.append(self.kinds.setdefault(kind, len(self.kinds)))
            self.count.append(min(max(number.results, 0), 0xFFFFFFFF))
            self.value.append(number.value)
            self.low.append(number.low)
            self.high.append(number.high)
        log = entry.imported and msgspec.structs.replace(entry.imported, numbers=[])
        bare = msgspec.structs.replace(
            entry, conditions={}, nodes={}, numbers=[], reasons={}, imported=log
        )
        self.entries.append(bare)

    def _node(self, name: str) -> int:
        return self.nodes.setdefault(name, len(self.nodes))

    def made(
        self,
        root: Path,
        troubles: list[str],
        troubled: int,
        leaf: dict[str, str] | None = None,
    ) -> Digest:
        order = sorted(range(len(self.entries)), key=lambda at: _when(self.entries[at]))
        return Digest(
            root=str(root),
            entries=[self.entries[at] for at in order],
            conditions=[dict(items) for items in self.conditions],
            condition_of=[self.condition_of[at] for at in order],
            members=list(self.members),
            shares=[Share(nodes=who, verdicts=how) for who, how in self.shares],
            share_of=[self.share_of[at] for at in order],
            nodes=list(self.nodes),
            reasons=[self.reasons[at] for at in order],
            kinds=list(self.kinds),
            columns=self._columns(order),
            leaf=leaf or {},
            troubles=troubles,
            troubled=troubled,
        )

    def _columns(self, order: list[int]) -> Columns:
        """Return the columns, sorted by time."""
        import numpy as np

        place = np.empty(len(order), dtype=np.uint32)
        place[order] = np.arange(len(order), dtype=np.uint32)
        result = place[np.frombuffer(self.result, dtype=np.uint32)]
        by_time = np.argsort(result, kind="stable")
        columns: dict[str, Any] = {
            "result": result,
            "kind": np.frombuffer(self.of, dtype=np.uint32),
            "results": np.frombuffer(self.count, dtype=np.uint32),
            "value": np.frombuffer(self.value, dtype=np.float64),
            "low": np.frombuffer(self.low, dtype=np.float64),
            "high": np.frombuffer(self.high, dtype=np.float64),
        }
        return Columns(**{name: column[by_time].tobytes() for name, column in columns.items()})


# --- Work in a separate process: it has a deadline, its memory is released with it, and a library
# that crashes on a damaged file does no other harm.

_DONE, _FAILED, _BAD = b"+", b"-", b"!"


def apart(job: Callable[..., bytes], *given: object, seconds: float) -> bytes:
    """Return what ``job``, a module-level function, returns for ``given``.

    Raises ``CouldNotMeasure`` if it fails, crashes, or has not finished after ``seconds``, and
    ``BadInput`` if ``job`` does.
    """
    context = get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(
        target=_run, args=(theirs, job, given, (site_texts(), site_studies())), daemon=True
    )
    try:
        with _without_interrupt(), _without_current_folder():
            process.start()
        theirs.close()
        return _answer(ours, time.monotonic() + seconds, seconds)
    finally:
        process.kill()
        process.join()
        ours.close()


def _answer(pipe: Connection, until: float, seconds: float) -> bytes:
    try:
        if not pipe.poll(max(0.0, until - time.monotonic())):
            raise CouldNotMeasure(f"it did not finish within {seconds:.0f} s and was stopped.")
        kind, answer = pipe.recv_bytes(), pipe.recv_bytes()
    except (EOFError, OSError) as error:
        raise CouldNotMeasure("its process was killed, perhaps because memory ran out.") from error
    if kind == _BAD:
        raise BadInput(answer.decode())
    if kind == _FAILED:
        raise CouldNotMeasure(answer.decode())
    return answer


def _run(
    pipe: Connection,
    job: Callable[..., bytes],
    given: tuple[object, ...],
    site: tuple[tuple[CatalogueFile, ...], tuple[CatalogueFile, ...]],
) -> None:
    use_site(*site)
    # DuckDB takes this process for an interactive one, and would draw a progress bar into our data.
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)
    try:
        kind, answer = _DONE, job(*given)
    except BadInput as error:
        kind, answer = _BAD, str(error).encode("utf-8", "replace")
    except WireproofError as error:
        kind, answer = _FAILED, str(error).encode("utf-8", "replace")
    except Exception as error:
        kind, answer = _FAILED, sentence(error).encode("utf-8", "replace")
    with contextlib.suppress(OSError):  # the parent no longer waits
        pipe.send_bytes(kind)
        pipe.send_bytes(answer)


@contextlib.contextmanager
def _without_current_folder() -> Iterator[None]:
    """Keep a new Python from importing modules of the current folder in place of its library
    (``-c`` puts that folder first).
    """
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


@contextlib.contextmanager
def _without_interrupt() -> Iterator[None]:
    """Keep a new process from receiving the Ctrl-C that is meant for us."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
