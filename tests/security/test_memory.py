"""Small files that ask for much memory or time: each is refused within 1 GiB."""

import gzip
import io
import json
import lzma
import os
import shutil
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests.archive.test_history import entry
from tests.conftest import some_of
from tests.dossiers import dossier_of
from tests.security.memory import within_1_gib

import wireproof
from wireproof.archive.gate import gate
from wireproof.audit.archive import opened
from wireproof.cli import main
from wireproof.logs.job import judge
from wireproof.measure.report import report
from wireproof.model.errors import LARGEST_DECODED, BadInput, decode_json, memory_of
from wireproof.model.record import FactFrame
from wireproof.report.reporter import LoggingReporter
from wireproof.store import history
from wireproof.store.load import FRAMES, load_document, load_frames
from wireproof.store.result import read_fabrics, read_result
from wireproof.store.seal import open_database
from wireproof.store.snapshot import read_snapshot, write_snapshot

MIB = 1 << 20


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dossier_of(tmp_path_factory.mktemp("made") / "dossier")


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "result")
    (tmp_path / "result" / "SHA256SUMS").unlink()
    return tmp_path / "result"


def _refused(function: Callable[..., object], word: str, *given: object) -> None:
    with pytest.raises(BadInput, match=word):
        function(*given)


def _refused_cheaply(function: Callable[..., object], word: str, *given: object) -> None:
    within_1_gib(_refused, function, word, *given)


# --- JSON

DENSE: dict[str, Callable[[], bytes]] = {
    "empty objects": lambda: b"{}," * (57 * MIB) + b"{}",
    "empty lists": lambda: b"[]," * (20 * MIB) + b"[]",
    "objects in objects": lambda: (b'{"a":' * 20 + b"1" + b"}" * 20 + b",") * (MIB // 2) + b"{}",
    "keys": lambda: b'{"a":1},' * (5 * MIB) + b"{}",
    "numbers": lambda: b"1e9," * (20 * MIB) + b"1",
    "a long text with one wide letter": lambda: b'"' + b"x" * (190 * MIB) + "😀".encode() + b'"',
    "a long text with one escape": lambda: b'"' + b"x" * (190 * MIB) + b'\\ud83d\\ude00"',
}
PLACES = ["[%s]", '{"unknown": [%s]}']


def _dense(path: Path, inside: bytes, place: str) -> None:
    before, after = place.encode().split(b"%s")
    path.write_bytes(before + inside + after)


def _with_known(path: Path, key: str, inside: bytes) -> None:
    document = msgspec.json.decode(path.read_bytes())
    document.pop(key, None)
    text = msgspec.json.encode(document)
    path.write_bytes(text[:-1] + b',"' + key.encode() + b'":[' + inside + b"]}")


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", DENSE)
def test_what_would_become_large_is_refused_before(folder: Path, kind: str, place: str) -> None:
    """A file of JSON that would take more memory than a bound is refused before it is decoded."""
    word = "damaged|not a result|not written by wireproof"
    _dense(folder / "result.json", DENSE[kind](), place)
    _refused_cheaply(read_result, word, folder)
    _refused_cheaply(read_fabrics, word, folder)
    _dense(folder / "run-1" / "run.json", DENSE[kind](), place)
    _refused_cheaply(load_document, word, folder / "run-1")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["empty objects", "a long text with one wide letter"])
def test_so_is_it_in_a_field_that_is_known(folder: Path, kind: str) -> None:
    result, run = folder / "result.json", folder / "run-1" / "run.json"
    _with_known(run, "reason" if "text" in kind else "missing", DENSE[kind]())
    _refused_cheaply(load_document, "would take more than", folder / "run-1")
    _with_known(result, "command" if "text" in kind else "parts", DENSE[kind]())
    _refused_cheaply(read_result, "would take more than", folder)
    within_1_gib(_undecided, folder)
    _refused_cheaply(report, "would take more than", [folder], LoggingReporter())


def _undecided(folder: Path) -> None:
    found = gate(folder)
    assert found.verdict == "inconclusive"
    assert "would take more than" in found.reason


def test_a_frame_that_would_become_large_is_refused(folder: Path) -> None:
    with (folder / "run-1" / FRAMES).open("ab") as file:
        file.write(b'{"frame":"host","nics":[' + b"{}," * (20 * MIB) + b"{}]}\n")
    _refused_cheaply(load_frames, "would take more than", folder / "run-1")


def test_lines_without_a_letter_are_refused_early(folder: Path) -> None:
    """200 MiB of them take eight minutes to pass over."""
    for letter in (b"\n", b" \n", b"\r\n", b"\t\n\n"):
        (folder / "run-1" / FRAMES).write_bytes(letter * (200 * MIB // len(letter)))
        _refused_cheaply(load_frames, "lines are empty", folder / "run-1")


def test_what_is_large_and_ours_is_read() -> None:
    """The estimate is of the order of what is taken: half of the bound is no refusal."""
    text = b'{"node":"n0001","verdict":"pass","passing":12,"reason":"all of it"}'
    data = b"[" + b",".join([text] * 400_000) + b"]"
    assert LARGEST_DECODED // 4 < memory_of(data) < LARGEST_DECODED
    assert len(decode_json(data, list)) == 400_000


@pytest.mark.parametrize("text", [b"[" * 100_000, b'{"a":' * 100_000, b'"\xff"', b"", b"\0"])
def test_every_other_damage_is_one_kind_of_error(text: bytes) -> None:
    for type_ in (list, dict, object):
        with pytest.raises(msgspec.DecodeError):
            decode_json(text, type_)


# --- a history's table


def _table(root: Path, query: str) -> Path:
    import duckdb

    (root / history.INDEX).mkdir(parents=True)
    path = root / history.INDEX / "entries-x.parquet"
    with duckdb.connect() as database:
        database.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet, COMPRESSION zstd)")
    return path


def _listed(root: Path) -> None:
    """As ``history pages`` reads: one after another, and what is wrong is told."""
    told: list[str] = []
    for _ in history.each_entry(root, told.append):
        pass
    assert told


@pytest.mark.parametrize(
    "query",
    some_of(
        [
            "SELECT repeat('x', 15 << 20) AS entry FROM range(75)",
            "SELECT [repeat('x', 1 << 20)] AS entry FROM range(100)",
            "SELECT NULL::VARCHAR AS entry FROM range(3)",
            "SELECT 1 AS entry",
            "SELECT 'x' AS other",
            "SELECT repeat('x', 300 << 20) AS entry FROM range(2)",
            "SELECT repeat('[', 1 << 20) AS entry FROM range(1100)",
            "SELECT repeat('😀', 4000000) AS entry FROM range(70)",
            "SELECT '{' || repeat('\"a\":{},', 2000000) || '}' AS entry FROM range(80)",
            "SELECT repeat('x', 15 << 20)::BLOB AS entry FROM range(75)",
        ],
        5,
    ),
)
def test_a_small_table_of_long_texts_is_refused(tmp_path: Path, query: str) -> None:
    """A history's table is refused before its texts take more memory than a bound."""
    path = _table(tmp_path / "history", query)
    assert path.stat().st_size < 4 * MIB
    _refused_cheaply(history.entries, r"entries-x\.parquet", tmp_path / "history")
    within_1_gib(_listed, tmp_path / "history")


def test_many_entries_that_are_each_small_are_refused(tmp_path: Path) -> None:
    """Each is an entry as it should be; all together do not fit."""
    text = msgspec.json.encode(entry(1)).decode()
    conditions = ",".join(f'"k{at}":"v"' for at in range(20_000))
    text = text[:-1] + ',"conditions":{' + conditions + "}}"
    assert history._entry(text.encode(), tmp_path).conditions["k3"] == "v"
    quoted = text.replace("'", "''")
    query = (
        f"SELECT replace('{quoted}', '\"id\":\"', '\"id\":\"r' || range) AS entry FROM range(400)"  # noqa: S608
    )
    _table(tmp_path / "history", query)
    _refused_cheaply(history.entries, "would take more than", tmp_path / "history")


# --- archives


def test_a_database_starts_no_thread_that_was_not_asked_for(tmp_path: Path) -> None:
    """Under `ulimit -v` the C library ends the process if a thread gets no address space."""
    started = []
    for threads in (1, 2):
        before = len(os.listdir("/proc/self/task"))
        with open_database("100MB", str(tmp_path), threads) as database:
            database.execute("SELECT sum(range) FROM range(100000)").fetchall()
            started.append(len(os.listdir("/proc/self/task")) - before)
    assert started == [0, 1]


def test_a_database_is_opened_in_one_place() -> None:
    source = Path(wireproof.__file__).parent
    opening = [path for path in source.rglob("*.py") if "duckdb.connect(" in path.read_text()]
    assert [path.name for path in opening] == ["seal.py"]


class _Zeros(io.RawIOBase):
    def read(self, size: int = -1) -> bytes:
        return bytes(size)


def _archive(path: Path, *members: tuple[str, int]) -> Path:
    """A sosreport's archive in which each member has so many zeros."""
    form = path.suffix.removeprefix(".").replace("tar", "")
    quickly = {"xz": {"preset": 0}, "bz2": {"compresslevel": 1}}.get(form, {})
    with tarfile.open(path, f"w:{form}", **quickly) as archive:  # type: ignore[call-overload]
        for name, size in (*members, ("etc/hostname", 3)):
            one = tarfile.TarInfo(name)
            one.size = size
            archive.addfile(one, _Zeros())
    return path


def _read_archive(path: Path) -> None:
    with opened(path) as root:
        assert (root / "etc" / "hostname").is_file()


@pytest.mark.parametrize(
    ("form", "name"),
    some_of(
        [
            ("gz", "etc/hosts"),
            ("gz", "var/log/messages"),
            ("xz", "etc/hosts"),
            ("bz2", "var/log/messages"),
        ],
        2,
    ),
)
def test_an_archive_is_bounded_by_all_that_it_unpacks_to(
    tmp_path: Path, form: str, name: str
) -> None:
    """The bound on an archive counts everything that it unpacks to, including unwanted members."""
    path = _archive(tmp_path / f"s.tar.{form}", (name, 300 * MIB))
    _refused_cheaply(_read_archive, "more than 200 times its size", path)


def test_an_archive_without_a_host_is_named(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "s.tar", "w") as archive:
        archive.addfile(tarfile.TarInfo("x"))
    with pytest.raises(BadInput, match=f"^{tmp_path}/s.tar has no proc"):
        _read_archive(tmp_path / "s.tar")


def test_an_archive_in_an_archive_stays_closed(tmp_path: Path) -> None:
    inner = _archive(tmp_path / "inner.tar.xz", ("etc/hosts", 300 * MIB)).read_bytes()
    path = tmp_path / "s.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in ("etc/inner.tar.xz", "sos_commands/inner.tar.xz", "etc/hostname"):
            one = tarfile.TarInfo(name)
            one.size = len(inner)
            archive.addfile(one, io.BytesIO(inner))
    within_1_gib(_read_archive, path)


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
@pytest.mark.parametrize(("size", "count"), [(3 << 30, 1), (600, 5000), (900_000, 30)])
def test_headers_of_headers_end(tmp_path: Path, kind: bytes, size: int, count: int) -> None:
    """tarfile takes a header into memory, and calls itself for the next."""
    head = tarfile.TarInfo("x")
    head.type, head.size = kind, size
    block = head.tobuf(tarfile.GNU_FORMAT)
    path = tmp_path / "s.tar.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for number in range(count):
            lines = (b"20 a%06d%06d=xx\n" % (number, at) for at in range(min(size, MIB) // 20))
            body = b"".join(lines)[:size]
            file.write(block + body + bytes(-len(body) % 512))
    _refused_cheaply(_read_archive, "cannot be read as an archive|headers", path)


def test_what_xz_asks_for_is_bounded(tmp_path: Path) -> None:
    """3 GiB of window for a file of a few bytes: its header says so."""
    data = bytearray(lzma.compress(bytes(4096)))
    size = (data[12] + 1) * 4
    at = data.index(b"\x21\x01", 12)  # the filter, and the length of its one property
    data[at + 2] = 39
    data[12 + size - 4 : 12 + size] = zlib.crc32(data[12 : 12 + size - 4]).to_bytes(4, "little")
    (tmp_path / "s.tar.xz").write_bytes(data)
    _refused_cheaply(_read_archive, "(?i)memory", tmp_path / "s.tar.xz")


@pytest.mark.parametrize("form", ["tar.gz", "tar.xz", "tar.bz2", "tar"])
def test_a_healthy_archive_is_read(tmp_path: Path, form: str) -> None:
    many = [(f"etc/{at}", at * 700) for at in range(300)]
    _read_archive(_archive(tmp_path / f"s.{form}", ("var/x", 3_000_000), *many))


def _pax(**words: str) -> bytes:
    """A header of PAX for the member behind it."""
    body = b""
    for key, value in words.items():
        line = f" {key.replace('_', '.')}={value}\n".encode()
        length = len(line) + len(str(len(line) + 7))
        body += str(length).encode() + line
    head = tarfile.TarInfo("x")
    head.type, head.size = tarfile.XHDTYPE, len(body)
    return head.tobuf(tarfile.USTAR_FORMAT) + body + bytes(-len(body) % 512)


def _member(kind: bytes, size: int = 0) -> bytes:
    head = tarfile.TarInfo("etc/x")
    head.type, head.size = kind, size
    return head.tobuf(tarfile.GNU_FORMAT)


def _sparse_map() -> bytes:
    """One of version 1.0, whose numbers stand in front of the data."""
    words = {"GNU_sparse_major": "1", "GNU_sparse_minor": "0", "GNU_sparse_name": "etc/x"}
    return _pax(**words) + _member(tarfile.REGTYPE, 200 * MIB) + b"90000000\n"


def _old_sparse_map() -> bytes:
    head = bytearray(_member(tarfile.GNUTYPE_SPARSE))
    head[482] = 1  # there is more behind it
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head)


_MORE = (b"00000000001\0" * 42).ljust(504, b"\0") + b"\1" + bytes(7)
HOSTILE_HEADERS = {
    "a sparse map": (_sparse_map(), b"0\n" * 256, 100_000, "sparse"),
    "an old sparse map": (_old_sparse_map(), _MORE, 300_000, "sparse"),
    "a name of folders": (
        b"",
        _pax(path="etc/" + "a/" * 200_000) + _member(tarfile.REGTYPE),
        20,
        "headers of its members are too large",
    ),
    "many words": (
        b"",
        _pax(**{f"k{at:05d}": "" for at in range(2_000)}) + _member(tarfile.REGTYPE),
        850,
        "headers of its members are too large",
    ),
}


@pytest.mark.parametrize("kind", HOSTILE_HEADERS)
def test_headers_that_describe_a_member_are_bounded(tmp_path: Path, kind: str) -> None:
    """The headers of an archive's members are bounded before they are parsed, and sparse files are
    refused.
    """
    start, piece, count, word = HOSTILE_HEADERS[kind]
    path = tmp_path / "s.tar.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(start)
        for _ in range(count):
            file.write(piece)
    _refused_cheaply(_read_archive, word, path)


# --- logs

_TABLE = b"# OSU MPI Latency Test v5.8\n# Size      Latency (us)\n8 1.2\n"
LOGS = {
    "lines": (b"slurm: job step\n" * 600_000, "more than 500000 lines in one log: cut out"),
    "results": (_TABLE * 20_002, "more than 20000 results in one log: cut out"),
    "bytes": (b"x" * 99 + b"\n", "more than 32 MiB, too large for a log"),
}


@pytest.mark.parametrize("kind", LOGS)
def test_a_log_is_bounded_in_bytes_lines_and_results(tmp_path: Path, kind: str) -> None:
    data, word = LOGS[kind]
    path = tmp_path / "a.log"
    path.write_bytes(data * (336_000 if kind == "bytes" else 1))
    _refused_cheaply(judge, word, path)


# --- snapshots of settings


def _packed(place: str, head: bytes, member: bytes) -> bytes:
    """A snapshot in which ``place`` has 20 million members of a byte or two; in a few kB."""
    fields = {"texts": b"\x90", "places": b"\x90", "hosts": b"\x80"}
    many = 20_000_000
    fields[place] = head + many.to_bytes(4, "big") + member * many
    if place == "facts":
        fields["hosts"] = b"\x81\xa1n" + fields.pop(place)
    text = b"\x85\xa6schema\xb2wireproof.snapshot\xa7version\x02"
    for name, value in fields.items():
        text += bytes([0xA0 + len(name)]) + name.encode() + value
    return gzip.compress(text, 1)


@pytest.mark.parametrize(
    ("place", "head", "member"),
    some_of(
        [
            ("texts", b"\xdd", b"\xa0"),
            ("hosts", b"\xdf", b"\xa0\x90"),
            ("places", b"\xdd", b"\x93\xa0\xa0\x90"),
            ("facts", b"\xdd", b"\x94\x00\xa0\x00\x00"),
        ],
        2,
    ),
)
def test_a_small_snapshot_of_many_members_is_refused(
    tmp_path: Path, place: str, head: bytes, member: bytes
) -> None:
    """A snapshot of settings with too many members is refused before they take memory."""
    (tmp_path / "snap").write_bytes(_packed(place, head, member))
    assert (tmp_path / "snap").stat().st_size < 4 * MIB
    _refused_cheaply(read_snapshot, "more", tmp_path / "snap")


@pytest.mark.parametrize("block", [bytes(MIB), b"origin,target,usec\n" * (MIB // 19)])
def test_what_unpacks_to_no_snapshot_is_refused_before_it_takes_memory(
    tmp_path: Path, block: bytes
) -> None:
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(block, 1) * 1100)
    _refused_cheaply(read_snapshot, "is not a snapshot", tmp_path / "x.csv.gz")


def test_hosts_that_are_too_unlike_are_said_and_not_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The settings of ten thousand hosts that all differ do not fit in memory at once."""
    facts = {
        f"n{host}": [
            FactFrame(rank=0, kind="file", status="ok", path=f"/proc/sys/{at}", text=f"{host}")
            for at in range(9)
        ]
        for host in range(4)
    }
    write_snapshot(tmp_path / "snapshot", {**facts, "empty": []})
    monkeypatch.setattr("wireproof.store.snapshot._MOST_FRAMES", 18)
    assert main(["audit", "--from", str(tmp_path / "snapshot"), "--json"]) == 3
    results = json.loads(capsys.readouterr().out)["results"]
    assert {one["host"] for one in results} == {*facts, "empty"}
    silent = [(one["host"], one["status"]) for one in results if one["id"] == "host"]
    assert silent == [(name, "unknown") for name in ("n2", "n3", "empty")]
    assert main(["audit", "--from", str(tmp_path / "snapshot")]) == 3
    first = " ".join(capsys.readouterr().out.partition("Could not be read")[2].split())
    assert first.partition("give fewer hosts")[0].startswith("UNKNOWN empty,n[2-3]: ")
