"""Where both sides run: the same launcher, the same environment, the same hosts; only the program
differs.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
import statistics
import subprocess
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

import msgspec

from benchmarks.turns import argv_of
from wireproof.instrument import measure
from wireproof.launch.command import prepare, provenance
from wireproof.launch.engines import MpiInstall, find_program
from wireproof.launch.mpi.environment import effective
from wireproof.launch.registry import LaunchCommand
from wireproof.model.claim import Claim, HostClaim
from wireproof.model.errors import CouldNotMeasure
from wireproof.model.plan import Plan, Point, Policy, RankPlace, Transport, WitnessPolicy
from wireproof.model.run import Run

if TYPE_CHECKING:
    from wireproof.lab.cluster import Lab

__all__ = ["NO_IDLE", "Stage", "bounce_of", "build_plain_loop", "here", "in_lab", "rival_argv"]

NO_IDLE = WitnessPolicy(idle_ms=0)
"""The idle window proves nothing here, where only times are compared."""
SAID_BYTES = 300


@dataclasses.dataclass(frozen=True, kw_only=True)
class Stage:
    """Two ranks of one MPI. ``command`` starts our engine; a rival takes its place at the end of
    the argv.
    """

    command: LaunchCommand
    install: MpiInstall | None
    hosts: tuple[str, str] = ("localhost", "localhost")
    nic: str = ""
    lab: Lab | None = None

    def _entered(self, argv: Sequence[str]) -> LaunchCommand:
        """``argv`` as it is started: in a lab the launcher itself runs inside the first node."""
        if self.lab is None:
            return dataclasses.replace(self.command, argv=tuple(argv))
        return dataclasses.replace(
            self.command,
            argv=tuple(self.lab.exec_argv(self.hosts[0], argv)),
            environment={**self.command.environment, **self.lab.agent_environment()},
        )

    def engine(
        self,
        points: Sequence[Point],
        policy: Policy | None = None,
        witness: WitnessPolicy = NO_IDLE,
    ) -> tuple[Run, float]:
        """(run, wall seconds of everything: launcher, MPI_Init, points, end). Raises
        ``CouldNotMeasure``.
        """
        plan = Plan(
            run_id=f"bench-{datetime.now(UTC):%H%M%S}-{token_hex(3)}",
            seed=1,
            transport=Transport(kind="mpi", expect=self.command.expect),
            ranks=tuple(
                RankPlace(index=i, host=host, nic=self.nic) for i, host in enumerate(self.hosts)
            ),
            points=tuple(_numbered(points)),
            policy=policy or Policy(),
            witness=witness,
        )
        claim = Claim(
            hosts=[HostClaim(rank=i, host=host, nic=self.nic) for i, host in enumerate(self.hosts)],
            wire=self.lab is not None,
            virtual=self.lab is not None,
        )
        begun = time.monotonic()
        command = self._entered(self.command.argv)
        outcome = measure(plan, command, claim=claim, provenance=provenance(command, self.install))
        seconds = time.monotonic() - begun
        shutil.rmtree(outcome.folder, ignore_errors=True)
        if outcome.ending.ended == "interrupted":
            raise KeyboardInterrupt
        if not outcome.complete:
            raise CouldNotMeasure(f"our engine: {outcome.ending.reason}")
        return outcome.run, seconds

    def rival(self, argv: Sequence[str], deadline_s: float = 120.0) -> tuple[str, float]:
        """(standard output, wall seconds) of another program under the same launcher. Raises
        ``CouldNotMeasure``.
        """
        command = self._entered(rival_argv(self.command, argv))
        guard = [
            str(find_program("wireproof-node")),
            "guard",
            "--deadline-ms",
            str(round(deadline_s * 1000)),
            "--",
        ]
        begun = time.monotonic()
        done = subprocess.run(
            [*guard, *command.argv],
            env=effective(command, os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=deadline_s + 30,
            check=False,
        )
        seconds = time.monotonic() - begun
        if done.returncode == 124:
            raise CouldNotMeasure(f"{Path(argv[0]).name} did not end within {deadline_s:.0f} s")
        if done.returncode != 0:
            said = " ".join((done.stderr or done.stdout).split())[-SAID_BYTES:]
            raise CouldNotMeasure(
                f"{Path(argv[0]).name} ended with status {done.returncode}: {said}"
            )
        return done.stdout, seconds


def _numbered(points: Sequence[Point]) -> list[Point]:
    return [msgspec.structs.replace(point, id=number) for number, point in enumerate(points)]


def rival_argv(command: LaunchCommand, argv: Sequence[str]) -> list[str]:
    """The launcher's argv with ``argv`` in the place of our engine."""
    if command.argv[-2:] != (str(command.engine), "run"):
        raise CouldNotMeasure(
            f"the launcher's command does not end with our engine: {' '.join(command.argv[-3:])}"
        )
    return [*command.argv[:-2], *argv]


def here(install: MpiInstall) -> Stage:
    """Two ranks on this machine: shared memory. Ours and theirs alike run before other work."""
    command = prepare("mpi", install, ranks=2)
    argv = (*command.argv[:-2], *argv_of(list(command.argv[-2:])))
    return Stage(command=dataclasses.replace(command, argv=argv), install=install)


def in_lab(install: MpiInstall, lab: Lab, hosts: tuple[str, str], nic: str) -> Stage:
    """One rank in each of two lab nodes, over TCP on ``nic``."""
    command = prepare(
        "mpi",
        install,
        hosts=hosts,
        nics=(nic, nic),
        agent=str(lab.agent),
        fabric="tcp",
        machine_ranks=2,
    )
    return Stage(command=command, install=install, hosts=hosts, nic=nic, lab=lab)


def bounce_of(run: Run) -> float | None:
    """Median of the raw cache-line bounces beside the blocks of a run, in ns."""
    seen = [
        sentinel.bounce_ns
        for point in run.points
        for pair in point.pairs
        for sentinel in pair.sentinels
        if sentinel.bounce_ns
    ]
    return statistics.median(seen) if seen else None


def build_plain_loop(compiler: Path, into: Path) -> Path:
    """``plain_loop`` compiled by an MPI's own compiler wrapper. Raises ``CouldNotMeasure`` with
    what it said.
    """
    program = into / f"plain_loop.{compiler.parent.parent.name}.{compiler.name}"
    argv = [str(compiler), "-O2", "-o", str(program), str(Path(__file__).with_name("plain_loop.c"))]
    if not compiler.is_file():
        raise CouldNotMeasure(f"there is no {compiler}")
    done = subprocess.run(
        argv, capture_output=True, text=True, errors="replace", timeout=120, check=False
    )
    if done.returncode != 0:
        raise CouldNotMeasure(f"{compiler} failed: {' '.join(done.stderr.split())[-SAID_BYTES:]}")
    return program
