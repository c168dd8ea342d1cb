"""The footprint of a job in one mode. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from wireproof.model.planning.footprint import Footprint, Setting
from wireproof.plan.footprint.add_up import add_up
from wireproof.plan.footprint.limits import Limit, checked
from wireproof.plan.footprint.modes import MODES
from wireproof.plan.footprint.peers import peers_of
from wireproof.plan.footprint.world import Mode, World
from wireproof.plan.numbers import MOST_NODES, MOST_PPN, MOST_RANKS, chosen, whole

__all__ = ["footprint"]

_RAILS = 32
_PAYLOADS = (256, 512, 1024, 2048, 4096)


def footprint(
    mode: str,
    nodes: int,
    ppn: int,
    *,
    rails: int = 1,
    mtu: int = 4096,
    peers: int | None = None,
    node_pairs: int | None = None,
    settings: Mapping[str, int] | None = None,
    limits: tuple[Limit, ...] = (),
) -> Footprint:
    """QPs and memory (bytes) of ``nodes`` x ``ppn`` ranks, in bounds.

    ``mtu``: a packet's payload (256 to 4096), or that of the Ethernet interface. ``peers``,
    ``node_pairs``: see ``peers_of``. ``settings``: variables of the library that differ from its
    defaults. Raises ``BadInput``.
    """
    chosen_mode = MODES[chosen("--mode", mode, MODES)]
    whole("--nodes", nodes, 1, MOST_NODES)
    whole("--ppn", ppn, 1, MOST_PPN)
    whole("ranks (--nodes x --ppn)", nodes * ppn, 1, MOST_RANKS)
    whole("--rails", rails, 1, _RAILS)
    whole("--mtu", mtu, 256, 65535)
    used = _settings(chosen_mode, settings or {})
    world = World(
        nodes=nodes,
        ppn=ppn,
        rails=rails,
        mtu=_payload(mtu),
        settings={one.name: one.value for one in used},
    )
    chosen_mode.check(world)
    parts = chosen_mode.parts(world)
    who = peers_of(nodes, ppn, peers=peers, node_pairs=node_pairs)
    qps = add_up(parts, nodes, ppn, who, "qps")
    return Footprint(
        mode=chosen_mode.name,
        nodes=nodes,
        ppn=ppn,
        rails=rails,
        mtu_bytes=world.mtu,
        peers=who,
        qps=qps,
        bytes=add_up(parts, nodes, ppn, who, "bytes"),
        parts=parts,
        settings=used,
        limits=[checked(limit, qps.node, rails) for limit in limits],
        observed=[],
        sources=[chosen_mode.title, *chosen_mode.sources],
        validity=list(chosen_mode.validity),
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
