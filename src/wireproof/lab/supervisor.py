"""Start the process that owns a lab, and run ip and tc inside it."""

import contextlib
import os
import re
import socket
import struct
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from wireproof.files.programs import by_path, find_tool
from wireproof.lab.commands import SWITCH, enter_argv, hold_argv
from wireproof.lab.state import LabState, process_id
from wireproof.lab.wire import WIRE
from wireproof.launch.engines import find_program
from wireproof.model.errors import CouldNotMeasure, LabError

# --- List the requirements of a lab that this machine lacks, each with the remedy.

_SYS_ADMIN, _NET_ADMIN = 21, 12


def needs_user_namespace(status: str | None = None) -> bool:
    """Return False if this process may create namespaces itself: root with its capabilities, unlike
    root in most containers.
    """
    text = Path("/proc/self/status").read_text(encoding="utf-8") if status is None else status
    effective = re.search(r"^CapEff:\s*([0-9a-f]+)", text, re.MULTILINE)
    wanted = (1 << _SYS_ADMIN) | (1 << _NET_ADMIN)
    return effective is None or int(effective[1], 16) & wanted != wanted


def user_namespace_obstacles(root: Path = Path("/proc/sys")) -> list[str]:
    """Return kernel settings that forbid namespaces to ordinary users, each with the remedy."""
    obstacles = []
    for name, bad, remedy in (
        ("user.max_user_namespaces", 0, "sysctl -w user.max_user_namespaces=10000"),
        ("user.max_net_namespaces", 0, "sysctl -w user.max_net_namespaces=10000"),
        ("kernel.unprivileged_userns_clone", 0, "sysctl -w kernel.unprivileged_userns_clone=1"),
        (
            "kernel.apparmor_restrict_unprivileged_userns",
            1,
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
    ):
        with contextlib.suppress(OSError, ValueError):
            if int((root / name.replace(".", "/")).read_text(encoding="utf-8")) == bad:
                obstacles.append(f"{name} is {bad}: run `{remedy}` as root, or run the lab as root")
    return obstacles


def missing_for_lab() -> list[str]:
    """Return a sentence for each missing requirement, with the remedy; empty if a lab can be
    tried.
    """
    missing = [
        f"the program {tool} is missing: install the package iproute2"
        for tool in ("ip", "tc")
        if find_tool(tool) is None
    ]
    try:
        find_program("wireproof-node")
    except CouldNotMeasure as error:
        missing.append(str(error))
    if needs_user_namespace():
        missing += user_namespace_obstacles()
    return missing


_CREDENTIALS = struct.Struct("iII")  # struct ucred: pid, uid, gid
_PATIENCE_S = 30.0


def start(program: Path, folder: Path, state: LabState) -> tuple[LabState, int]:
    """Start the supervisor and wait until every node is ready. Return the state of the running lab
    and the creator's end of the control pipe; closing it ends the lab. Raise ``LabError`` with the
    supervisor's reason.

    On failure the control pipe is closed, which ends all processes started so far.
    """
    topology, user = state.topology, state.user_namespace
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    read_end, control = os.pipe()
    try:
        with ours, theirs:
            # The kernel attaches each sender's PID in this namespace, which the sender cannot know
            # in its own PID namespace.
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            argv = hold_argv(
                program,
                name=folder.name,
                state=folder,
                cookie=state.cookie,
                topology=topology,
                descriptors=(theirs.fileno(), read_end),
                user=user,
            )
            _spawn(argv, (theirs.fileno(), read_end))
            theirs.close()
            outer, inner = _collect(ours, len(topology.nodes), user, wire=topology.serialises)
        nodes = {node: process_id(outer[node], inner[node]) for node in topology.nodes}
        wire = process_id(outer[WIRE]) if WIRE in outer else None
        up = msgspec.structs.replace(
            state, phase="up", supervisor=process_id(outer[SWITCH]), nodes=nodes, wire=wire
        )
        return up, control
    except BaseException:
        os.close(control)
        raise
    finally:
        os.close(read_end)


def _spawn(argv: list[str], descriptors: tuple[int, int]) -> None:
    """Start the supervisor. The started process exits at once; its child, the supervisor, is
    detached and continues.
    """
    # the supervisor outlives its creator and must not inherit variables of a job or session
    environment = {"PATH": os.environ.get("PATH", os.defpath)}
    done = subprocess.run(
        **by_path(argv, environment),
        pass_fds=descriptors,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
        timeout=_PATIENCE_S,
        check=False,
    )
    # Status 125: the reason was sent over the report socket. Other statuses: the program cannot run
    # at all.
    if done.returncode not in (0, 125):
        raise LabError(f"{argv[0]} ended with status {done.returncode}: reinstall wireproof.")


def _receive(report: socket.socket, deadline: float) -> tuple[str, int]:
    """Return a report and the PID of its sender; ("", 0) at the end."""
    report.settimeout(max(deadline - time.monotonic(), 0.001))
    message, ancillary, _, _ = report.recvmsg(4096, socket.CMSG_SPACE(_CREDENTIALS.size))
    for level, kind, content in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS) and message:
            pid, _, _ = _CREDENTIALS.unpack(content[: _CREDENTIALS.size])
            return message.decode("utf-8", "replace"), pid
    return "", 0


def _collect(
    report: socket.socket, nodes: int, user: bool, *, wire: bool
) -> tuple[dict[str, int], dict[str, int]]:
    """Return the PIDs of all nodes, the switch and the wire in this process's namespace, and of the
    nodes in the switch's namespace.
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
    """Return the supervisor's reason with the remedy."""
    if not user:
        return f"the lab cannot be built: {reason}."
    hint = "this kernel does not allow ordinary users to do that: run the lab as root"
    if "proc" in reason:
        hint = "parts of /proc are hidden here, as in a container: run the lab as root outside it"
    hint = "; ".join(user_namespace_obstacles() if obstacles is None else obstacles) or hint
    return f"the lab cannot be built without root: {reason}: {hint}."


def release(control: int) -> None:
    """Keep the lab after this process ends."""
    with contextlib.suppress(BrokenPipeError):
        os.write(control, b"K")
    os.close(control)


def run_batch(program: Path, folder: Path, where: str, tool: str, lines: Sequence[str]) -> None:
    """Pass ``lines`` to ``ip`` or ``tc`` in a single process inside a node. Raise ``LabError`` with
    the refused line.
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
    """Return a sentence from the errors of ip or tc (``Command failed -:3`` contains the line
    number).
    """
    number = re.search(r"^Command failed -:(\d{1,9})", stderr, re.MULTILINE)
    line = dict(enumerate(lines, start=1)).get(int(number[1]), "") if number else ""
    messages = (line.removeprefix("Error: ").rstrip(".") for line in stderr.splitlines())
    reasons = [text for text in messages if text.strip() and not text.startswith("Command failed")]
    cause = "; ".join(reasons) or "no reason was given"
    if "qdisc kind is unknown" in cause or "No such file" in cause:
        if " netem " in line:
            return (
                "loss and delay cannot be injected: this kernel has no netem (module sch_netem);"
                ' load it, or write wire = "store-and-forward".'
            )
        if " htb " in line:
            return (
                "links cannot be shaped: this kernel has no HTB (module sch_htb): load it, or"
                " leave out rate."
            )
    return f"{tool} refused on {where}: {cause}{f' (line: {line})' if line else ''}."
