"""Frames as text: one JSON object per line, and how a stream of them becomes a ``Run``. Pure.

The border is described in docs/reference/engine-interface.md. It lives in the vocabulary because
both the instrument (which listens) and the store (which reads old folders) must decode frames in
exactly the same way.
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
MAX_FRAMES_BYTES = 2 << 30
"""Largest frames.jsonl that is read: more does not fit into memory as a run; no check of 10,000
hosts has as much.
"""
"""Longest frame that is believed: 2000 batches of 500 pairs are 25 MB; more is a broken writer, not
a measurement.
"""

_DECODER = msgspec.json.Decoder(Frame)
_KEY_WITHIN = 24
T = TypeVar("T")


class BadFrame(CouldNotMeasure):
    """The engine wrote something that is not a frame of this interface version."""


class OtherInterface(BadFrame):
    """The engine's frames are of another interface version, ``schema``."""

    def __init__(self, schema: int) -> None:
        self.schema = schema
        super().__init__(
            f"the engine speaks interface version {schema}, this wireproof version {SCHEMA}:"
            " install engine and Python package of the same release."
        )


def decode_frame(line: bytes) -> Frame:
    """Decode one line. Unknown keys are tolerated, unknown frames and wrong types are not.

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
    """Cuts a byte stream into frames. Lines that are no frames (MPI libraries print on stdout too)
    become ``talk``.

    ``lines`` were completed so far, of which ``blank`` had no letter. ``torn`` is what followed the
    last newline: after a crash, the frame under way. It is never decoded.
    """

    def __init__(self, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._max = max_line_bytes
        self._tail = bytearray()
        self.talk: list[bytes] = []
        self.lines = self.blank = 0

    def feed(self, data: bytes) -> Iterator[tuple[bytes, Frame]]:
        """Yield (line without newline, frame) for each line that ``data`` completes.

        Raises ``BadFrame`` for an unreadable or an endless line; frames before it have been
        yielded.
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
        """The foreign lines since the last call."""
        talk, self.talk = self.talk, []
        return talk

    @property
    def torn(self) -> bytes:
        return bytes(self._tail)


def sealed_points(frames: Iterable[Frame]) -> set[int]:
    """Ids of the points that have a complete frame."""
    return {frame.id for frame in frames if isinstance(frame, PointRecord)}


def assemble(
    frames: Iterable[Frame],
    *,
    claim: Claim,
    provenance: Provenance,
    missing: Mapping[int, Missing] | None = None,
) -> Run:
    """Sort ``frames`` into a ``Run``. A repeated point id or host rank (a resumed run) keeps the
    last frame.
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
    """What makes a second frame of the same kind a replacement of the first."""
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
