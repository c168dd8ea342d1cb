"""Rules for the commands by which a cluster is set up: addresses, networks, clocks, drivers,
packages, the fabric.
"""

from __future__ import annotations

from wireproof.lint.admin import boot, fabric, networks, power, reach, software
from wireproof.lint.rule import Check

__all__ = ["CHECKS"]

PARTS = (reach, networks, power, boot, software, fabric)
CHECKS: tuple[Check, ...] = tuple(check for part in PARTS for check in part.CHECKS)
