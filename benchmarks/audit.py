"""``wireproof audit``: one host's collect, and the judgement of many hosts from a snapshot.

The many hosts are a node with one adapter, and one with eight and eight GPUs, laid out as files and
read by the engine, and a rich one: 64 cores, two ports of RoCE and what all commands print. Like
ones differ in addresses and load; of unlike ones three texts in ten are each host's own.
"""

from __future__ import annotations

import json
import random
import re
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from tests.audit.fleet import answered
from tests.audit.fleet_machines import FLEET
from tests.audit.trees import lay_out

from benchmarks.judge import watched
from benchmarks.paired import median_row
from benchmarks.row import certain
from benchmarks.setting import Setting
from wireproof.audit.catalogue import requests, requests_of_instances
from wireproof.audit.job import catalogue
from wireproof.audit.machine import Instance
from wireproof.instrument.plan_text import collect, write_requests
from wireproof.launch.engines import find_engine
from wireproof.model.record import FactFrame
from wireproof.store.snapshot import write_snapshot

__all__ = ["hosts_like", "run"]

GROUP = "audit"
COLLECT_S, COLLECT_MB, COLLECT_RUNS = 0.5, 30.0, 9
SNAPSHOT_MB = 5.0
RICH = "connectx-6-dx"
"""A machine of the fleet of tests/audit."""
JUDGED: tuple[tuple[str, int, float | None, float | None], ...] = (
    ("icelake-e810", 1_000, 3.0, 1_000.0),
    ("icelake-e810", 10_000, 30.0, 1_000.0),
    ("eight-gpus", 1_000, None, None),
    (RICH, 1_000, 3.0, 600.0),
    (RICH, 10_000, 30.0, 450.0),
)
"""Machine, hosts, seconds, megabytes."""
_OWN_SHARE = 0.3
_SEED = 11
_COLLECTED = """
import resource, subprocess, sys, time
before = time.perf_counter()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(time.perf_counter() - before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
"""A process with little memory of its own: what it starts is counted with it."""


def run(setting: Setting) -> None:
    """Adds rows for the collect of this host, the snapshot's size and the judgement."""
    _collect(setting)
    for machine, number, wall_s, most_mb in JUDGED:
        frames = _frames(setting.scratch / f"{machine}-{number}", machine)
        for kind, own in (("like", 0.0), ("unlike", _OWN_SHARE))[: 1 if machine == RICH else 2]:
            snapshot = setting.scratch / f"{machine}-{kind}-{number}.snap"
            write_snapshot(snapshot, dict(hosts_like(frames, number, own)))
            title = f"{number} {kind} hosts, {machine}"
            _judge(setting, snapshot, title, (wall_s, most_mb))
            if number == 1_000 and kind == "like":
                size = snapshot.stat().st_size / 1e6
                setting.add(certain(GROUP, f"{title}, snapshot", "MB", size, SNAPSHOT_MB))
            snapshot.unlink()


def _collect(setting: Setting) -> None:
    """All requests of the catalogue on this machine, by the engine alone."""
    known, spec = catalogue(), setting.scratch / "spec"
    names = sorted(path.name for path in Path("/sys/class/net").iterdir())
    nics = [Instance(name, {"nic": name}, {}) for name in names]
    wanted = (*requests(known), *requests_of_instances(known, nics))
    spec.write_text(write_requests(wanted), encoding="utf-8")
    setting.say(f"audit: {len(wanted)} places of this host")
    argv = [str(find_engine("nompi")), "facts", "--spec", str(spec)]
    seen = [
        subprocess.run(
            [sys.executable, "-S", "-c", _COLLECTED, *argv],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for _ in range(COLLECT_RUNS)
    ]
    title = f"collect of this host, {len(wanted)} places"
    setting.add(median_row(GROUP, title, "s", [float(one[0]) for one in seen], COLLECT_S))
    peak = max(int(one[1]) for one in seen) * 1024 / 1e6
    setting.add(certain(GROUP, "collect, resident", "MB", peak, COLLECT_MB))


def _frames(folder: Path, machine: str) -> tuple[FactFrame, ...]:
    """What the engine reads of a node; of the rich one all that a host says."""
    if machine == RICH:
        facts = answered(FLEET[RICH]().texts()).facts
        return (*facts.files.values(), *facts.globs.values(), *facts.commands.values())
    root = lay_out(folder, machine)
    argv = [str(find_engine("nompi")), "facts", "--spec", "-", "--root", str(root)]
    (found,) = collect({"n": argv}, requests(catalogue()))
    return found.frames


def hosts_like(
    frames: Sequence[FactFrame], number: int, own: float
) -> Iterator[tuple[str, list[FactFrame]]]:
    """``number`` hosts; of each the share ``own`` of the texts with numbers is its own."""
    chance = random.Random(_SEED)
    for host in range(number):
        yield f"n{host:05d}", [_of(one, host, chance, own) for one in frames]


def _of(frame: FactFrame, host: int, chance: random.Random, own: float) -> FactFrame:
    if frame.path == "/proc/loadavg":
        return msgspec.structs.replace(frame, text=f"0.{host:05d} 0.05 0.01 1/400 {host}")
    if frame.path == "interfaces":
        nics = [{**one, "address": [f"10.1.{host // 250}.{host % 250 + 1}"]}
                for one in json.loads(frame.text or "[]")]  # fmt: skip
        return msgspec.structs.replace(frame, text=json.dumps(nics))
    if frame.kind != "file" or frame.path == "pci" or chance.random() >= own:
        return frame
    changed = re.sub(r"\d+", str(chance.randrange(10**6)), frame.text, count=1)
    return msgspec.structs.replace(frame, text=changed)


def _judge(
    setting: Setting, snapshot: Path, title: str, most: tuple[float | None, float | None]
) -> None:
    setting.say(f"audit: {title}")
    before = _cpu_s()
    argv = [sys.executable, "-m", "wireproof", "audit", "--from", str(snapshot)]
    wall, peak, status = watched(argv)
    if status not in (0, 1, 3):
        setting.skip(GROUP, title, f"audit ended with status {status}")
        return
    note = f"start, reading, judgement and text: {_cpu_s() - before:.1f} s of processor; one run"
    setting.add(certain(GROUP, title, "s", wall, most[0], note=note))
    setting.add(certain(GROUP, f"{title}, resident", "MB", peak, most[1], note="each 50 ms"))


def _cpu_s() -> float:
    """Of all that we have started and waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
