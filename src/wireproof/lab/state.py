"""The state folder of a lab, the identity of its processes, and the labs that exist with their
status.

A process is identified by PID and start time, the supervisor also by the cookie on its command
line: a PID alone may have been reused.
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from wireproof.files.held import foreign, open_until_end, temporary_root
from wireproof.lab.wire import read_wire_status
from wireproof.model.errors import BadInput, LabError
from wireproof.model.topology import Fault, LabStatus, NodeStatus, Topology

_PF_EXITING = 4  # linux/sched.h
FILE = "lab.json"
SCHEMA = 1


class ProcessId(msgspec.Struct, frozen=True):
    """``start``: start time in clock ticks since boot. ``inner``: the PID in the switch's
    namespace.
    """

    pid: int
    start: int
    inner: int = 0


class LabState(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of ``lab.json``. ``tied``: the lab ends with its creator. ``faults``: currently
    in force. ``notes``: differences from the requested topology.
    """

    name: str
    cookie: str
    topology: Topology
    created_unix: float
    user_namespace: bool
    schema: int = SCHEMA
    tied: bool = False
    phase: Literal["building", "up"] = "building"
    supervisor: ProcessId | None = None
    nodes: dict[str, ProcessId] = msgspec.field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    wire: ProcessId | None = None
    notes: tuple[str, ...] = ()


def _private(folder: Path) -> bool:
    """Return whether only this user can write to the folder."""
    with contextlib.suppress(OSError):
        return not foreign(folder.lstat())
    return False


def state_root(environment: Mapping[str, str] | None = None, *, create: bool = False) -> Path:
    """Return the folder of this user's labs: /run/wireproof/lab, $XDG_RUNTIME_DIR/wireproof/lab or
    /tmp/wireproof-UID/lab.
    """
    values = os.environ if environment is None else environment
    runtime = values.get("XDG_RUNTIME_DIR", "")
    if os.geteuid() == 0:
        base = Path("/run/wireproof")
    elif runtime.startswith("/") and _private(Path(runtime)):
        base = Path(runtime) / "wireproof"
    else:
        base = temporary_root() / f"wireproof-{os.geteuid()}"
    root = base / "lab"
    if create:
        try:
            for folder in (base, root):
                folder.mkdir(
                    mode=0o755 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True
                )
        except OSError as error:
            raise LabError(
                f"{root} cannot be created ({error.strerror}): set XDG_RUNTIME_DIR to a folder"
                " that belongs to you."
            ) from error
    if base.exists() and not _private(base):
        raise LabError(
            f"{base} belongs to another user, or others can write to it: remove it, or set"
            " XDG_RUNTIME_DIR."
        )
    return root


def read_state(folder: Path) -> LabState | None:
    """Return the state in the folder; None if the file is missing or invalid (its creator died
    early), or if another user could have created it.
    """
    if not _private(folder):
        return None
    with contextlib.suppress(OSError, msgspec.DecodeError, msgspec.ValidationError):
        return msgspec.json.decode((folder / FILE).read_bytes(), type=LabState)
    return None


def write_state(folder: Path, state: LabState) -> None:
    """Replace the file atomically: a reader sees the old or the new state."""
    fresh = folder / f"{FILE}.new"
    fresh.write_bytes(msgspec.json.encode(state))
    fresh.replace(folder / FILE)


def _stat(pid: int) -> tuple[int, bool] | None:
    """Return (start time in clock ticks, whether the process is exiting); None if it is gone or a
    zombie.

    Uses fields 3, 9 and 22 of /proc/PID/stat. A killed PID 1 exists for a while, until the kernel
    has ended its namespace.
    """
    with contextlib.suppress(OSError, ValueError, IndexError):
        fields = (
            Path(f"/proc/{pid}/stat")
            .read_text(encoding="utf-8", errors="replace")
            .rpartition(")")[2]
            .split()
        )
        return None if fields[0] in "ZX" else (int(fields[19]), bool(int(fields[6]) & _PF_EXITING))
    return None


def _start_time(pid: int) -> int | None:
    status = _stat(pid)
    return None if status is None or status[1] else status[0]


def process_id(pid: int, inner: int = 0) -> ProcessId:
    """Return the identity of a process. Raise ``LabError`` if it has already ended."""
    start = _start_time(pid)
    if start is None:
        raise LabError(f"process {pid} of the lab ended immediately: see `dmesg` for the reason.")
    return ProcessId(pid, start, inner)


def is_alive(process: ProcessId | None) -> bool:
    """Return whether this same process is alive, rather than a later one that reused its PID."""
    return process is not None and _start_time(process.pid) == process.start


def _option(words: list[str], name: str) -> str:
    return words[words.index(name) + 1] if name in words[:-1] else ""


def _is_of_lab(pid: int, folder: Path, cookie: str) -> bool:
    """Return whether the process is a supervisor or node of the lab in ``folder``: same program,
    folder, cookie ("" for any) and user.
    """
    with contextlib.suppress(OSError):
        line = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace")
        program, *words = line.split("\0")[:-1] or [""]
        return (
            Path(program).name == "wireproof-node"
            and words[:1] == ["hold"]
            and Path(f"/proc/{pid}").stat().st_uid == os.geteuid()
            and _option(words, "--state") == str(folder)
            and cookie in ("", _option(words, "--cookie"))
        )
    return False


def find_holders(folder: Path, cookie: str = "") -> Iterator[int]:
    """Yield the PIDs of all living processes of the lab in ``folder``, including its nodes,
    regardless of the state file.
    """
    pids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    yield from (pid for pid in pids if _is_of_lab(pid, folder, cookie) and _start_time(pid))


def send_signal(pid: int, number: int, is_ours: Callable[[int], bool]) -> None:
    """Signal the process after ``is_ours`` has checked its identity through a pidfd, so that no
    other process is hit.
    """
    with (
        contextlib.suppress(ProcessLookupError, PermissionError),
        open_until_end(os.pidfd_open(pid)) as handle,
    ):
        if is_ours(pid):
            signal.pidfd_send_signal(handle, number)


def terminate(
    folder: Path, cookie: str = "", known: Iterable[ProcessId] = (), patience_s: float = 5.0
) -> list[int]:
    """End every process of the lab; the kernel ends the processes in its nodes. Return the PIDs
    that were found.

    Returns when all processes have ended, including ``known`` processes that were already dying,
    and their namespaces no longer exist.
    """
    seen: dict[int, None] = {}
    waiting = list(known)
    begin = time.monotonic()
    while True:
        pids = list(find_holders(folder, cookie))
        waiting = [
            process for process in waiting if (_stat(process.pid) or (None,))[0] == process.start
        ]
        if not pids and not waiting:
            return list(seen)
        elapsed = time.monotonic() - begin
        if elapsed > patience_s:
            stuck = pids[0] if pids else waiting[0].pid
            raise LabError(
                f"process {stuck} of the lab does not end, not even by SIGKILL: it hangs in the"
                " kernel."
            )
        for pid in pids:
            if pid not in seen or elapsed > 1:
                number = signal.SIGTERM if elapsed <= 1 else signal.SIGKILL
                send_signal(pid, number, lambda each: _is_of_lab(each, folder, cookie))
            if pid not in seen and (start := _start_time(pid)) is not None:
                waiting.append(ProcessId(pid, start))
            seen[pid] = None
        time.sleep(0.01)


def find_labs() -> list[LabStatus]:
    """Return all labs of this user by name, including crashed ones."""
    root = state_root()
    folders = sorted(entry for entry in root.iterdir() if entry.is_dir()) if root.is_dir() else []
    return [status_of(folder) for folder in folders]


def labs_called(name: str | None) -> list[LabStatus]:
    """Return the lab of that name, or all labs without a name. Raise ``BadInput`` if there is
    none.
    """
    labs = find_labs()
    matching = [lab for lab in labs if name in (None, lab.name)]
    if name and not matching:
        known = ", ".join(lab.name for lab in labs) or "none is up"
        raise BadInput(f"there is no lab {name!r}: {known}.")
    return matching


def _phase(
    folder: Path, state: LabState, nodes: tuple[NodeStatus, ...]
) -> Literal["up", "degraded", "building", "crashed"]:
    if state.phase == "building":
        return "building" if any(find_holders(folder, state.cookie)) else "crashed"
    if not is_alive(state.supervisor):
        return "crashed"
    whole = all(node.alive for node in nodes) and (state.wire is None or is_alive(state.wire))
    return "up" if whole else "degraded"


def status_of(folder: Path) -> LabStatus:
    """Return the status of the lab in ``folder``, even if some of its processes have died."""
    state = read_state(folder)
    if state is None:
        return LabStatus(folder.name, "crashed", folder)
    nodes = tuple(
        NodeStatus(
            node,
            is_alive(state.nodes.get(node)),
            state.nodes[node].pid if node in state.nodes else None,
            {
                network.name: state.topology.address(node, network.name)
                for network in state.topology.networks
            },
        )
        for node in state.topology.nodes
    )
    return LabStatus(
        folder.name,
        _phase(folder, state, nodes),
        folder,
        created_unix=state.created_unix,
        user_namespace=state.user_namespace,
        nodes=nodes,
        topology=state.topology,
        faults=state.faults,
        wire=read_wire_status(folder) if state.wire is not None else None,
        notes=state.notes,
    )
