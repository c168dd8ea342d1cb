"""The history as the pages see it: read again when its index has changed, and never twice at once.

To read 10,000 results takes some seconds. Nobody waits for these who can see the state of before.
"""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec

from wireproof.model.errors import WireproofError
from wireproof.store.history import IndexState, index_state
from wireproof.workflow.bug import sentence
from wireproof.workflow.serve import jobs
from wireproof.workflow.serve.apart import apart
from wireproof.workflow.serve.board import Board
from wireproof.workflow.serve.digest import Digest, empty

__all__ = ["ServedHistory"]

_SECONDS = 120.0
_PATIENCE_S = 0.5
"""A page waits so long for a newer state."""


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
        self._reading: threading.Thread | None = None

    @property
    def behind(self) -> bool:
        """Whether a newer state is being read."""
        return self._reading is not None

    def board(self) -> Board:
        """What the index holds now, or held before while that is read; what cannot be read is among
        the board's troubles.
        """
        state = index_state(self.root)
        with self._lock:
            known = self._board
            if known is not None and self._state == state:
                return known
            if self._reading is None:
                self._reading = threading.Thread(target=self._read, args=(state,), daemon=True)
                self._reading.start()
            reading = self._reading
        reading.join(None if known is None else _PATIENCE_S)
        with self._lock:
            return self._board or known or Board(empty(self.root, "It is being read: reload."))

    def _read(self, state: IndexState) -> None:
        try:
            board = Board(self._digest())
            board.overview()  # what takes long is found now
        except Exception as error:  # it would be read again and again, and nobody would know
            board = Board(empty(self.root, sentence(error, "the history was read")))
        with self._lock:
            # the state of before it was read: what came meanwhile is read the next time
            self._board, self._state, self._reading = board, state, None

    def _digest(self) -> Digest:
        """Where reading fails as a whole, what was read before stays, and the page says so."""
        try:
            data = apart(jobs.index, self.root, self._leaf, seconds=_SECONDS)
            return msgspec.msgpack.decode(data, type=Digest)
        except (WireproofError, msgspec.MsgspecError) as error:
            why = f"The history {self.root} could not be read: {error}"
            if self._board is None:
                return empty(self.root, why)
            known = self._board.digest
            return msgspec.structs.replace(
                known, troubles=[f"{why} What is shown is older."], troubled=1
            )
