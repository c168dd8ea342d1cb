"""A scene as ``prove`` sees it: one long stream of some program, between readings of both hosts'
ports.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import msgspec
from tests.records import imb_rates
from tests.zoo.frames import boot_id, claim_of, nics_of
from tests.zoo.ramp import Machine
from tests.zoo.scene import Played, Point, Scene, Timeline, timeline

from wireproof.instrument.watch import Follower
from wireproof.ledger.catalogue import Patience, patience
from wireproof.ledger.traffic import goes_on, host_traffic
from wireproof.model.series import Series, SeriesPoint
from wireproof.model.traffic import (
    CounterMark,
    Reading,
    Traffic,
    TrafficVerdict,
    Watched,
    WatchStart,
)
from wireproof.watch.verdict import judge_traffic

_SECONDS = 2.0
_SIZE = 1 << 20


def proved(scene: Scene, boot_ids: Sequence[str] = ()) -> TrafficVerdict:
    """What ``prove`` says of a program that printed the rate of the path that was really taken, on
    as many machines as there are ``boot_ids``: by default those of the scene.
    """
    world = timeline(replace(scene, points=(Point("stream", _SIZE, seconds=_SECONDS),)))
    played = world.played[0]
    waits = patience(nic for machine in world.machines for nic in nics_of(scene, machine))
    times = [world.begin_s - waits.before_s, world.begin_s, played.end_s + waits.after_s]
    part_s = waits.before_s / waits.parts
    aside = [times[0] + number * part_s for number in range(1, waits.parts)]
    aside.append(played.end_s)
    for later in (played.end_s + 2 * waits.after_s, None):
        watched = [
            _watched(scene, world, host, (times, aside), waits, boot)
            for host, boot in enumerate(boot_ids or (boot_id(scene, 0), boot_id(scene, 1)))
        ]
        if later is None or not any(map(goes_on, watched)):
            break
        aside.append(later)
    traffic = Traffic(
        hosts=list(map(host_traffic, watched)),
        seconds=times[-1] - times[1],
        idle_s=waits.before_s,
        interval_s=0.1,
    )
    return judge_traffic(traffic, [_printed(played)], claim_of(scene))


def _watched(
    scene: Scene,
    world: Timeline,
    host: int,
    readings: tuple[Sequence[float], Sequence[float]],
    waits: Patience,
    boot_id: str,
) -> Watched:
    """One host, read before, at the begin and after the end, with the peaks in the middle."""
    machine = world.machines[host]
    about = WatchStart(
        schema=1,
        hostname=f"n{host + 1}",
        interval_ms=100,
        boot_id=boot_id,
        netns=4026531840 + host,
        nics=nics_of(scene, machine),
        foreign_sysfs=scene.hidden,
    )
    times = readings[0]
    follower = _follower(about, machine, times[1], times[-1])
    marks, aside = (
        [CounterMark(t_ns=round(t * 1e9), counters=machine.reading(t)) for t in each]
        for each in readings
    )
    start, before, after = marks
    return Watched(
        host=f"n{host + 1}",
        about=about,
        start=start,
        before=before,
        after=after,
        aside=aside,
        peaks=follower.peaks,
        fell=follower.watched().fell,
        gap_s=0.1,
        settled_s=waits.settled_s,
    )


def _follower(about: WatchStart, machine: Machine, start_s: float, end_s: float) -> Follower:
    """It makes peaks and falls of its readings; a driver's own counters are read before and after
    alone.
    """
    follower, encoder = Follower(about.hostname), msgspec.json.Encoder()
    follower.feed(encoder.encode(about) + b"\n")
    every_s = about.interval_ms / 1e3
    for number in range(math.ceil((end_s - start_s) / every_s) + 1):
        t_s = min(end_s, start_s + number * every_s)
        read = machine.reading(t_s).items()
        seen = {name: value for name, value in read if not name.startswith("ethtool/")}
        follower.feed(encoder.encode(Reading(t_ns=round(t_s * 1e9), counters=seen)) + b"\n")
    return follower


def _printed(played: Played) -> Series:
    point = SeriesPoint(
        message_bytes=_SIZE,
        goodput_bytes_per_s=_SIZE / played.operation_s,
        iterations=played.forward,
    )
    return imb_rates([point], benchmark="Uniband", window=1)
