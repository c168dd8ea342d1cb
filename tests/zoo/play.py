"""A scene played to the real engine: its trees below two root folders, its counters moved by the
model transport.
"""

from pathlib import Path

import msgspec
from tests.processes import ENGINE, frames_of
from tests.records import PROVENANCE, made_plan
from tests.zoo.frames import claim_of
from tests.zoo.parts import File, Port
from tests.zoo.ramp import Machine
from tests.zoo.scene import CHATTER, Other, Scene, Timeline, acknowledged, seen_by, shares_of
from tests.zoo.tree import counter_files, lay_out

from wireproof.ledger.catalogue import late_drivers
from wireproof.model.frames import assemble
from wireproof.model.plan import (
    ModelCounter,
    ModelWorld,
    Plan,
    Point,
    Policy,
    RankPlace,
    Transport,
    WitnessPolicy,
)
from wireproof.model.record import Host, Idle
from wireproof.model.run import Run

_POINT_MS = 20
_IDLE_MS = 60
_LARGEST = 1 << 20
"""Bytes of a message: the model really moves them."""


def plan_of(world: Timeline, root: Path) -> Plan:
    """The engine's plan for the scene; its trees are written below ``root``/n1 and n2."""
    scene = world.scene
    counters: list[ModelCounter] = []
    for rank, machine in enumerate(world.machines):
        places = lay_out(root / f"n{rank + 1}", machine, f"n{rank + 1}", seed=rank + 1)
        files = counter_files(places)
        counters += _counters(scene, rank, machine, files)
    points = tuple(
        Point(
            id=number,
            pattern=point.pattern,
            form="latency",
            message_bytes=min(point.size, _LARGEST),
            pairs=((point.origin, point.target),),
        )
        for number, point in enumerate(scene.points)
    )
    return Plan(
        run_id="zoo",
        seed=scene.seed,
        transport=Transport(kind="model"),
        points=points,
        ranks=tuple(
            RankPlace(index=rank, host=f"n{rank + 1}", nic=scene.claim(rank)) for rank in (0, 1)
        ),
        policy=Policy(point_budget_ms=_POINT_MS),
        model_counters=tuple(counters),
        witness=WitnessPolicy(idle_ms=_IDLE_MS, root=f"{root}/{{host}}", late=late_drivers()),
        model=ModelWorld(
            latency_ns=scene.latency_s * 1e9, gap_ns_per_byte=1e9 / scene.rate, noise=0.004
        ),
    )


def _counters(
    scene: Scene, rank: int, machine: Machine, files: dict[str, str]
) -> list[ModelCounter]:
    found = []
    for port in machine.ports:
        for file in port.files:
            name = port.spelled(file)
            if name in files and not file.stuck:
                found.append(
                    _counter(scene, rank, port, file, files[name], machine.value(name, 0.0))
                )
    return found


def _counter(
    scene: Scene, rank: int, port: Port, file: File, path: str, start: int
) -> ModelCounter:
    """How much the file rises for a byte and for a message that the rank sends and receives."""
    sent, received = (0.0, 0.0), (0.0, 0.0)
    back = "rx" if file.way == "tx" else "tx"
    for name, share, carrier in _paths(scene):
        reached = {"wire": not scene.move.turned, "turned": scene.move.turned}.get(file.level, True)
        counted = carrier in file.counts and reached
        seen = seen_by(scene, rank, name, carrier).get(port.name)
        if not share or not counted or seen is None:
            continue
        part = share * seen[0 if file.way == "tx" else 1]
        sent = _more(sent, _data(scene, file, carrier), part)
        received = _more(received, _acks(scene, file, carrier), part)
    if file.way == "both":
        sent = received = (sent[0] + received[0], sent[1] + received[1])
    ways = ("tx", "rx") if file.way == "both" else (file.way, back)
    byte = dict(zip(ways, (sent[0], received[0]), strict=True))
    message = dict(zip(ways, (sent[1], received[1]), strict=True))
    return ModelCounter(
        rank=rank,
        path=path,
        start=start,
        width=file.width,
        pegs=int(file.pegs),
        refresh_ms=round(max(file.age_ms, scene.late_s * 1e3)),
        tx_byte=byte["tx"],
        rx_byte=byte["rx"],
        tx_message=message["tx"],
        rx_message=message["rx"],
        per_second=_others(scene, rank, port, file),
        from_ms=_IDLE_MS,
    )


def _more(sums: tuple[float, float], each: tuple[float, float], part: float) -> tuple[float, float]:
    return sums[0] + each[0] * part, sums[1] + each[1] * part


def _paths(scene: Scene) -> list[tuple[str, float, str]]:
    move = scene.move
    return [
        ("claimed", move.claimed, move.carrier),
        ("rail", move.rail, move.carrier),
        ("eth0", move.eth0, "kernel"),
    ]


def _each(scene: Scene, carrier: str) -> float:
    """Payload bytes of a full packet."""
    return {"rdma": 4096.0, "psm": 8192.0}.get(
        carrier, min(scene.adapter.port(scene.adapter.claimed).mtu, 9000) - 52.0
    )


def _data(scene: Scene, file: File, carrier: str) -> tuple[float, float]:
    """Counts for a byte and for a message of payload; a message begins a packet."""
    each = _each(scene, carrier)
    if file.what == "packets":
        return 1 / each, 1.0
    header = file.headers(carrier)
    return (1 + header / each) / file.unit, header / file.unit


def _acks(scene: Scene, file: File, carrier: str) -> tuple[float, float]:
    each, share = _each(scene, carrier), acknowledged(carrier, "stream")
    header = 1.0 if file.what == "packets" else file.headers(carrier) / file.unit
    return header * share / each, header * share * 0.1


def _others(scene: Scene, rank: int, port: Port, file: File) -> float:
    """Counts per second of other traffic, with the neighbours' broadcasts that every port hears."""
    total = 0.0
    heard = Other(port.name, CHATTER.get(port.name, CHATTER[""]))
    for other in (heard, *scene.others):
        seen = shares_of(scene, other, rank).get(port.name) if file.level != "turned" else None
        if rank in other.hosts and file.way in other.ways and other.carrier in file.counts and seen:
            rate = other.rate * seen[0 if file.way == "tx" else 1]
            total += (
                rate / 1400
                if file.what == "packets"
                else rate * (1 + file.header / 1400) / file.unit
            )
    return total


def engine_run(world: Timeline, root: Path) -> Run:
    """Let the engine measure the scene."""
    plan = plan_of(world, root)
    frames = frames_of(plan, 1)
    claim = msgspec.structs.replace(claim_of(world.scene), played=True)
    provenance = msgspec.structs.replace(PROVENANCE, mpi="model", engine=str(ENGINE))
    return assemble(frames, claim=claim, provenance=provenance)


def listed(root: Path) -> tuple[list[dict[str, object]], set[str]]:
    """How the engine describes the ports of the tree at ``root``, and the names of the byte
    counters that it reads there.
    """
    plan = made_plan([], "n1", kind="null", witness=WitnessPolicy(idle_ms=0, root=str(root)))
    frames = frames_of(plan, 1)
    host = next(frame for frame in frames if isinstance(frame, Host))
    idle = next(frame for frame in frames if isinstance(frame, Idle))
    return msgspec.to_builtins(host.nics), set(idle.standing)
