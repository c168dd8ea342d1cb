"""List the facts that the causes need from every screened node. Data only."""

from wireproof.model.plan import FactRequest

_FILES = (
    "/proc/version",
    "/proc/loadavg",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
    "/sys/devices/system/cpu/intel_pstate/no_turbo",
    "/sys/class/dmi/id/bios_version",
)
_OF_NETDEV = (
    "speed",
    "duplex",
    "device/current_link_width",
    "device/max_link_width",
    "device/current_link_speed",
    "device/max_link_speed",
    "device/vendor",
    "device/device",
)
_OF_RDMA = ("fw_ver", "board_id", *_OF_NETDEV[2:6])
_SYSCTLS = (
    "net/core/rmem_max",
    "net/core/wmem_max",
    "net/ipv4/tcp_rmem",
    "net/ipv4/tcp_wmem",
    "net/ipv4/tcp_congestion_control",
)
_COMMANDS: tuple[tuple[str, ...], ...] = (
    ("ethtool", "-i", "{nic}"),
    ("ethtool", "-k", "{nic}"),
    ("ethtool", "-c", "{nic}"),
    ("ethtool", "-g", "{nic}"),
    ("ethtool", "-a", "{nic}"),
    ("tc", "-s", "qdisc", "show", "dev", "{nic}"),
    ("tc", "class", "show", "dev", "{nic}"),
)


def fact_requests(nic: str = "", *, commands: bool = True) -> tuple[FactRequest, ...]:
    """Return what to ask of each node: about 3 kB of answers, or 20 kB with ``commands`` (run for a
    named netdev), so leave commands out above some hundreds of nodes. ``nic``: the claimed NIC, or
    an RDMA device with or without its port.
    """
    device, _, port = nic.partition(":")
    netdev = nic if ":" not in nic and _is_plain(nic) else ""
    owner = device if port and _is_plain(device) else "*"
    files = [*_FILES, *(f"/proc/sys/{name}" for name in _SYSCTLS)]
    files += [f"/sys/class/net/{netdev or '*'}/{name}" for name in _OF_NETDEV]
    files += [f"/sys/class/infiniband/{owner}/{name}" for name in _OF_RDMA]
    asked = (("lscpu",), *(_COMMANDS if netdev else ())) if commands else ()
    return (
        *(_file(path, named=bool(netdev)) for path in files),
        *(
            FactRequest(
                kind="command",
                argv=tuple(word.format(nic=netdev) for word in argv),
                limit_bytes=16384,
            )
            for argv in asked
        ),
    )


def _file(path: str, *, named: bool) -> FactRequest:
    rdma = path.startswith("/sys/class/infiniband/")
    pattern = rdma or (path.startswith("/sys/class/net/") and not named)
    return FactRequest(kind="glob" if pattern else "file", path=path, limit_bytes=1024)


def _is_plain(name: str) -> bool:
    """Return whether a name is safe in a path, a glob pattern and as an argument of a command."""
    return (
        bool(name)
        and name.isascii()
        and all(char.isalnum() or char in "._-" for char in name)
        and name[0] not in "-."
    )
