"""Run a real Slurm inside a lab: munged and slurmctld in the first node, a slurmd per node.

All daemons are processes of the lab's nodes: regardless of how the lab ends, the kernel also ends
them. Their folder is in the lab's folder.
"""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from wireproof.files.programs import by_path, find_tool
from wireproof.lab.cluster import LONGEST_SOCKET, Lab
from wireproof.lab.state import send_signal
from wireproof.lab.supervisor import needs_user_namespace
from wireproof.model import gathered
from wireproof.model.errors import BadInput, LabError
from wireproof.model.topology import Topology

# --- The files of Slurm: slurm.conf, topology.conf, cgroup.conf, mpi.conf.

CGROUP_CONF = "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\nConstrainCores=no\n"
"""A node's sysfs has no /sys/fs/cgroup: without this file slurmd 22.05 exits at once, although it
uses no cgroups.
"""
MPI_CONF = "PMIxCliTmpDirBase=/dev/shm\n"
"""The nodes share /tmp, where the PMIx folder of another node would already exist; /dev/shm is
separate in each node.
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
KillWait=5
SlurmdTimeout=60
MinJobAge=300
PropagateResourceLimits=NONE
"""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Partition:
    """Empty ``nodes``: all nodes of the lab. ``most_minutes``: its time limit. ``up`` False: jobs
    wait.

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
    tree: bool = False,
) -> str:
    """Return slurm.conf for a lab whose first node runs the controller. ``folder``: the folder for
    state, logs and spools.

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


__all__ = ["LabSlurm", "Partition", "missing_for_slurm", "open_slurm", "slurm_up"]

FOLDER = "slurm"
NORMAL = (Partition(name="normal"),)
_PROGRAMS = (
    ("munged", "munge"),
    ("slurmctld", "slurm-wlm"),
    ("slurmd", "slurm-wlm"),
    ("srun", "slurm-wlm"),
    ("sinfo", "slurm-wlm"),
    ("scontrol", "slurm-wlm"),
    ("scancel", "slurm-wlm"),
)
_PATIENCE_S = 30.0
_LARGEST = 1 << 20


def missing_for_slurm() -> list[str]:
    """Return a sentence with the remedy for each missing requirement of Slurm."""
    lost = gathered(
        (package, program) for program, package in _PROGRAMS if find_tool(program) is None
    )
    missing = [
        f"{', '.join(programs)} {'is' if len(programs) == 1 else 'are'} missing: install the Debian"
        f" package {package}"
        for package, programs in lost.items()
    ]
    if os.geteuid() != 0 or needs_user_namespace():
        missing.append("Slurm's daemons change users, which needs root: run it as root")
    return missing


class LabSlurm:
    """A Slurm that runs in ``lab``. As a context manager, it is stopped on exit, and the lab stays
    up.
    """

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.folder = lab.folder / FOLDER

    @property
    def conf(self) -> Path:
        return self.folder / "slurm.conf"

    @property
    def head(self) -> str:
        """The node with the controller, from which to submit jobs."""
        return self.lab.nodes[0]

    def environment(self) -> dict[str, str]:
        """Return the environment with which Slurm's commands find this Slurm."""
        return {"SLURM_CONF": str(self.conf), **self.lab.agent_environment()}

    def run(
        self,
        argv: Sequence[str],
        node: str = "",
        *,
        timeout_s: float = _PATIENCE_S,
        cwd: Path | str = "/",
        extra: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in a node (default: ``head``) with this Slurm in its environment. Raise
        ``LabError`` after ``timeout_s``.
        """
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("SLURM_", "SBATCH_"))
        }
        try:
            return subprocess.run(
                **by_path(
                    self.lab.exec_argv(node or self.head, argv),
                    {**kept, **self.environment(), **(extra or {})},
                ),
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout_s,
                check=False,
                stdin=subprocess.DEVNULL,
                cwd=cwd,
            )
        except subprocess.TimeoutExpired:
            raise LabError(
                f"{argv[0]} in lab {self.lab.name} did not end within {timeout_s:g} s."
            ) from None

    def states(self) -> dict[str, str]:
        """Return Slurm's state of each node (``idle``, ``drained``, ``down*``); empty while the
        controller starts.
        """
        done = self.run(["sinfo", "-h", "-N", "-o", "%N %T"])
        return dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line.strip())

    def down(self) -> None:
        """Cancel its jobs, end its daemons and remove its folder. The lab continues to run."""
        if self.conf.exists():
            self.run(["scancel", "--user=root"])
        for pattern in ("slurmd.*.pid", "slurmctld.pid", "munged.pid"):
            for file in sorted(self.folder.glob(pattern)):
                self._end_daemon(file)
        self._end_rest()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end_daemon(self, file: Path) -> None:
        """End a daemon by its pid file, which contains the PID in the node's namespace."""
        text = file.read_text(encoding="ascii", errors="replace")[:16].strip()
        daemon, node, *_ = file.name.split(".")
        node = node if daemon == "slurmd" else self.head
        if text.isdigit() and node in self.lab.nodes:
            self.run(["kill", text], node)

    def _end_rest(self) -> None:
        """End the remaining steps and daemons: processes of the lab's nodes that have this
        SLURM_CONF or folder.
        """
        mark, begin = str(self.folder).encode(), time.monotonic()
        while (pids := _processes_with(mark)) and time.monotonic() - begin < 10:
            for pid in pids if time.monotonic() - begin > 1.5 else []:
                send_signal(pid, signal.SIGKILL, lambda each: _carries(each, mark))
            time.sleep(0.05)

    def __enter__(self) -> LabSlurm:
        return self

    def __exit__(self, *_error: object) -> None:
        if self.lab.folder.exists():
            self.down()


def _carries(pid: int, mark: bytes) -> bool:
    if pid == os.getpid():
        return False
    for name in ("cmdline", "environ"):
        try:
            words = Path(f"/proc/{pid}/{name}").read_bytes()[:_LARGEST].split(b"\0")
        except OSError:
            return False
        if any(word.endswith(mark) or mark + b"/" in word for word in words):
            return True
    return False


def _processes_with(mark: bytes) -> list[int]:
    return [
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and _carries(int(entry.name), mark)
    ]


def _write_files(slurm: LabSlurm, text: str, switches: Mapping[str, Sequence[str]]) -> None:
    folder = slurm.folder
    try:
        folder.mkdir(mode=0o755)
    except FileExistsError:
        raise LabError(f"lab {slurm.lab.name} already has a Slurm: stop it first.") from None
    (folder / "state").mkdir(mode=0o700)
    for node in slurm.lab.nodes:
        (folder / f"spool.{node}").mkdir(mode=0o755)
    slurm.conf.write_text(text, encoding="ascii")
    (folder / "cgroup.conf").write_text(CGROUP_CONF, encoding="ascii")
    (folder / "mpi.conf").write_text(MPI_CONF, encoding="ascii")
    if switches:
        (folder / "topology.conf").write_text(topology_conf(switches), encoding="ascii")
    key = os.open(folder / "munge.key", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(key, "wb") as file:
        file.write(os.urandom(128))


def _munged_argv(program: str, folder: Path) -> list[str]:
    files = [("key-file", "key"), ("socket", "socket"), ("seed-file", "seed"), ("log-file", "log")]
    words = [f"--{option}={folder}/munge.{ending}" for option, ending in files]
    return [program, "--force", *words, f"--pid-file={folder}/munged.pid", "--num-threads=2"]


def _start(slurm: LabSlurm, name: str, argv: Sequence[str], node: str) -> None:
    done = slurm.run(argv, node)
    if done.returncode != 0:
        output = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise LabError(
            f"{name} did not start on {node}:"
            f" {output[-1][:300] if output else f'status {done.returncode}'}."
        )


def _wait_idle(slurm: LabSlurm) -> None:
    until = time.monotonic() + _PATIENCE_S
    states: dict[str, str] = {}
    while time.monotonic() < until:
        states = slurm.states()
        if len(states) == len(slurm.lab.nodes) and all(
            state == "idle" for state in states.values()
        ):
            return
        time.sleep(0.1)
    seen = ", ".join(f"{node} {state}" for node, state in states.items()) or "no node"
    raise LabError(
        f"the lab's Slurm did not come up within {_PATIENCE_S:g} s: {seen}; its logs are in"
        f" {slurm.folder}."
    )


def slurm_up(
    lab: Lab,
    *,
    partitions: Sequence[Partition] = NORMAL,
    cpus: int = 0,
    switches: Mapping[str, Sequence[str]] | None = None,
) -> LabSlurm:
    """Start Slurm in a lab and wait until all its nodes are idle (about 2 s).

    ``cpus``: processors of each node (0: those of the machine, at least 2). ``switches``: a
    topology.conf. Raises ``LabError`` with missing requirements or Slurm's message; nothing is then
    left behind.
    """
    if missing := missing_for_slurm():
        raise LabError(f"no Slurm can run in a lab here: {'; '.join(missing)}.")
    slurm = LabSlurm(lab)
    if len(str(slurm.folder / "munge.socket.lock")) > LONGEST_SOCKET:
        raise LabError(
            f"the path {slurm.folder} is too long for munge's socket: use a shorter lab name."
        )
    count = cpus or max(2, os.cpu_count() or 2)
    text = slurm_conf(
        slurm.folder, lab.topology, cpus=count, partitions=partitions, tree=bool(switches)
    )
    _write_files(slurm, text, switches or {})
    try:
        tools = {name: find_tool(name) or name for name, _ in _PROGRAMS}
        _start(slurm, "munged", _munged_argv(tools["munged"], slurm.folder), slurm.head)
        _start(slurm, "slurmctld", [tools["slurmctld"], "-f", str(slurm.conf), "-c"], slurm.head)
        for node in lab.nodes:
            _start(slurm, "slurmd", [tools["slurmd"], "-f", str(slurm.conf), "-N", node], node)
        _wait_idle(slurm)
    except BaseException:
        slurm.down()
        raise
    return slurm


def open_slurm(lab: Lab) -> LabSlurm | None:
    """Return the Slurm that was started in ``lab``, or None."""
    slurm = LabSlurm(lab)
    return slurm if slurm.conf.is_file() else None
