"""What is stored besides run folders: results, documents, histories, archives, snapshots, and
recipes, texts of hosts: damaged, and read as the program reads it.
"""

import bz2
import contextlib
import dataclasses
import functools
import gzip
import io
import json
import lzma
import random
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
from msgspec import inspect
from tests.fuzz.mutate import MUTATIONS
from tests.fuzz.structure import HOSTILE_TEXTS, changed, text_of

from wireproof.model.errors import WireproofError

ROOT = Path(__file__).parents[2]
_LONGEST = 20_000


def _refused(error: WireproofError) -> str:
    return f"the refusal has {len(str(error))} characters" if len(str(error)) > _LONGEST else ""


def _tried(*steps: Callable[[], object]) -> str:
    """Each step reads the input or refuses it in a sentence; the first that does neither."""
    for step in steps:
        try:
            step()
        except WireproofError as error:
            if why := _refused(error):
                return why
    return ""


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="wireproof-fuzz-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _flipped(choice: random.Random, data: bytes) -> bytes:
    """Other bytes here and there, a piece gone or twice, the end cut off."""
    found = bytearray(data)
    for _ in range(choice.choice((0, 1, 1, 2, 8, 40))):
        if found:
            found[choice.randrange(len(found))] = choice.choice((0, 0xFF, choice.randrange(256)))
    if found and choice.random() < 0.2:
        at = choice.randrange(len(found))
        piece = found[at : at + choice.choice((1, 4, 64, 600))]
        found[at : at + len(piece)] = piece * choice.choice((0, 2, 50))
    if choice.random() < 0.15:
        del found[choice.randint(0, len(found)) :]
    return bytes(found)


# --- documents of every type that is read from a file


def _example(choice: random.Random, kind: inspect.Type, depth: int = 0) -> Any:
    """Some value of a type, as JSON has it."""
    match kind:
        case inspect.BoolType():
            return choice.random() < 0.5
        case inspect.IntType():
            return choice.choice((0, 1, 2, 64, 1 << 20))
        case inspect.FloatType():
            return choice.choice((0.0, 0.5, 1e3, 1.25e9))
        case inspect.LiteralType():
            return choice.choice(kind.values)
        case inspect.NoneType():
            return None
        case inspect.UnionType():
            return _example(choice, choice.choice(kind.types), depth)
        case inspect.DictType():
            keys = [1, 2] if isinstance(kind.key_type, inspect.IntType) else ["n1", "tcp"]
            return {str(key): _example(choice, kind.value_type, depth + 1) for key in keys}
        case inspect.ListType() | inspect.VarTupleType() | inspect.SetType():
            many = 0 if depth > 6 else choice.choice((0, 1, 2))
            return [_example(choice, kind.item_type, depth + 1) for _ in range(many)]
        case inspect.TupleType():
            return [_example(choice, one, depth + 1) for one in kind.item_types]
        case inspect.StructType():
            return _struct(choice, kind, depth)
    return choice.choice(("", "n1", "eth0", "2026-01-01T00:00:00Z", "run-1"))


def _struct(choice: random.Random, kind: inspect.StructType, depth: int) -> Any:
    values = {
        field.encode_name: _example(choice, field.type, depth + 1)
        for field in kind.fields
        if field.required or (depth < 6 and choice.random() < 0.7)
    }
    for field in kind.fields:  # what the document is: else nothing behind is read
        if field.name in ("kind", "schema", "version") and field.default is not msgspec.NODEFAULT:
            values[field.encode_name] = field.default
    if kind.tag_field is not None:
        values[kind.tag_field] = kind.tag
    return list(values.values()) if kind.array_like else values


Reader = Callable[[Path], object]


@functools.cache
def _documents() -> dict[str, tuple[type, str, Reader]]:
    """Each document: its type, the name of its file, and what reads it from a folder."""
    from wireproof.archive.gate import _answer
    from wireproof.bmc import _read as read_set
    from wireproof.experiment.kept import Keeper
    from wireproof.experiment.study import Begun
    from wireproof.instrument.watch import Follower
    from wireproof.measure.resume import Invocation, recall
    from wireproof.model.dossier import Dossier
    from wireproof.model.experiment import BegunTrial
    from wireproof.model.history import Entry
    from wireproof.model.run import RunDocument, StoredResult
    from wireproof.model.traffic import Reading, WatchStart
    from wireproof.model.tuning import ChangeAnswer, FirmwareSet, TunePlan
    from wireproof.pfc import PfcRecord
    from wireproof.pfc.job import read_snapshot
    from wireproof.store.history import each_entry, entries
    from wireproof.store.load import load_document
    from wireproof.store.result import read_dossier, read_fabrics, read_result
    from wireproof.tune.node import _answered
    from wireproof.tune.plan import load_plan

    def result(folder: Path) -> None:
        read_fabrics(folder)
        read_result(folder)

    def gated(folder: Path) -> None:
        found = _answer(folder, ["n1"], 1e12)
        assert found.verdict in ("pass", "fail", "inconclusive")

    def told(folder: Path) -> None:
        """As a host's answer: what is wrong with it is said in the result."""
        follower = Follower("n1")
        for line in (watch + b"\n", (folder / "lines").read_bytes() + b"\n"):
            follower.feed(line)

    watch = msgspec.json.encode(WatchStart(schema=1, hostname="n1", interval_ms=10, nics=[]))
    return {
        "result": (StoredResult, "result.json", result),
        "gated": (StoredResult, "result.json", gated),
        "run": (RunDocument, "run.json", load_document),
        "dossier": (Dossier, "dossier.json", read_dossier),
        "asked": (Invocation, "asked.json", recall),
        "study": (Begun, "begun.json", lambda folder: Keeper(folder, Begun).begun({})),
        "trial": (
            BegunTrial,
            "begun.json",
            lambda folder: Keeper(folder, BegunTrial).begun({}),
        ),
        "pfc": (PfcRecord, "record", lambda folder: read_snapshot(folder / "record")),
        "plan": (TunePlan, "plan", lambda folder: load_plan(folder / "plan")),
        "firmware": (FirmwareSet, "set.json", lambda folder: read_set(folder / "set.json")),
        "entry": (Entry, "index/a.json", entries),
        "entries": (Entry, "index/a.json", lambda at: list(each_entry(at, lambda why: None))),
        "reading": (Reading, "lines", told),
        "change": (
            ChangeAnswer,
            "lines",
            lambda folder: _answered("n1", (folder / "lines").read_bytes(), "", 0),
        ),
    }


def damaged_document(choice: random.Random) -> bytes:
    name = choice.choice(list(_documents()))
    value = _example(choice, inspect.type_info(_documents()[name][0]))
    for _ in range(choice.choice((0, 1, 1, 2, 4))):
        value = changed(choice, value)
    text = text_of(choice, value)
    return name.encode() + b"\0" + (text if choice.random() < 0.9 else _flipped(choice, text))


def try_document(data: bytes) -> str:
    name, _, text = data.partition(b"\0")
    _, file, read = _documents()[name.decode()]
    with _folder() as folder:
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_bytes(text)
        return _tried(lambda: read(folder))


# --- a whole result, judged again


@functools.cache
def _dossier() -> dict[str, bytes]:
    from tests.dossiers import dossier_of

    with _folder() as folder:
        made = dossier_of(folder / "dossier")
        return {
            str(path.relative_to(made)): path.read_bytes()
            for path in sorted(made.rglob("*"))
            if path.is_file() and path.name != "SHA256SUMS"
        }


_OF_A_RESULT = ("result.json", "run-1/run.json", "run-1/frames.jsonl")


def damaged_result(choice: random.Random) -> bytes:
    name = choice.choice(_OF_A_RESULT)
    lines = _dossier()[name].splitlines()
    for _ in range(choice.choice((1, 1, 2, 4))):
        at = choice.randrange(len(lines))
        with contextlib.suppress(ValueError, RecursionError):  # what is damaged already
            lines[at] = text_of(choice, changed(choice, json.loads(lines[at])))
    if choice.random() < 0.1:
        choice.choice(MUTATIONS)(choice, lines)
    return name.encode() + b"\0" + b"\n".join(lines) + b"\n"


def try_result(data: bytes) -> str:
    from wireproof.archive.gate import _answer
    from wireproof.measure.export import page_of
    from wireproof.measure.report import judged_anew

    name, _, text = data.partition(b"\0")

    def judged() -> None:
        sections = judged_anew(folder).sections
        if len(data) % 16 == 0:
            page_of(sections, "fuzz")

    with _folder() as folder:
        for file, kept in (_dossier() | {name.decode(): text}).items():
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_bytes(kept)
        return _tried(lambda: _answer(folder, ["n1"], 1e12), judged)


# --- a history's table


@functools.cache
def _tables() -> list[bytes]:
    import duckdb
    from tests.archive.test_history import entry

    from wireproof.store.history import INDEX, _write_table

    found = []
    with _folder() as folder:
        (folder / INDEX).mkdir()
        _write_table(folder, [entry(number) for number in range(1, 9)])
        found += [path.read_bytes() for path in (folder / INDEX).iterdir()]
        for codec in ("uncompressed", "snappy", "gzip"):
            path = folder / codec
            query = "SELECT '{}' AS entry, range AS id FROM range(40)"
            duckdb.sql(query).write_parquet(str(path), compression=codec)
            found.append(path.read_bytes())
    return found


def damaged_history(choice: random.Random) -> bytes:
    return _flipped(choice, choice.choice(_tables()))


def try_history(data: bytes) -> str:
    from wireproof.store.history import INDEX, each_entry, entries

    with _folder() as folder:
        (folder / INDEX).mkdir()
        form = "jsonl.gz" if data.startswith(b"\x1f\x8b") else "parquet"
        (folder / INDEX / f"entries-x[1]*.{form}").write_bytes(data)
        return _tried(lambda: entries(folder), lambda: list(each_entry(folder, lambda why: None)))


# --- archives and snapshots of hosts

_FORMS: dict[str, Callable[[bytes], bytes]] = {
    "tar": bytes,
    "tar.gz": lambda data: gzip.compress(data, 1),
    "tar.xz": lambda data: lzma.compress(data, preset=0),
    "tar.bz2": lambda data: bz2.compress(data, 1),
}
_KINDS = (*map(bytes, zip(range(256))), *(tarfile.REGTYPE,) * 99, b"x" * 1, b"g", b"L", b"K", b"S")


@functools.cache
def _archive(form: int) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=form) as archive:
        for name, size in (("etc/hostname", 3), ("h/proc/cmdline", 900), ("h/var/x", 5000)):
            one = tarfile.TarInfo(name if form == tarfile.GNU_FORMAT else name + "\u00b5" * 60)
            one.size = size
            archive.addfile(one, io.BytesIO(b"x" * size))
    return stream.getvalue()


def damaged_archive(choice: random.Random) -> bytes:
    data = bytearray(_archive(choice.choice((tarfile.GNU_FORMAT, tarfile.PAX_FORMAT))))
    for _ in range(choice.choice((0, 1, 1, 2, 4))):
        head = choice.randrange(len(data) // 512) * 512
        if choice.random() < 0.4:
            data[head + 156 : head + 157] = choice.choice(_KINDS)[:1]
        else:
            at = head + choice.choice((0, 1, 100, 108, 124, 130, 135, 136, 257, 345, 400))
            data[at : at + 4] = choice.randbytes(4)
        if choice.random() < 0.8:  # the sum of the header fits again
            data[head + 148 : head + 156] = b" " * 8
            sums = b"%06o\0 " % sum(data[head : head + 512])
            data[head + 148 : head + 156] = sums
    form = choice.choice(list(_FORMS))
    packed = _FORMS[form](bytes(data))
    return form.encode() + b"\0" + (packed if choice.random() < 0.7 else _flipped(choice, packed))


def try_archive(data: bytes) -> str:
    from wireproof.audit.archive import opened
    from wireproof.audit.kept import command_facts
    from wireproof.model.plan import FactRequest

    form, _, packed = data.partition(b"\0")
    faults = []

    def read() -> None:
        with opened(folder / f"s.{form.decode()}") as root:
            command_facts(root, [FactRequest(kind="command", argv=("uname", "-r"))])
            for path in root.rglob("*"):
                if path.is_symlink() or not (path.is_file() or path.is_dir()):
                    faults.append(f"{path.name!r} was unpacked")

    with _folder() as folder:
        (folder / f"s.{form.decode()}").write_bytes(packed)
        return _tried(read) or next(iter(faults), "")


@functools.cache
def _snapshot() -> bytes:
    from wireproof.model.record import FactFrame
    from wireproof.store.snapshot import write_snapshot

    frames = [
        FactFrame(rank=0, kind=kind, path=path, status="ok", text="tsc\n")
        for kind, path in (("file", "/proc/cmdline"), ("glob", "/sys/class/net/*"))
    ]
    with _folder() as folder:
        write_snapshot(folder / "x", {"n1": frames, "n2": frames[:1]})
        return gzip.decompress((folder / "x").read_bytes())


def damaged_snapshot(choice: random.Random) -> bytes:
    data = _flipped(choice, _snapshot())
    packed = gzip.compress(data, 1)
    return packed if choice.random() < 0.9 else _flipped(choice, packed)


def try_snapshot(data: bytes) -> str:
    from wireproof.store.snapshot import is_snapshot, read_snapshot

    with _folder() as folder:
        (folder / "x").write_bytes(data)
        is_snapshot(folder / "x")
        return _tried(lambda: read_snapshot(folder / "x"))


# --- texts of hosts

_MOST_TEXT = 1 << 17
_TEXTS = ("basic-environment", "env", "hardware", "network", "ib", "modules")


def _damaged_lines(choice: random.Random, text: bytes) -> bytes:
    lines = text.split(b"\n")
    for _ in range(choice.choice((0, 1, 2, 4, 8))):
        if lines:
            choice.choice(MUTATIONS)(choice, lines)
    if lines and choice.random() < 0.2:
        words = lines[at := choice.randrange(len(lines))].split(b" ")
        odd = choice.choice(HOSTILE_TEXTS).encode("utf-8", "replace")
        words[choice.randrange(len(words))] = odd
        lines[at] = b" ".join(words)
    return b"\n".join(lines)[:_MOST_TEXT]


@functools.cache
def _machine(name: str) -> dict[str, str]:
    """The sections of a host's supportconfig: head, text."""
    from tests.audit.fleet_machines import FLEET
    from tests.audit.sosreport import archived

    node = FLEET[name]()
    found = {}
    for place, text in archived(node, node.texts()).items():
        command = place.startswith("sos_commands/")
        subject = place.rpartition("/")[2].replace("_", " ") if command else f"/{place}"
        kind = "Command" if command else "Configuration File"
        found[f"#==[ {kind} ]======================================#\n# {subject}\n"] = text
    return found


def damaged_supportconfig(choice: random.Random) -> bytes:
    from tests.audit.fleet_machines import FLEET

    sections = _machine(choice.choice(list(FLEET)))
    commands = [head for head in sections if "Command" in head]
    chosen = choice.sample(list(sections), min(len(sections), 30))
    chosen += choice.sample(commands, choice.randint(0, len(commands)))
    text = "\n".join(f"{head}{sections[head]}\n" for head in chosen)
    return choice.choice(_TEXTS).encode() + b"\0" + _damaged_lines(choice, text.encode())


def try_supportconfig(data: bytes) -> str:
    """Judged and shown; in place of a process of the engine we read the files ourselves."""
    from tests.audit.fleet import frames_of

    from wireproof.audit.document import audit_document
    from wireproof.audit.job import AuditSpecification, audit
    from wireproof.report.reporter import LoggingReporter
    from wireproof.report.text import document_text

    def collected(argv_of: dict[str, list[str]], wanted: Any) -> list[Any]:
        from wireproof.instrument.plan_text import Collected

        ((host, argv),) = argv_of.items()
        root = Path(argv[-1])
        kept = {
            str(path.relative_to(root)): path.read_text("utf-8", "replace")
            for path in root.rglob("*")
            if path.is_file()
        }
        return [Collected(host, tuple(frames_of(wanted, kept)))]

    def read() -> None:
        asked = AuditSpecification(source=folder)
        with mock.patch.object(import_module("wireproof.audit.job"), "collect", collected):
            shown.append(document_text(audit_document(audit(asked, LoggingReporter(), {}))))

    shown: list[str] = []
    name, _, text = data.partition(b"\0")
    with _folder() as folder:
        (folder / "basic-environment.txt").touch()
        (folder / f"{name.decode()}.txt").write_bytes(text)
        return _tried(read) or _climbs("".join(shown))


def _climbs(text: str) -> str:
    return next(
        (f"{one!r} in what is shown" for one in "\x1b\x9b\u202e\u2066\x07" if one in text), ""
    )


@functools.cache
def _readings(number: int) -> dict[str, bytes]:
    """Two readings of three hosts, as texts; every sixteenth as trees."""
    from tests.zoo.pfc_adapters import ADAPTERS
    from tests.zoo.pfc_trees import as_texts, as_trees
    from tests.zoo.pfc_worlds import SITUATIONS

    world = SITUATIONS[number % len(SITUATIONS)].world
    world = dataclasses.replace(world, hosts=dict(list(world.hosts.items())[:3]))
    adapter = ADAPTERS[number % len(ADAPTERS)]
    with _folder() as folder:
        (as_trees if number % 16 == 0 else as_texts)(folder, adapter, world)
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }


_READINGS = 64


def damaged_pauses(choice: random.Random) -> bytes:
    number = choice.randrange(_READINGS)
    name = choice.choice(list(_readings(number)))
    text = _damaged_lines(choice, _readings(number)[name])
    return b"%d\0%s\0" % (number, name.encode()) + text


def try_pauses(data: bytes) -> str:
    from wireproof.pfc.document import pfc_document
    from wireproof.pfc.job import judged, record_of, write_snapshot
    from wireproof.report.text import document_text

    def read() -> None:
        record = record_of(
            folder, nic="hsn0" if len(data) % 2 else "", seconds=len(data) % 9 or None
        )
        write_snapshot(folder / "kept", record)
        found = judged(record_of(folder / "kept"), len(data) % 8)
        shown.append(document_text(pfc_document(found)))

    shown: list[str] = []
    number, name, text = data.split(b"\0", 2)
    with _folder() as folder:
        for file, kept in (_readings(int(number)) | {name.decode(): text}).items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(kept)
        return _tried(read) or _climbs("".join(shown))


# --- recipes


@functools.cache
def _recipes() -> list[bytes]:
    places = (ROOT / "tests" / "golden" / "recipes").rglob("*")
    return [path.read_bytes() for path in sorted(places) if path.is_file()]


_SHELL = (",", "\\", "\\\n", "=", "'", '"', "$(", "`", "<<E", "${")


def damaged_recipe(choice: random.Random) -> bytes:
    lines = choice.choice(_recipes()).split(b"\n")
    start = choice.randrange(len(lines))
    lines = lines[start : start + choice.choice((3, 10, 60))]
    for _ in range(choice.choice((1, 2, 4, 8))):
        if lines:
            choice.choice(MUTATIONS)(choice, lines)
    if lines and choice.random() < 0.3:
        at = choice.randrange(len(lines))
        words = lines[at].split(b" ")
        odd = choice.choice((*HOSTILE_TEXTS, *_SHELL))
        words[choice.randrange(len(words))] = odd.encode("utf-8", "replace")
        lines[at] = b" ".join(words)
    return b"\n".join(lines)[: 1 << 16]


def try_recipe(data: bytes) -> str:
    from wireproof.lint.job import Filter
    from wireproof.lint.rule import KINDS
    from wireproof.report.names import clean

    text = data.decode("utf-8", "surrogateescape")
    kinds = (None, *KINDS)
    found: list[Any] = []
    kind = kinds[len(data) % len(kinds)]
    for one in (Filter.of(None, "warning"), Filter.of(kind, "warning")):
        if why := _tried(lambda one=one: found.extend(one.findings(text, "fuzz.sh"))):  # type: ignore[misc]
            return why
    clean(str(found), 1000)
    return ""
