"""Planning past the machines at hand: QPs and memory, buffers of PFC, latency at scale, time to
prove.

What one function needs is imported when it is called: a footprint needs no numpy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wireproof.model.errors import BadInput

if TYPE_CHECKING:
    from wireproof.model.planning.footprint import Footprint
    from wireproof.model.planning.pfc import Pfc
    from wireproof.plan.footprint.limits import Limit

__all__ = ["plan_footprint", "plan_pfc", "settings_of"]

_LARGEST_FILE = 256 << 20


def plan_footprint(
    nodes: int,
    ppn: int,
    mode: str,
    *,
    rails: int = 1,
    mtu: int = 4096,
    peers: int | None = None,
    node_pairs: int | None = None,
    settings: Mapping[str, int] | None = None,
    max_qps: int | None = None,
    device: Path | None = None,
    observed: Path | None = None,
    seen_qps: int | None = None,
    seen_memory: int | None = None,
) -> Footprint:
    """QPs and memory of ``nodes`` x ``ppn`` ranks in ``mode`` (psm3-rdma0 to 3, rxm, rxm-srx,
    ucx-rc, ucx-dc, ucx-ud), in bounds where it depends on who talks to whom.

    ``peers``: remote ranks that each rank talks to; ``node_pairs``: pairs of nodes that talk.
    ``max_qps``, ``device`` (a file with the output of ``ibv_devinfo -v``): the adapter's limit.
    ``observed``: a file with what ``rdma resource show`` printed on one node of a real run;
    ``seen_qps``, ``seen_memory`` (bytes): of a whole job. Raises ``BadInput``.
    """
    from wireproof.plan.footprint.compute import footprint

    found = footprint(
        mode,
        nodes,
        ppn,
        rails=rails,
        mtu=mtu,
        peers=peers,
        node_pairs=node_pairs,
        settings=settings,
        limits=_limits(mode, max_qps, device),
    )
    if observed is None and seen_qps is None and seen_memory is None:
        return found
    return _beside(found, observed, seen_qps, seen_memory)


def _beside(
    found: Footprint, observed: Path | None, seen_qps: int | None, seen_memory: int | None
) -> Footprint:
    """The footprint with what was seen in a real run."""
    import msgspec

    from wireproof.plan.footprint.observed import of_job, of_memory, of_node
    from wireproof.plan.footprint.rdma_resource import resources_of

    seen = [] if observed is None else [of_node(found, resources_of(_text(observed)))]
    seen += [] if seen_qps is None else [of_job(found, seen_qps)]
    seen += [] if seen_memory is None else [of_memory(found, seen_memory)]
    return msgspec.structs.replace(found, observed=seen)


def _limits(mode: str, max_qps: int | None, device: Path | None) -> tuple[Limit, ...]:
    """The limit that was given; without one, those of the adapters that the mode runs on and that
    are known.
    """
    from wireproof.plan.footprint.limits import ADAPTERS, Limit, limit_of_attributes
    from wireproof.plan.numbers import whole

    given = []
    if max_qps is not None:
        given.append(Limit("the adapter", whole("--max-qps", max_qps, 1, 1 << 24), "--max-qps"))
    if device is not None:
        given.append(limit_of_attributes(_text(device)))
    if given or mode == "ucx-dc":
        return tuple(given)
    return (ADAPTERS["irdma"],) if mode.startswith("psm3") else tuple(ADAPTERS.values())


def plan_pfc(
    speed_gbps: float,
    mtu: int,
    cable_m: float,
    ports: int,
    *,
    priorities: int = 1,
    other_mtu: int | None = None,
    cell: int = 0,
    budget: int | None = None,
    headroom: int | None = None,
    response_quanta: int | None = None,
) -> Pfc:
    """Headroom, XOFF, XON and total buffer (bytes) that ``ports`` of a switch need for lossless
    ``priorities``, by IEEE 802.1Q.

    ``other_mtu``: the largest MTU of any class; ``cell``: bytes of the buffer's cells; ``budget``:
    the chip's buffer; ``headroom``: what is configured, held against the need. Raises ``BadInput``.
    """
    from wireproof.plan.pfc.compute import pfc

    return pfc(
        speed_gbps,
        mtu,
        cable_m,
        ports,
        priorities=priorities,
        other_mtu=other_mtu,
        cell=cell,
        budget=budget,
        headroom=headroom,
        response_quanta=response_quanta,
    )


def settings_of(texts: Sequence[str]) -> dict[str, int]:
    """``NAME=VALUE`` as typed. Raises ``BadInput`` for anything else."""
    found: dict[str, int] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (equals and name and value.isascii() and value.isdigit() and len(value) <= 18):
            raise BadInput(f"--set {text[:80]!r} is no NAME=NUMBER, as PSM3_RV_QP_PER_CONN=4 is.")
        found[name.strip()] = int(value)
    return found


def _text(path: Path) -> str:
    from wireproof.files.hostile import read_bounded

    try:
        return read_bounded(path, _LARGEST_FILE).decode("utf-8", "replace")
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadInput(f"{path} cannot be read: {reason}.") from None
