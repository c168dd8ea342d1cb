"""What this machine supports for wireproof: the part of ``doctor`` that needs no MPI."""

import gzip
import os
import platform
import subprocess
from pathlib import Path

from wireproof.files.programs import by_path, find_tool
from wireproof.model.diagnosis import Capability, ThisMachine

TOOLS = {
    "ip": "iproute2",
    "tc": "iproute2",
    "ethtool": "ethtool",
    "ssh": "openssh-client",
    "lspci": "pciutils",
}
KERNEL_OPTIONS = {
    "netem": ("CONFIG_NET_SCH_NETEM", "sch_netem", "delay and loss in the lab"),
    "htb": ("CONFIG_NET_SCH_HTB", "sch_htb", "rate limits in the lab"),
    "veth": ("CONFIG_VETH", "veth", "links in the lab"),
    "bridge": ("CONFIG_BRIDGE", "bridge", "the switch in the lab"),
}
TRY_SECONDS = 10.0


def _read(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")[:65536].strip()
    except OSError:
        return ""


def _tools() -> list[Capability]:
    found = []
    for name, package in TOOLS.items():
        path = find_tool(name)
        advice = "" if path else f"install the package {package}"
        found.append(
            Capability(
                name=name,
                works=path is not None,
                detail=path or "neither on PATH nor in /usr/sbin",
                advice=advice,
            )
        )
    return found


def namespaces_argv(root: bool) -> list[str]:
    """Return the command that tests whether lab nodes can be created: it enters all their
    namespaces and exits.
    """
    user = [] if root else ["--user", "--map-root-user"]
    return ["unshare", *user, "--net", "--uts", "--ipc", "--mount", "--pid", "--fork", "true"]


def _namespaces(root: bool) -> Capability:
    how = "as root" if root else "in an unprivileged user namespace"
    try:
        done = subprocess.run(
            **by_path(namespaces_argv(root)),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TRY_SECONDS,
            check=False,
        )
        works, said = done.returncode == 0, done.stderr.decode("utf-8", "replace").strip()[:200]
    except (OSError, subprocess.TimeoutExpired) as error:
        works, said = False, f"unshare: {type(error).__name__}"
    advice = (
        ""
        if works
        else "run as root, or set user.max_user_namespaces and kernel.unprivileged_userns_clone"
    )
    return Capability(
        name="namespaces", works=works, detail=how if works else f"not {how}: {said}", advice=advice
    )


def _kernel_config() -> str:
    try:
        return gzip.decompress(Path("/proc/config.gz").read_bytes()).decode("utf-8", "replace")
    except (OSError, EOFError):
        return _read_large(f"/boot/config-{platform.release()}")


def _read_large(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""


def _kernel_features() -> list[Capability]:
    config = _kernel_config()
    builtin = _read_large(f"/lib/modules/{platform.release()}/modules.builtin")
    known = _read_large(f"/lib/modules/{platform.release()}/modules.dep")
    result = []
    for name, (option, module, use) in KERNEL_OPTIONS.items():
        works: bool | None = None
        if Path(f"/sys/module/{module}").is_dir() or f"/{module}.ko" in builtin + known:
            works = True
        elif config:
            works = f"\n{option}=" in config
        detail = {True: use, False: f"not in this kernel: {use}", None: f"unknown ({use})"}[works]
        result.append(Capability(name=name, works=works, detail=detail))
    return result


def _counters(root: Path = Path("/sys/class/net")) -> Capability:
    """Test whether byte counters of an interface other than the loopback can be read."""
    readable, unreadable = [], []
    for folder in sorted(root.glob("*/statistics")):
        name = folder.parent.name
        if name == "lo":
            continue
        try:
            int((folder / "tx_bytes").read_text())
            readable.append(name)
        except (OSError, ValueError):
            unreadable.append(name)
    if readable:
        return Capability(
            name="counters",
            works=True,
            detail=f"byte counters of {', '.join(readable[:8])} can be read",
        )
    seen = (
        f"not readable: {', '.join(unreadable[:8])}"
        if unreadable
        else "no network interface but the loopback"
    )
    return Capability(
        name="counters",
        works=False,
        detail=seen,
        advice="without counters no path can be proven here",
    )


def look() -> ThisMachine:
    """Examine this machine. Changes nothing; every test has a time limit."""
    root = os.geteuid() == 0
    source = _read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    clock = Capability(
        name="clock",
        works=source in ("tsc", "arch_sys_counter"),
        detail=f"clock source {source or 'unknown'}",
        advice=""
        if source in ("tsc", "arch_sys_counter")
        else "reading the time takes a system call here: latencies are less precise",
    )
    return ThisMachine(
        kernel=platform.release(),
        architecture=platform.machine(),
        cores=len(os.sched_getaffinity(0)),
        clock_source=source,
        root=root,
        capabilities=[clock, _counters(), _namespaces(root), *_kernel_features(), *_tools()],
    )
