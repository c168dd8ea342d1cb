"""A history: a folder of results with an index, which many hosts may share and write at once.

There is no lock and no server: each result and each loose entry of the index is a file of its own
name, whole or not there. Loose entries are put together into one Parquet file from time to time;
whoever does it twice, or at once, writes the same rows again, and rows are counted once by their
id.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from wireproof.files.hostile import read_bounded, refuse_other_than_regular, replace_file
from wireproof.model.errors import BadInput, CouldNotMeasure, made_by_newer
from wireproof.model.history import Entry
from wireproof.model.sound import LARGEST, unsound
from wireproof.store.seal import as_literal

__all__ = [
    "INDEX",
    "LOG",
    "RESULTS",
    "IndexState",
    "add_entry",
    "each_entry",
    "entries",
    "index_state",
    "remove_entries",
]

IndexState = tuple[tuple[str, int, int], ...]
"""Name, time of the last change in ns and size of each file, by name."""

INDEX, RESULTS = "index", "results"
LOG = "log"
"""In the folder of an imported log: its copy."""
_LARGEST_ENTRY = 16 << 20
_LOOSE = 200
"""Loose entries that are read one by one; more are put together."""
_ROWS_AT_ONCE = 2048
"""A reader has the entries of one group of rows in memory; DuckDB makes no smaller groups."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", re.ASCII)
_VERSION = 1
_FETCHED = 64
_TRIES = 10
_LEAST = 1e-6
"""Of a number of ours, in ns or bytes/s: less, or none, has no ratio."""
_GO_ON = "Remove it to go on without it."


_ENTRIES = msgspec.json.Decoder(Entry)


class _Head(msgspec.Struct):
    version: int = _VERSION


def add_entry(root: Path, entry: Entry) -> None:
    """Raises ``BadInput`` for an id that is no file name, ``CouldNotMeasure`` when it cannot be
    written.
    """
    if not _ID.fullmatch(entry.id):
        raise BadInput(f"{entry.id[:60]!r} cannot be the name of a result.")
    try:
        (root / INDEX).mkdir(parents=True, exist_ok=True)
        replace_file(root / INDEX / f"{entry.id}.json", msgspec.json.encode(entry) + b"\n")
    except OSError as error:
        raise CouldNotMeasure(f"the history {root} cannot be written: {error.strerror}.") from error


def entries(root: Path) -> list[Entry]:
    """All entries, oldest first. Raises ``BadInput`` for a folder that is no history, or holds a
    damaged or newer entry, naming the file.
    """
    if not (root / INDEX).is_dir():
        raise BadInput(
            f"{root} is no history: it has no folder {INDEX}. `wireproof check --history {root}`"
            " begins one."
        )
    found, files = _settled(root)
    if len(files) > _LOOSE:
        with contextlib.suppress(OSError, CouldNotMeasure):  # a reader may be allowed to read only
            _replace(root, found, files)
    return sorted(found.values(), key=lambda one: (one.measured, one.id))


def remove_entries(root: Path, ids: Sequence[str]) -> None:
    """Forget these; the folders of the results are the caller's."""
    found, files = _settled(root)
    gone = set(ids)
    _replace(root, {name: one for name, one in found.items() if name not in gone}, files)


def _settled(root: Path) -> tuple[dict[str, Entry], list[Path]]:
    """The entries, and the files that they were read from; again where another host has put them
    together meanwhile.
    """
    for _ in range(_TRIES - 1):
        with contextlib.suppress(FileNotFoundError):
            return _read(root)
    try:
        return _read(root)
    except FileNotFoundError as error:
        raise BadInput(f"{error.filename or error} goes while it is read: try again.") from error


def index_state(root: Path) -> IndexState:
    """The files of the index; as long as it is equal, so are the entries. Empty for what is no
    history, or cannot be read.
    """
    state = []
    with contextlib.suppress(OSError):
        for path in (root / INDEX).iterdir():
            if path.suffix in (".json", ".parquet"):
                with contextlib.suppress(FileNotFoundError):
                    seen = path.lstat()
                    state.append((path.name, seen.st_mtime_ns, seen.st_size))
    return tuple(sorted(state))


def each_entry(root: Path, trouble: Callable[[str], None]) -> Iterator[Entry]:
    """Each entry once, in no order and never all in memory. What cannot be read is told to
    ``trouble``, one sentence each, and left out; nothing is written.
    """
    loose, tables = _files(root)
    known: set[str] = set()
    for path in [*loose, *reversed(tables)]:  # the order in which an entry replaces another
        try:
            for text in _texts(path):
                with _told(trouble):
                    entry = _entry(text, path)
                    if entry.id not in known:
                        known.add(entry.id)
                        yield entry
        except FileNotFoundError:
            trouble(f"{path} goes while it is read: reload to read it again.")
        except BadInput as error:
            trouble(str(error))


@contextlib.contextmanager
def _told(trouble: Callable[[str], None]) -> Iterator[None]:
    try:
        yield
    except BadInput as error:
        trouble(str(error))


def _texts(path: Path) -> Iterable[bytes | str]:
    return [_bytes(path)] if path.suffix == ".json" else _rows(path)


def _files(root: Path) -> tuple[list[Path], list[Path]]:
    """Loose entries, and tables of many."""
    # Loose entries are listed first: those that move into a Parquet file then are found there.
    loose = sorted((root / INDEX).glob("*.json"))
    return loose, sorted((root / INDEX).glob("*.parquet"))


def _read(root: Path) -> tuple[dict[str, Entry], list[Path]]:
    found: dict[str, Entry] = {}
    loose, tables = _files(root)
    for path in tables:
        for text in _rows(path):
            entry = _entry(text, path)
            found[entry.id] = entry
    for path in loose:
        entry = _entry(_bytes(path), path)
        found[entry.id] = entry
    return found, [*tables, *loose]


def _bytes(path: Path) -> bytes:
    try:
        return read_bounded(path, _LARGEST_ENTRY, follow=False)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}. {_GO_ON}") from error


def _entry(data: bytes | str, path: Path) -> Entry:
    try:
        found = _decoded(data, path)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{path} is damaged: {error}. {_GO_ON}") from error
    if not _ID.fullmatch(found.id):
        raise BadInput(f"{path} names {found.id[:60]!r}, which is no result.")
    claimed = found.imported.numbers if found.imported else []
    values = [one.value for one in found.numbers] + [one.value for one in claimed]
    if any(not _LEAST <= one <= LARGEST for one in values) or unsound([found.numbers, claimed]):
        raise BadInput(f"{path} has a number that cannot be. {_GO_ON}")
    return found


def _decoded(data: bytes | str, path: Path) -> Entry:
    try:
        found = _ENTRIES.decode(data)
        version = found.version
    except msgspec.ValidationError:
        version = msgspec.json.decode(data, type=_Head).version  # a newer one has other fields
        if version <= _VERSION:
            raise
    if version > _VERSION:
        raise made_by_newer(path, version, _VERSION)
    return found


def _rows(path: Path) -> Iterator[str]:
    """The entries of a table, some at a time."""
    import duckdb

    try:
        refuse_other_than_regular(path.lstat(), path)  # DuckDB waits for a pipe
    except FileNotFoundError:
        raise
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}. {_GO_ON}") from error
    try:
        with duckdb.connect(config={"threads": "1"}) as database:  # each holds a group
            table = database.execute("SELECT entry FROM read_parquet(?)", [as_literal(path)])
            while rows := table.fetchmany(_FETCHED):
                for row in rows:
                    yield str(row[0])
    except duckdb.Error as error:
        if not path.exists():
            raise FileNotFoundError(path) from error
        raise BadInput(f"{path} cannot be read: {str(error).splitlines()[0][:200]}.") from error


def _name_of(found: dict[str, Entry]) -> str:
    """The same for the same entries, whoever puts them together."""
    digest = hashlib.sha256("\n".join(sorted(found)).encode()).hexdigest()
    return f"entries-{digest[:32]}.parquet"


def _replace(root: Path, found: dict[str, Entry], files: Sequence[Path]) -> None:
    """One file in place of those that the entries were read from, and of no others: what another
    host has written meanwhile stays.
    """
    _write_parquet(root, list(found.values()))
    for path in files:
        if path.name != _name_of(found):
            path.unlink(missing_ok=True)


def _write_parquet(root: Path, all_entries: Sequence[Entry]) -> None:
    """One row for each entry: its id, time, fingerprint and verdict, and the whole as JSON."""
    import duckdb

    name = _name_of({one.id: one for one in all_entries})
    fresh = root / INDEX / f".{name}.{secrets.token_hex(6)}.new"
    try:
        with duckdb.connect() as database:
            database.execute(
                "CREATE TABLE entries (id VARCHAR, measured VARCHAR, fingerprint VARCHAR,"
                " verdict VARCHAR, entry VARCHAR)"
            )
            columns: list[list[str]] = [
                [one.id for one in all_entries],
                [one.measured for one in all_entries],
                [one.fingerprint for one in all_entries],
                [one.verdict for one in all_entries],
                [msgspec.json.encode(one).decode() for one in all_entries],
            ]
            database.execute(
                "INSERT INTO entries SELECT unnest(?), unnest(?), unnest(?), unnest(?), unnest(?)",
                columns,
            )
            target = str(fresh).replace("'", "''")
            database.execute(
                f"COPY (SELECT * FROM entries ORDER BY measured) TO '{target}'"  # noqa: S608
                f" (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {_ROWS_AT_ONCE})"
            )
        fresh.replace(root / INDEX / name)
    except (duckdb.Error, OSError) as error:
        raise CouldNotMeasure(
            f"the history {root} cannot be written: {str(error).splitlines()[0][:200]}."
        ) from error
    finally:
        fresh.unlink(missing_ok=True)
