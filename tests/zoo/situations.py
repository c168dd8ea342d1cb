"""Situations: what happens in a scene, and the verdict that an expert with the same files would
give.

The expected verdicts are written by hand from what the files can show, never from running our own
code.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from tests.zoo.parts import Adapter, File, Level, Port
from tests.zoo.scene import Move, Other, Scene

_LEVELS: tuple[Level, ...] = ("wire", "function", "stack")
SHM_RATE, SHM_LATENCY = 3.0, 0.4e-6


@dataclass(frozen=True)
class Expected:
    """The verdicts that are right; the first is the expert's. ``level``: at which an on-wire must
    be claimed at most.

    ``why``: the expert's reason.
    """

    proofs: tuple[str, ...]
    level: str = ""
    why: str = ""


@dataclass(frozen=True)
class Situation:
    key: str
    title: str
    scene: Callable[[Adapter], Scene | None]
    expected: Callable[[Adapter], Expected]


def counting(
    ports: tuple[Port, ...], names: set[str], carrier: str, *, pegged: bool = False
) -> list[File]:
    """Byte counters of those ports that show the carrier's traffic."""
    return [
        file
        for port in ports
        if port.name in names
        for file in port.files
        if file.what == "bytes"
        and carrier in file.counts
        and not file.stuck
        and not (pegged and file.pegs)
    ]


def best_level(adapter: Adapter, carrier: str, *, pegged: bool = False) -> Level | None:
    """The best level at which some byte counter of the claimed path shows the carrier; None when
    none does.
    """
    if not adapter.known and carrier != "kernel":
        return None
    names = set(adapter.shares.get(carrier, {}))
    found = {file.level for file in counting(adapter.ports, names, carrier, pegged=pegged)}
    return next((level for level in _LEVELS if level in found), None)


def dark(adapter: Adapter, *, pegged: bool = False) -> bool:
    """Some carrier of the adapter moves bytes that no counter shows, so that silence proves
    nothing.
    """
    return any(best_level(adapter, carrier, pegged=pegged) is None for carrier in adapter.shares)


def _is_blind(adapter: Adapter) -> bool:
    """Nobody knows its driver, and it has RDMA beside what the kernel counts."""
    return not adapter.known and bool(adapter.fast)


def _base(adapter: Adapter, move: Move, **changes: object) -> Scene:
    latency = {"kernel": 14e-6, "rdma": 2.2e-6, "psm": 1.9e-6}[move.carrier]
    scene = Scene(adapter, move, nic=adapter.claimed, rate=0.9 * adapter.rate, latency_s=latency)
    return replace(scene, **changes)


def _memory(adapter: Adapter, **changes: object) -> Scene:
    rate = max(12e9, SHM_RATE * adapter.rate)
    return _base(
        adapter, Move(carrier=adapter.carrier), rate=rate, latency_s=SHM_LATENCY, **changes
    )


def _healthy(adapter: Adapter, carrier: str) -> Expected:
    level = best_level(adapter, carrier)
    if level is None:
        return Expected(("unproven",), why=f"no counter of the port shows {carrier} bytes")
    if _is_blind(adapter):
        return Expected(
            ("unproven", "on-wire"),
            "stack",
            "the interface's counters alone, of a driver nobody knows",
        )
    if any(port.link_kind == "tun" for port in adapter.ports):
        return Expected(
            ("unproven", "on-wire"),
            level,
            "a program holds the other end, and another port is as busy",
        )
    return Expected(("on-wire",), level, f"the {level} counters have all of it")


def _fast(adapter: Adapter) -> Scene | None:
    return _base(adapter, Move(claimed=1.0, carrier=adapter.fast)) if adapter.fast else None


def _tcp(adapter: Adapter) -> Scene | None:
    if not adapter.speaks_kernel():
        return None
    rate = min(adapter.rate, 5e9) if adapter.fast else adapter.rate
    return _base(adapter, Move(claimed=1.0, carrier="kernel"), rate=0.8 * rate)


def _best(adapter: Adapter, **changes: object) -> Scene:
    return _base(adapter, Move(claimed=1.0, carrier=adapter.carrier), **changes)


def _wrong_port(adapter: Adapter) -> Scene:
    return _base(adapter, Move(eth0=1.0), rate=0.117e9, latency_s=25e-6)


def _expect_wrong_port(adapter: Adapter) -> Expected:
    if _is_blind(adapter):
        return Expected(
            ("wrong-path", "unproven"),
            why="eth0 carried all of it; of the claimed port nothing is known",
        )
    return Expected(("wrong-path",), why="eth0 carried all of it")


def _hairpin(adapter: Adapter) -> Scene | None:
    if not adapter.turns:
        return None
    move = Move(claimed=1.0, carrier=adapter.carrier, turned=True)
    return _base(adapter, move, one_adapter=True, with_rail=False)


def _expect_hairpin(adapter: Adapter) -> Expected:
    level = best_level(adapter, adapter.carrier)
    if adapter.port(adapter.claimed).link_kind == "vlan":
        return Expected(("off-wire", "unproven"), why="one adapter; the port below stood still")
    if any(file.level == "turned" for file in adapter.port(adapter.claimed).files):
        return Expected(("off-wire",), why="the function says what its adapter turned round")
    if level == "wire":
        return _perhaps(
            adapter, Expected(("off-wire",), why="functions of one adapter, whose port stood still")
        )
    if level is None:
        return Expected(("unproven",), why="no counter shows it")
    if any(port.identity for port in adapter.ports):
        return Expected(
            ("unproven", "off-wire"),
            why="functions of one adapter: its own switch may send them out and back (VEPA)",
        )
    return Expected(("unproven", "on-wire"), level, "nothing says that both are one adapter")


def _half(adapter: Adapter) -> Scene:
    return _base(adapter, Move(claimed=0.5, rail=0.5, carrier=adapter.carrier))


def _expect_half(adapter: Adapter) -> Expected:
    if best_level(adapter, adapter.carrier) is None:
        return Expected(("unproven",), why="no counter of the claimed port shows its half")
    if _is_blind(adapter):
        return Expected(("unproven",), why="a driver nobody knows")
    return _perhaps(
        adapter, Expected(("mixed",), why="half on the claimed port, half on the other")
    )


def _expect_memory(adapter: Adapter) -> Expected:
    if dark(adapter):
        return Expected(
            ("unproven",), why="a carrier of the adapter has no counter, so silence proves nothing"
        )
    return _perhaps(
        adapter,
        Expected(("off-wire",), why="every carrier of every port is counted, and nothing moved"),
    )


def _perhaps(adapter: Adapter, found: Expected) -> Expected:
    """Where nobody says what a byte counter leaves out, what it does not show is not known to be
    missing.
    """
    return replace(found, proofs=(*found.proofs, "unproven")) if adapter.unsure else found


def _busy_memory(adapter: Adapter) -> Scene:
    carrier = "kernel" if adapter.speaks_kernel() else adapter.carrier
    other = Other("claimed", 0.6 * adapter.rate, carrier=carrier, during_points=True)
    return _memory(adapter, others=(other,))


def _expect_busy_memory(adapter: Adapter) -> Expected:
    # What moved was the others'; to tell it from a part of ours is beyond any reader of these
    # files.
    return Expected(
        ("unproven", "off-wire", "mixed"),
        why="less moved than was measured, and none of it known as ours",
    )


def _busy_healthy(adapter: Adapter) -> Scene:
    carrier = "kernel" if adapter.speaks_kernel() else adapter.carrier
    return _best(adapter, others=(Other("claimed", 0.03 * adapter.rate, carrier=carrier),))


def _expect_busy_healthy(adapter: Adapter) -> Expected:
    found = _healthy(adapter, adapter.carrier)
    late = any(file.age_ms for port in adapter.ports for file in port.files)
    if late and found.proofs == ("on-wire",):
        why = "by the sum of the run the others' share may be as large as a point"
        return replace(found, proofs=("on-wire", "unproven"), why=why)
    return found


def _wrapped(adapter: Adapter) -> Scene | None:
    return _best(adapter, start="near-end")


def _narrow(adapter: Adapter) -> bool:
    return any(file.width <= 32 for port in adapter.ports for file in port.files)


def _expect_wrapped(adapter: Adapter) -> Expected:
    if _narrow(adapter):
        return Expected(("unproven",), why="a 32-bit counter that stops at its end hides the rest")
    return _healthy(adapter, adapter.carrier)


def _pegged(adapter: Adapter) -> Scene | None:
    return _best(adapter, start="pegged") if _narrow(adapter) else None


def _expect_pegged(adapter: Adapter) -> Expected:
    level = best_level(adapter, adapter.carrier, pegged=True)
    if level is None:
        return Expected(("unproven",), why="the only counter stands at its end")
    return Expected(("on-wire",), level)


def _hidden(adapter: Adapter) -> Scene | None:
    return _best(adapter, hidden=True) if adapter.port(adapter.claimed).nic else None


def _expect_hidden(adapter: Adapter) -> Expected:
    names = set(adapter.shares[adapter.carrier])
    files = counting(adapter.ports, names, adapter.carrier)
    seen = [file.level for file in files if file.path.startswith("net/")]
    if not seen or _is_blind(adapter):
        return Expected(("unproven",), why="the RDMA device's counters are hidden")
    level = next(level for level in _LEVELS if level in seen)
    why = "the interface's counters are all that is seen"
    if any(port.lower for port in adapter.ports):
        why = "nothing says which of the ports with these bytes stands on which"
        return Expected(("unproven", "on-wire"), level, why)
    return Expected(("on-wire", "unproven"), level, why)


SITUATIONS: tuple[Situation, ...] = (
    Situation("fast", "healthy over RDMA or PSM", _fast, lambda a: _healthy(a, a.carrier)),
    Situation("tcp", "healthy over TCP on the same port", _tcp, lambda a: _healthy(a, "kernel")),
    Situation("wrong-port", "wrong port", _wrong_port, _expect_wrong_port),
    Situation("memory", "shared memory", _memory, _expect_memory),
    Situation("hairpin", "looped back inside the adapter", _hairpin, _expect_hairpin),
    Situation("half", "half on each of two rails", _half, _expect_half),
    Situation("busy-memory", "shared memory, other traffic", _busy_memory, _expect_busy_memory),
    Situation("busy-healthy", "healthy, other traffic", _busy_healthy, _expect_busy_healthy),
    Situation(
        "late",
        "counters a second late",
        lambda a: _best(a, late_s=1.0),
        lambda a: _healthy(a, a.carrier),
    ),
    Situation("wrapped", "counters wrap", _wrapped, _expect_wrapped),
    Situation("pegged", "counters at their maximum", _pegged, _expect_pegged),
    Situation("hidden", "sysfs hidden", _hidden, _expect_hidden),
)
