"""The virtual cluster: nodes made of namespaces, networks with a known rate, planted faults.

Nothing of it is in the host's network namespace, and one process owns all of it: when that one dies
the kernel removes the rest.
"""

from wireproof.lab.cluster import Lab, down, up
from wireproof.lab.requirements import missing_for_lab
from wireproof.lab.state import find_labs
from wireproof.lab.topology_file import load_topology
from wireproof.model.errors import LabError
from wireproof.model.topology import LabStatus, NodeStatus

__all__ = [
    "Lab",
    "LabError",
    "LabStatus",
    "NodeStatus",
    "down",
    "find_labs",
    "load_topology",
    "missing_for_lab",
    "up",
]
