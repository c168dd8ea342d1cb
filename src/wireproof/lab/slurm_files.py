"""Write the files of a lab's Slurm: slurm.conf, topology.conf, cgroup.conf, mpi.conf. Pure."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from wireproof.model.errors import BadInput
from wireproof.model.topology import Topology

CGROUP_CONF = "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\nConstrainCores=no\n"
"""A node's sysfs has no /sys/fs/cgroup: without this file slurmd 22.05 exits at once, although it
uses no cgroups.
"""
MPI_CONF = "PMIxCliTmpDirBase=/dev/shm\n"
"""The nodes share /tmp, where the PMIx folder of another node would already exist; each node has
its own /dev/shm.
"""
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}", re.ASCII)
_FIXED = """\
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=100000,bf_interval=1
ReturnToService=2
SlurmdParameters=config_overrides
LaunchParameters=enable_nss_slurm
SwitchType=switch/none
SlurmdTimeout=60
MinJobAge=300
PropagateResourceLimits=NONE
"""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Partition:
    """Empty ``nodes``: all of the lab. ``most_minutes``: its time limit. ``up`` False: jobs wait.

    ``whole``: jobs always get whole nodes, as in OpenHPC's slurm.conf.
    """

    name: str
    nodes: tuple[str, ...] = ()
    most_minutes: int = 60
    up: bool = True
    whole: bool = False


def _check(topology: Topology, partitions: Sequence[Partition]) -> None:
    if not partitions:
        raise BadInput("a Slurm in a lab needs a partition: give at least one.")
    for partition in partitions:
        if _WORD.fullmatch(partition.name) is None:
            raise BadInput(
                f"{partition.name[:40]!r} cannot be a partition's name: use letters, digits, _ and"
                " -."
            )
        for node in partition.nodes:
            if node not in topology.nodes:
                raise BadInput(f"partition {partition.name}: there is no node {node!r} in the lab.")


def slurm_conf(
    folder: Path,
    topology: Topology,
    *,
    cpus: int,
    partitions: Sequence[Partition],
    kill_wait_s: int = 5,
    tree: bool = False,
) -> str:
    """Return slurm.conf for a lab whose first node runs the controller. ``folder``: for state, logs
    and spools.

    The first partition is the default. Raises ``BadInput`` for an invalid partition.
    """
    _check(topology, partitions)
    first = topology.networks[0].name
    head = topology.nodes[0]
    lines = [
        "ClusterName=lab",
        f"SlurmctldHost={head}({topology.address(head, first)})",
        f"AuthInfo=socket={folder}/munge.socket",
        f"StateSaveLocation={folder}/state",
        f"SlurmdSpoolDir={folder}/spool.%n",
        f"SlurmctldPidFile={folder}/slurmctld.pid",
        f"SlurmdPidFile={folder}/slurmd.%n.pid",
        f"SlurmctldLogFile={folder}/slurmctld.log",
        f"SlurmdLogFile={folder}/slurmd.%n.log",
        f"KillWait={kill_wait_s}",
        f"TopologyPlugin=topology/{'tree' if tree else 'none'}",
        *_FIXED.splitlines(),
    ]
    lines += [
        f"NodeName={node} NodeAddr={topology.address(node, first)} NodeHostname={node} CPUs={cpus}"
        " RealMemory=2000 State=UNKNOWN"
        for node in topology.nodes
    ]
    for index, partition in enumerate(partitions):
        lines.append(_partition_line(partition, topology, default=index == 0))
    return "\n".join(lines) + "\n"


def _partition_line(partition: Partition, topology: Topology, *, default: bool) -> str:
    return (
        f"PartitionName={partition.name} Nodes={','.join(partition.nodes or topology.nodes)}"
        f" Default={'YES' if default else 'NO'} MaxTime={partition.most_minutes}"
        f" OverSubscribe={'EXCLUSIVE' if partition.whole else 'NO'}"
        f" State={'UP' if partition.up else 'DOWN'}"
    )


def topology_conf(switches: Mapping[str, Sequence[str]]) -> str:
    """Return topology.conf. Values that are keys of ``switches`` are switches, others are nodes."""
    lines = []
    for name, below in switches.items():
        kind = "Switches" if all(item in switches for item in below) else "Nodes"
        lines.append(f"SwitchName={name} {kind}={','.join(below)}")
    return "\n".join(lines) + "\n" if lines else ""
