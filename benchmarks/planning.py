"""``plan``: what it costs, how it grows, and whether what it promises holds.

Times are those of processes of their own; growth and promises are computed here. A screen's power
is tried on worlds of ``locate.world`` (sigma 2 %, healthy ports 0.5 % apart, 3 % of the samples
with a one-sided tail) by the same screen as ``check``.
"""

from __future__ import annotations

import math
import resource
import statistics
import subprocess
import sys
import time

from benchmarks.row import certain
from benchmarks.setting import Setting, add_share
from wireproof.locate.screen import screen
from wireproof.locate.significance import LocateCriteria, rounds_for
from wireproof.locate.world import World, WorldFault
from wireproof.measure.schedule import screen_rounds
from wireproof.plan.scale import alltoall, random_ring, ring_time
from wireproof.plan.scale.network import MachineCosts, ScaleTopology, SimulatedNetwork

__all__ = ["run"]

GROUP = "planning"
TIMEOUT_S = 600
MACHINE = MachineCosts(start_ns=1900.0, byte_ns=0.087, overhead_ns=200.0, gap_ns=60.0, hop_ns=150.0)
_OWN = """
import contextlib, io, sys, time
from wireproof.cli.subcommands import subcommands
began = time.process_time()
with contextlib.redirect_stdout(io.StringIO()):
    subcommands.main(sys.argv[1:], standalone_mode=False)
print(time.process_time() - began)
"""
FOOTPRINT = ("footprint", "--nodes", "64", "--ppn", "28", "--mode", "psm3-rdma1")
PFC = ("pfc", "--speed", "100", "--mtu", "9000", "--cable", "30", "--ports", "32")
MILLION = ("scale", "--nodes", "31250", "--ppn", "32", "--order", "random", "--uplinks", "32")
GIVEN = ("--start", "1.9us", "--rate", "11.5GB/s", "--gap", "60ns", "--overhead", "200ns")


def run(setting: Setting) -> None:
    """All rows of the part."""
    _own_time(setting)
    _million(setting)
    _growth(setting)
    _alltoall(setting)
    for nodes, worlds in ((128, 40), (1000, 12)):
        _power(setting, nodes, worlds)


def _own_time(setting: Setting) -> None:
    """Processor time of a subcommand with its imports, beyond that of the command line."""
    for argv in (FOOTPRINT, PFC):
        times = []
        for _ in range(9):
            done = subprocess.run(
                [sys.executable, "-c", _OWN, "plan", *argv],
                capture_output=True,
                timeout=TIMEOUT_S,
                check=True,
            )
            times.append(1e3 * float(done.stdout))
        setting.add(
            certain(
                GROUP,
                f"plan {argv[0]}, own processor time, median of 9",
                "ms",
                statistics.median(times),
                50,
                quantity="time",
                pairs=len(times),
            )
        )


def _million(setting: Setting) -> None:
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    argv = [sys.executable, "-m", "wireproof", "plan", *MILLION, *GIVEN, "--json"]
    subprocess.run(argv, capture_output=True, timeout=TIMEOUT_S, check=True)
    seconds, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    most = after.ru_maxrss / 1e6
    title = "random ring of 1,000,000 ranks"
    note = f"command to exit; {busy:.0f} s of processor time"
    setting.add(
        certain(GROUP, title, "s", seconds, 60, quantity="time", note=note),
        certain(GROUP, f"{title}, memory of the largest process", "GB", most, 4, quantity="memory"),
    )


def _growth(setting: Setting) -> None:
    """Processor time per n log2 n, large against small: 1 is n log n, 8 would be quadratic."""

    def cost(nodes: int) -> float:
        topology = ScaleTopology(nodes=nodes, ppn=32, uplinks=32)
        order = random_ring(topology.ranks, 1)
        began = time.process_time()
        ring_time(SimulatedNetwork(MACHINE, topology), order, 8)
        return (time.process_time() - began) / (topology.ranks * math.log2(topology.ranks))

    cost(1024)
    small, large = cost(1954), cost(15_625)
    setting.add(
        certain(
            GROUP,
            "random ring, time per n log n, 500,000 ranks / 62,528",
            "ratio",
            large / small,
            2.0,
            quantity="ratio",
            note=f"{1e9 * small:.1f} and {1e9 * large:.1f} ns",
        )
    )


def _alltoall(setting: Setting) -> None:
    """The stated error at 100,000 ranks, and how often it holds where all phases can be run."""
    began = time.monotonic()
    found = alltoall(SimulatedNetwork(MACHINE, ScaleTopology(nodes=3125, ppn=32, uplinks=32)), 64)
    seconds = time.monotonic() - began
    setting.add(
        certain(
            GROUP,
            "alltoall of 100,000 ranks, half of the stated interval / time",
            "share",
            (found.spread_ns.high - found.spread_ns.low) / 2 / found.time_ns,
            0.05,
            quantity="share",
            note=f"{found.simulated} of {found.total} phases, {seconds:.0f} s",
        )
    )
    hits = trials = 0
    for uplinks, size in ((0, 4096), (8, 4096), (8, 8), (2, 65_536)):
        whole = alltoall(
            SimulatedNetwork(MACHINE, ScaleTopology(nodes=160, ppn=4, leaf=16, uplinks=uplinks)),
            size,
            most_phases=1000,
        ).time_ns
        for seed in range(25):
            topology = ScaleTopology(nodes=160, ppn=4, leaf=16, uplinks=uplinks, seed=seed)
            sample = alltoall(SimulatedNetwork(MACHINE, topology), size, most_phases=72)
            hits += sample.spread_ns.low <= whole <= sample.spread_ns.high
            trials += 1
    title = "alltoall of 640 ranks: the interval of 72 phases holds all 639"
    add_share(setting, GROUP, title, hits, trials, 0.9, "at least")


def _power(setting: Setting, nodes: int, worlds: int) -> None:
    """Ports 5 % slow in one direction, with the rounds that 95 % need; one port in 50."""
    rounds = rounds_for(nodes, 0.05, 0.02, 0.95, "goodput", LocateCriteria())
    if rounds is None:
        setting.skip(GROUP, f"validate {nodes}", "no number of rounds does")
        return
    hits = trials = wrong = 0
    for seed in range(worlds):
        bad = range(seed % 50, nodes, 50)
        faults = tuple(
            WorldFault(kind="port", node=node, share=0.95, direction="tx") for node in bad
        )
        world = World(nodes=nodes, leaves=max(1, nodes // 16), seed=seed + 1, faults=faults)
        samples = world.measure(screen_rounds(nodes, world.leaf.tolist(), seed, rounds), "goodput")
        named = {one.nodes[0] for one in screen(samples, world.fabric()).suspects}
        culprits = {world.names[node] for node in bad}
        hits, trials = hits + len(named & culprits), trials + len(culprits)
        wrong += len(named - culprits)
    title = f"validate {nodes} nodes: {rounds} rounds find a port that is 5 % slow (0.95 promised)"
    note = f"{wrong} others suspected in {worlds} sweeps, before they are measured again"
    add_share(setting, GROUP, title, hits, trials, 0.9, "at least", note)
