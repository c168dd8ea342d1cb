"""What adapters have of QPs, against what one node needs of them. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from wireproof.model.errors import BadInput
from wireproof.model.planning.bounds import Bounds
from wireproof.model.planning.footprint import LimitCheck

__all__ = ["ADAPTERS", "Limit", "checked", "limit_of_attributes"]


class Limit(NamedTuple):
    """``qps``: that one adapter has, less none for the kernel's own."""

    adapter: str
    qps: int
    source: str


ADAPTERS: dict[str, Limit] = {
    one.adapter: one
    for one in (
        Limit("hfi1", 32768, "hfi1's module parameter max_qps (16384 in the driver of 2015)"),
        Limit("irdma", 4092, "irdma's default, limits_sel=3; limits_sel=0 leaves 124"),
    )
}
"""Limits that do not depend on firmware; of other adapters ``ibv_devinfo -v`` says max_qp."""
_ATTRIBUTE = re.compile(r"^\s*max_qp\s*[:=]\s*([0-9]{1,10})\s*$", re.ASCII | re.MULTILINE)
_DEVICE = re.compile(r"^\s*hca_id\s*[:=]\s*([A-Za-z0-9_.:-]{1,64})\s*$", re.ASCII | re.MULTILINE)


def limit_of_attributes(text: str) -> Limit:
    """The least ``max_qp`` of an output of ``ibv_devinfo -v``. Raises BadInput without one."""
    found = [int(number) for number in _ATTRIBUTE.findall(text)]
    if not found:
        raise BadInput(
            "there is no max_qp in the device attributes: give the output of ibv_devinfo -v."
        )
    names = _DEVICE.findall(text)
    return Limit(", ".join(names) or "adapter", min(found), "max_qp of ibv_devinfo -v")


def checked(limit: Limit, node: Bounds, rails: int) -> LimitCheck:
    """``node``: QPs of one node, spread evenly over its ``rails``."""
    need = node.times(1.0 / rails)
    fits = True if need.high <= limit.qps else False if need.low > limit.qps else None
    amount = f"{need.low:,.0f}" + ("" if need.known else f" to {need.high:,.0f}")
    tail = {
        True: "it fits",
        False: "it does not fit",
        None: "whether it fits depends on who talks to whom",
    }[fits]
    each = " per rail" if rails > 1 else ""
    sentence = f"{limit.adapter} has {limit.qps:,} QPs, a node needs {amount}{each}: {tail}"
    return LimitCheck(
        adapter=limit.adapter, max_qps=limit.qps, fits=fits, sentence=sentence, source=limit.source
    )
