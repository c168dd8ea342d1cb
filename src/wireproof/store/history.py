"""A history: a folder of results with an index that many hosts may share and write at the same
time.

It needs no lock and no server. Each result and each loose entry of the index is a file with a
unique name, written atomically. Loose entries are merged into a packed file from time to time.
If entries are merged twice, or on two hosts at the same time, the same rows are written again, and
rows with the same id count once. ``take_turns`` adds the time when each node last had its turn.
"""

import contextlib
import errno
import gzip
import hashlib
import os
import re
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from wireproof.files.held import held_folder, make_folder, within
from wireproof.files.hostile import open_regular, read_bounded, replace_file, text_in
from wireproof.model.errors import (
    LARGEST_DECODED,
    BadInput,
    CouldNotMeasure,
    decode_json,
    made_by_newer,
    memory_of,
    writing,
)
from wireproof.model.history import Entry
from wireproof.store.seal import first_line, need_duckdb, open_database, place_of

INDEX, RESULTS = "index", "results"
LOG = "log"
"""The copy of an imported log, in its folder."""
_LARGEST_ENTRY = 16 << 20
_LOOSE = 200
"""Maximum number of loose entries that are read one by one; more entries are merged."""
_PACKED = ".jsonl.gz"
_EFFORT = 3
"""Compression level: the next levels take twice as long and save only a few per cent."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", re.ASCII)
_VERSION = 1
_FETCHED = 64
_MEMORY = "768MB"
_LONGEST = "SELECT coalesce(max(strlen(entry)), 0) + 1 FROM read_parquet(?)"
_TRIES, _PAUSE_S = 10, 0.02
_GO_ON = "Remove it to continue without it."
_OF_THE_DISK = (errno.EACCES, errno.EIO, errno.EPERM, errno.EROFS, errno.ESTALE)


def add_entry(root: Path, entry: Entry) -> None:
    """Add an entry. Raise ``BadInput`` if its id is not a file name, ``CouldNotMeasure`` if it
    cannot be written.
    """
    if not _ID.fullmatch(entry.id):
        raise BadInput(f"{entry.id[:60]!r} cannot be the name of a result.")
    with writing(f"the history {root}", CouldNotMeasure):
        with held_folder(root, make=0o755):
            make_folder(root / INDEX)
        replace_file(root / INDEX / f"{entry.id}.json", msgspec.json.encode(entry) + b"\n")


def refuse_other_than_history(root: Path) -> None:
    """Raise ``BadInput`` if the folder is not a history."""
    if not (root / INDEX).is_dir():
        raise BadInput(
            f"{root} is not a history: it has no folder {INDEX}. `wireproof check --history {root}`"
            " creates one."
        )


def entries(root: Path) -> list[Entry]:
    """Return all entries, oldest first. Raise ``BadInput`` if the folder is not a history, or for a
    damaged or newer entry, with its file.
    """
    refuse_other_than_history(root)
    by_id, files = _settled(root)
    if len(files) > _LOOSE:
        with contextlib.suppress(
            OSError, CouldNotMeasure
        ):  # a reader may have only read permission
            _replace(root, by_id, files)
    return sorted(by_id.values(), key=lambda entry: (entry.measured, entry.id))


def remove_entries(root: Path, ids: Sequence[str]) -> None:
    """Remove these entries; the caller removes the folders of the results."""
    by_id, files = _settled(root)
    gone = set(ids)
    _replace(root, {name: entry for name, entry in by_id.items() if name not in gone}, files)


def _settled(root: Path) -> tuple[dict[str, Entry], list[Path]]:
    """Return the entries and the files that contain them; they are read again if another host
    merged files meanwhile.
    """
    for number in range(_TRIES - 1):
        with contextlib.suppress(FileNotFoundError):
            return _read(root)
        time.sleep(number * _PAUSE_S)  # a host that has merged entries removes them one by one
    try:
        return _read(root)
    except FileNotFoundError as error:
        raise BadInput(
            f"{error.filename or error} disappeared while it was read: try again."
        ) from error


def each_entry(root: Path, trouble: Callable[[str], None]) -> Iterator[Entry]:
    """Yield each entry once, unordered, without keeping all of them in memory. For an unreadable
    entry, pass a sentence to ``trouble`` and continue; nothing is written.
    """
    loose, tables = _files(root)
    known: set[str] = set()
    for path in [*loose, *reversed(tables)]:  # the order in which an entry replaces another
        try:
            for data in _texts(path):
                try:
                    entry = _entry(data, path)
                except BadInput as error:
                    trouble(str(error))
                    continue
                if entry.id not in known:
                    known.add(entry.id)
                    yield entry
        except FileNotFoundError:
            trouble(f"{path} disappeared while it was read: reload to read it again.")
        except BadInput as error:
            trouble(str(error))


def _texts(path: Path) -> Iterable[bytes]:
    if path.suffix == ".json":
        with _readable(path):
            return [read_bounded(path, _LARGEST_ENTRY, follow=False)]
    return _lines(path) if path.suffix == ".gz" else _rows(path)


def _files(root: Path) -> tuple[list[Path], list[Path]]:
    """Return (loose entries, tables of many entries)."""
    # List loose entries first: if they are merged meanwhile, they are found in the table.
    loose = sorted((root / INDEX).glob("*.json"))
    tables = [path for kind in (".parquet", _PACKED) for path in (root / INDEX).glob(f"*{kind}")]
    return loose, sorted(tables)


def _read(root: Path) -> tuple[dict[str, Entry], list[Path]]:
    by_id: dict[str, Entry] = {}
    loose, tables = _files(root)
    taken = 0
    for path in [*tables, *loose]:
        for data in _texts(path):
            taken += memory_of(data)
            if taken > LARGEST_DECODED:
                raise BadInput(
                    f"the history {root} would take more than {LARGEST_DECODED >> 20} MiB of"
                    f" memory, from {path.name} on: `wireproof history pages` reads a history of "
                    "any size; prune it or remove the file."
                )
            entry = _entry(data, path)
            by_id[entry.id] = entry
    return by_id, [*tables, *loose]


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Raise ``BadInput`` for a file that cannot be read. The message advises to remove the file
    only if the file itself is bad, not if the disk fails. The caller handles files that disappear.
    """
    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, EOFError, zlib.error) as error:
        failing = isinstance(error, OSError) and error.errno in _OF_THE_DISK
        reason = (getattr(error, "strerror", None) or str(error)).rstrip(".")
        raise BadInput(
            f"{path} cannot be read: {reason}. {'' if failing else _GO_ON}".rstrip()
        ) from error


def _entry(data: bytes, path: Path) -> Entry:
    try:
        entry = _decoded(data, path)
    except msgspec.DecodeError as error:
        raise BadInput(f"{path} is damaged: {error}. {_GO_ON}") from error
    if not _ID.fullmatch(entry.id):
        raise BadInput(f"{path} contains {entry.id[:60]!r}, which is not a result.")
    return entry


def _decoded(data: bytes, path: Path) -> Entry:
    try:
        entry = decode_json(data, Entry)
        version = entry.version
    except msgspec.ValidationError:
        members = decode_json(data, dict[str, msgspec.Raw])  # a newer entry has other fields
        version = decode_json(bytes(members.get("version", b"0")), int)
        if version <= _VERSION:
            raise
    if version > _VERSION:
        raise made_by_newer(path, version, _VERSION)
    return entry


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the entries of a table one by one, because a few bytes can unpack to any number of
    entries."""
    with (
        _readable(path),
        open_regular(path, follow=False) as file,
        gzip.GzipFile(fileobj=file) as lines,
    ):
        while line := lines.readline(_LARGEST_ENTRY):
            if len(line) == _LARGEST_ENTRY:
                raise _too_long(path)
            yield line


def _too_long(path: Path) -> BadInput:
    return BadInput(f"{path} has an entry of more than {_LARGEST_ENTRY >> 20} MiB. {_GO_ON}")


def _rows(path: Path) -> Iterator[bytes]:
    """Yield the entries of a table of an earlier release in small batches: a few bytes of Parquet
    can expand to any number of long texts.
    """
    need_duckdb(f"reading {path}")
    import duckdb

    with _readable(path):
        file = open_regular(path, follow=False)  # DuckDB waits for a pipe
    try:
        with (
            file,
            open_database(_MEMORY) as database,  # each thread holds a group
        ):
            given = [place_of(file, path)]
            [(longest,)] = database.execute(_LONGEST, given).fetchall()
            if longest > _LARGEST_ENTRY:
                raise _too_long(path)
            table = database.execute("SELECT entry FROM read_parquet(?)", given)
            while rows := table.fetchmany(max(1, min(_FETCHED, _LARGEST_ENTRY // longest))):
                for row in rows:
                    yield str(row[0]).encode()
    except (duckdb.Error, UnicodeDecodeError) as error:
        if not path.exists():
            raise FileNotFoundError(path) from error
        raise BadInput(f"{path} cannot be read: {first_line(error)}.") from error


def _name_of(by_id: dict[str, Entry]) -> str:
    """Return the same name for the same entries, whichever host merges them."""
    digest = hashlib.sha256("\n".join(sorted(by_id)).encode()).hexdigest()
    return f"entries-{digest[:32]}{_PACKED}"


def _replace(root: Path, by_id: dict[str, Entry], files: Sequence[Path]) -> None:
    """Write a single file, and remove exactly the files that the entries were read from: files that
    other hosts wrote meanwhile are kept.
    """
    _write_table(root, list(by_id.values()))
    with held_folder(root / INDEX) as folder:
        for path in files:
            if path.name != _name_of(by_id):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(within(folder, path), dir_fd=folder)


def _write_table(root: Path, all_entries: Sequence[Entry]) -> None:
    """Write a line of JSON per entry, oldest first, packed."""
    name = _name_of({entry.id: entry for entry in all_entries})
    lines = map(msgspec.json.encode, sorted(all_entries, key=lambda entry: entry.measured))
    with writing(f"the history {root}", CouldNotMeasure):
        data = gzip.compress(b"".join(line + b"\n" for line in lines), _EFFORT, mtime=0)
        replace_file(root / INDEX / name, data)


# --- Record when each node last had its turn in a job with a history, because a node that is down
# has no result.
#
# A file per node contains the time. Its name is a digest, because a host's name may not be a valid
# file name.

TURNS = "turns"
_LARGEST = 64


def take_turns(root: Path, nodes: Iterable[str], when: str) -> None:
    """Record ``when`` for the nodes. Raise ``CouldNotMeasure`` if the history cannot be written."""
    with writing(f"the history {root}", CouldNotMeasure):
        with held_folder(root, make=0o755):
            make_folder(root / TURNS)
        for node in nodes:
            replace_file(_file(root, node), when.encode())


def last_turn(root: Path, node: str) -> str:
    """Return the recorded time; "" if there is none or it cannot be read."""
    return text_in(_file(root, node), _LARGEST)


def _file(root: Path, node: str) -> Path:
    return root / TURNS / hashlib.sha256(node.encode()).hexdigest()[:32]
