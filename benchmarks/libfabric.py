"""Half round trip at 8 B through one libfabric provider, without an MPI: ours beside fi_pingpong's
own loop, both on loopback over the same library.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime
from secrets import token_hex

import msgspec

from benchmarks.contest import Contest
from benchmarks.latency import sample_of
from benchmarks.paired import Comparison, Sample
from benchmarks.setting import Setting
from benchmarks.stage import NO_IDLE
from wireproof.instrument import measure
from wireproof.launch.command import prepare, provenance
from wireproof.launch.here import meeting_point
from wireproof.launch.mpi.discovery import choose_mpi
from wireproof.logs.readers import read
from wireproof.model.claim import Claim, HostClaim
from wireproof.model.errors import CouldNotMeasure, WireproofError
from wireproof.model.plan import Libfabric, Plan, Point, Policy, RankPlace, Transport
from wireproof.model.run import Run

__all__ = ["rival_argv", "run"]

GROUP = "half round trip, 8 B, libfabric without MPI"
BYTES = 8
LOOPBACK = "127.0.0.1"
ITERATIONS = 10_000
"""Of one launch of theirs, which has no warm-up: 44 ms over tcp on a quiet machine."""
LAUNCHES = 3
"""Of theirs for one sample: their median counts."""
ROBUST_MS = 100
POINTS = 3
PROVIDERS = ("tcp", "shm")
TARGET = 1.02
HALF_DIGIT_NS = 5.0
"""Two decimals of us are printed."""
PATIENCE_S = 30.0
LISTENS_WITHIN_S = 0.3
HOST = "localhost"


def rival_argv(program: str, provider: str, port: int, *, client: bool) -> list[str]:
    """One end of ``fi_pingpong``: tagged messages over reliable datagrams, as ours."""
    argv = [program, "-p", provider, "-e", "rdm", "-m", "tagged"]
    argv += ["-I", str(ITERATIONS), "-S", str(BYTES)]
    return [*argv, "-P", str(port), LOOPBACK] if client else [*argv, "-B", str(port)]


def _theirs(program: str, provider: str) -> Sample:
    times = [_launch_of_theirs(program, provider) for _ in range(LAUNCHES)]
    return Sample({"time": statistics.median(times)})


def _launch_of_theirs(program: str, provider: str) -> float:
    """Both ends of ``fi_pingpong``; the half round trip that the client prints, in ns."""
    port = int(meeting_point(LOOPBACK).rpartition(":")[2])
    with subprocess.Popen(
        rival_argv(program, provider, port, client=False),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            time.sleep(LISTENS_WITHIN_S)
            client = subprocess.run(
                rival_argv(program, provider, port, client=True),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=PATIENCE_S,
                check=False,
            )
            server.wait(PATIENCE_S)
        except subprocess.TimeoutExpired as error:
            raise CouldNotMeasure(f"fi_pingpong -p {provider} did not end in time") from error
        finally:
            server.kill()
    return half_round_trip_ns(client.stdout, client.stderr)


def half_round_trip_ns(text: str, said: str = "") -> float:
    """Of the one size that ``fi_pingpong`` printed. Raises ``CouldNotMeasure``."""
    values = [
        point.hrt_ns
        for one in (read(text.encode(), "fi_pingpong") if text.strip() else ())
        for point in one.points
        if point.message_bytes == BYTES and point.hrt_ns
    ]
    if not values:
        raise CouldNotMeasure(f"fi_pingpong printed no row: {' '.join(said.split())[-200:]}")
    return statistics.median(values)


def _plan(provider: str) -> Plan:
    robust = Point(
        id=0, pattern="pingpong", message_bytes=BYTES, pairs=((0, 1),), budget_ms=ROBUST_MS
    )
    return Plan(
        run_id=f"bench-{datetime.now(UTC):%H%M%S}-{token_hex(3)}",
        seed=1,
        transport=Transport(kind="ofi", ofi=Libfabric(provider=provider)),
        ranks=tuple(RankPlace(index=i, host=HOST) for i in range(2)),
        points=tuple(msgspec.structs.replace(robust, id=number) for number in range(POINTS)),
        policy=Policy(point_budget_ms=500, run_deadline_ms=60_000),
        witness=NO_IDLE,
    )


def _launched(provider: str) -> Run:
    install = choose_mpi("mpich")
    command = prepare("ofi", install, ranks=2, meet=meeting_point(LOOPBACK), over="ofi")
    claim = Claim(hosts=[HostClaim(rank=i, host=HOST) for i in range(2)], wire=False)
    outcome = measure(
        _plan(provider), command, claim=claim, provenance=provenance(command, install)
    )
    shutil.rmtree(outcome.folder, ignore_errors=True)
    if outcome.ending.ended == "interrupted":
        raise KeyboardInterrupt
    if not outcome.complete:
        raise CouldNotMeasure(f"our engine: {outcome.ending.reason}")
    return outcome.run


def _ours(provider: str) -> Callable[[], Sample]:
    return lambda: sample_of(_launched(provider))


def _compared(setting: Setting, program: str, provider: str, until: float) -> None:
    rival = f"fi_pingpong -p {provider}"
    setting.say(f"{GROUP}: {rival}")
    wish = Comparison(
        title=f"{rival}: our robust",
        rival=rival,
        ours="robust",
        theirs="time",
        unit="ns",
        target=TARGET,
        resolution=HALF_DIGIT_NS,
    )
    rivals = {rival: lambda: _theirs(program, provider)}
    own = ("robust", "ns")
    setting.hold(Contest(GROUP, _ours(provider), rivals, [wish], own, setting.rounds), until)


def run(setting: Setting) -> None:
    """Adds the rows; what cannot run is named."""
    program = shutil.which("fi_pingpong")
    for number, provider in enumerate(PROVIDERS):
        try:
            if program is None:
                raise CouldNotMeasure("fi_pingpong is not on PATH (Debian package libfabric-bin)")
            _compared(setting, program, provider, setting.share(1 / (len(PROVIDERS) - number)))
        except WireproofError as error:
            setting.skip(GROUP, f"fi_pingpong -p {provider}", error)
