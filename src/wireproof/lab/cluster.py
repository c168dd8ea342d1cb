"""Represent labs as objects: bring up, find by name, enter, inject faults, take down."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from wireproof.files.held import open_until_end
from wireproof.lab import commands, supervisor
from wireproof.lab.links import buildable, claimed_link, connect, replant, write_wire
from wireproof.lab.state import (
    LabState,
    find_holders,
    find_labs,
    is_alive,
    read_state,
    state_root,
    status_of,
    terminate,
    write_state,
)
from wireproof.lab.supervisor import missing_for_lab, needs_user_namespace
from wireproof.lab.topology_file import check_fault, check_topology
from wireproof.lab.wire import read_wire_status
from wireproof.launch.engines import find_program
from wireproof.model.claim import LinkClaim
from wireproof.model.errors import BadInput, LabError
from wireproof.model.topology import Fault, LabStatus, Topology, WireStatus

AGENT = "wireproof-agent"
STATE_VARIABLE = "WIREPROOF_LAB_STATE"
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?", re.ASCII)
LONGEST_SOCKET = 107


@dataclasses.dataclass(frozen=True)
class DownResult:
    """The processes that were ended. ``crashed``: the lab had already died, and only leftovers were
    removed.
    """

    name: str
    processes: tuple[int, ...]
    crashed: bool


class Lab:
    """A running lab. As a context manager, it is taken down on exit."""

    def __init__(
        self, folder: Path, state: LabState, program: Path, control: int | None = None
    ) -> None:
        self.folder = folder
        self.program = program
        self._state = state
        self._control = control

    @property
    def name(self) -> str:
        return self._state.name

    @property
    def topology(self) -> Topology:
        return self._state.topology

    @property
    def nodes(self) -> tuple[str, ...]:
        return self._state.topology.nodes

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The faults in force, from the file or injected later."""
        return self._state.faults

    @property
    def agent(self) -> Path:
        """Program that runs a command in a node and is called like ssh: for ``-launcher-exec`` and
        ``plm_rsh_agent``.

        It needs ``agent_environment()`` and also works inside nodes.
        """
        return self.folder / AGENT

    def agent_environment(self) -> dict[str, str]:
        return {STATE_VARIABLE: str(self.folder)}

    def exec_argv(self, node: str, argv: Sequence[str]) -> list[str]:
        """Return the arguments that run ``argv`` in the node with the current folder and
        environment; the exit status is the command's.
        """
        if node != commands.SWITCH and node not in self.nodes:
            raise BadInput(
                f"lab {self.name} has no node {node!r}; its nodes are {', '.join(self.nodes)}."
            )
        return commands.enter_argv(self.program, self.folder, node, argv)

    def node_address(self, node: str, network: str) -> str:
        return self.topology.address(node, network)

    def expected_link(self, network: str) -> LinkClaim:
        """Return the link as the lab built it."""
        return claimed_link(self.name, self.topology, network)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the differences from the requested topology."""
        return self._state.notes

    @property
    def priority(self) -> str:
        """A sentence that states whether processes in the nodes have priority over other processes
        of the machine.
        """
        supervisor = self._state.supervisor
        nice = 0
        with contextlib.suppress(ProcessLookupError):
            nice = os.getpriority(os.PRIO_PROCESS, supervisor.pid) if supervisor else 0
        if nice < 0:
            return (
                f"the lab's nodes have priority over other processes of this machine (nice {nice})"
            )
        return "the lab's nodes share the cores with all other processes of this machine"

    def wire_status(self) -> WireStatus | None:
        """Return the counters of the store-and-forward wire; None if token buckets shape
        the links.
        """
        return read_wire_status(self.folder) if self.topology.serialises else None

    def counters(self, node: str, device: str) -> dict[str, int]:
        """Return ``rx_bytes``, ``rx_packets``, ``tx_bytes``, ``tx_packets`` of a node's NIC, from
        the node's /proc/net/dev.
        """
        process = self._state.nodes[node]
        if not is_alive(process):
            raise LabError(
                f"node {node} of lab {self.name} has died: take the lab down and up again."
            )
        text = Path(f"/proc/{process.pid}/net/dev").read_text(encoding="utf-8")
        found = re.search(rf"^ *{re.escape(device)}:(.*)$", text, re.MULTILINE)
        if found is None:
            raise BadInput(f"node {node} has no device {device!r}.")
        fields = [int(word) for word in found[1].split()]
        places = {"rx_bytes": 0, "rx_packets": 1, "tx_bytes": 8, "tx_packets": 9}
        return {name: fields[place] for name, place in places.items()}

    def set_fault(self, fault: Fault) -> None:
        """Inject a fault while the lab runs; it replaces a fault of the same kind in the same
        place.
        """
        check_fault(fault, self.topology)
        self._change(fault, plant=True)

    def clear_fault(self, fault: Fault) -> None:
        """Remove a fault (its value is ignored). Raise ``BadInput`` if there is none."""
        self._change(fault, plant=False)

    def _change(self, fault: Fault, *, plant: bool) -> None:
        with _locked(self.folder):
            state = read_state(self.folder) or self._state
            kept = tuple(planted for planted in state.faults if planted.place != fault.place)
            if not plant and kept == state.faults:
                raise BadInput(
                    f"there is no {fault.kind} fault at {fault.node}, network {fault.network}."
                )
            faults = (*kept, fault) if plant else kept
            replant(self.program, self.folder, state, fault, faults)
            self._state = msgspec.structs.replace(state, faults=faults)
            write_state(self.folder, self._state)

    def status(self) -> LabStatus:
        return status_of(self.folder)

    def down(self) -> DownResult:
        if self._control is not None:
            supervisor.release(self._control)
            self._control = None
        return _remove(self.folder)

    def __enter__(self) -> Lab:
        return self

    def __exit__(self, *_error: object) -> None:
        self.down()


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    import fcntl  # missing on Windows, where modules for stored results are imported

    try:
        lock = os.open(folder / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:
        raise LabError(f"lab {folder.name} is no longer up: bring it up again.") from None
    with open_until_end(lock):
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _folder(name: str, *, create: bool = False) -> Path:
    if _NAME.fullmatch(name) is None:
        raise BadInput(
            f"lab name {name[:40]!r} is not valid: use 1 to 32 lower-case letters, digits and -."
        )
    folder = state_root(create=create) / name
    if len(str(folder / "socket")) > LONGEST_SOCKET:
        raise BadInput(
            f"the path {folder} is too long for a socket: use a shorter name or XDG_RUNTIME_DIR."
        )
    return folder


def _new_folder(name: str) -> Path:
    folder = _folder(name, create=True)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        raise BadInput(
            f"lab {name} already exists ({status_of(folder).state}): give another name, or"
            f" `wireproof lab down {name}`."
        ) from None
    return folder


def up(topology: Topology, name: str, *, tied: bool = False) -> Lab:
    """Build a lab. ``tied``: it ends with this process, regardless of how the process ends; else it
    runs until ``down``.

    Raises ``BadInput`` if the name is taken or the topology is invalid, ``LabError`` if the machine
    cannot build it. A failure leaves nothing behind.
    """
    check_topology(topology)
    if missing := missing_for_lab():
        raise LabError(f"no lab can be built here: {'; '.join(missing)}.")
    program = find_program("wireproof-node")
    topology, notes = buildable(topology)
    state = LabState(
        name=name,
        cookie=secrets.token_hex(16),
        topology=topology,
        created_unix=time.time(),
        tied=tied,
        user_namespace=needs_user_namespace(),
        faults=topology.faults,
        notes=notes,
    )
    folder = _new_folder(name)
    control: int | None = None
    try:
        _write_files(folder, program, state)
        state, control = supervisor.start(program, folder, state)
        connect(program, folder, state)
        write_state(folder, state)
    except BaseException:
        if control is not None:
            os.close(control)
        _remove(folder)
        raise
    if not tied:
        supervisor.release(control)
        control = None
    return Lab(folder, state, program, control)


def _write_files(folder: Path, program: Path, state: LabState) -> None:
    """Write the files that the lab's processes read when they start."""
    topology = state.topology
    (folder / "hosts").write_text(commands.hosts_text(topology), encoding="ascii")
    (folder / AGENT).symlink_to(program)
    if topology.serialises:
        write_wire(folder, topology, topology.faults, revision=1)
    write_state(folder, state)


def _remove(folder: Path) -> DownResult:
    """End the remaining processes of the lab, then remove its folder."""
    state = read_state(folder)
    crashed = state is None or not is_alive(state.supervisor)
    supervisor_only = [state.supervisor] if state and state.supervisor else []
    processes = terminate(folder, state.cookie if state else "", supervisor_only)
    # Links were in the supervisor's namespaces and disappeared with them; nothing of the lab exists
    # outside.
    shutil.rmtree(folder, ignore_errors=True)
    return DownResult(folder.name, tuple(processes), crashed)


def _no_lab(name: str) -> BadInput:
    known = ", ".join(status.name for status in find_labs())
    return BadInput(f"there is no lab {name!r}: {f'there is {known}' if known else 'none is up'}.")


def down(name: str) -> DownResult:
    """Remove the lab of that name, or the leftovers of a crashed lab. Raise ``BadInput`` if there
    is neither.
    """
    folder = _folder(name)
    if not folder.is_dir() and not any(find_holders(folder)):
        raise _no_lab(name)
    return _remove(folder)


def open_lab(name: str) -> Lab:
    """Return the running lab of that name. Raise ``BadInput`` if there is none, ``LabError`` if it
    is not up.
    """
    folder = _folder(name)
    if not folder.is_dir():
        raise _no_lab(name)
    state = read_state(folder)
    if state is None or state.phase != "up" or not is_alive(state.supervisor):
        raise LabError(
            f"lab {name} is {status_of(folder).state}: `wireproof lab down {name}` removes its"
            " remains."
        )
    return Lab(folder, state, find_program("wireproof-node"))
