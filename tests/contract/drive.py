"""Measures with the fake engine in a process of its own, to be interrupted, killed or starved of
disk by a test.

Usage: ``drive.py OUT POINTS [FILE_SIZE_LIMIT]``; prints ``point N`` for each sealed point and then
the outcome as JSON.
"""

import json
import os
import resource
import signal
import sys
from pathlib import Path

from wireproof.instrument import Recording, measure
from wireproof.launch.command import provenance
from wireproof.launch.registry import LaunchCommand
from wireproof.model.claim import Claim, HostClaim
from wireproof.model.plan import Plan, Point, RankPlace, Transport
from wireproof.model.record import Frame, PointRecord

FAKE = Path(__file__).with_name("fake_engine.py")


def plan(points: int = 4, **changes: object) -> Plan:
    """Two ranks, half round trips at 1, 2, 4, ... bytes."""
    sweep = tuple(
        Point(id=i, pattern="pingpong", message_bytes=1 << min(i, 20), pairs=((0, 1),))
        for i in range(points)
    )
    ranks = (RankPlace(index=0, host="a"), RankPlace(index=1, host="b"))
    fields = {
        "run_id": "contract",
        "seed": 3,
        "transport": Transport(kind="null"),
        "ranks": ranks,
        "points": sweep,
    }
    return Plan(**{**fields, **changes})  # type: ignore[arg-type]


def command(kind: str, mark: str = "") -> LaunchCommand:
    """The fake engine, sick in the way of ``kind``; ``mark`` finds its processes again."""
    environment = {"FAKE_ENGINE": kind, "FAKE_MARK": mark}
    return LaunchCommand(argv=(sys.executable, str(FAKE)), environment=environment, launcher="none")


CLAIM = Claim(hosts=[HostClaim(rank=0, host="a"), HostClaim(rank=1, host="b")])


def tell(frame: Frame) -> None:
    if isinstance(frame, PointRecord):
        print(f"point {frame.id}", flush=True)


def main() -> int:
    out, points = Path(sys.argv[1]), int(sys.argv[2])
    if len(sys.argv) > 3:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
    # The recorder has a handler of its own while it records; what a hasty user presses after that
    # is not its affair.
    signal.signal(signal.SIGINT, lambda *_: None)
    started = command(os.environ["FAKE_ENGINE"], os.environ.get("FAKE_MARK", ""))
    outcome = measure(
        plan(points),
        started,
        claim=CLAIM,
        provenance=provenance(started, None),
        recording=Recording(out=out, on_frame=tell),
    )
    print(
        json.dumps(
            {
                "ended": outcome.ending.ended,
                "reason": outcome.ending.reason,
                "points": len(outcome.run.points),
            }
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
