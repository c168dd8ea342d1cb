"""Processes of tests: run to their end, with what they print."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.records import made_plan

from wireproof.instrument import Recording, measure
from wireproof.instrument.plan_text import write_plan
from wireproof.launch.command import prepare, provenance
from wireproof.model.claim import Claim, HostClaim
from wireproof.model.frames import decode_frame
from wireproof.model.plan import ModelWorld, Plan, Point, Policy
from wireproof.model.record import Frame, PointRecord

_BUILT = Path(__file__).resolve().parents[1] / "build" / "bin"
ENGINE = Path(os.environ.get("WIREPROOF_ENGINE_DIR") or _BUILT) / "wireproof-engine.nompi"


def ran(argv: Sequence[str | Path], **more: Any) -> subprocess.CompletedProcess[str]:
    """Whatever its status. ``more``: what else ``subprocess.run`` takes."""
    return subprocess.run(argv, capture_output=True, text=True, check=False, **more)


def frames_of(plan: Plan, *statuses: int) -> list[Frame]:
    """What the engine without an MPI answers to ``plan``; it ends with one of ``statuses``, or
    with 0.
    """
    done = ran([ENGINE, "run"], input=write_plan(plan), timeout=120)
    assert done.returncode in (0, *statuses), (done.stdout[-500:], done.stderr[:500])
    return [decode_frame(line.encode()) for line in done.stdout.splitlines() if line.strip()]


def measured(
    points: Sequence[Point], ranks: int, model: ModelWorld, folder: Path
) -> list[PointRecord]:
    """What the engine measures in the model's world, each rank on a host that it plays."""
    command = prepare("model", None)
    hosts = [f"n{rank}" for rank in range(ranks)]
    policy = Policy(point_budget_ms=30, warmup_min_us=50, block_us=200)
    claimed = [HostClaim(rank=rank, host=host) for rank, host in enumerate(hosts)]
    outcome = measure(
        made_plan(points, *hosts, kind="model", seed=3, policy=policy, model=model),
        command,
        claim=Claim(hosts=claimed, wire=False),
        provenance=provenance(command, None),
        recording=Recording(out=folder),
    )
    assert outcome.complete, outcome.ending
    return sorted(outcome.run.points, key=lambda point: point.id)
