"""Readers of topologies: text in, `wireproof.model.fabric.Fabric` out. docs/topology.md shows each
form.
"""

from __future__ import annotations

from wireproof.locate.topology.against import against, leaf_numbers
from wireproof.locate.topology.ibnetdiscover import read_ibnetdiscover
from wireproof.locate.topology.lldp import read_lldp
from wireproof.locate.topology.opareport import read_opareport
from wireproof.locate.topology.own import read_own
from wireproof.locate.topology.recognise import read_topology
from wireproof.locate.topology.slurm import read_slurm

__all__ = [
    "against",
    "leaf_numbers",
    "read_ibnetdiscover",
    "read_lldp",
    "read_opareport",
    "read_own",
    "read_slurm",
    "read_topology",
]
