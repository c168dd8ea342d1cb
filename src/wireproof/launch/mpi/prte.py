"""PRRTE's ``prterun``, the launcher below Open MPI 5, used by itself. Pure.

Options: ``prterun --help`` of PRRTE 3.0. Its ``--prtemca`` steers the launcher; what steers Open
MPI goes by variables.
"""

from __future__ import annotations

from pathlib import PurePath

from wireproof.launch.mpi.environment import clearings, one_nic, uniform_environment
from wireproof.launch.registry import reach_of
from wireproof.launch.request import LaunchCommand, LaunchRequest
from wireproof.model.errors import CouldNotMeasure

__all__ = ["prte"]


def _reach(request: LaunchRequest) -> list[str]:
    if request.local:
        return ["--prtemca", "ras", "^slurm", "--host", f"localhost:{request.size}"]
    reach = reach_of(request)
    if reach.prte and not request.agent:
        return ["--prtemca", "plm", reach.prte]
    agent = request.agent or reach.agent
    arguments = [
        "--prtemca",
        "plm",
        "ssh",
        *(["--prtemca", "plm_ssh_agent", agent] if agent else []),
    ]
    prefix = request.install.launcher.parent.parent if request.install else PurePath("/usr")
    known = not prefix.is_absolute() or str(prefix) in ("/usr", "/usr/local")
    # The daemons on the other hosts are looked for there; no login shell need know it.
    return arguments if known else [*arguments, "--prefix", str(prefix)]


def _placement(request: LaunchRequest) -> list[str]:
    if request.local:
        return ["-n", str(request.size), *request.rank_argv]
    argv: list[str] = []
    hosts = [host for host, _, _ in request.sections()]
    counts = {count for _, _, count in request.sections()}
    if len(set(hosts)) == len(hosts) and len(counts) == 1:
        each = counts.pop()
        named = ",".join(f"{host}:{each}" for host in hosts)
        return [
            "--host",
            named,
            "--map-by",
            f"ppr:{each}:node",
            "-n",
            str(request.size),
            *request.rank_argv,
        ]
    for index, (host, _, count) in enumerate(request.sections()):
        argv += [":"] if index else []
        argv += [
            "--host",
            f"{host}:{hosts.count(host) * count}",
            "-n",
            str(count),
            *request.rank_argv,
        ]
    return argv


def prte(request: LaunchRequest) -> LaunchCommand:
    """The engine under ``prterun``, one rank an entry of the hosts, in their order."""
    if request.install is None:
        raise CouldNotMeasure("no MPI was chosen to launch with.")
    environment = uniform_environment(request, one_nic(request, "prterun"))
    argv = [
        str(request.install.launcher),
        *(["--allow-run-as-root"] if request.root else []),
        "--bind-to",
        "none",
    ]
    argv += _reach(request)
    argv += [
        word for name, value in sorted(environment.items()) for word in ("-x", f"{name}={value}")
    ]
    argv += ["--wdir", request.folder] if request.folder else []
    argv += _placement(request)
    return request.started("prte", argv, environment, clear=clearings("openmpi"))
