"""What is fuzzed besides the logs: frames, run folders, tables of pairs, TOML and topologies, and
what ``stored`` has.
"""

import contextlib
import dataclasses
import functools
import json
import os
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
from tests.atlas.test_read import GOOD as ATLAS
from tests.fuzz import stored
from tests.fuzz.mutate import MUTATIONS, damaged, seeds_of
from tests.fuzz.psm3 import damaged_statistics, try_statistics
from tests.fuzz.structure import HOSTILE_TEXTS, changed, text_of
from tests.synthetic import World, run_of

from wireproof.logs.readers import adapter_names
from wireproof.model.errors import WireproofError
from wireproof.model.frames import FrameReader, assemble
from wireproof.model.plan import Plan, Point, RankPlace, Transport
from wireproof.model.run import Run, RunDocument

ROOT = Path(__file__).parents[2]
_LONGEST = 20_000
_CLIMB = ("\x1b", "\x9b", "\u202e", "\u2066", "\x07")


@dataclasses.dataclass(frozen=True)
class Target:
    """``make`` gives the input of a random choice, ``tried`` says why it shows a fault ("" when it
    shows none).
    """

    make: Callable[[random.Random], bytes]
    tried: Callable[[bytes], str]


def _shown(text: str) -> str:
    return next((f"{letter!r} in what is shown" for letter in _CLIMB if letter in text), "")


def _refused(error: WireproofError) -> str:
    """A refusal may repeat a name of several lines: cli makes one harmless line of it. It may not
    be endless.
    """
    return f"the refusal has {len(str(error))} characters" if len(str(error)) > _LONGEST else ""


# --- frames

_WORLDS = (
    World(link="10gbe", mtu=9000, latency_ns=15_000.0, sizes=(8, 65536, 1 << 20)),
    World(
        link="edr",
        mtu=None,
        driver="mlx5",
        latency_ns=1_500.0,
        sizes=(0, 8, 1 << 20),
        patterns=("pingpong", "put"),
    ),
    World(
        link="10gbe",
        mtu=9000,
        nodes=3,
        sizes=(8, 1 << 20),
        speed=lambda a, b: 0.5 if a == 1 else 1.0,
    ),
    World(link="1gbe", path="shm", sizes=(8, 65536)),
)


@functools.cache
def _run(number: int) -> Run:
    return run_of(_WORLDS[number])


@functools.cache
def _frames(number: int) -> list[dict[str, Any]]:
    run = _run(number)
    frames = [run.open, *run.hosts, *run.idle, *run.points, run.close]
    return [json.loads(msgspec.json.encode(frame)) for frame in frames]


def _damaged_frames(choice: random.Random, number: int) -> bytes:
    frames = list(_frames(number))
    for _ in range(choice.choice((1, 1, 1, 2, 4))):
        index = choice.randrange(len(frames))
        kind = choice.random()
        if kind < 0.06 and len(frames) > 1:
            del frames[index]
        elif kind < 0.12:
            frames.insert(index, frames[choice.randrange(len(frames))])
        else:
            frames[index] = changed(choice, frames[index])
    lines = [text_of(choice, frame) for frame in frames]
    if choice.random() < 0.05:
        choice.choice(MUTATIONS)(choice, lines)
    return bytes([number]) + b"\n".join(lines) + b"\n"


def _judged(run: Run, *, page: bool) -> str:
    from tests.rendered import text_of

    from wireproof.cli.console import envelope_text
    from wireproof.locate.causes import explain
    from wireproof.locate.confirm import conclude
    from wireproof.locate.samples import samples_of
    from wireproof.locate.screen import screen
    from wireproof.measure.export import page_of
    from wireproof.model.claim import Criteria
    from wireproof.report.ink import Look
    from wireproof.report.json.result import document_of
    from wireproof.report.judged_run import JudgedRun
    from wireproof.verdict.run import judge

    judgement = judge(run)
    section = JudgedRun(
        title="fuzz", run=run, judgement=judgement, limits=None, criteria=Criteria(), lead=""
    )
    shown = text_of(section, Look())
    envelope_text(document_of(section))
    for metric in ("goodput", "hrt"):
        samples = samples_of(run, metric)  # type: ignore[arg-type]
        if samples is not None:
            explain(conclude(screen(samples, None), None), run)
    return _shown(shown + (page_of([section], "fuzz") if page else ""))


def _try_frames(data: bytes) -> str:
    base = _run(data[0] % len(_WORLDS))
    try:
        frames = [frame for _, frame in FrameReader().feed(data[1:])]
        run = assemble(frames, claim=base.claim, provenance=base.provenance, missing={})
        return _judged(run, page=len(data) % 64 == 0)
    except WireproofError as error:
        return _refused(error)


# --- folders


def _plan(run: Run) -> Plan:
    ranks = tuple(RankPlace(index=host.rank, host=host.host) for host in run.hosts)
    points = tuple(
        Point(
            id=one.id,
            pattern=one.pattern,
            message_bytes=one.message_bytes,
            pairs=((p.origin, p.target),),
        )
        for one in run.points
        for p in one.pairs[:1]
    )
    return Plan(run_id="r", seed=1, transport=Transport(kind="mpi"), ranks=ranks, points=points)


@functools.cache
def _document(number: int) -> dict[str, Any]:
    run = _run(number)
    document = RunDocument(
        claim=run.claim, provenance=run.provenance, plan=_plan(run), ended="done"
    )
    found: dict[str, Any] = json.loads(msgspec.json.encode(document))
    return found


_STRANGE = (
    "",
    "",
    "",
    "",
    "",
    "",
    "link:frames.jsonl",
    "link:run.json",
    "pipe:frames.jsonl",
    "folder:run.json",
    "link:.points.parquet.new",
    "link:points.parquet",
    "folder:points.parquet",
    "link:batches.parquet",
    "pipe:.batches.parquet.new",
    "link:confirm",
    "device:frames.jsonl",
)


def _damaged_folder(choice: random.Random) -> bytes:
    number = choice.randrange(len(_WORLDS))
    frames = _damaged_frames(choice, number) if choice.random() < 0.6 else _whole_frames(number)
    document = _document(number)
    for _ in range(choice.choice((0, 1, 1, 2))):
        document = changed(choice, document)
    return msgspec.json.encode(
        [
            choice.choice(_STRANGE),
            text_of(choice, document).decode("latin-1"),
            frames[1:].decode("latin-1"),
            choice.choice(HOSTILE_TEXTS).encode("utf-8", "replace").decode(),
        ]
    )


def _whole_frames(number: int) -> bytes:
    return bytes([number]) + b"".join(
        json.dumps(frame).encode() + b"\n" for frame in _frames(number)
    )


@contextlib.contextmanager
def _folder(data: bytes) -> Iterator[tuple[Path, Path]]:
    strange, document, frames, name = msgspec.json.decode(data, type=tuple[str, str, str, str])
    root = Path(tempfile.mkdtemp(prefix="wireproof-fuzz-"))
    try:
        victim = root / "victim"
        victim.write_bytes(b"precious")
        safe = "".join(letter for letter in name[:40] if letter not in "/\0") or "x"
        run = (
            root
            / os.fsencode(safe.encode("utf-8", "replace")).decode("utf-8", "replace").strip(".")
            / "run"
        )
        run.mkdir(parents=True, mode=0o700)
        (run / "run.json").write_bytes(document.encode("latin-1"))
        (run / "frames.jsonl").write_bytes(frames.encode("latin-1"))
        kind, _, place = strange.partition(":")
        if place:
            with contextlib.suppress(FileNotFoundError):
                (run / place).unlink()
        match kind:
            case "link":
                (run / place).symlink_to(victim)
            case "device":
                (run / place).symlink_to("/dev/zero")
            case "pipe":
                os.mkfifo(run / place)
            case "folder":
                (run / place).mkdir()
        yield root, run
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _try_folder(data: bytes) -> str:
    from wireproof.instrument.folder import open_folder
    from wireproof.store.load import load_run
    from wireproof.store.seal import seal
    from wireproof.workflow.locate import from_folder

    with _folder(data) as (root, run):
        faults = []
        for step in (
            lambda: _judged(load_run(run), page=False),
            lambda: seal(run) and "",
            lambda: from_folder(run.parent, None) and "",
            lambda: open_folder(run, resume=True).close() or "",
        ):
            try:
                faults.append(step() or "")
            except WireproofError as error:
                faults.append(_refused(error))
        if (root / "victim").read_bytes() != b"precious" or {
            path.name for path in root.iterdir()
        } != {"victim", run.parent.name}:
            faults.append("something was written outside the folder")
        return next(filter(None, faults), "")


# --- pairs, TOML, topologies

_PAIRS = [
    (
        "origin,target,goodput_bytes_per_s\nn1,n2,1e9\nn2,n1,9e8\nn1,n3,1e9\nn3,n1,1e9\nn2,n3,1e8\nn3,"
        "n2,1e9\n"
    ),
    "from;to;usec;round\na;b;1.5;0\nb;a;1.6;0\na;c;1.5;1\nc;a;9.9;1\nb;c;1;2\nc;b;2;2\n",
    'src,dst,MB/s\n"x, y",z,1000\nz,"x, y",1001\n',
]


def _damaged_text(choice: random.Random, seeds: list[bytes], most: int = 1 << 16) -> bytes:
    lines = choice.choice(seeds).split(b"\n")
    for _ in range(choice.choice((1, 1, 2, 3, 6))):
        if lines:
            choice.choice(MUTATIONS)(choice, lines)
    if choice.random() < 0.1 and lines:
        at = choice.randrange(len(lines))
        words = lines[at].replace(b",", b" ").split(b" ")
        words[choice.randrange(len(words))] = choice.choice(HOSTILE_TEXTS).encode(
            "utf-8", "replace"
        )
        lines[at] = b",".join(words)
    if choice.random() < 0.02:
        lines *= 50
    return b"\n".join(lines)[:most]


@functools.cache
def _parquet() -> bytes:
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.parquet"
        rows = duckdb.sql(
            "SELECT 'n' || i AS origin, 'n' || j AS target, 1e9 + i AS goodput_bytes_per_s "
            "FROM range(6) a(i), range(6) b(j)"
        )
        rows.write_parquet(str(path))
        return path.read_bytes()


def _damaged_pairs(choice: random.Random) -> bytes:
    if choice.random() < 0.2:
        data = bytearray(_parquet())
        for _ in range(choice.choice((1, 2, 8))):
            data[choice.randrange(len(data))] = choice.randrange(256)
        return b"P" + bytes(
            data[: choice.choice((len(data), len(data), choice.randrange(len(data))))]
        )
    return b"C" + _damaged_text(choice, [text.encode() for text in _PAIRS])


def _try_pairs(data: bytes) -> str:
    with tempfile.TemporaryDirectory(prefix="wireproof-fuzz-") as folder:
        path = Path(folder) / ("c_*.parquet" if data[:1] == b"P" else "c_[1-2]?.csv")
        path.write_bytes(data[1:])
        return max(_tried_reader(path, duckdb) for duckdb in (True, False))


def _tried_reader(path: Path, duckdb: bool) -> str:
    """Read a table of pairs with DuckDB, and as if it was not installed."""
    from wireproof.store import pairs
    from wireproof.workflow.locate import from_table

    with patch.object(pairs, "has_duckdb", lambda: duckdb):
        try:
            from_table(path, None)
        except WireproofError as error:
            return _refused(error)
    return ""


@functools.cache
def _toml_seeds() -> list[bytes]:
    found = [
        path.read_bytes()
        for folder in ("catalogue", "lab", "worlds")
        for path in (ROOT / "examples" / folder).glob("*.toml")
    ]
    found += [path.read_bytes() for path in (ROOT / "tests" / "golden" / "topology").glob("*.toml")]
    return [
        *found,
        ATLAS.encode(),
        b'link = "edr"\nnic = "ib0"\nsizes = ["8", "64KiB"]\nwindow = 64\njson = true\n',
        (
            b'[floor]\ntcp = 6000\nrocev2 = {value = 800, source = "here"}\n[rate]\none_pair_tcp = '
            b"1e6\n"
        ),
    ]


_DEEP = (
    *(
        b"[" * 300,
        b"a." * 300 + b"b = 1",
        b"x = {y = " * 200,
        b'z = """',
        b"'''",
        b'"a"."b".c = [',
        b"[[[",
    ),
    *(b"k = 0x" + b"f" * 5000, b"d = 1979-05-27T07:32:00Z", b"[a.b]\n[a]\n[a.b]"),
)


def _damaged_toml(choice: random.Random) -> bytes:
    data = _damaged_text(choice, _toml_seeds())
    if choice.random() < 0.1:
        at = choice.randint(0, len(data))
        data = data[:at] + b"\n" * choice.randint(0, 1) + choice.choice(_DEEP) + data[at:]
    return data


def _try_toml(data: bytes) -> str:
    from wireproof.atlas import sources_of
    from wireproof.catalogue import use_catalogue
    from wireproof.lab.topology_file import load_topology
    from wireproof.model.site import use_site
    from wireproof.options.resolve import read_file, resolve
    from wireproof.physics.table import default_table, override
    from wireproof.topology import read_own
    from wireproof.workflow.locate import _world_of

    text = data.decode("utf-8", "replace")
    with tempfile.TemporaryDirectory(prefix="wireproof-fuzz-") as folder:
        path = Path(folder) / "x.toml"
        path.write_bytes(data)
        for step in (
            lambda: read_own(text),
            lambda: override(default_table(), text),
            lambda: load_topology(path),
            lambda: sources_of(text, "fuzz"),
            lambda: _world_of(path),
            lambda: resolve({}, {}, read_file(path)),
            lambda: use_catalogue(path.parent),
        ):
            try:
                step()
            except WireproofError as error:
                if why := _refused(error):
                    return why
            finally:
                use_site(())
    return ""


@functools.cache
def _topology_seeds() -> list[bytes]:
    return [
        path.read_bytes()
        for path in sorted((ROOT / "tests" / "golden" / "topology").iterdir())
        if path.is_file()
    ]


def _try_topology(data: bytes) -> str:
    from wireproof.topology import against, leaf_numbers, read_topology

    try:
        fabric = read_topology(data.decode("utf-8", "replace"), "fuzz")
        nodes = [each.node for each in fabric.attachments][:50]
        known, _ = against(fabric, nodes or ["n1", "n2"])
        leaf_numbers(known, nodes)
    except WireproofError as error:
        return _refused(error)
    return ""


@functools.cache
def _log_seeds() -> list[list[bytes]]:
    return [seeds for tool in adapter_names() if (seeds := seeds_of(tool))]


def _try_log(data: bytes) -> str:
    from wireproof.logs.document import brief_part, series_section
    from wireproof.logs.job import Standard, judge_bytes
    from wireproof.logs.json import encoded
    from wireproof.physics.claims import claim_from_text
    from wireproof.report.text import part_text

    try:
        series = judge_bytes(
            data, "fuzz", Standard(link=claim_from_text(("10gbe", "edr", "1gbe")[len(data) % 3]))
        )
    except WireproofError as error:
        return _refused(error)
    shown = "".join(
        part_text(series_section(one)) + part_text(brief_part(one)) + encoded(one).decode()
        for one in series
    )
    return _shown(shown)


TARGETS: dict[str, Target] = {
    "logs": Target(lambda choice: damaged(choice, choice.choice(_log_seeds())), _try_log),
    "frames": Target(
        lambda choice: _damaged_frames(choice, choice.randrange(len(_WORLDS))), _try_frames
    ),
    "folders": Target(_damaged_folder, _try_folder),
    "pairs": Target(_damaged_pairs, _try_pairs),
    "toml": Target(_damaged_toml, _try_toml),
    "psm3": Target(damaged_statistics, try_statistics),
    "topologies": Target(lambda choice: _damaged_text(choice, _topology_seeds()), _try_topology),
    "documents": Target(stored.damaged_document, stored.try_document),
    "results": Target(stored.damaged_result, stored.try_result),
    "histories": Target(stored.damaged_history, stored.try_history),
    "archives": Target(stored.damaged_archive, stored.try_archive),
    "snapshots": Target(stored.damaged_snapshot, stored.try_snapshot),
    "supportconfigs": Target(stored.damaged_supportconfig, stored.try_supportconfig),
    "pauses": Target(stored.damaged_pauses, stored.try_pauses),
    "recipes": Target(stored.damaged_recipe, stored.try_recipe),
}

COUNTS = {
    "logs": 200,
    "frames": 100,
    "folders": 63,
    "pairs": 38,
    "toml": 375,
    "psm3": 100,
    "topologies": 1000,
    "documents": 200,
    "results": 30,
    "histories": 38,
    "archives": 100,
    "snapshots": 375,
    "supportconfigs": 25,
    "pauses": 50,
    "recipes": 150,
}
"""Inputs of a short run: a second or two of each. A slow test runs forty times as many."""
