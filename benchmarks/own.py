"""Figures that are ours alone and have a bound: harness floor, start of the program, size,
memory.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.paired import median_row
from benchmarks.rivals import parse_plain, plain_argv
from benchmarks.row import certain
from benchmarks.setting import Setting, compiler_of, find_intel, label_of, other_mpis
from benchmarks.stage import Stage, build_plain_loop, here
from wireproof.instrument import measure
from wireproof.launch.command import prepare, provenance
from wireproof.launch.engines import ABIS, MpiInstall, find_engine
from wireproof.measure.points import SIZES, numbered, sweep
from wireproof.model.claim import Claim, HostClaim
from wireproof.model.errors import CouldNotMeasure, WireproofError
from wireproof.model.pattern import Form, Pattern
from wireproof.model.plan import (
    ModelWorld,
    Plan,
    Point,
    Policy,
    RankPlace,
    Transport,
    TransportKind,
)
from wireproof.model.run import Run

__all__ = ["alone", "run"]

FLOOR, START, SIZE, MEMORY = "harness floor", "start", "size", "memory"
FLOOR_NS = 20.0
START_MS = 150.0
SIZE_MB = 2.0
MEMORY_MB = 64.0
PLAIN_BUFFERS_MB = 2 * SIZES[-1] / 1e6
STARTS = 20
FLOOR_RUNS = 9
PATTERNS: tuple[tuple[Pattern, Form], ...] = (
    ("pingpong", "latency"),
    ("stream", "stream"),
    ("exchange", "stream"),
    ("put", "latency"),
    ("put", "stream"),
    ("get", "latency"),
    ("get", "stream"),
)


def alone(
    kind: TransportKind, points: Sequence[Point], model: ModelWorld | None = None, seed: int = 1
) -> Run:
    """A run on the null or the model transport: one process, no launcher. Raises
    ``CouldNotMeasure``.
    """
    command = prepare(kind, None)
    plan = Plan(
        run_id=f"bench-{kind}",
        seed=seed,
        transport=Transport(kind=kind),
        points=tuple(points),
        model=model,
        ranks=tuple(RankPlace(index=rank, host="localhost") for rank in range(2)),
        policy=Policy(point_budget_ms=300, run_deadline_ms=60_000),
    )
    claim = Claim(hosts=[HostClaim(rank=rank, host="localhost") for rank in range(2)], wire=False)
    outcome = measure(plan, command, claim=claim, provenance=provenance(command, None))
    shutil.rmtree(outcome.folder, ignore_errors=True)
    if not outcome.complete:
        raise CouldNotMeasure(f"the {kind} transport: {outcome.ending.reason}")
    return outcome.run


def _floors(setting: Setting) -> None:
    setting.say(FLOOR)
    points = numbered(
        [
            Point(id=0, pattern=p, form=f, message_bytes=8, pairs=((0, 1),), budget_ms=20)
            for p, f in PATTERNS
        ],
        seed=1,
    )
    found: dict[tuple[Pattern, Form], list[float]] = {}
    for _ in range(FLOOR_RUNS):
        for floor in alone("null", points).floors:
            found.setdefault((floor.pattern, floor.form), []).append(floor.floor_ns)
    for pattern, form in PATTERNS:
        values = found.get((pattern, form), [])
        title = f"{pattern}, form {form}" if pattern in ("put", "get") else pattern
        if values:
            setting.add(
                median_row(
                    FLOOR, f"{title}, per operation on the null transport", "ns", values, FLOOR_NS
                )
            )
        else:
            setting.skip(FLOOR, title, "the engine told no floor for it")


def _children_ms() -> float:
    times = os.times()
    return 1e3 * (times.children_user + times.children_system)


def _start(setting: Setting) -> None:
    setting.say("wireproof --help")
    program = Path(sys.prefix) / "bin" / "wireproof"
    argv = [str(program)] if program.is_file() else [sys.executable, "-m", "wireproof"]
    walls: list[float] = []
    for number in range(STARTS + 1):
        begun = time.perf_counter()
        done = subprocess.run(
            [*argv, "--help"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
        )
        if done.returncode != 0:
            raise CouldNotMeasure(f"{argv[0]} --help ended with status {done.returncode}")
        if number > 0:  # the first fills the page cache
            walls.append(1e3 * (time.perf_counter() - begun))
        else:
            before = _children_ms()
    cpu = (_children_ms() - before) / STARTS
    note = f"processor time {cpu:.0f} ms (mean): what is more was spent waiting for a core"
    setting.add(median_row(START, "wireproof --help, wall time", "ms", walls, START_MS, note))


def _sizes(setting: Setting) -> None:
    for abi in ABIS:
        path = find_engine(abi)
        setting.add(certain(SIZE, path.name, "MB", path.stat().st_size / 1e6, SIZE_MB))


def _peak(run: Run) -> float:
    if run.close is None:
        raise CouldNotMeasure("our engine did not tell its memory")
    return run.close.peak_rss_bytes / 1e6


def _sweep_points() -> tuple[Point, ...]:
    points = sweep("pingpong", SIZES, [(0, 1)], budget_ms=60) + sweep(
        "stream", SIZES, [(0, 1)], budget_ms=60
    )
    return numbered(points + sweep("exchange", SIZES[-8:], [(0, 1)], budget_ms=60), seed=1)


def _memory_of(setting: Setting, install: MpiInstall) -> None:
    """Ours over a full sweep, less what the MPI itself takes for such traffic in a program without
    buffers.
    """
    stage: Stage = here(install)
    program = build_plain_loop(compiler_of(install), setting.scratch)
    whole = _peak(stage.engine(_sweep_points(), Policy(run_deadline_ms=120_000))[0])
    bare, same = (
        parse_plain(stage.rival(plain_argv(program, size, 1, rows))[0])[1] / 1e6
        for size, rows in ((8, 0), (SIZES[-1], -1))
    )
    note = (
        f"peak of ours {whole:.0f} MB; MPI_Init and one exchange {bare:.0f} MB; a plain program "
        f"that sends the same windows of messages {same:.0f} MB, of which {PLAIN_BUFFERS_MB:.0f} "
        "MB are its two buffers"
    )
    title = f"{label_of(install)}: sweep to 4 MiB, above the MPI's own, per rank"
    setting.add(
        certain(MEMORY, title, "MB", whole - (same - PLAIN_BUFFERS_MB), MEMORY_MB, note=note)
    )


def _memory(setting: Setting) -> None:
    setting.say(MEMORY)
    alone_peak = _peak(alone("null", _sweep_points()))
    setting.add(
        certain(
            MEMORY,
            "null transport: both ends in one process, all of it",
            "MB",
            alone_peak,
            2 * MEMORY_MB,
        )
    )
    installs = other_mpis()
    try:
        installs.insert(0, find_intel())
    except WireproofError as error:
        setting.skip(MEMORY, "Intel MPI", error, required=False)
    for install in installs:
        try:
            _memory_of(setting, install)
        except WireproofError as error:
            setting.skip(MEMORY, label_of(install), error)


def run(setting: Setting) -> None:
    """Adds the rows; what cannot run is named."""
    for group, part in ((FLOOR, _floors), (START, _start), (SIZE, _sizes), (MEMORY, _memory)):
        try:
            part(setting)
        except WireproofError as error:
            setting.skip(group, group, error)
