"""OSU's osu_latency and osu_bw, when the user has them: OSU_HOME=/path make bench."""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Callable
from pathlib import Path

from benchmarks.contest import Contest
from benchmarks.paired import Comparison, Sample
from benchmarks.rivals import osu_argv, parse_osu
from benchmarks.setting import Setting, find_intel, label_of, other_mpis
from benchmarks.stage import Stage, bounce_of, here
from wireproof.launch.engines import MpiInstall
from wireproof.model.errors import CouldNotMeasure, WireproofError
from wireproof.model.plan import Point, Policy
from wireproof.model.run import Run

__all__ = ["find_osu", "run"]

GROUP = "OSU, shared memory"
LARGE = 1 << 20
COUNTS = {"osu_latency": (8, 5000, 2000), "osu_bw": (LARGE, 20, 4)}
"""(bytes, timed, warm-up): its default skip of 100 ends inside Intel MPI's start-up transient (0.25
for 0.16 us).
"""
HALF_DIGIT = 0.005
"""Two decimals are printed: us for latency, 10^6 B/s for bandwidth."""
WISHES = (
    Comparison(
        title="osu_latency 8 B: our osu",
        rival="osu_latency",
        ours="osu_latency",
        theirs="value",
        unit="us",
        target=1.02,
        resolution=HALF_DIGIT,
    ),
    Comparison(
        title="osu_bw 1 MiB: our osu",
        rival="osu_bw",
        ours="osu_bw",
        theirs="value",
        unit="MB/s",
        target=0.98,
        sense="at least",
        resolution=HALF_DIGIT,
    ),
)


def find_osu(home: Path) -> dict[str, Path]:
    """osu_latency and osu_bw anywhere below ``home``. Raises ``CouldNotMeasure`` when one is not
    there.
    """
    found: dict[str, Path] = {}
    for name in COUNTS:
        programs = [
            path
            for path in sorted(home.rglob(name))
            if path.is_file() and path.stat().st_mode & 0o111
        ]
        if not programs:
            raise CouldNotMeasure(f"OSU_HOME={home} has no program {name} below it")
        found[name] = programs[0]
    return found


def _points() -> list[Point]:
    latency = Point(
        id=0, pattern="pingpong", message_bytes=8, pairs=((0, 1),), formula="osu", iterations=5000
    )
    stream = Point(
        id=0,
        pattern="stream",
        form="stream",
        message_bytes=LARGE,
        pairs=((0, 1),),
        formula="osu",
        iterations=20 * 64,
    )
    return [latency, latency, stream] * 3


def _sample(run: Run, _seconds: float) -> Sample:
    """us and 10^6 B/s, as OSU prints them."""
    values: dict[str, list[float]] = {}
    for point in run.points:
        for pair in point.pairs:
            if time := pair.formula_value_ns:
                one = time / 1e3 if point.pattern == "pingpong" else LARGE * 1e3 / time
                values.setdefault(
                    "osu_latency" if point.pattern == "pingpong" else "osu_bw", []
                ).append(one)
    return Sample(
        {name: statistics.median(found) for name, found in values.items()}, bounce_of(run)
    )


def _rival(stage: Stage, name: str, program: Path) -> Callable[[], Sample]:
    size, timed, warm_up = COUNTS[name]
    argv = osu_argv(program, size, timed, warm_up)

    def once() -> Sample:
        values = parse_osu(stage.rival(argv)[0])
        if size not in values:
            raise CouldNotMeasure(f"{name} printed no row for {size} B")
        return Sample({"value": values[size]})

    return once


def _fitting(program: Path) -> MpiInstall:
    """The MPI that the program answers to: the first that runs it with two ranks."""
    installs = other_mpis()
    with contextlib.suppress(WireproofError):
        installs.append(find_intel())
    said: list[str] = []
    for install in installs:
        try:
            if parse_osu(here(install).rival(osu_argv(program, 8, 10, 1), 30.0)[0]):
                return install
            said.append(f"{label_of(install)}: no table")
        except WireproofError as error:
            said.append(f"{label_of(install)}: {error}")
    raise CouldNotMeasure(f"no MPI here runs {program}: {'; '.join(said)}")


def run(setting: Setting) -> None:
    """Adds the rows when OSU_HOME is set."""
    if not setting.osu_home:
        setting.skip(GROUP, "osu_latency, osu_bw", "OSU_HOME is not set", required=False)
        return
    try:
        programs = find_osu(Path(setting.osu_home))
        stage = here(_fitting(programs["osu_latency"]))
        rivals = {name: _rival(stage, name, program) for name, program in programs.items()}
        contest = Contest(
            GROUP,
            lambda: _sample(*stage.engine(_points(), Policy(run_deadline_ms=90_000))),
            rivals,
            WISHES,
            rounds=setting.rounds,
        )
        setting.hold(contest, setting.until)
    except (WireproofError, OSError) as error:
        setting.skip(GROUP, "osu_latency, osu_bw", str(error))
