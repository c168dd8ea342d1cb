"""What a careful reader of the same files could conclude, from the true volumes and the resolution
of the files.

It knows the zoo's own description of each file and none of the product's code.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tests.zoo.parts import Adapter
from tests.zoo.scene import GAP_S, IDLE_S, QUIET_S, Other, Played, Scene, Timeline
from tests.zoo.situations import best_level, counting

_LARGE = 65536
_LOOKS_LIKE = (0.9, 1.6)
_QUIET = 0.05
_NARROW_BYTES = 8e9
_SMALL_PART = 0.1


@dataclass(frozen=True)
class Opinion:
    """The truth, and what can be known of it.

    ``crossed_share``: of the payload, over any wire. ``elsewhere_share``: over unclaimed ports.
    ``whole``: all of it on the claimed port (or on one port where none is claimed). ``wire_level``:
    a proof at the physical port is true. ``blurred``: unannounced other traffic makes the files
    read like another world's (``blurred_small``: at these points). ``decision``: the proof that an
    expert would state, "" where he would not.
    """

    may_be_on_wire: bool
    crossed_share: float
    elsewhere_share: float
    whole: bool
    wire_level: bool
    blurred: bool
    decision: str
    blurred_small: frozenset[int] = frozenset()


def opinion(world: Timeline) -> Opinion:
    """The expert's opinion of a played scene."""
    scene = world.scene
    move = scene.move
    crossed = 0.0 if move.turned else move.claimed + move.rail + move.eth0
    ours = move.claimed if scene.nic else max(move.claimed, move.rail, move.eth0)
    whole = ours > 0.98 and not move.turned
    all_wires = crossed > 0.98 and not scene.nic
    blurred = _blurred(world, ours)
    by_sum = blurred and _late_s(world) > 0  # late counters show the points only together
    small = [n for n, one in enumerate(world.played) if by_sum or _small_blurred(world, one)]
    return Opinion(
        may_be_on_wire=whole or _nameless(scene) or all_wires,
        crossed_share=crossed,
        elsewhere_share=move.rail + move.eth0 if scene.nic else 0.0,
        whole=whole,
        wire_level=not move.turned,
        blurred=blurred,
        decision=_decision(world, whole),
        blurred_small=frozenset(small),
    )


def _shows_turns(adapter: Adapter, carrier: str) -> bool:
    """Its files tell bytes that the adapter turned round from those that left it."""
    turned = any(file.level == "turned" for file in adapter.port(adapter.claimed).files)
    return turned or best_level(adapter, carrier) == "wire"


def _nameless(scene: Scene) -> bool:
    """An adapter turned the bytes round, and no port says whose function it is."""
    named = any(port.identity for port in scene.adapter.ports)
    return scene.move.turned and (scene.hidden or not named)


def _noise(world: Timeline, played: Played, *, quiet_too: bool) -> float:
    """Other bytes in the busier direction during a point, as a share of its payload; the largest of
    all ports.

    ``quiet_too`` False: only what the quiet moments beside the point do not announce. What late
    counters show of a point holds what was shortly before it, and comes with what is after it.
    """
    payload = max(1.0, float(played.forward * played.point.size))
    found, late_s = 0.0, _late_s(world)
    for other in world.scene.others:
        overlap = min(played.end_s + late_s, other.end_s) - max(
            played.start_s - late_s, other.start_s
        )
        if other.during_points:
            overlap = played.end_s - played.start_s
        if overlap > 0 and (quiet_too or not _announced(other, played)):
            found += other.rate * overlap / payload
    return found


def _late_s(world: Timeline) -> float:
    """How old a value may be that the files of this world show."""
    ends = (world.scene.end(0), world.scene.end(1))
    ages = [file.age_ms / 1e3 for end in ends for port in end.ports for file in port.files]
    return max(world.scene.late_s, *ages)


def _announced(other: Other, played: Played) -> bool:
    return (
        not other.during_points
        and other.start_s < played.start_s - 0.05
        and other.end_s > played.end_s + 0.05
    )


def _blurred(world: Timeline, ours: float) -> bool:
    """At some large point unannounced traffic has about the volume of what is missing: the files
    cannot tell.
    """
    for played in world.played:
        if played.point.size < _LARGE:
            continue
        noise = _noise(world, played, quiet_too=False)
        if noise > _QUIET and (_LOOKS_LIKE[0] <= ours + noise <= _LOOKS_LIKE[1] or noise >= 0.4):
            return True
    return False


def _small_blurred(world: Timeline, played: Played) -> bool:
    """Packets of other traffic are as large as these messages: neither bytes nor packets tell them
    apart.
    """
    noise = _noise(world, played, quiet_too=False)
    return 512 <= played.point.size < _LARGE and 0.3 <= noise <= 6


def _decision(world: Timeline, whole: bool) -> str:
    scene, move = world.scene, world.scene.move
    struck = scene.hidden or scene.accidents or scene.one_kernel
    if struck or not _both(world, _is_plain) or _too_loud(world) or _blended(world):
        return ""
    if move.turned:
        return "off-wire" if _both(world, lambda end: _shows_turns(end, move.carrier)) else ""
    if move.claimed + move.rail + move.eth0 < 0.01:
        return "" if _dark(world) else "off-wire"
    if move.eth0 > 0.98:
        return "wrong-path" if scene.nic else "on-wire"
    if not _both(world, lambda end: _sees(world, end, move.carrier)):
        return ""
    return _by_share(world, whole)


def _by_share(world: Timeline, whole: bool) -> str:
    """Both ends see what moved: how much of it was on the claimed port decides."""
    scene, move = world.scene, world.scene.move
    if move.claimed > 0.98:
        return "on-wire"
    dark = _dark(world)
    if dark or not scene.nic:
        return "on-wire" if whole and not dark else ""
    return "wrong-path" if move.claimed < 0.01 else "mixed"


def _both(world: Timeline, holds: Callable[[Adapter], bool]) -> bool:
    return all(holds(world.scene.end(host)) for host in (0, 1))


def _is_plain(adapter: Adapter) -> bool:
    """Its counters are known, and another port does not carry the same bytes unasked."""
    return (
        adapter.known
        and not adapter.unsure
        and all(port.link_kind != "tun" for port in adapter.ports)
    )


def _blended(world: Timeline) -> bool:
    """By late counters only the run's sum is known: a point that is little of it cannot be told."""
    ends = [world.scene.end(host) for host in (0, 1)]
    late = world.scene.late_s > 0 or any(
        file.age_ms for end in ends for port in end.ports for file in port.files
    )
    sizes = [
        float(one.forward * one.point.size) for one in world.played if one.point.size >= _LARGE
    ]
    whole = _volume(world.played)
    run = (world.begin_s, world.end_s)
    others = max((one.rate * _overlap(one, run) for one in world.scene.others), default=0.0)
    return late and (min(sizes) < _SMALL_PART * whole or others > _QUIET * whole)


def _too_loud(world: Timeline) -> bool:
    return any(
        _noise(world, p, quiet_too=True) + _mistaken(world, p) > _QUIET
        for p in world.played
        if p.point.size >= _LARGE
    )


def _mistaken(world: Timeline, played: Played) -> float:
    """Bursts in the moments that tell what is always there, as if they went on during the point, as
    a share of its payload.
    """
    idle = (world.begin_s, world.begin_s + IDLE_S)
    before = (played.start_s - QUIET_S - GAP_S, played.start_s)
    after = (played.end_s, played.end_s + QUIET_S + GAP_S)
    length, payload = played.end_s - played.start_s, max(1, played.forward * played.point.size)
    found = 0.0
    for other in world.scene.others:
        if not other.during_points:
            beside = _overlap(other, before) + _overlap(other, after)
            seen = (_overlap(other, idle) / IDLE_S, beside / (2 * QUIET_S))
            found += other.rate * max(seen) * length / payload
    return found


def _overlap(other: Other, window: tuple[float, float]) -> float:
    return max(0.0, min(window[1], other.end_s) - max(window[0], other.start_s))


def _dark(world: Timeline) -> bool:
    """Some carrier of some port could have moved it unseen."""
    return any(
        not _sees(world, end, one)
        for end in (world.scene.end(0), world.scene.end(1))
        for one in end.shares
    )


def _sees(world: Timeline, adapter: Adapter, carrier: str) -> bool:
    """A byte counter of the path shows the carrier, and did not come to its end."""
    if best_level(adapter, carrier) is None:
        return False
    files = counting(adapter.ports, set(adapter.shares[carrier]), carrier)
    wide = [file for file in files if file.width > 32]
    return bool(wide) or (world.scene.start == "anywhere" and _volume(world.played) < _NARROW_BYTES)


def _volume(played: list[Played]) -> float:
    return sum(float((one.forward + one.backward) * one.point.size) for one in played)
