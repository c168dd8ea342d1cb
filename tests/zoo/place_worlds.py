"""Random hosts whose ports are one place with others: bonds, VLANs, partitions, virtual functions,
ports of one card, and a known path of the bytes.

``python -m tests.zoo.place_worlds --count 10000`` prints false and undecided verdicts with their
seeds; ``--show SEED`` describes one host.
"""

import argparse
import random
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tests.zoo.counters import WHOLE, ethtool, hw, netdev
from tests.zoo.fabric import MLX5_PHY, MLX5_ROCE, MLX5_VPORT
from tests.zoo.frames import run_of
from tests.zoo.parts import ALL, RDMA, Adapter, File, Port
from tests.zoo.scene import Move, Point, Scene, timeline
from tests.zoo.watched import proved

from wireproof.verdict.run import judge

ICE = ethtool("tx_bytes.nic", "rx_bytes.nic", ALL, "wire")
OCTETS = (
    *hw("ip4OutOctets", "ip4InOctets", RDMA, header=44),
    *hw("ip4OutPkts", "ip4InPkts", RDMA, what="packets"),
)
_GUID = {"system_guid": "9803:9b03:0012:aa00", "serial": "98-03-9b-ff-ff-12-aa-00"}
_POINTS = (
    Point("pingpong", 1 << 20, seconds=0.2),
    Point("stream", 4 << 20, seconds=0.2),
    Point("stream", 4 << 20, 1, 0, seconds=0.2),
)
_LINE = 12.5e9


def roce(nic: str, device: str, **changes: object) -> Port:
    """A port, or what stands on ports, with an RDMA device."""
    port = Port(
        nic,
        "mlx5_core",
        (*netdev(), *MLX5_PHY),
        device=device,
        rdma_driver="mlx5_core" if device else "",
        link_layer="Ethernet" if device else "",
        rate="100 Gb/sec (4X EDR)" if device else "",
        speed_mbps=100000,
        function="physical",
        identity=_GUID,
        pci="0000:3b:00.0",
    )
    return replace(port, **changes)


def upper(nic: str, kind: str, *lower: str, device: str = "", driver: str = "") -> Port:
    """An interface that stands on others."""
    base = {"kind": "virtual", "lower": lower, "link_kind": kind, "function": "", "pci": ""}
    return roce(nic, device, driver=driver, files=netdev(), identity={}, **base)


def register(
    *ports: Port, counters: tuple[str, str], nic: str = "phys9", more: Sequence[File] = ()
) -> Port:
    """The physical port below several functions: one register that each of them shows. It stands
    for no interface that a verdict may look at.
    """
    files = tuple(
        replace(file, path=file.path.replace("{nic}", port.nic))
        for port in ports
        for file in ethtool(*counters, ALL, "wire")
    )
    return Port(nic, "", (*files, *more), kind="virtual", link_kind="dummy")


@dataclass
class Host:
    """``ports``: all of one host. ``way``: port to the files' ports that its bytes move, and
    ``wire`` to its physical ports with their shares. ``holds``: port to the physical ports that its
    counters tell of.
    """

    ports: list[Port] = field(default_factory=list)
    way: dict[str, dict[str, tuple[float, float]]] = field(default_factory=dict)
    wire: dict[str, dict[str, float]] = field(default_factory=dict)
    rdma: dict[str, str] = field(default_factory=dict)

    def add(
        self, port: Port, way: Mapping[str, tuple[float, float]], wire: dict[str, float]
    ) -> None:
        self.ports.append(port)
        self.way[port.nic] = {port.nic: WHOLE, **way}
        self.wire[port.nic] = wire
        if port.device:
            self.rdma[port.nic] = port.device


_PHY = ("tx_bytes_phy", "rx_bytes_phy")


def host(rng: random.Random) -> Host:
    """One host with one to three physical ports on one or two cards."""
    made = Host()
    cables = [f"c{number}" for number in range(rng.randint(1, 3))]
    lag = len(cables) > 1 and rng.random() < 0.4
    for number, cable in enumerate(cables):
        card = 0 if lag or rng.random() < 0.6 else number
        identity = {key: f"{card}{value[1:]}" for key, value in _GUID.items()}
        _cable(made, rng, cable, number, identity, member=lag and number < 2)
    if lag:
        _bond(made, rng)
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        _above(made, rng)
    rng.shuffle(made.ports)
    return made


def _cable(
    made: Host,
    rng: random.Random,
    cable: str,
    number: int,
    identity: dict[str, str],
    *,
    member: bool,
) -> None:
    """The functions of one physical port."""
    counts = 1 if member else rng.choice((1, 1, 2, 2, 3))
    own_half = counts > 1 and rng.random() < 0.3
    found = []
    for function in range(counts):
        nic = f"p{number}f{function}"
        leads = not member or number == 0
        device = ("mlx5_bond_0" if member else f"mlx5_{number}{function}") if leads else ""
        files = (*netdev(), *MLX5_VPORT, *(MLX5_ROCE if device else ()))
        port = roce(
            nic,
            device,
            files=(*files, *(MLX5_PHY if own_half else ())),
            pci=f"0000:{30 + number}:00.{function}",
            identity=identity,
            master="bond0" if member else "",
        )
        found.append(port)
        wire = {f"{cable}.{function}" if own_half else cable: 1.0}
        made.add(port, {} if own_half else {cable: WHOLE}, wire)
    if not own_half:
        made.ports.append(register(*found, counters=_PHY, nic=cable))
    if not own_half and counts == 1:
        _functions(made, rng, cable, found[0])


def _functions(made: Host, rng: random.Random, cable: str, physical: Port) -> None:
    for number in range(rng.choice((0, 0, 1, 2))):
        nic = f"{physical.nic}v{number}"
        port = roce(
            nic,
            f"{physical.device or nic}v{number}",
            files=(*netdev(), *MLX5_VPORT, *MLX5_ROCE),
            pci=f"{physical.pci[:-3]}1.{number}",
            function=rng.choice(("virtual", "scalable")),
            identity={**physical.identity, "physical": physical.pci},
        )
        made.add(port, {cable: WHOLE}, {cable: 1.0})


def _bond(made: Host, rng: random.Random) -> None:
    """Of the first two cables; the RDMA device is the first port's."""
    first = rng.choice((0.0, 0.3, 0.5, 0.6, 1.0))
    second = 1.0 - first
    legs = {"p0f0": (first, first), "c0": (first, first), "p1f0": (second, second)}
    legs["c1"] = legs["p1f0"]
    kind, driver = rng.choice((("bond", "bonding"), ("team", "team")))
    port = upper("bond0", kind, "p0f0", "p1f0", device="mlx5_bond_0", driver=driver)
    port = replace(port, identity={"system_guid": made.ports[0].identity.get("system_guid", "")})
    port = replace(port, identity={}) if not port.identity["system_guid"] else port
    made.add(port, legs, {"c0": first, "c1": second})


def _above(made: Host, rng: random.Random) -> None:
    """A VLAN, macvlan, bridge or VRF over any port that stands below no bond."""
    below = rng.choice([port for port in made.ports if port.nic in made.way and not port.master])
    kind = rng.choice(("vlan", "macvlan", "bridge", "vrf"))
    nic = f"u{len(made.ports)}"
    device = below.device if kind in ("vlan", "macvlan") else ""
    port = upper(nic, kind, below.nic, device=device, driver=kind)
    made.add(port, made.way[below.nic], made.wire[below.nic])


@dataclass(frozen=True)
class World:
    """``nic``: the claim. ``used``: the port that carries ``share`` of the payload; the rest goes
    through memory, or over eth0 where ``slow``.
    """

    made: Host
    nic: str
    used: str
    share: float
    carrier: str
    slow: bool


def world(seed: int) -> World:
    """The world of that seed."""
    rng = random.Random(seed)
    made = host(rng)
    names = sorted(made.way)
    used = rng.choice([name for name in names if "bond0" not in _masters(made, name)])
    claims = ["", used, used, used, rng.choice(names), made.rdma.get(used, used)]
    claims.append(",".join(rng.sample(names, 2)) if len(names) > 1 else "")
    share = rng.choice((0.0, 0.5, 0.5, 1.0, 1.0, 1.0, rng.uniform(0.2, 0.8)))
    carrier = rng.choice(("kernel", "rdma"))
    return World(
        made, rng.choice(claims), used, share, carrier, share == 0.0 and rng.random() < 0.3
    )


def _masters(made: Host, name: str) -> set[str]:
    return {port.master for port in made.ports if port.nic == name}


def scene_of(one: World) -> Scene:
    shares = {one.carrier: one.made.way[one.used], "kernel": one.made.way[one.used]}
    adapter = Adapter("host", "", tuple(one.made.ports), one.used, shares, "", rate=_LINE)
    memory = one.share < 1.0 and not one.slow
    rate = 0.11e9 if one.slow else 14e9 if memory else 0.7 * _LINE
    move = Move(claimed=one.share, eth0=1.0 if one.slow else 0.0, carrier=one.carrier)
    latency = 0.4e-6 if memory else 3e-6
    return Scene(
        adapter, move, nic=one.nic, points=_POINTS, rate=rate, latency_s=latency, with_rail=False
    )


def outcome(seed: int) -> list[str]:
    """What is false or undecided about the verdicts on that world; empty when all is right."""
    one = world(seed)
    scene = scene_of(one)
    pairs = judge(run_of(timeline(scene))).pairs
    found = {("check", pair.proof) for pair in pairs} | {("prove", proved(scene).proof)}
    return sorted(f"{who}: {fault}" for who, got in found if (fault := _fault(one, got)))


def _claimed(one: World) -> set[str]:
    """The ports that the claim means, with what their counters may hold of others."""
    device_of = one.made.rdma
    meant = set()
    for name in one.nic.split(","):
        users = [nic for nic, device in device_of.items() if device == name]
        meant |= {name} if name in one.made.way else set(users)
    return meant


def _fault(one: World, got: str) -> str:
    """ "" when ``got`` is right."""
    crossed = one.share
    meant = _claimed(one) if one.nic else set(one.made.way)
    cables = {cable for name in meant for cable in one.made.wire[name]}
    there = sum(part for cable, part in one.made.wire[one.used].items() if cable in cables)
    shown = one.used in meant or any(
        not _counts_itself(one.made, name)
        and set(one.made.wire[name]) & set(one.made.wire[one.used])
        for name in meant
    )
    truth = _truth(one, crossed * there, on_it=one.used in meant or not one.nic)
    if got == "unproven":
        return "undecided" if truth else ""
    false = {
        "on-wire": crossed * there < 0.95 and not (one.slow and not one.nic),
        "off-wire": one.slow or (shown and crossed * there > 0.05) or crossed >= 0.5,
        "wrong-path": not one.slow and (one.used in meant or not one.nic or crossed < 0.4),
        "mixed": (one.used in meant and crossed > 0.95) or (crossed < 0.05),
    }
    return f"false {got} ({truth or 'open'})" if false[got] else ""


def _counts_itself(made: Host, name: str) -> bool:
    """Whether the port's counters show its own bytes alone, and not those of the physical port."""
    port = next(port for port in made.ports if port.nic == name)
    return port.function != "physical" and port.nic != "bond0"


def _truth(one: World, there: float, *, on_it: bool) -> str:
    """The verdict that a reader of all counters gives; "" where these leave it open."""
    if one.slow:
        return "wrong-path" if one.nic else ""
    if one.share == 0.0:
        return "off-wire"
    if on_it and there > 0.95:
        return "on-wire"
    return "mixed" if on_it and 0.2 < one.share < 0.8 else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--show", type=int, default=None, metavar="SEED")
    given = parser.parse_args()
    if given.show is not None:
        one = world(given.show)
        for port in one.made.ports:
            sys.stdout.write(f"{port.nic} {port.link_kind} {port.device} on {port.lower}\n")
        sys.stdout.write(f"{one.nic!r} {one.used} {one.share} {one.carrier} slow {one.slow}\n")
        sys.stdout.write(f"{outcome(given.show)}\n")
        return 0
    counts: Counter[str] = Counter()
    for seed in range(given.first, given.first + given.count):
        for fault in outcome(seed):
            counts[fault] += 1
            if counts[fault] <= 8:
                sys.stdout.write(f"{seed}: {fault}\n")
    sys.stdout.write(f"{given.count} worlds: {dict(counts)}\n")
    return 1 if any("false" in fault for fault in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
