"""A scene: two hosts with an adapter, what really carries the bytes, and everything that disturbs
the counters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tests.zoo.parts import ALL, KERNEL, Adapter, File, Port
from tests.zoo.ramp import Accident, Flow, Machine

IDLE_S, QUIET_S, GAP_S = 0.2, 0.05, 0.002
_AROUND_S = 30.0
"""So long before and after the points goes on what is there all the time."""
_FEWEST = 48
"""Operations of a point: two for each batch."""
CHATTER = {"eth0": 20e3, "": 400.0}
_ACK = {"kernel": 0.5, "rdma": 0.06, "psm": 0.06}
_PAYLOAD_PER_PACKET = {"rdma": 4096, "psm": 8192}

ETH0 = Port(
    "eth0",
    "igb",
    (
        File("net/{nic}/tx_bytes", "tx", "bytes", KERNEL, "stack", header=66),
        File("net/{nic}/rx_bytes", "rx", "bytes", KERNEL, "stack", header=66),
        File("net/{nic}/tx_packets", "tx", "packets", KERNEL, "stack"),
        File("net/{nic}/rx_packets", "rx", "packets", KERNEL, "stack"),
        File("ethtool/{nic}/tx_packets", "tx", "packets", ALL, "wire"),
        File("ethtool/{nic}/rx_packets", "rx", "packets", ALL, "wire"),
        File("ethtool/{nic}/tx_bytes", "tx", "bytes", ALL, "wire", header=70),
        File("ethtool/{nic}/rx_bytes", "rx", "bytes", ALL, "wire", header=70),
    ),
    speed_mbps=1000,
    mtu=1500,
    pci="0000:01:00.0",
    identity={"serial": "a0-36-9f-ff-ff-00-00-01"},
)


@dataclass(frozen=True)
class Point:
    """One measurement: ``origin`` and ``target`` are host numbers; ``seconds`` how long it lasts;
    ``move``: how its payload travels, None as the scene's.
    """

    pattern: str
    size: int
    origin: int = 0
    target: int = 1
    seconds: float = 0.3
    move: Move | None = None


@dataclass(frozen=True)
class Move:
    """How the payload really travels: shares of it by path. ``claimed`` and ``rail`` go by
    ``carrier``, ``eth0`` by the kernel; what is missing to 1 goes through memory.
    """

    claimed: float = 0.0
    rail: float = 0.0
    eth0: float = 0.0
    loop: float = 0.0
    carrier: str = "kernel"
    turned: bool = False


@dataclass(frozen=True)
class Other:
    """Other traffic on a port of one host (or of both): bytes/s from ``start_s`` to ``end_s``, by
    ``carrier``.
    """

    port: str
    rate: float
    start_s: float = -math.inf
    end_s: float = math.inf
    carrier: str = "kernel"
    hosts: tuple[int, ...] = (0, 1)
    ways: tuple[str, ...] = ("tx", "rx")
    during_points: bool = False
    """Only while a point is measured: never in a quiet moment."""


@dataclass(frozen=True)
class Scene:
    """``nic``: claimed on both hosts ("" none). ``late_s``: everything is refreshed so seldom.
    ``start``: see ``Machine``. ``hidden``: beginnings of file names that cannot be read.
    ``one_adapter``: both hosts are functions of it. ``rate`` and ``latency_s``: of the path that
    was really taken. ``far``: the other host's adapter if it differs. ``one_kernel``: the hosts
    are containers of one machine.
    """

    adapter: Adapter
    move: Move
    nic: str = ""
    points: tuple[Point, ...] = (
        Point("pingpong", 8, seconds=0.1),
        Point("pingpong", 1 << 20),
        Point("stream", 4 << 20),
        Point("stream", 4 << 20, 1, 0),
    )
    others: tuple[Other, ...] = ()
    late_s: float = 0.0
    start: str = "anywhere"
    hidden: bool = False
    one_adapter: bool = False
    rate: float = 1e9
    latency_s: float = 5e-6
    seed: int = 1
    with_rail: bool = True
    link: str = ""
    far: Adapter | None = None
    accidents: tuple[Accident, ...] = ()
    one_kernel: bool = False

    def end(self, host: int) -> Adapter:
        """The adapter of one host."""
        return self.far if host == 1 and self.far is not None else self.adapter

    def claim(self, host: int) -> str:
        """The NIC that is claimed there."""
        return self.end(host).claimed if self.nic == self.adapter.claimed else self.nic


@dataclass
class Played:
    """One point on the timeline. ``forward``: messages; ``backward``: 0 for a stream."""

    point: Point
    start_s: float
    end_s: float
    operation_s: float
    forward: int
    backward: int


@dataclass
class Timeline:
    """The scene played out: two machines, the points with their times, and when the first
    reading was and the last point ended.
    """

    scene: Scene
    machines: list[Machine]
    played: list[Played] = field(default_factory=list)
    begin_s: float = 2.0
    end_s: float = 0.0


def rail_of(adapter: Adapter) -> Port:
    """A second port of the same kind, on a card of its own; a plain 10 Gb/s one beside stacked or
    virtual ports.
    """
    main = adapter.port(adapter.claimed)
    if len(adapter.ports) == 1 and main.kind != "virtual":
        nic = {"hsn0": "hsn1", "ib0": "ib1"}.get(main.nic, main.nic + "b")
        device = f"{main.device}b" if main.device else ""
        identity = {key: f"7{value[1:]}" for key, value in main.identity.items()}
        return replace(
            main, nic=nic, device=device, pci=main.pci.replace(":00.", ":0f."), identity=identity
        )
    return replace(
        ETH0,
        nic="hsn9",
        driver="ixgbe",
        speed_mbps=10000,
        mtu=9000,
        pci="0000:5e:00.0",
        identity={"serial": "a0-36-9f-ff-ff-00-99-01"},
    )


def _other(value: str, digit: str) -> str:
    """Another adapter's identity of the same form."""
    for index in range(len(value) - 1, -1, -1):
        if value[index].isalnum():
            return value[:index] + digit + value[index + 1 :]
    return value


def ports_of(scene: Scene, host: int) -> tuple[Port, ...]:
    """All ports of one host, loopback aside."""
    own = [scene.end(host).eth0 or ETH0, *scene.end(host).ports]
    if scene.with_rail:
        own.append(rail_of(scene.end(host)))
    if host == 0 or scene.one_adapter:
        first = [own[0]]
        return tuple([_second(first[0])] if host else first) + tuple(own[1:])
    return tuple(_second(port) for port in own)


def _second(port: Port) -> Port:
    """The same port in the second host: another card in the same slot."""
    kept = {"physical"}
    identity = {
        key: value if key in kept else _other(value, "e") for key, value in port.identity.items()
    }
    return replace(port, identity=identity)


def timeline(scene: Scene) -> Timeline:
    """Play the scene: the points' flows, chatter and other traffic become ramps of the files that
    count them.
    """
    hidden = frozenset({"ib/", "ethtool/"}) if scene.hidden else frozenset()
    machines = [
        Machine(
            ports_of(scene, host),
            scene.seed * 2 + host,
            scene.late_s,
            scene.start,
            hidden,
            tuple(one for one in scene.accidents if one.host == host),
        )
        for host in (0, 1)
    ]
    world = Timeline(scene, machines)
    now = world.begin_s + IDLE_S
    for point in scene.points:
        now += GAP_S + QUIET_S
        played = _timed(scene, point, now)
        now = played.end_s + GAP_S + QUIET_S
        world.played.append(played)
        taken = replace(scene, move=point.move or scene.move)
        _carry(replace(world, scene=taken), played)
    world.end_s = now
    _disturb(world)
    return world


def acknowledged(carrier: str, pattern: str) -> float:
    """Packets that go back for each packet of payload; an answer of a ping-pong carries its own."""
    return 0.05 if pattern == "pingpong" else _ACK.get(carrier, 0.5)


def _timed(scene: Scene, point: Point, start_s: float) -> Played:
    halves = 2 if point.pattern == "pingpong" else 1
    latency = (
        scene.latency_s
        if point.pattern == "pingpong"
        else scene.latency_s * 0.1 * (point.size < 65536)
    )
    operation_s = latency + point.size / scene.rate
    count = max(_FEWEST, round(point.seconds / operation_s / halves))
    elapsed = count * operation_s * halves * 1.02
    return Played(
        point, start_s, start_s + elapsed, operation_s, count, count if halves == 2 else 0
    )


def _carry(world: Timeline, played: Played) -> None:
    scene, point = world.scene, played.point
    for count, (origin, target) in ((played.forward, (0, 1)), (played.backward, (1, 0))):
        ends = (point.origin, point.target)
        out, back = ends[origin], ends[target]
        for path, share in _paths(scene.move):
            if share > 0 and count:
                carrier = {"eth0": "kernel", "loop": "loop"}.get(path, scene.move.carrier)
                if path == "rail":
                    carrier = _rail_carrier(scene)
                flow = _flow(scene, played, count, share, carrier)
                _send(world, flow, (out, back), path, acknowledged(carrier, point.pattern))


def _paths(move: Move) -> list[tuple[str, float]]:
    return [
        ("claimed", move.claimed),
        ("rail", move.rail),
        ("eth0", move.eth0),
        ("loop", move.loop),
    ]


def _rail_carrier(scene: Scene) -> str:
    """RDMA on the second rail too, where both hosts' second rail can."""
    rails = [rail_of(scene.end(host)) for host in (0, 1)]
    return scene.move.carrier if all(rail.device for rail in rails) else "kernel"


def seen_by(scene: Scene, host: int, path: str, carrier: str) -> Mapping[str, tuple[float, float]]:
    """Port name -> share of a flow on that path that the port's files see, (tx, rx)."""
    if path == "claimed":
        return scene.end(host).shares.get(carrier, {})
    return {rail_of(scene.end(host)).name if path == "rail" else path: (1.0, 1.0)}


def _flow(scene: Scene, played: Played, count: int, share: float, carrier: str) -> Flow:
    size = played.point.size
    mtu = scene.adapter.port(scene.adapter.claimed).mtu
    each = _PAYLOAD_PER_PACKET.get(carrier, min(mtu, 9000) - 52)
    packets = count * max(1, math.ceil(size / each)) * share
    reach = "turned" if scene.move.turned else "wire"
    return Flow(
        "tx", played.start_s, played.end_s, float(count * size) * share, packets, carrier, {}, reach
    )


def _send(world: Timeline, flow: Flow, ends: tuple[int, int], path: str, acks_each: float) -> None:
    """Payload from the first end to the second, acknowledgements back (an answer carries its
    own).
    """
    out, back = (world.machines[end] for end in ends)
    if path == "loop":
        for way in ("tx", "rx"):
            out.add(replace(flow, way=way, shares={"lo": 1.0}))
        return
    acks = replace(flow, payload=0.0, packets=flow.packets * acks_each)
    for machine, host, data_way, ack_way in (
        (out, ends[0], "tx", "rx"),
        (back, ends[1], "rx", "tx"),
    ):
        seen = seen_by(world.scene, host, path, flow.carrier)
        ways = {
            "tx": {n: pair[0] for n, pair in seen.items()},
            "rx": {n: pair[1] for n, pair in seen.items()},
        }
        machine.add(replace(flow, way=data_way, shares=ways[data_way]))
        machine.add(replace(acks, way=ack_way, shares=ways[ack_way]))


def _disturb(world: Timeline) -> None:
    for host, machine in enumerate(world.machines):
        for port in machine.ports:
            chatter = Other(port.name, CHATTER.get(port.name, CHATTER[""]))
            _background(machine, chatter, {port.name: (1.0, 1.0)}, _always(world))
        for other in world.scene.others:
            if host not in other.hosts:
                continue
            shares = shares_of(world.scene, other, host)
            for times in _times(world, other):
                _background(machine, other, shares, times)


def shares_of(scene: Scene, other: Other, host: int) -> Mapping[str, tuple[float, float]]:
    """``claimed`` and ``rail`` mean these ports of each host."""
    if other.port in ("claimed", "rail"):
        return seen_by(scene, host, other.port, other.carrier)
    return {other.port: (1.0, 1.0)}


def _times(world: Timeline, other: Other) -> list[tuple[float, float]]:
    if other.during_points:
        return [(played.start_s, played.end_s) for played in world.played]
    first_s, last_s = _always(world)
    return [(max(first_s, other.start_s), min(last_s, other.end_s))]


def _always(world: Timeline) -> tuple[float, float]:
    return world.begin_s - _AROUND_S, world.end_s + _AROUND_S


def _background(
    machine: Machine,
    other: Other,
    shares: Mapping[str, tuple[float, float]],
    times: tuple[float, float],
) -> None:
    start_s, end_s = times
    if end_s <= start_s:
        return
    payload = other.rate * (end_s - start_s)
    for way in other.ways:
        index = 0 if way == "tx" else 1
        seen = {name: pair[index] for name, pair in shares.items()}
        machine.add(Flow(way, start_s, end_s, payload, payload / 1400, other.carrier, seen))
