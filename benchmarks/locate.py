"""``locate`` on synthetic worlds with planted faults: how often the culprit is named, and how often
an innocent is.

Seeded. A sweep is what `check` does: screen, analysis, then the suspects alone with known-good
partners. Worlds: sigma 2 %, healthy ports 0.5 % apart, 3 % of the samples with a one-sided tail,
unless a row says otherwise.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable

from benchmarks.row import Row, Sense
from benchmarks.setting import Setting, add_share
from wireproof.locate.confirm import conclude
from wireproof.locate.screen import screen
from wireproof.locate.screen.screened import Screened
from wireproof.locate.world import World, WorldFault
from wireproof.measure.schedule import alone_rounds, confirm_rounds, screen_rounds
from wireproof.model.located import Direction, Located, Metric

__all__ = ["run", "sweep"]

GROUP = "locate"


def sweep(
    world: World,
    *,
    rounds: int | None = None,
    fabric: bool = True,
    seed: int = 1,
    metric: Metric = "goodput",
) -> tuple[Screened, Located]:
    """Screen, confirm, conclude, as `check` does."""
    leaves = world.leaf.tolist() if fabric else None
    known = world.fabric() if fabric else None
    screened = screen(
        world.measure(screen_rounds(world.nodes, leaves, seed, rounds), metric), known
    )
    number = {name: index for index, name in enumerate(world.names)}
    nodes = [number[one.nodes[0]] for one in screened.suspects]
    pairs = [(number[one.nodes[0]], number[one.nodes[1]]) for one in screened.pairs]
    good = [number[name] for name in screened.good]
    again = confirm_rounds(nodes, good, leaves, seed) if nodes else []
    again += alone_rounds(pairs, leaves) if pairs else []
    return screened, conclude(screened, world.measure(again, metric, alone=True) if again else None)


def _named(located: Located) -> set[str]:
    return {one.subject for one in located.blames if one.kind in ("node", "port")}


def _slow_nodes(world: World, numbers: Iterable[int], share: float) -> World:
    faults = tuple(WorldFault(kind="node", node=number, share=share) for number in numbers)
    return World(nodes=world.nodes, leaves=world.leaves, seed=world.seed, faults=faults)


def _power(setting: Setting, nodes: int, worlds: int, each: int, target: float) -> None:
    """``each`` nodes 5 % slow in both directions, anywhere; 12 rounds."""
    hits = trials = wrong = 0
    until = setting.share(0.4)
    for seed in range(worlds):
        if time.monotonic() > until:
            break
        bad = [(seed * 7919 + place * nodes // each) % nodes for place in range(each)]
        world = _slow_nodes(
            World(nodes=nodes, leaves=max(1, nodes // 16), seed=seed + 1), bad, 0.95
        )
        named = _named(sweep(world, rounds=12, seed=seed)[1])
        culprits = {world.names[number] for number in bad}
        hits, trials, wrong = (
            hits + len(named & culprits),
            trials + each,
            wrong + len(named - culprits),
        )
    note = f"12 rounds and confirm; {wrong} others named in {trials // each} worlds"
    add_share(
        setting,
        GROUP,
        f"5 % slow node found, {nodes:,} nodes",
        hits,
        trials,
        target,
        "at least",
        note,
    )


def _counted(
    setting: Setting,
    title: str,
    worlds: int,
    target: float,
    sense: Sense,
    hit: Callable[[int], bool],
    note: str = "",
) -> None:
    """The share of seeded worlds that ``hit``."""
    until = setting.share(0.5)
    hits = trials = 0
    for seed in range(worlds):
        if time.monotonic() > until:
            break
        hits, trials = hits + hit(seed), trials + 1
    add_share(setting, GROUP, title, hits, trials, target, sense, note)


def _blames_in_a_good_world(seed: int) -> bool:
    return bool(sweep(World(nodes=1024, leaves=64, seed=seed + 1), rounds=12, seed=seed)[1].blames)


def _both_of_a_bad_pair(seed: int) -> bool:
    leaves = World(nodes=1024, leaves=64).leaf.tolist()
    bad = screen_rounds(1024, leaves, seed, 12)[seed % 12][seed % 512]
    world = _slow_nodes(World(nodes=1024, leaves=64, seed=seed + 1), bad, 0.8)
    return _named(sweep(world, rounds=12, seed=seed)[1]) == {world.names[number] for number in bad}


def _uplink(seed: int) -> bool:
    way: Direction = "tx" if seed % 2 else "rx"
    fault = WorldFault(kind="link", leaf=seed % 64, uplink=seed * 7 % 16, share=0.5, direction=way)
    world = World(nodes=1024, leaves=64, uplinks=16, seed=seed + 1, faults=(fault,))
    blames = sweep(world, seed=seed)[1].blames
    return [one.subject for one in blames] == [f"leaf{fault.leaf} - spine{fault.uplink}"]


def _small(share: float) -> Callable[[int], bool]:
    def hit(seed: int) -> bool:
        way: Direction = "tx" if seed % 2 else "rx"
        fault = WorldFault(kind="port", node=seed % 8, direction=way, share=share)
        world = World(
            nodes=8,
            sigma=0.03,
            tail_share=0.05,
            seed=seed + 1,
            faults=(fault,) if share < 1.0 else (),
        )
        blames = [
            (one.subject, one.direction) for one in sweep(world, fabric=False, seed=seed)[1].blames
        ]
        return blames == [(f"n{fault.node}", way)] if share < 1.0 else bool(blames)

    return hit


def _analysis_time(setting: Setting) -> None:
    world = _slow_nodes(World(nodes=10_000, leaves=313, seed=3), [77], 0.95)
    samples = world.measure(screen_rounds(world.nodes, world.leaf.tolist(), 3, 20))
    fabric = world.fabric()
    times = []
    for _ in range(7):
        begun = time.process_time()
        screen(samples, fabric)
        times.append(time.process_time() - begun)
    setting.add(
        Row(
            group=GROUP,
            title="analysis of 10,000 nodes x 20 rounds",
            unit="s",
            quantity="s of one core",
            value=statistics.median(times),
            low=min(times),
            high=max(times),
            target=2.0,
            pairs=len(times),
            note=f"{len(samples):,} samples; interval: fastest and slowest run",
        )
    )


def run(setting: Setting) -> None:
    """Adds a row for each figure that locate has to reach."""
    setting.say("locate: synthetic worlds")
    _analysis_time(setting)
    for title, worlds, target, sense, hit, note in _COUNTED:
        _counted(setting, title, worlds, target, sense, hit, note)
    _power(setting, 1024, 150, 4, 0.98)
    _power(setting, 10_000, 20, 10, 0.95)


_COUNTED: tuple[tuple[str, int, float, Sense, Callable[[int], bool], str], ...] = (
    (
        "8 nodes, a port at 80 %: port and direction",
        1000,
        0.99,
        "at least",
        _small(0.8),
        "sigma 3 %",
    ),
    (
        "8 good nodes: anybody blamed",
        1000,
        0.01,
        "at most",
        _small(1.0),
        "sigma 3 %, tail 5 %",
    ),
    (
        "1,024 good nodes: anybody blamed",
        400,
        0.01,
        "at most",
        _blames_in_a_good_world,
        "12 rounds",
    ),
    (
        "two bad nodes paired together: both, and they alone",
        100,
        0.95,
        "at least",
        _both_of_a_bad_pair,
        "",
    ),
    ("an up-link at 50 %, 1,024 nodes: named exactly", 100, 0.90, "at least", _uplink, ""),
)
