"""List what this machine lacks for a lab, each with the remedy."""

from pathlib import Path

from wireproof.files.programs import find_tool
from wireproof.launch.engines import find_program
from wireproof.model.errors import CouldNotMeasure

_SYS_ADMIN, _NET_ADMIN = 21, 12


def _capabilities(status: str) -> int:
    for line in status.splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    return 0


def needs_user_namespace(status: str | None = None) -> bool:
    """Return False if this process may create namespaces itself: root with its capabilities, unlike
    root in most containers.
    """
    text = Path("/proc/self/status").read_text(encoding="utf-8") if status is None else status
    wanted = (1 << _SYS_ADMIN) | (1 << _NET_ADMIN)
    return _capabilities(text) & wanted != wanted


def _setting(name: str, root: Path) -> int | None:
    try:
        return int((root / name.replace(".", "/")).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


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
        if _setting(name, root) == bad:
            obstacles.append(
                f"{name} is {bad}: `{remedy}` as root allows it, or run the lab as root"
            )
    return obstacles


def missing_for_lab() -> list[str]:
    """Return sentences that name what is missing and the remedy; empty if a lab can be tried."""
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
