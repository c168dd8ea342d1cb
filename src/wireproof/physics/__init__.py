# pure
"""Attainable goodput and latency floor of a claimed link, with the arithmetic. Pure."""

from wireproof.physics.claims import FAMILIES, PATHS, carried_by, claim_from_text
from wireproof.physics.limits import (
    bandwidth_threshold_bytes,
    is_shaped,
    limits,
    pcie_goodput,
    shaper_credit_bytes,
    unslowed_bytes,
)
from wireproof.physics.table import (
    Constant,
    PhysicsError,
    Table,
    default_table,
    link_from_name,
    link_names,
    override,
)

__all__ = [
    "FAMILIES",
    "PATHS",
    "Constant",
    "PhysicsError",
    "Table",
    "bandwidth_threshold_bytes",
    "carried_by",
    "claim_from_text",
    "default_table",
    "is_shaped",
    "limits",
    "link_from_name",
    "link_names",
    "override",
    "pcie_goodput",
    "shaper_credit_bytes",
    "unslowed_bytes",
]
