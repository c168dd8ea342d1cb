"""Facts of many hosts in a compressed file: raw texts, each stored once.

The texts are not judged, so that a newer catalogue can judge a snapshot again. The format is
MessagePack in gzip.
"""

import contextlib
import gzip
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, overload

import msgspec

from wireproof.files.held import draft_name, held_folder, hold, sweep, within
from wireproof.files.hostile import create, open_regular
from wireproof.model.errors import BadInput, made_by_newer, reading, writing
from wireproof.model.record import FactFrame
from wireproof.model.secrets import masked

SETTINGS = "settings.snapshot"
"""Snapshot of the hosts' settings in a result's folder. The folder is untrusted, so links are not
followed."""
_VERSION = 2
"""Version 2 added the exit status of commands and whether a text was cut; version 1 is
still read.
"""
_OWN_LISTS = ("interfaces", "pci", "bios", "bios/pending", "bios/registry")
"""Lists that wireproof created, already without secrets."""
_MAGIC = b"\x1f\x8b"
_LARGEST = 1 << 30
"""Maximum number of bytes that a snapshot may unpack to."""
_BLOCK = 1 << 20
_MOST = {"texts": 2_000_000, "places": 100_000, "hosts": 100_000}
_MOST_FACTS = 100_000
"""Maximum per host. A single byte can encode a text or a fact, each of which takes a hundred bytes
in memory. Ten thousand hosts have 20,000 texts and 1,200 places.
"""
_MOST_FRAMES = 500_000
"""Maximum number of distinct facts of all hosts together; further hosts get no facts, because they
differ too much."""


_Kind = Literal["file", "glob", "command"]


class _Fact(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Indices of the place, the text and the reason; the status; the command's exit status, and
    whether the text was cut.
    """

    place: int
    status: Literal["ok", "missing", "denied", "timeout", "failed"]
    text: int
    reason: int
    exit_status: int | None = None
    truncated: bool = False


class _Snapshot(msgspec.Struct, frozen=True, tag_field="schema", tag="wireproof.snapshot"):
    """``places``: kind, path and argument list of each request. ``hosts``: the facts of each, still
    packed, because all of them at once would not fit into memory.
    """

    version: int
    texts: list[str]
    places: list[tuple[_Kind, str, tuple[str, ...]]]
    hosts: dict[str, msgspec.Raw]


def write_snapshot(path: Path, facts: Mapping[str, Sequence[FactFrame]]) -> None:
    """Write the facts of each host to ``path`` atomically. Raise ``BadInput`` if it cannot be
    written or already exists.
    """
    texts: dict[str, int] = {}
    places: dict[tuple[_Kind, str, tuple[str, ...]], int] = {}
    hosts = {
        host: msgspec.Raw(
            msgspec.msgpack.encode(
                [
                    _Fact(
                        places.setdefault((frame.kind, frame.path, tuple(frame.argv)), len(places)),
                        frame.status,
                        texts.setdefault(frame.text, len(texts)),
                        texts.setdefault(frame.reason, len(texts)),
                        frame.exit_status,
                        frame.truncated,
                    )
                    for frame in frames
                ]
            )
        )
        for host, frames in facts.items()
    }
    document = _Snapshot(_VERSION, list(texts), list(places), hosts)
    data = gzip.compress(msgspec.msgpack.encode(document), mtime=0)
    if not path.name:
        raise BadInput(f"{path} cannot be written: give the name of a file.")
    with writing(path):
        _write_new(path, data)


def _write_new(path: Path, data: bytes) -> None:
    fresh = path.with_name(draft_name(path.name))
    with held_folder(path.parent) as folder:
        draft = within(folder, fresh)
        if folder is not None:
            sweep(folder)
        try:
            with os.fdopen(create(draft, folder), "wb") as file:
                hold(file.fileno())
                file.write(data)
            # fails if the file exists
            os.link(draft, within(folder, path), src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(draft, dir_fd=folder)


def is_snapshot(path: Path) -> bool:
    """Return whether the file looks like a snapshot. Raise ``BadInput`` if it cannot be read."""
    if not path.is_file():
        return False
    with reading(path), open_regular(path, follow=path.name != SETTINGS) as file:
        return (
            file.read(2) == _MAGIC
            and path.suffix not in (".tgz", ".tar")
            and (not path.name.endswith(".tar.gz"))
        )


_SHORT_MAP = 8
"""First four bits of a snapshot in MessagePack."""


def read_snapshot(path: Path) -> dict[str, Sequence[FactFrame]]:
    """Return facts by host, no facts for the hosts after too many distinct facts. Raise
    ``BadInput`` if the file is not a snapshot, is damaged, or unpacks to more than 1 GiB.
    """
    try:
        opened = open_regular(path, follow=path.name != SETTINGS)
        with opened as file, gzip.GzipFile(fileobj=file) as packed:
            data = bytearray()
            while len(data) <= _LARGEST and (piece := packed.read(_BLOCK)):
                data += piece
                if data[0] >> 4 != _SHORT_MAP:
                    break  # zeros and texts are rejected before they take memory
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(f"{path} cannot be read as a snapshot: {error}.") from error
    if len(data) > _LARGEST:
        raise BadInput(
            f"{path} unpacks to more than {_LARGEST >> 20} MiB, so it is not a snapshot."
        )
    try:
        _check_head(data, path)
        return _hosts(msgspec.msgpack.decode(data, type=_Snapshot))
    except (msgspec.DecodeError, UnicodeDecodeError, IndexError, RecursionError) as error:
        raise BadInput(f"{path} is not a snapshot of wireproof: {error}.") from error


class _Like(Sequence[FactFrame]):
    """Frames of a host, of which only a few differ from another host's: ten thousand complete lists
    take 100 MB.
    """

    __slots__ = ("_model", "_own")

    def __init__(self, model: Sequence[FactFrame], differing: dict[int, FactFrame]) -> None:
        self._model, self._own = model, differing

    def __len__(self) -> int:
        return len(self._model)

    def __iter__(self) -> Iterator[FactFrame]:
        return iter(self[:])

    @overload
    def __getitem__(self, at: int) -> FactFrame: ...
    @overload
    def __getitem__(self, at: slice) -> list[FactFrame]: ...
    def __getitem__(self, at: int | slice) -> FactFrame | list[FactFrame]:
        frames = list(self._model)
        for number, frame in self._own.items():
            frames[number] = frame
        return frames[at]


_ENTRY = 8
"""Number of list entries that take as much memory as an entry of a table of differences."""


def _hosts(snapshot: _Snapshot) -> dict[str, Sequence[FactFrame]]:
    """Return the frames of each host; similar hosts share them. Secrets that an older version left
    in are masked, except in wireproof's own lists.
    """
    frames: dict[_Fact, FactFrame] = {}
    masks: dict[int, str] = {}
    decoder = msgspec.msgpack.Decoder(list[_Fact])
    hosts: dict[str, Sequence[FactFrame]] = {}
    usual: list[_Fact] = []
    model: Sequence[FactFrame] = ()
    for host, packed in snapshot.hosts.items():
        if _count(packed) > _MOST_FACTS:
            raise IndexError(f"{host[:60]!r} has more facts than any host")
        facts = decoder.decode(packed) if len(frames) < _MOST_FRAMES else []
        pairs = enumerate(zip(facts, usual, strict=True) if len(facts) == len(usual) else ())
        own = {number: fact for number, (fact, other) in pairs if fact != other}
        like = len(facts) == len(usual) and len(own) <= len(facts) // _ENTRY
        for fact in own.values() if like else facts:
            if fact not in frames:
                frames[fact] = _frame(fact, snapshot, masks)
        if like:
            hosts[host] = _Like(model, {number: frames[fact] for number, fact in own.items()})
        else:
            hosts[host] = model = [frames[fact] for fact in facts]
            usual = facts
    return hosts


class _SnapshotHead(msgspec.Struct, frozen=True, tag_field="schema", tag="wireproof.snapshot"):
    version: int
    texts: msgspec.Raw = msgspec.Raw()
    places: msgspec.Raw = msgspec.Raw()
    hosts: msgspec.Raw = msgspec.Raw()


def _check_head(data: bytearray, path: Path) -> None:
    head = msgspec.msgpack.decode(data, type=_SnapshotHead)
    if head.version > _VERSION:
        raise made_by_newer(path, head.version, _VERSION)
    if head.version < 1:
        raise BadInput(f"{path} is damaged: snapshots of version {head.version} do not exist.")
    for name, most in _MOST.items():
        if _count(getattr(head, name)) > most:
            raise BadInput(f"{path} has more than {most} {name}, which no snapshot has.")


def _count(packed: msgspec.Raw) -> int:
    """Return the number of members that a packed list or map declares; 0 for other values."""
    head = bytes(memoryview(packed)[:5])
    if head[:1] in (b"\xdc", b"\xde"):
        return int.from_bytes(head[1:3], "big")
    if head[:1] in (b"\xdd", b"\xdf"):
        return int.from_bytes(head[1:5], "big")
    return head[0] & 15 if head and head[0] >> 4 in (8, 9) else 0


def _frame(fact: _Fact, snapshot: _Snapshot, masks: dict[int, str]) -> FactFrame:
    if min(fact.place, fact.text, fact.reason) < 0:
        raise IndexError("a number below 0")
    kind, path, argv = snapshot.places[fact.place]
    text, reason = snapshot.texts[fact.text], _masked(fact.reason, snapshot, masks)
    if path not in _OWN_LISTS:
        text = _masked(fact.text, snapshot, masks)
    return FactFrame(
        rank=0,
        kind=kind,
        path=path,
        argv=list(argv),
        status=fact.status,
        text=text,
        reason=reason,
        exit_status=fact.exit_status,
        truncated=fact.truncated,
    )


def _masked(number: int, snapshot: _Snapshot, masks: dict[int, str]) -> str:
    text = masks.get(number)
    if text is None:
        text = masks[number] = masked(snapshot.texts[number])
    return text
