# pure
"""Frames as text: one JSON object per line, and how a sequence of them becomes a ``Run``. Pure.

docs/reference/engine-interface.md describes the interface. The module is in ``model`` because two
packages must decode frames in exactly the same way: the instrument, which receives them, and the
store, which reads old folders.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from wireproof.model.claim import Claim
from wireproof.model.errors import (
    LARGEST,
    LARGEST_COUNT,
    LARGEST_MESSAGE,
    CouldNotMeasure,
    refuse_large,
)
from wireproof.model.record import (
    Close,
    EngineError,
    Estimate,
    FactFrame,
    Floor,
    Frame,
    Host,
    Idle,
    Open,
    PointRecord,
    QuietWindows,
    Total,
)
from wireproof.model.run import Missing, Provenance, Run

# --- Check whether the numbers in a frame or a run.json are possible. Pure.

LARGEST_COUNTER = (1 << 64) - 1
MOST_RANKS = 1 << 20
LEAST_NS = 1e-6
"""A time is 0 (not measured) or at least this: no clock has a finer resolution, and dividing by
less gives no usable number.
"""
_SIGNED = {
    "exit_status",
    "numa_node",
    "nic_numa_node",
    "speed_mbps",
    "core",
    "pinned",
    "origin_core",
    "target_core",
}
_RANKS = {"rank", "origin", "target", "members", "shared_with", "ranks", "pairs", "load", "index"}
_AT_LEAST_ONE = {"partitions", "threads", "rails"}
MOST_RAILS = 1024
"""Limit for a single flow; each number of rails has separate limits."""
_ABOVE_ZERO = {"rate_bits_per_s", "rates"}
"""A line rate is above 0, because transfer times are divided by it."""
_NOT_ZERO = _AT_LEAST_ONE | _ABOVE_ZERO
_TEXT = {bool, str}
_MAY_BE_NEGATIVE = {"autocorrelation", "share"}


def unsound(value: object) -> str:
    """Return what is wrong, such as ``pairs[0].batch_ns[3] is 5e-324``; "" if nothing is."""
    return _unsound(value, "").removeprefix(".")


# Each function returns the rest of the path and the value. The path is built while returning,
# because a check of ten thousand nodes has millions of numbers and nearly all are valid.
def _unsound(value: object, name: str) -> str:
    if value is None or type(value) in _TEXT or (_common(value) and name != "rails"):
        return ""
    match value:
        case int():
            return _int(value, name)
        case float():
            return _float(value, name)
        case list() | tuple():
            return _sequence(value, name)
        case dict():
            return _mapping(value, name)
        case msgspec.Struct():
            return _struct(value)
    return ""


def _common(value: object) -> bool:
    """Return True if the number is valid in every field except a number of rails."""
    return (type(value) is int and 1 <= value <= MOST_RANKS) or (
        type(value) is float and 1.0 <= value <= LARGEST
    )


def _int(value: int, name: str) -> str:
    least = -(1 << 31) if name in _SIGNED else 0
    most = (
        MOST_RANKS
        if name in _RANKS
        else MOST_RAILS
        if name == "rails"
        else LARGEST_MESSAGE
        if name == "message_bytes"
        else LARGEST_COUNT
    )
    least = 1 if name in _AT_LEAST_ONE else least
    return "" if least <= value <= most else f" is {_shown(value)}"


def _float(value: float, name: str) -> str:
    size = abs(value)
    if not (math.isfinite(value) and size <= LARGEST) or (
        value < 0 and name not in _MAY_BE_NEGATIVE
    ):
        return f" is {value!r}"
    if name in _ABOVE_ZERO and value < 1:
        return f" is {value!r}"
    return f" is {value!r}" if name.endswith("_ns") and 0 < size < LEAST_NS else ""


def _sequence(value: Sequence[Any], name: str) -> str:
    if name == "rates" and len(value) > MOST_RAILS:
        return f" has {len(value)} rates"
    if value and all(type(one) is float for one in value):
        if name == "batch_ns" and not max(value):
            return ": all took 0 s"
        # Raw batches are thousands of numbers, so only the extremes are checked.
        extremes = (min(value), max(value), min((one for one in value if one > 0), default=0.0))
        return next((why for one in extremes if (why := _float(one, name))), "")
    for index, one in enumerate(value):
        if why := _unsound(one, name):
            return f"[{index}]{why}"
    return ""


def _mapping(value: dict[Any, Any], name: str) -> str:
    if name in ("counters", "standing"):
        return ""  # checked together with the frame that contains them
    for key, one in value.items():
        if why := _unsound(key, name):
            return why
        if why := _unsound(one, name):
            return f"[{key!r:.60}]{why}"
    return ""


def _fields(value: msgspec.Struct) -> str:
    for name in value.__struct_fields__:
        one = getattr(value, name)
        # Nearly all are handled without a call: a 0, an empty or no value, a text, a common number.
        kind = type(one)
        if kind is str or (not one and name not in _NOT_ZERO):
            continue
        if (kind is float and 1.0 <= one <= LARGEST) or (
            kind is int and 1 <= one <= MOST_RANKS and name != "rails"
        ):
            continue
        if why := _unsound(one, name):
            return f".{name}{why}"
    return ""


def _struct(value: msgspec.Struct) -> str:
    if why := _fields(value):
        return why
    if isinstance(value, Idle) and (why := _counters(value.standing or {}, 0)):
        return f".standing{why}"
    counters = getattr(value, "counters", None)
    if isinstance(counters, dict):
        why = _counters(counters, -LARGEST_COUNTER if isinstance(value, Idle | QuietWindows) else 0)
        return why and f".counters{why}"
    if isinstance(value, Estimate) and not value.low_ns <= value.median_ns <= value.high_ns:
        return (
            f" has a median of {value.median_ns!r} outside of {value.low_ns!r} to {value.high_ns!r}"
        )
    return ""


def _counters(counters: dict[str, Any], least: int) -> str:
    for name, values in counters.items():
        for one in values if isinstance(values, tuple) else (values,):
            if not least <= one <= LARGEST_COUNTER:
                return f"[{name!r:.60}] is {_shown(one)}"
    return ""


def _shown(value: int) -> str:
    return str(value) if abs(value) < 1 << 70 else f"a number of {value.bit_length()} bits"


SCHEMA = 1
MAX_LINE_BYTES = 64 << 20
"""Length limit of a frame. 2000 batches of 500 pairs take 25 MB, so a longer line comes from a
broken writer.
"""
MAX_FRAMES_BYTES = 2 << 30
"""Size limit of ``frames.jsonl``. A larger file does not fit into memory as a run, and no check of
10,000 hosts produces that much.
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
            f"the engine uses interface version {schema}, but this wireproof uses version {SCHEMA}:"
            " install the engine and the Python package of the same release."
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
        raise BadFrame(f"the engine wrote a frame with an impossible number: {why}.")
    if isinstance(frame, Open) and frame.schema != SCHEMA:
        raise OtherInterface(frame.schema)
    return frame


def _looks_like_frame(line: bytes) -> bool:
    head = line.lstrip()[:_KEY_WITHIN]
    return head.startswith(b"{") and b'"frame"' in head


class FrameReader:
    """Splits a byte stream into frames. Other lines, such as an MPI library's output on stdout, go
    to ``talk``.

    ``lines``: number of complete lines so far, of which ``blank`` were empty. ``torn``: the bytes
    after the last newline: after a crash, the unfinished frame. It is never decoded.
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
            raise BadFrame(
                f"the engine wrote a line of more than {self._max} bytes, which is not a frame."
            )

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
    """Return the key that a later frame of the same kind must share to replace the first."""
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
