"""The lab's state folder, who its processes are, which labs are there, and how each of them is.

A process is known by pid and start time, and the supervisor also by the cookie on its command line:
a pid alone may have been given to a stranger since.
"""

import contextlib
import os
import signal
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from wireproof.files.private import foreign
from wireproof.lab.wire import read_wire_status
from wireproof.model.errors import BadInput, LabError
from wireproof.model.topology import Fault, LabStatus, NodeStatus, Topology

_PF_EXITING = 4  # linux/sched.h
FILE = "lab.json"
SCHEMA = 1


class ProcessId(msgspec.Struct, frozen=True):
    """``start``: start time in clock ticks since boot; ``inner``: the pid as the switch sees it."""

    pid: int
    start: int
    inner: int = 0


class LabState(msgspec.Struct, frozen=True, kw_only=True):
    """What ``lab.json`` holds. ``tied``: the lab goes with its creator. ``faults``: planted now.
    ``notes``: what is not as the topology asked for it.
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
    """Ours alone: another user cannot have put files there."""
    with contextlib.suppress(OSError):
        return not foreign(folder.lstat())
    return False


def state_root(environment: Mapping[str, str] | None = None, *, create: bool = False) -> Path:
    """Where this user's labs are: /run/wireproof/lab, $XDG_RUNTIME_DIR/wireproof/lab or
    /tmp/wireproof-UID/lab.
    """
    values = os.environ if environment is None else environment
    runtime = values.get("XDG_RUNTIME_DIR", "")
    if os.geteuid() == 0:
        base = Path("/run/wireproof")
    elif runtime.startswith("/") and _private(Path(runtime)):
        base = Path(runtime) / "wireproof"
    else:
        base = Path(tempfile.gettempdir()) / f"wireproof-{os.geteuid()}"
    root = base / "lab"
    if create:
        try:
            for folder in (base, root):
                folder.mkdir(
                    mode=0o755 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True
                )
        except OSError as error:
            raise LabError(
                f"{root} cannot be made ({error.strerror}): set XDG_RUNTIME_DIR to a folder of your"
                " own."
            ) from error
    if base.exists() and not _private(base):
        raise LabError(
            f"{base} belongs to another user, or others may write there: remove it, or set"
            " XDG_RUNTIME_DIR."
        )
    return root


def read_state(folder: Path) -> LabState | None:
    """What the folder says; None when there is no file or it is not one of ours (a creator that
    died half-way).
    """
    with contextlib.suppress(OSError, msgspec.DecodeError, msgspec.ValidationError):
        return msgspec.json.decode((folder / FILE).read_bytes(), type=LabState)
    return None


def write_state(folder: Path, state: LabState) -> None:
    """Replaces the file in one step: a reader sees the old or the new one."""
    fresh = folder / f"{FILE}.new"
    fresh.write_bytes(msgspec.json.encode(state))
    fresh.replace(folder / FILE)


def _stat(pid: int) -> tuple[int, bool] | None:
    """Start time in clock ticks, and whether the process is on its way out; None when it has gone
    or is a zombie.

    Fields 3, 9 and 22 of /proc/PID/stat. A killed pid 1 stays for a while: the kernel ends its
    namespace first.
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
    found = _stat(pid)
    return None if found is None or found[1] else found[0]


def process_id(pid: int, inner: int = 0) -> ProcessId:
    """``LabError`` when the process has gone already."""
    start = _start_time(pid)
    if start is None:
        raise LabError(f"process {pid} of the lab ended at once: see `dmesg` for the reason.")
    return ProcessId(pid, start, inner)


def is_alive(process: ProcessId | None) -> bool:
    """True for this very process, not for one that got its pid later."""
    return process is not None and _start_time(process.pid) == process.start


def _words(pid: int) -> list[str]:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")[:-1]
    return []


def _option(words: list[str], name: str) -> str:
    return words[words.index(name) + 1] if name in words[:-1] else ""


def _is_of_lab(pid: int, folder: Path, cookie: str) -> bool:
    """A supervisor or node of the lab in ``folder``: our program, that folder, that cookie (""
    any), our user.
    """
    words = _words(pid)
    if len(words) < 2 or Path(words[0]).name != "wireproof-node" or words[1] != "hold":
        return False
    with contextlib.suppress(OSError):
        ours = Path(f"/proc/{pid}").stat().st_uid == os.geteuid()
        return (
            ours
            and _option(words, "--state") == str(folder)
            and cookie in ("", _option(words, "--cookie"))
        )
    return False


def find_holders(folder: Path, cookie: str = "") -> Iterator[int]:
    """pids of all living processes that hold the lab in ``folder``, its nodes' too, whatever the
    state file says.
    """
    for entry in Path("/proc").iterdir():
        if (
            entry.name.isdigit()
            and _is_of_lab(int(entry.name), folder, cookie)
            and _start_time(int(entry.name))
        ):
            yield int(entry.name)


def _signal(pid: int, folder: Path, cookie: str, number: int) -> None:
    """The identity is checked behind the pidfd: what is signalled is what was checked."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        handle = os.pidfd_open(pid)
        try:
            if _is_of_lab(pid, folder, cookie):
                signal.pidfd_send_signal(handle, number)
        finally:
            os.close(handle)


def terminate(
    folder: Path, cookie: str = "", known: Iterable[ProcessId] = (), patience_s: float = 5.0
) -> list[int]:
    """End every process of the lab; the kernel ends what runs in its nodes. Returns the pids that
    were found.

    Returns when they have gone, ``known`` ones that were dying already too, and with them their
    namespaces.
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
                _signal(pid, folder, cookie, signal.SIGTERM if elapsed <= 1 else signal.SIGKILL)
            if pid not in seen and (start := _start_time(pid)) is not None:
                waiting.append(ProcessId(pid, start))
            seen[pid] = None
        time.sleep(0.01)


def find_labs() -> list[LabStatus]:
    """All labs of this user, crashed ones too, by name."""
    root = state_root()
    folders = sorted(entry for entry in root.iterdir() if entry.is_dir()) if root.is_dir() else []
    return [status_of(folder) for folder in folders]


def labs_called(name: str | None) -> list[LabStatus]:
    """The lab of that name, or all without one. ``BadInput`` when there is none of it."""
    labs = find_labs()
    found = [one for one in labs if name in (None, one.name)]
    if name and not found:
        known = ", ".join(one.name for one in labs) or "none is up"
        raise BadInput(f"there is no lab {name!r}: {known}.")
    return found


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
    """What is there of the lab in ``folder``, whoever of it has died."""
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
