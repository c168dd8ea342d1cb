"""A history in the form that its pages are made of: small.

Ten thousand results of a large cluster are more than 100 MB of text. What repeats (names of nodes,
conditions, who took part) is kept once, numbers are columns.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from wireproof.model.errors import BadInput
from wireproof.model.fabric import Fabric
from wireproof.model.finding import Verdict
from wireproof.model.history import Entry
from wireproof.store.history import INDEX, RESULTS, each_entry
from wireproof.store.result import read_fabrics

VERDICTS: tuple[Verdict, ...] = ("pass", "inconclusive", "fail")
Unit = Literal["ns", "bytes_per_s"]
MOST_TROUBLES = 20
MOST_FABRICS = 3
"""Results whose topologies are joined; the newest counts where they differ."""


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """Who took part in a result, as an index into the digest's ``members``, and the verdict on each
    (an index into ``VERDICTS``, uint8).
    """

    nodes: int
    verdicts: bytes


class Columns(msgspec.Struct, frozen=True, kw_only=True):
    """Every number of every result: the result's and the kind's index (uint32), how many of the
    run's results it stands for (uint32), and value, low, high (float64).
    """

    result: bytes
    kind: bytes
    results: bytes
    value: bytes
    low: bytes
    high: bytes


class Digest(msgspec.Struct, frozen=True, kw_only=True):
    """``entries``: oldest first, without what the other fields have: ``conditions`` (a list of
    those that occur, and which each entry has), ``shares`` likewise, ``columns`` with ``kinds``
    (name, size, window, unit). ``members``: indices of nodes (uint32) for shares. ``reasons``: of
    each entry, sentence to indices of nodes. ``leaf``: node to the switch above it.
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
    """Everything that can be read; what cannot is named in ``troubles``. ``topology``: node to
    switch, in place of what the results say.
    """
    troubles: list[str] = []
    making = _Making()
    if not (root / INDEX).is_dir():
        what = "is no history: it has no folder" if root.is_dir() else "is not there: no folder"
        troubles.append(
            f"{root} {what} {INDEX}. `wireproof check --history {root}` puts the first result in."
        )
    for entry in each_entry(root, troubles.append):
        making.add(entry)
    leaf = dict(topology) if topology is not None else _leaves(root, making, troubles)
    return making.made(root, troubles[:MOST_TROUBLES], len(troubles), leaf)


def _leaves(root: Path, making: _Making, troubles: list[str]) -> dict[str, str]:
    """Node to switch by the newest results that know a topology."""
    found: dict[str, str] = {}
    known = sorted((one for one in making.entries if one.fabric), key=_when, reverse=True)
    for entry in known[:MOST_FABRICS]:
        try:
            for fabric in read_fabrics(root / RESULTS / entry.id):
                found = leaves_of(fabric) | found
        except BadInput as error:
            troubles.append(str(error))
    return found


def leaves_of(fabric: Fabric) -> dict[str, str]:
    """Node to the switch of its first attachment."""
    return {one.node: one.switch for one in reversed(fabric.attachments)}


def _when(entry: Entry) -> tuple[str, str]:
    return entry.measured, entry.id


class _Making:
    """Entries in the order in which they come, until they are put in that of time."""

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
        for one in entry.numbers:
            kind = (one.name, one.message_bytes, one.window, one.unit)
            self.result.append(len(self.entries))
            self.of.append(self.kinds.setdefault(kind, len(self.kinds)))
            self.count.append(min(max(one.results, 0), 0xFFFFFFFF))
            self.value.append(one.value)
            self.low.append(one.low)
            self.high.append(one.high)
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
            conditions=[dict(one) for one in self.conditions],
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
        """In the order of time, too."""
        import numpy as np

        place = np.empty(len(order), dtype=np.uint32)
        place[order] = np.arange(len(order), dtype=np.uint32)
        result = place[np.frombuffer(self.result, dtype=np.uint32)]
        by_time = np.argsort(result, kind="stable")
        found: dict[str, Any] = {
            "result": result,
            "kind": np.frombuffer(self.of, dtype=np.uint32),
            "results": np.frombuffer(self.count, dtype=np.uint32),
            "value": np.frombuffer(self.value, dtype=np.float64),
            "low": np.frombuffer(self.low, dtype=np.float64),
            "high": np.frombuffer(self.high, dtype=np.float64),
        }
        return Columns(**{name: one[by_time].tobytes() for name, one in found.items()})
