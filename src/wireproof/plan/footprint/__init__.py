# pure
"""QPs and memory of a job, before it runs. Pure; every formula has its source and range.

``modes`` has one entry per transport, with its parts. ``peers`` describes which ranks communicate,
as far as that is known. ``add_up`` multiplies both to get sums for a rank, a node and the job.
``observed`` compares the result with a real run.
"""

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from wireproof.model.errors import MOST_NODES, MOST_PPN, MOST_RANKS, BadInput, chosen, whole
from wireproof.plan import (
    Bounds,
    Footprint,
    FootprintPart,
    FormulaSetting,
    LimitCheck,
    Peers,
    Sums,
    exactly,
)
from wireproof.plan.footprint.modes import MODES, VARIABLES, Mode, PlannedJob

# --- The QP limits of adapters, compared with the QPs that one node needs.


def qp_limit(adapter: str, qps: int, source: str) -> LimitCheck:
    """Return a limit that is not compared yet. ``qps``: the QPs of one adapter, including those
    that the kernel uses.
    """
    return LimitCheck(adapter=adapter, max_qps=qps, fits=None, sentence="", source=source)


ADAPTERS: dict[str, LimitCheck] = {
    one.adapter: one
    for one in (
        qp_limit("hfi1", 32768, "hfi1's module parameter max_qps (16384 in the driver of 2015)"),
        qp_limit("irdma", 4092, "irdma's default, limits_sel=3; limits_sel=0 leaves 124"),
    )
}
"""Limits that do not depend on firmware; for other adapters, ``ibv_devinfo -v`` prints max_qp."""
_ATTRIBUTE = re.compile(r"^\s*max_qp\s*[:=]\s*([0-9]{1,10})\s*$", re.ASCII | re.MULTILINE)
_DEVICE = re.compile(r"^\s*hca_id\s*[:=]\s*([A-Za-z0-9_.:-]{1,64})\s*$", re.ASCII | re.MULTILINE)


def limit_of_attributes(text: str) -> LimitCheck:
    """Return the least ``max_qp`` in the output of ``ibv_devinfo -v``.

    Raises BadInput without one.
    """
    found = [int(number) for number in _ATTRIBUTE.findall(text)]
    if not found:
        raise BadInput(
            "there is no max_qp in the device attributes: give the output of ibv_devinfo -v."
        )
    names = _DEVICE.findall(text)
    return qp_limit(", ".join(names) or "adapter", min(found), "max_qp of ibv_devinfo -v")


def checked(limit: LimitCheck, node: Bounds, rails: int) -> LimitCheck:
    """Compare a limit with ``node``: the QPs of one node, spread evenly over its ``rails``."""
    need, most = node.times(1.0 / rails), limit.max_qps
    fits = True if need.high <= most else False if need.low > most else None
    amount = f"{need.low:,.0f}" + ("" if need.known else f" to {need.high:,.0f}")
    tail = {
        True: "it fits",
        False: "it does not fit",
        None: "whether it fits depends on which ranks communicate",
    }[fits]
    each = " per rail" if rails > 1 else ""
    sentence = f"{limit.adapter} has {most:,} QPs, and a node needs {amount}{each}: {tail}"
    return msgspec.structs.replace(limit, fits=fits, sentence=sentence)


def peers_of(
    nodes: int, ppn: int, *, peers: int | None = None, node_pairs: int | None = None
) -> Peers:
    """Return bounds on the communicating ranks and nodes.

    ``peers``: remote ranks that each rank communicates with. ``node_pairs``: pairs of nodes that
    communicate. With neither, the bounds are no communication at all, and communication of all
    ranks with all others. Each bound is reached by a communication pattern that agrees with the
    input. Raises ``BadInput`` for numbers that no pattern has.
    """
    most_pairs = nodes * (nodes - 1) // 2
    most_peers = (nodes - 1) * ppn
    if peers is not None:
        whole("--peers", peers, 0, most_peers)
        return _each_rank(nodes, ppn, peers, node_pairs)
    if node_pairs is not None:
        whole("--node-pairs", node_pairs, 0, most_pairs)
        return _pairs(nodes, ppn, node_pairs)
    return Peers(
        rank=Bounds(0, most_peers),
        node_ranks=Bounds(0, most_peers * ppn),
        job_ranks=Bounds(0, nodes * ppn * most_peers),
        node=Bounds(0, nodes - 1),
        node_pairs=Bounds(0, most_pairs),
        most_pairs=most_pairs,
        assumed="the communication pattern is unknown: from no communication between nodes to all "
        "ranks with all others",
    )


def _each_rank(nodes: int, ppn: int, peers: int, node_pairs: int | None) -> Peers:
    """Return the bounds if every rank has ``peers`` remote ranks: its node then reaches at least
    ceil(peers / ppn) nodes, and at most one node for each peer of each of its ranks.
    """
    low, high = -(-peers // ppn), min(nodes - 1, peers * ppn)
    most_pairs = nodes * (nodes - 1) // 2
    pairs = Bounds(nodes * low // 2, min(most_pairs, nodes * high // 2))
    if node_pairs is not None:
        if not pairs.low <= node_pairs <= pairs.high:
            raise BadInput(
                f"--node-pairs is {node_pairs}: with {peers} peers per rank, between"
                f" {pairs.low:.0f} and {pairs.high:.0f} pairs of nodes talk."
            )
        pairs = exactly(node_pairs)
    return Peers(
        rank=exactly(peers),
        node_ranks=exactly(peers * ppn),
        job_ranks=exactly(nodes * ppn * peers),
        node=Bounds(low, high),
        node_pairs=pairs,
        most_pairs=most_pairs,
        assumed=f"every rank talks to {peers} ranks of other nodes",
    )


def _pairs(nodes: int, ppn: int, pairs: int) -> Peers:
    """Return the bounds if ``pairs`` of nodes communicate: each with at least one pair of ranks,
    and at most all ppn^2."""
    most_pairs = nodes * (nodes - 1) // 2
    node = Bounds(max(0, pairs - (most_pairs - (nodes - 1))), min(nodes - 1, pairs))
    return Peers(
        rank=Bounds(node.low if ppn == 1 else 0, node.high * ppn),
        node_ranks=Bounds(node.low, node.high * ppn * ppn),
        job_ranks=Bounds(2 * pairs, 2 * pairs * ppn * ppn),
        node=node,
        node_pairs=exactly(pairs),
        most_pairs=most_pairs,
        assumed=f"{pairs:,} of {most_pairs:,} pairs of nodes talk",
    )


def times_there(part: FootprintPart, nodes: int, ppn: int, peers: Peers) -> Sums:
    """Return the number of instances of a part. A part per peer node belongs to the node's kernel,
    not to a rank; a connected pair of nodes has one instance at each end.
    """
    if part.per == "rank":
        return Sums(rank=exactly(1), node=exactly(ppn), job=exactly(nodes * ppn))
    if part.per == "peer rank":
        return Sums(rank=peers.rank, node=peers.node_ranks, job=peers.job_ranks)
    return Sums(rank=exactly(0), node=peers.node, job=peers.node_pairs.times(2))


def add_up(
    parts: Iterable[FootprintPart],
    nodes: int,
    ppn: int,
    peers: Peers,
    what: Literal["qps", "bytes"],
) -> Sums:
    """Return the sums of all parts."""
    rank = node = job = Bounds(0, 0)
    for part in parts:
        each: Bounds = part.qps if what == "qps" else part.bytes
        there = times_there(part, nodes, ppn, peers)
        rank += there.rank.times(each)
        node += there.node.times(each)
        job += there.job.times(each)
    return Sums(rank=rank, node=node, job=job)


_PAYLOADS = (256, 512, 1024, 2048, 4096)


def footprint(name: str, job: PlannedJob, limits: tuple[LimitCheck, ...] = ()) -> Footprint:
    """Return bounds on QPs and memory (bytes) of the job. Raises ``BadInput``."""
    mode, nodes, ppn = MODES[chosen("--mode", name, MODES)], job.nodes, job.ppn
    whole("--nodes", nodes, 1, MOST_NODES)
    whole("--ppn", ppn, 1, MOST_PPN)
    whole("ranks (--nodes x --ppn)", nodes * ppn, 1, MOST_RANKS)
    used = _settings(mode, job.settings or {})
    whole("--rails", job.rails, 1, 32)
    payload = _payload(whole("--mtu", job.mtu, 256, 65535))
    values = {one.name: one.value for one in used}
    parts = mode.parts(dataclasses.replace(job, mtu=payload, settings=values))
    who = peers_of(nodes, ppn, peers=job.peers, node_pairs=job.node_pairs)
    qps = add_up(parts, nodes, ppn, who, "qps")
    return Footprint(
        mode=mode.name,
        nodes=nodes,
        ppn=ppn,
        rails=job.rails,
        mtu_bytes=payload,
        peers=who,
        qps=qps,
        bytes=add_up(parts, nodes, ppn, who, "bytes"),
        parts=parts,
        settings=used,
        limits=[checked(limit, qps.node, job.rails) for limit in limits],
        observed=[],
        sources=[mode.title, *mode.sources],
        validity=list(mode.validity),
    )


def _payload(mtu: int) -> int:
    """Return the packet payload that the kernel chooses for an interface with ``mtu``."""
    if mtu in _PAYLOADS:
        return mtu
    # loading takes 15 ms and is not needed for the default
    from wireproof.physics.framing import roce_path_mtu

    return roce_path_mtu(mtu)


def _settings(mode: Mode, given: Mapping[str, int]) -> list[FormulaSetting]:
    for name in given:
        chosen(f"--set of {mode.name}", name.upper(), mode.variables)
    values = {name.upper(): value for name, value in given.items()}
    return [
        FormulaSetting(
            name=one.name,
            value=whole(one.name, values.get(one.name, one.default), one.low, one.high),
            given=one.name in values,
            meaning=one.meaning,
        )
        for one in map(VARIABLES.__getitem__, mode.variables)
    ]
