"""Starts the process that owns a lab, and runs ip and tc inside."""

import contextlib
import dataclasses
import os
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from wireproof.files.programs import by_path, find_tool
from wireproof.lab.commands import SWITCH, enter_argv, hold_argv
from wireproof.lab.requirements import user_namespace_obstacles
from wireproof.lab.state import ProcessId, is_alive, process_id
from wireproof.lab.wire import WIRE
from wireproof.model.errors import LabError
from wireproof.model.topology import Topology

_CREDENTIALS = struct.Struct("iII")  # struct ucred: pid, uid, gid
_PATIENCE_S = 30.0


@dataclasses.dataclass
class Started:
    """A supervisor with its nodes and its wire. ``control``: our end of the pipe whose end of file
    ends the lab.
    """

    supervisor: ProcessId
    nodes: dict[str, ProcessId]
    control: int
    wire: ProcessId | None = None


def _minimal_environment() -> dict[str, str]:
    """The supervisor outlives its creator: nothing of a job's or a session's marks may reach it."""
    return {"PATH": os.environ.get("PATH", os.defpath)}


def start(
    program: Path, *, name: str, folder: Path, cookie: str, topology: Topology, user: bool
) -> Started:
    """Start the supervisor and wait until every node is furnished; ``LabError`` with the reason
    that it gave.

    On any failure the control pipe is closed, which ends whatever had been started.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    read_end, control = os.pipe()
    try:
        with ours, theirs:
            # The kernel then attaches each sender's pid as we see it: in its own pid namespace it
            # cannot know it.
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            argv = hold_argv(
                program,
                name=name,
                state=folder,
                cookie=cookie,
                topology=topology,
                descriptors=(theirs.fileno(), read_end),
                user=user,
            )
            _spawn(argv, (theirs.fileno(), read_end))
            theirs.close()
            outer, inner = _collect(ours, len(topology.nodes), user, wire=topology.serialises)
        nodes = {node: process_id(outer[node], inner[node]) for node in topology.nodes}
        wire = process_id(outer[WIRE]) if WIRE in outer else None
        return Started(process_id(outer[SWITCH]), nodes, control, wire)
    except BaseException:
        os.close(control)
        raise
    finally:
        os.close(read_end)


def _spawn(argv: list[str], descriptors: tuple[int, int]) -> None:
    """The process started ends at once; its child, the supervisor, is nobody's and stays."""
    done = subprocess.run(
        **by_path(argv, _minimal_environment()),
        pass_fds=descriptors,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
        timeout=_PATIENCE_S,
        check=False,
    )
    # 125 has sent its reason over the report socket; anything else is a program that cannot run at
    # all.
    if done.returncode not in (0, 125):
        raise LabError(f"{argv[0]} ended with status {done.returncode}: reinstall wireproof.")


def _receive(report: socket.socket, deadline: float) -> tuple[str, int]:
    """One report and the pid of its sender; ("", 0) at the end."""
    report.settimeout(max(deadline - time.monotonic(), 0.001))
    message, ancillary, _, _ = report.recvmsg(4096, socket.CMSG_SPACE(_CREDENTIALS.size))
    for level, kind, content in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS) and message:
            return message.decode("utf-8", "replace"), _CREDENTIALS.unpack(
                content[: _CREDENTIALS.size]
            )[0]
    return "", 0


def _collect(
    report: socket.socket, nodes: int, user: bool, *, wire: bool
) -> tuple[dict[str, int], dict[str, int]]:
    """pids of all nodes, the switch and the wire as we see them, and of the nodes as the switch
    sees them.
    """
    outer: dict[str, int] = {}
    inner: dict[str, int] = {}
    deadline = time.monotonic() + _PATIENCE_S
    while len(outer) < nodes + 1 + wire or len(inner) < nodes:
        try:
            text, pid = _receive(report, deadline)
        except TimeoutError:
            raise LabError(
                f"after {_PATIENCE_S:g} s only {len(outer)} of {nodes + 1 + wire} processes"
                " answered: try again."
            ) from None
        match text.split(" "):
            case ["ready", name]:
                outer[name] = pid
            case ["node", name, number]:
                inner[name] = int(number)
            case ["error", *reason]:
                raise LabError(explain(" ".join(reason), user))
            case _:
                raise LabError("the lab's supervisor ended without a reason: see `dmesg`.")
    return outer, inner


def explain(reason: str, user: bool, obstacles: Sequence[str] | None = None) -> str:
    """The supervisor's reason with what can be done about it."""
    if user:
        known = list(user_namespace_obstacles() if obstacles is None else obstacles)
        if not known and "proc" in reason:
            known = [
                (
                    "parts of /proc are covered here, as in a container: run the lab as root"
                    " outside of it"
                )
            ]
        hint = (
            "; ".join(known)
            or "this kernel does not let an ordinary user do that: run the lab as root"
        )
        return f"the lab cannot be built without root: {reason}: {hint}."
    return f"the lab cannot be built: {reason}."


def release(control: int) -> None:
    """The lab stays when we go."""
    with contextlib.suppress(BrokenPipeError):
        os.write(control, b"K")
    os.close(control)


def send_signal(process: ProcessId, number: int) -> None:
    """To this very process: its identity is checked behind the pidfd."""
    with contextlib.suppress(ProcessLookupError):
        handle = os.pidfd_open(process.pid)
        try:
            if is_alive(process):
                signal.pidfd_send_signal(handle, number)
        finally:
            os.close(handle)


def run_batch(program: Path, folder: Path, where: str, tool: str, lines: Sequence[str]) -> None:
    """Give ``lines`` to ``ip`` or ``tc`` in one process inside a node; ``LabError`` names the line
    that was refused.
    """
    if not lines:
        return
    path = find_tool(tool)
    if path is None:
        raise LabError(f"the program {tool} is missing: install the package iproute2.")
    argv = enter_argv(program, folder, where, [path, "-batch", "-"])
    try:
        done = subprocess.run(
            **by_path(argv),
            input="\n".join(lines) + "\n",
            capture_output=True,
            text=True,
            cwd="/",
            timeout=_PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LabError(f"{tool} on {where} did not end within {_PATIENCE_S:g} s.") from None
    if done.returncode != 0:
        raise LabError(refusal(tool, where, done.stderr, lines))


def refusal(tool: str, where: str, stderr: str, lines: Sequence[str]) -> str:
    """One sentence out of what ip or tc wrote (``Command failed -:3`` names the line)."""
    said = [
        line.removeprefix("Error: ").rstrip(".") for line in stderr.splitlines() if line.strip()
    ]
    number = next(
        (line.rpartition(":")[2] for line in said if line.startswith("Command failed -:")), ""
    )
    line = lines[int(number) - 1] if number.isdigit() and 0 < int(number) <= len(lines) else ""
    cause = (
        "; ".join(line for line in said if not line.startswith("Command failed"))
        or "no reason was given"
    )
    if "qdisc kind is unknown" in cause or "No such file" in cause:
        if " netem " in line:
            return (
                "loss and delay cannot be planted: this kernel has no netem (module sch_netem);"
                ' load it, or write wire = "store-and-forward".'
            )
        if " htb " in line:
            return (
                "links cannot be shaped: this kernel has no HTB (module sch_htb): load it, or leave"
                " rate out."
            )
    return f"{tool} refused on {where}: {cause}{f' (line: {line})' if line else ''}."
