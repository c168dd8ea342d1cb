"""The history as the pages see it: read again when its index has changed, and never in two places
at once.
"""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec

from wireproof.model.errors import WireproofError
from wireproof.store.history import IndexState, index_state
from wireproof.workflow.serve import jobs
from wireproof.workflow.serve.apart import apart
from wireproof.workflow.serve.board import Board
from wireproof.workflow.serve.digest import Digest, empty

__all__ = ["ServedHistory"]

_SECONDS = 120.0


class ServedHistory:
    """``topology``: a description of the fabric in place of those that the results have. Raises
    ``BadInput`` when it cannot be read.
    """

    def __init__(self, root: Path, topology: Path | None = None) -> None:
        self.root = root
        self._leaf: dict[str, str] | None = None
        if topology is not None:
            data = apart(jobs.topology, topology, seconds=_SECONDS)
            self._leaf = msgspec.msgpack.decode(data, type=dict[str, str])
        self._lock = threading.Lock()
        self._board: Board | None = None
        self._state: IndexState | None = None

    def board(self) -> Board:
        """What the index holds now; what cannot be read is among the board's troubles."""
        with self._lock:
            state = index_state(self.root)
            if self._board is None or self._state != state or not state:
                self._board = Board(self._read(state))
                # of before it was read: what came meanwhile is read the next time
                self._state = state
            return self._board

    def _read(self, state: IndexState) -> Digest:
        """Where reading fails as a whole, what was read before stays, and the page says so."""
        try:
            data = apart(jobs.index, self.root, self._leaf, seconds=_SECONDS)
            return msgspec.msgpack.decode(data, type=Digest)
        except WireproofError as error:
            why = f"The history {self.root} could not be read: {error}"
            if self._board is None:
                return empty(self.root, why)
            known = self._board.digest
            return msgspec.structs.replace(
                known, troubles=[f"{why} What is shown is older."], troubled=1
            )
