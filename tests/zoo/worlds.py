"""Random worlds: any adapter at both ends, any disturbance, a known true path; the verdict is held
against the truth.

``python -m tests.zoo.worlds --count 100000`` prints how many verdicts were false, how many were
undecided where an expert with the same files decides, and the seeds; ``--show SEED`` tells one
world.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import random
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from tests.zoo.animals import ZOO
from tests.zoo.expert import Opinion, opinion
from tests.zoo.frames import run_of
from tests.zoo.matrix import verdict_of
from tests.zoo.parts import Adapter
from tests.zoo.ramp import Accident
from tests.zoo.scene import Move, Other, Point, Scene, ports_of, rail_of, timeline
from tests.zoo.watched import proved

from wireproof.verdict.run import judge

_PATHS = (
    ("claimed",) * 6
    + ("memory",) * 4
    + ("eth0",) * 2
    + ("rail", "half", "part", "loop", "turned", "turned")
)
_SIZES = (0, 8, 1024, 65536, 1 << 20, 4 << 20)


@dataclass(frozen=True)
class Outcome:
    """One world judged. ``fault``: "", or what is false about the verdict; ``undecided``: an expert
    would decide.
    """

    seed: int
    got: str
    fault: str
    decidable: bool
    undecided: bool
    path: str


def world(seed: int) -> Scene:
    """The world of that seed."""
    rng = random.Random(seed)
    near = _drawn(ZOO, f"near {seed}")
    carrier = rng.choice(sorted(near.shares))
    partners = [one for one in ZOO if carrier in one.shares and one.known == near.known]
    far = _drawn(partners, f"far {seed}") if rng.random() < 0.3 else near
    path = rng.choice(_PATHS)
    if path == "turned" and not (near.turns and far is near):
        path = "claimed"
    move = _move(path, carrier, rng)
    line = min(near.rate, far.rate)
    scene = Scene(
        near,
        move,
        nic=near.claimed if _leads_inside(near, far) or rng.random() < 0.75 else "",
        points=_points(rng),
        far=far,
        seed=seed,
        late_s=rng.choice((0.0,) * 6 + (0.1, 0.4, 0.7, 1.0)),
        start=rng.choice(("anywhere",) * 6 + ("near-end", "pegged")),
        hidden=rng.random() < 0.05,
        one_adapter=path == "turned",
        with_rail=path != "turned" and rng.random() < 0.7,
        **_speed(path, carrier, line, rng),
    )
    if path in ("rail", "half"):  # the rail may be a slower port
        lines = [125e3 * (rail_of(end).speed_mbps or math.inf) for end in (near, far)]
        scene = replace(scene, with_rail=True, rate=min(scene.rate, 0.95 * min(lines)))
    return replace(scene, others=(*_others(scene, line, rng), *_management(rng)))


def accident(seed: int) -> Scene:
    """The world of that seed, in which something happens to a port of one host, or whose hosts
    are two containers of one machine.
    """
    scene, rng = world(seed), random.Random(f"accident {seed}")
    kernel, host = rng.random() < 0.2, rng.randrange(2)
    kind = rng.choice(("reset", "back", "renamed", "moves"))
    names = [port.name for port in ports_of(scene, host) if port.nic]
    legs = [port.name for port in ports_of(scene, host) if port.master]
    to = ""
    if kind == "moves" and len(legs) == 2:
        names, to = [legs[0]], legs[1]
    elif kind == "moves":
        kind = "reset"
    port, at_s = rng.choice(names), rng.uniform(1.2, 5.0)
    struck = Accident(kind, host, port, at_s, round(10 ** rng.uniform(1, 6)), to)
    start = "fresh" if kind == "reset" and rng.random() < 0.5 else scene.start
    return replace(scene, one_kernel=kernel, accidents=(struck,), start=start)


def _drawn(adapters: Sequence[Adapter], lot: str) -> Adapter:
    """Each is as likely; an adapter that is new in the zoo changes only the worlds that draw it."""
    return max(adapters, key=lambda one: zlib.crc32(f"{lot} {one.key}".encode()))


def _management(rng: random.Random) -> tuple[Other, ...]:
    """Logins, file servers and monitoring on eth0: bursts that no quiet moment announces, each on
    one host.
    """
    return tuple(
        Other(
            "eth0",
            10 ** rng.uniform(4, 8),
            start_s=(start := rng.uniform(0.0, 10.0)),
            end_s=start + 10 ** rng.uniform(-2.5, -0.3),
            hosts=(rng.randrange(2),),
            ways=rng.choice((("tx", "rx"), ("tx",), ("rx",))),
        )
        for _ in range(rng.choice((0, 4, 12, 24)))
    )


def _leads_inside(*adapters: Adapter) -> bool:
    """Beside a real port a veth leads to a container of the same host, unless it is claimed."""
    return any(port.link_kind == "veth" for one in adapters for port in one.ports)


def _move(path: str, carrier: str, rng: random.Random) -> Move:
    share = rng.uniform(0.15, 0.85)
    return {
        "claimed": Move(claimed=1.0, carrier=carrier),
        "turned": Move(claimed=1.0, carrier=carrier, turned=True),
        "memory": Move(carrier=carrier),
        "eth0": Move(eth0=1.0, carrier=carrier),
        "rail": Move(rail=1.0, carrier=carrier),
        "half": Move(claimed=share, rail=1.0 - share, carrier=carrier),
        "part": Move(claimed=share, carrier=carrier),
        "loop": Move(loop=1.0, carrier=carrier),
    }[path]


def _speed(path: str, carrier: str, line: float, rng: random.Random) -> dict[str, float]:
    """Rate and latency of the path taken, some of them slow: memory is not always fast."""
    if path in ("memory", "part", "loop"):
        return {"rate": rng.uniform(2e9, 2e10), "latency_s": rng.choice((0.3e-6, 0.6e-6, 4e-6))}
    if path == "eth0":
        return {"rate": 0.115e9, "latency_s": 25e-6}
    latency = 15e-6 if carrier == "kernel" else 2e-6
    return {"rate": rng.uniform(0.3, 0.95) * line, "latency_s": latency * rng.uniform(0.8, 3)}


def _points(rng: random.Random) -> tuple[Point, ...]:
    found = []
    for _ in range(rng.randint(2, 6)):
        pattern = rng.choice(("pingpong", "stream"))
        size = rng.choice(_SIZES if pattern == "pingpong" else _SIZES[2:])
        ends = rng.choice(((0, 1), (1, 0)))
        found.append(Point(pattern, size, *ends, seconds=rng.choice((0.05, 0.2, 0.5, 1.2))))
    return (
        *found,
        Point("stream", 1 << 20, seconds=0.3),
        Point("stream", 1 << 20, 1, 0, seconds=0.3),
    )


def _others(scene: Scene, line: float, rng: random.Random) -> tuple[Other, ...]:
    found: list[Other] = []
    for _ in range(rng.choice((0, 0, 0, 1, 1, 2))):
        port = rng.choice(("claimed", "claimed", "eth0", "rail" if scene.with_rail else "claimed"))
        carriers = set(scene.adapter.shares) & set(scene.end(1).shares)
        carrier = "kernel" if port == "eth0" or "kernel" in carriers else sorted(carriers)[0]
        top = 0.115e9 if port == "eth0" else line
        rate = top * 10 ** rng.uniform(-4, -0.05)
        hosts = rng.choice(((0, 1), (0,), (1,)))
        ways = rng.choice((("tx", "rx"), ("tx",), ("rx",)))
        other = Other(port, rate, carrier=carrier, hosts=hosts, ways=ways)
        kind = rng.choice(("constant", "points", "burst", "late"))
        if kind == "points":
            other = replace(other, during_points=True)
        elif kind == "burst":
            start = rng.uniform(2.0, 4.0)
            other = replace(other, start_s=start, end_s=start + rng.uniform(0.1, 2.0))
        elif kind == "late":
            other = replace(other, start_s=2.25)
        found.append(other)
    return tuple(found)


def outcome(seed: int, build: Callable[[int], Scene] = world) -> Outcome:
    """Judge the world of that seed and hold the verdict against the truth."""
    scene = build(seed)
    played = timeline(scene)
    found = judge(run_of(played))
    got, level, _ = verdict_of(found)
    mind = opinion(played)
    fault = _fault(mind, got, level)
    for pair in found.pairs:
        excused = pair.point in mind.blurred_small or mind.may_be_on_wire
        if not fault and pair.message_bytes < 65536 and pair.proof == "on-wire" and not excused:
            fault = "false on-wire (small point)"
    return Outcome(
        seed,
        got,
        fault,
        mind.decision != "",
        bool(mind.decision and got == "unproven"),
        _named(scene.move),
    )


def proved_fault(seed: int, build: Callable[[int], Scene] = world) -> str:
    """What is false about ``prove``'s verdict on that world, in which a program streams for two
    seconds.
    """
    scene = build(seed)
    if all(port.kind == "virtual" for host in (0, 1) for port in ports_of(scene, host)):
        scene = replace(scene, late_s=0.0)  # software counts at once, and is not waited for
    stream = replace(scene, points=(Point("stream", 1 << 20, seconds=2.0),))
    found = proved(scene)
    return _fault(opinion(timeline(stream)), found.proof, found.level or "")


def _fault(mind: Opinion, got: str, level: str) -> str:
    if mind.blurred and got in ("on-wire", "wrong-path", "mixed"):
        return ""
    if got == "on-wire":
        if not mind.may_be_on_wire:
            return "false on-wire"
        seen = level != "wire" or mind.wire_level
        return "" if seen else "on-wire at a level that was not seen"
    false = {
        "off-wire": mind.crossed_share > 0.05,
        "wrong-path": mind.elsewhere_share < 0.4,
        "mixed": mind.whole,
    }
    return f"false {got}" if false.get(got) else ""


def _named(move: Move) -> str:
    if move.turned:
        return "turned"
    parts = {"claimed": move.claimed, "rail": move.rail, "eth0": move.eth0, "loop": move.loop}
    names = [name for name, share in parts.items() if share > 0]
    return "+".join(names) + ("+memory" if 0 < sum(parts.values()) < 0.999 else "") or "memory"


def tally(outcomes: Iterator[Outcome], keep: int = 20) -> tuple[Counter[str], dict[str, list[int]]]:
    """Counts, and the first seeds of each fault."""
    counts: Counter[str] = Counter()
    seeds: dict[str, list[int]] = {}
    for one in outcomes:
        counts["worlds"] += 1
        counts[f"{one.path} -> {one.got}"] += 1
        counts["decidable"] += one.decidable
        counts["undecided"] += one.undecided
        for name in filter(None, (one.fault, "undecided" if one.undecided else "")):
            if name == one.fault:
                counts[name] += 1
            if len(seeds.setdefault(name, [])) < keep:
                seeds[name].append(one.seed)
    return counts, seeds


def _show(seed: int) -> None:
    scene = world(seed)
    played = timeline(scene)
    found = judge(run_of(played))
    say = sys.stdout.write
    say(
        f"{scene.adapter.key} / {scene.end(1).key}: {scene.move}\n nic {scene.nic!r} late "
        f"{scene.late_s} {scene.start}"
    )
    say(f" hidden {scene.hidden} rate {scene.rate:.3g} line {scene.adapter.rate:.3g}\n")
    for other in scene.others:
        say(f" {other}\n")
    say(f" {opinion(played)}\n verdict {verdict_of(found)}\n")
    for pair in found.pairs:
        say(
            f"  {pair.pattern} {pair.message_bytes} {pair.origin}->{pair.target} {pair.proof} "
            f"{pair.codes}"
        )
        say(f" expected {pair.expected_bytes} seen {pair.seen_bytes}\n")
    for finding in found.findings:
        say(f"  {finding.severity} {finding.code}: {finding.message[:220]}\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--show", type=int, default=None, metavar="SEED")
    given = parser.parse_args()
    if given.show is not None:
        _show(given.show)
        return 0
    os.nice(5)
    seeds = range(given.first, given.first + given.count)
    with multiprocessing.Pool(given.processes) as pool:
        counts, failed = tally(pool.imap_unordered(outcome, seeds, chunksize=100))
    for name, count in sorted(counts.items()):
        sys.stdout.write(f"{count:8} {name}\n")
    for name, listed in sorted(failed.items()):
        sys.stdout.write(f"{name}: seeds {listed}\n")
    share = counts["undecided"] / max(1, counts["decidable"])
    false = sum(count for name, count in counts.items() if name.startswith(("false", "on-wire at")))
    sys.stdout.write(
        f"{counts['worlds']} worlds, {false} false, undecided {share:.2%} of "
        f"{counts['decidable']}\n"
    )
    return 1 if false or share > 0.05 else 0


if __name__ == "__main__":
    sys.exit(main())
