"""A sweep 0 B to 4 MiB over the 1 Gb/s lab link through Intel MPI: how long it takes, and whether
it agrees with IMB's.

IMB-P2P PingPong's default takes three minutes there. By default it is run here with fewer
repetitions, enough for its numbers, and its default time is derived from them by its own rule
(repetitions, a tenth for warm-up, 0.2 s of sleep per size); ``--full`` runs the default itself,
once.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from benchmarks.paired import Comparison, Interleaved, Sample, Triple, compare, interval_of
from benchmarks.rivals import (
    P2P_DEFAULT,
    ImbRow,
    imb_p2p_argv,
    p2p_default_seconds,
    p2p_repetitions,
    parse_imb,
    repeated,
)
from benchmarks.row import NotRun, Row
from benchmarks.setting import Setting, find_intel
from benchmarks.stage import Stage, in_lab
from wireproof.measure.points import SIZES, numbered, sweep
from wireproof.model.errors import CouldNotMeasure, WireproofError
from wireproof.model.plan import Point
from wireproof.model.run import Run
from wireproof.model.topology import Network, Topology

__all__ = [
    "MOST",
    "NUMERATOR",
    "Findings",
    "agreement",
    "default_seconds",
    "rows_of",
    "run",
    "time_of_size",
]

GROUP = "sweep 0 B to 4 MiB, 1 Gb/s lab, Intel MPI over TCP"
PAIRS = ((0, 1),)
MOST, NUMERATOR, REPEATS = 500, 8, 3
"""IMB-P2P -iter: 500 round trips, at most 8 MiB of them (2 at 4 MiB), and all sizes that many times
over in one launch: the median of short rows forgets a disturbance that a mean over a long one
keeps.
"""
PINGPONG_SHARE, BOTH_SHARE = 1 / 30, 1 / 12
QUIET_S = 184.0
"""IMB-P2P PingPong by default over such a link, measured on a quiet machine of two cores."""
AGREE = 0.02
FULL_DEADLINE_S = 900.0


@dataclass
class Findings:
    """What the rounds have found: wall seconds of the sweeps, precision of the points, times by
    size.
    """

    pingpong_s: list[float] = field(default_factory=list)
    both_s: list[float] = field(default_factory=list)
    imb_s: list[float] = field(default_factory=list)
    triples: list[Triple] = field(default_factory=list)
    """Half round trips in ns, the sizes as names: ours by IMB's formula, IMB's, ours again."""
    wide: list[str] = field(default_factory=list)
    labelled: int = 0
    points: int = 0
    full_s: float | None = None


def topology() -> Topology:
    network = Network(name="hsn", device="hsn0", rate="1gbit", mtu=1500, subnet="10.20.1.0/24")
    return Topology(nodes=("n1", "n2"), networks=(network,))


def formula_points() -> list[Point]:
    """IMB's loop and formula by our engine, with the repetitions that IMB is told to make."""
    return [
        msgspec.structs.replace(
            point, iterations=p2p_repetitions(point.message_bytes, MOST, NUMERATOR)
        )
        for point in sweep("pingpong", SIZES, PAIRS, formula="imb-p2p")
    ] * REPEATS


def time_of_size(rows: Sequence[ImbRow]) -> dict[int, float]:
    """Median of the half round trips in ns, by size. Raises ``CouldNotMeasure`` when a size is not
    there.
    """
    found = {
        size: statistics.median(times)
        for size in SIZES
        if (times := [row.half_round_trip_ns for row in rows if row.bytes == size])
    }
    if missing := [size for size in SIZES if size not in found]:
        raise CouldNotMeasure(f"IMB-P2P printed no row for {missing[0]} B")
    return found


def _note_robust(found: Findings, run: Run) -> None:
    """Precision of every point, and the half round trips."""
    for point in run.points:
        for pair in point.pairs:
            estimate = pair.estimate
            found.points += 1
            if estimate is None:
                found.wide.append(f"{point.pattern} {point.message_bytes} B has no estimate")
                continue
            if estimate.label != "stable":
                found.labelled += 1
            elif estimate.half_width > AGREE:
                found.wide.append(
                    f"{point.pattern} {point.message_bytes} B +/- {estimate.half_width:.1%}"
                )


def _formula_times(run: Run) -> dict[int, float]:
    """As ``time_of_size``, of our engine by IMB's formula."""
    times: dict[int, list[float]] = {}
    for point in run.points:
        for pair in point.pairs:
            if pair.formula_value_ns:
                times.setdefault(point.message_bytes, []).append(pair.formula_value_ns)
    return {size: statistics.median(several) for size, several in times.items()}


def _sample(times: dict[int, float]) -> Sample:
    return Sample({str(size): time for size, time in times.items()})


def _round(stage: Stage, found: Findings, sizes: Path) -> None:
    install = stage.install
    if install is None:
        raise CouldNotMeasure("no MPI")
    program = install.launcher.parent / "IMB-P2P"
    both = sweep("pingpong", SIZES, PAIRS) + sweep("stream", SIZES, PAIRS)
    run, seconds = stage.engine(numbered(sweep("pingpong", SIZES, PAIRS), seed=1))
    found.pingpong_s.append(seconds)
    _note_robust(found, run)
    before = _sample(_formula_times(stage.engine(formula_points())[0]))
    text, seconds = stage.rival(imb_p2p_argv(program, sizes, MOST, NUMERATOR, 0), 300.0)
    found.imb_s.append(seconds)
    after = _sample(_formula_times(stage.engine(formula_points())[0]))
    found.triples.append(Triple(before, _sample(time_of_size(parse_imb(text))), after))
    run, seconds = stage.engine(numbered(both, seed=1))
    found.both_s.append(seconds)
    _note_robust(found, run)


def default_seconds(found: Findings) -> float:
    """IMB's default time: measured with ``--full``, else derived from its own best times and its
    own repetitions.

    The best of the rounds, because a disturbed round would make IMB look slower than it is; and
    never more than what it took on a quiet machine.
    """
    if found.full_s is not None:
        return found.full_s
    best = {
        size: min(triple.theirs.values[str(size)] for triple in found.triples) for size in SIZES
    }
    return min(QUIET_S, p2p_default_seconds(best))


def _wall(found: Findings, title: str, ours: Sequence[float], target: float) -> Row:
    default = default_seconds(found)
    shares = [seconds / default for seconds in ours]
    interval = interval_of(shares)
    how = (
        f"IMB's default run here took {found.full_s:.0f} s"
        if found.full_s is not None
        else f"IMB was run with -iter {MOST},{NUMERATOR} -pause 0, {REPEATS} times each size"
        f" ({statistics.median(found.imb_s):.0f} s); the time of its default -iter "
        f"{P2P_DEFAULT[0]},{P2P_DEFAULT[1]} is derived from its own best times, {QUIET_S:.0f} s at "
        "most; --full runs it"
    )
    return Row(
        group=GROUP,
        title=title,
        unit="s",
        value=statistics.median(shares),
        pairs=len(shares),
        target=target,
        low=interval[0] if interval else None,
        high=interval[1] if interval else None,
        ours=statistics.median(ours),
        theirs=default,
        note=f"1/{1 / statistics.median(shares):.0f}; {how}",
    )


def agreement(found: Findings, size: int) -> Row | NotRun:
    """Same loop, same formula, same repetitions: within 2 % either way?"""
    wish = Comparison(
        title=f"{size} B: ours by IMB's formula",
        rival="",
        ours=str(size),
        theirs=str(size),
        unit="ns",
        target=AGREE,
        sense="within",
        states=False,
    )
    return compare(GROUP, wish, Interleaved({"": found.triples}))


def _precision(found: Findings) -> Row:
    """Share of points that are neither within 2 % nor labelled multimodal or unstable: must be
    none.
    """
    share = len(found.wide) / max(1, found.points)
    note = f"{found.points} points, {found.labelled} labelled multimodal or unstable"
    if found.wide:
        note += "; " + ", ".join(found.wide[:6])
    return Row(
        group=GROUP,
        title="points wider than 2 % and yet called stable",
        unit="share",
        quantity="share",
        value=share,
        low=share,
        high=share,
        target=0.0,
        pairs=found.points,
        note=note,
    )


def rows_of(found: Findings) -> list[Row | NotRun]:
    """Two times, one line of precision, one line for each size."""
    return [
        _wall(
            found,
            "wall time: our pingpong / IMB-P2P PingPong by default",
            found.pingpong_s,
            PINGPONG_SHARE,
        ),
        _wall(found, "wall time: our pingpong and stream / the same", found.both_s, BOTH_SHARE),
        _precision(found),
        *(agreement(found, size) for size in SIZES),
    ]


def _full(stage: Stage, found: Findings, setting: Setting) -> None:
    if stage.install is None:
        return
    setting.say("IMB-P2P PingPong with its own defaults (some minutes)")
    argv = imb_p2p_argv(stage.install.launcher.parent / "IMB-P2P", None, *P2P_DEFAULT, None)
    _, found.full_s = stage.rival(argv, FULL_DEADLINE_S)


def run(setting: Setting) -> None:
    """Adds the rows; what cannot run is named. The lab goes with us, however we end."""
    from wireproof.lab.cluster import up

    found = Findings()
    try:
        install = find_intel()
        with up(topology(), f"bench-{os.getpid()}", tied=True) as lab:
            stage = in_lab(install, lab, ("n1", "n2"), "hsn0")
            sizes = setting.file("sweep.txt", repeated(SIZES, REPEATS))
            for number in range(setting.lab_rounds):
                if time.monotonic() > setting.until:
                    setting.say(f"lab: out of time after {number} of {setting.lab_rounds} rounds")
                    break
                begun = time.monotonic()
                _round(stage, found, sizes)
                took = time.monotonic() - begun
                setting.say(f"lab: round {number + 1} of {setting.lab_rounds}: {took:.0f} s")
            if setting.full:
                _full(stage, found, setting)
    except WireproofError as error:
        setting.skip(GROUP, "Intel MPI in a lab", error)
    if found.both_s:
        setting.add(*rows_of(found))
