"""What both verbs say of a scene: ``check`` of its points that move much, ``prove`` of one long
stream.
"""

from collections.abc import Sequence
from dataclasses import replace

from tests.zoo.frames import run_of
from tests.zoo.parts import Adapter
from tests.zoo.scene import Move, Point, Scene, timeline
from tests.zoo.watched import proved

from wireproof.verdict.run import judge

STREAMS = (
    Point("pingpong", 8, seconds=0.1),
    Point("pingpong", 1 << 20),
    Point("stream", 4 << 20),
    Point("stream", 4 << 20, 1, 0),
)
MEMORY = {"rate": 14e9, "latency_s": 0.4e-6}


def verdicts(
    adapter: Adapter,
    nic: str,
    move: Move,
    *,
    boot_ids: Sequence[str] = ("boot-0", "boot-1"),
    **changes: object,
) -> set[str]:
    """What each verb says; ``changes``: of the scene."""
    rate = changes.pop("rate", 0.8 * adapter.rate)
    scene = Scene(
        adapter, move, nic=nic, points=STREAMS, rate=rate, with_rail=False, latency_s=3e-6
    )
    scene = replace(scene, **changes)
    pairs = judge(run_of(timeline(scene))).pairs
    found = {f"check: {one.proof}" for one in pairs if one.message_bytes > 65536}
    return found | {f"prove: {proved(scene, boot_ids).proof}"}


def both(proof: str) -> set[str]:
    """The same by both verbs."""
    return {f"check: {proof}", f"prove: {proof}"}
