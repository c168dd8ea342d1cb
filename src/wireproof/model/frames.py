"""Frames as text: one JSON object per line, and how a sequence of them becomes a ``Run``. Pure.

docs/reference/engine-interface.md describes the interface. The module is in ``model`` because two
packages must decode frames in exactly the same way: the instrument, which receives them, and the
store, which reads old folders.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

import msgspec

from wireproof.model.claim import Claim
from wireproof.model.errors import CouldNotMeasure
from wireproof.model.json_reader import refuse_large
from wireproof.model.record import (
    Close,
    EngineError,
    FactFrame,
    Floor,
    Frame,
    Host,
    Idle,
    Open,
    PointRecord,
    Total,
)
from wireproof.model.run import Missing, Provenance, Run
from wireproof.model.sound import unsound

SCHEMA = 1
MAX_LINE_BYTES = 64 << 20
"""Longest frame that is accepted. 2000 batches of 500 pairs take 25 MB; a longer line comes from a
broken writer.
"""
MAX_FRAMES_BYTES = 2 << 30
"""Largest frames.jsonl that is read. A larger one does not fit into memory as a run, and no check
of 10,000 hosts produces as much.
"""

_DECODER = msgspec.json.Decoder(Frame)
_KEY_WITHIN = 24
T = TypeVar("T")


class BadFrame(CouldNotMeasure):
    """The engine wrote something that is not a frame of this interface version."""


class OtherInterface(BadFrame):
    """The engine's frames have another interface version, ``schema``."""

    def __init__(self, schema: int) -> None:
        self.schema = schema
        super().__init__(
            f"the engine speaks interface version {schema}, this wireproof version {SCHEMA}:"
            " install engine and Python package of the same release."
        )


def decode_frame(line: bytes) -> Frame:
    """Decode one line. Unknown keys are ignored; unknown frames and wrong types are refused.

    Raises ``BadFrame`` with the decoder's reason.
    """
    try:
        refuse_large(line)
        frame: Frame = _DECODER.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadFrame(
            f"the engine wrote a frame that cannot be read ({error}): {line[:80]!r}"
        ) from error
    if why := unsound(frame):
        raise BadFrame(f"the engine wrote a frame with a number that cannot be: {why}.")
    if isinstance(frame, Open) and frame.schema != SCHEMA:
        raise OtherInterface(frame.schema)
    return frame


def _looks_like_frame(line: bytes) -> bool:
    head = line.lstrip()[:_KEY_WITHIN]
    return head.startswith(b"{") and b'"frame"' in head


class FrameReader:
    """Splits a byte stream into frames. Other lines, such as an MPI library's output on stdout, go
    to ``talk``.

    ``lines``: number of complete lines so far, of which ``blank`` were empty. ``torn``: what
    followed the last newline: after a crash, the unfinished frame. It is never decoded.
    """

    def __init__(self, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._max = max_line_bytes
        self._tail = bytearray()
        self.talk: list[bytes] = []
        self.lines = self.blank = 0

    def feed(self, data: bytes) -> Iterator[tuple[bytes, Frame]]:
        """Yield (line without newline, frame) for each line that ``data`` completes.

        Raises ``BadFrame`` for an unreadable or too long line, after the frames before it.
        """
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._tail += data[start:end]
            line, self._tail = bytes(self._tail), bytearray()
            start = end + 1
            self.lines += 1
            self._bound(len(line))
            if _looks_like_frame(line):
                yield line, decode_frame(line)
            elif line.strip():
                self.talk.append(line)
            else:
                self.blank += 1
        self._tail += data[start:]
        self._bound(len(self._tail))

    def _bound(self, size: int) -> None:
        if size > self._max:
            raise BadFrame(f"the engine wrote a line of more than {self._max} bytes: not a frame.")

    def take_talk(self) -> list[bytes]:
        """Return the foreign lines since the last call."""
        talk, self.talk = self.talk, []
        return talk

    @property
    def torn(self) -> bytes:
        return bytes(self._tail)


def sealed_points(frames: Iterable[Frame]) -> set[int]:
    """Return the ids of the points that have a complete frame."""
    return {frame.id for frame in frames if isinstance(frame, PointRecord)}


def assemble(
    frames: Iterable[Frame],
    *,
    claim: Claim,
    provenance: Provenance,
    missing: Mapping[int, Missing] | None = None,
) -> Run:
    """Combine ``frames`` into a ``Run``.

    If a point id or host rank repeats, as in a resumed run, the last frame counts.
    """
    kinds: dict[type, dict[object, Frame]] = {}
    errors: list[EngineError] = []
    for frame in frames:
        if isinstance(frame, EngineError):
            errors.append(frame)
        else:
            kinds.setdefault(type(frame), {})[_identity(frame)] = frame
    opened, close = kinds.get(Open, {}).get(None), kinds.get(Close, {}).get(None)
    return Run(
        claim=claim,
        provenance=provenance,
        open=opened if isinstance(opened, Open) else None,
        hosts=sorted(_of(Host, kinds), key=lambda host: host.rank),
        points=_of(PointRecord, kinds),
        idle=sorted(_of(Idle, kinds), key=lambda idle: idle.rank),
        totals=sorted(_of(Total, kinds), key=lambda total: total.rank),
        floors=_of(Floor, kinds),
        facts=_of(FactFrame, kinds),
        errors=errors,
        close=close if isinstance(close, Close) else None,
        missing={
            point: reason
            for point, reason in (missing or {}).items()
            if point not in kinds.get(PointRecord, {})
        },
    )


def _identity(frame: Frame) -> object:
    """Return what a later frame of the same kind must have in common to replace the first."""
    match frame:
        case Host() | Idle() | Total():
            return frame.rank
        case PointRecord():
            return frame.id
        case Floor():
            return frame.pattern, frame.form
        case FactFrame():
            return frame.rank, frame.kind, frame.path, tuple(frame.argv)
        case _:
            return None


def _of(kind: type[T], kinds: Mapping[type, Mapping[object, Frame]]) -> list[T]:
    return [frame for frame in kinds.get(kind, {}).values() if isinstance(frame, kind)]
