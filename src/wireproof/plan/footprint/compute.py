"""The footprint of a job in one mode. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict, Unpack

from wireproof.model.planning.footprint import Footprint, Peers, Setting
from wireproof.plan.footprint.add_up import add_up
from wireproof.plan.footprint.limits import Limit, checked
from wireproof.plan.footprint.modes import MODES
from wireproof.plan.footprint.peers import peers_of
from wireproof.plan.footprint.world import Mode, World
from wireproof.plan.numbers import MOST_NODES, MOST_PPN, MOST_RANKS, chosen, whole

__all__ = ["JobOptions", "footprint"]

_RAILS = 32
_PAYLOADS = (256, 512, 1024, 2048, 4096)


class JobOptions(TypedDict, total=False):
    """``mtu``: a packet's payload (256 to 4096), or that of the Ethernet interface. ``peers``,
    ``node_pairs``: see ``peers_of``. ``settings``: variables of the library that differ from its
    defaults. ``limits``: of adapters.
    """

    rails: int
    mtu: int
    peers: int | None
    node_pairs: int | None
    settings: Mapping[str, int] | None
    limits: tuple[Limit, ...]


def footprint(mode: str, nodes: int, ppn: int, **options: Unpack[JobOptions]) -> Footprint:
    """QPs and memory (bytes) of ``nodes`` x ``ppn`` ranks, in bounds. Raises ``BadInput``."""
    chosen_mode = MODES[chosen("--mode", mode, MODES)]
    whole("--nodes", nodes, 1, MOST_NODES)
    whole("--ppn", ppn, 1, MOST_PPN)
    whole("ranks (--nodes x --ppn)", nodes * ppn, 1, MOST_RANKS)
    used = _settings(chosen_mode, options.get("settings") or {})
    world = World(
        nodes=nodes,
        ppn=ppn,
        rails=whole("--rails", options.get("rails", 1), 1, _RAILS),
        mtu=_payload(whole("--mtu", options.get("mtu", 4096), 256, 65535)),
        settings={one.name: one.value for one in used},
    )
    chosen_mode.check(world)
    who = peers_of(nodes, ppn, peers=options.get("peers"), node_pairs=options.get("node_pairs"))
    return _of_world(chosen_mode, world, who, used, options.get("limits", ()))


def _of_world(
    mode: Mode, world: World, who: Peers, used: list[Setting], limits: tuple[Limit, ...]
) -> Footprint:
    parts = mode.parts(world)
    qps = add_up(parts, world.nodes, world.ppn, who, "qps")
    return Footprint(
        mode=mode.name,
        nodes=world.nodes,
        ppn=world.ppn,
        rails=world.rails,
        mtu_bytes=world.mtu,
        peers=who,
        qps=qps,
        bytes=add_up(parts, world.nodes, world.ppn, who, "bytes"),
        parts=parts,
        settings=used,
        limits=[checked(limit, qps.node, world.rails) for limit in limits],
        observed=[],
        sources=[mode.title, *mode.sources],
        validity=list(mode.validity),
    )


def _payload(mtu: int) -> int:
    """Payload of a packet, as the kernel chooses it for an interface of ``mtu``."""
    if mtu in _PAYLOADS:
        return mtu
    from wireproof.physics.framing import roce_path_mtu  # 15 ms that the default does not need

    return roce_path_mtu(mtu)


def _settings(mode: Mode, given: Mapping[str, int]) -> list[Setting]:
    names = [variable.name for variable in mode.variables]
    for name in given:
        chosen(f"--set of {mode.name}", name.upper(), names)
    values = {name.upper(): value for name, value in given.items()}
    return [
        Setting(
            name=one.name,
            value=whole(one.name, values.get(one.name, one.default), one.low, one.high),
            given=one.name in values,
            meaning=one.meaning,
        )
        for one in mode.variables
    ]
