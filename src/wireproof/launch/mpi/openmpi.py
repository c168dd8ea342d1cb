"""Open MPI 4 (ORTE) and 5 (PRRTE), and PRRTE's ``prterun`` alone. Pure.

Options: ``prterun --help`` of PRRTE 3.0. Its ``--prtemca`` controls the launcher; variables control
Open MPI.
"""

import re

from wireproof.launch.mpi.environment import (
    clearings,
    library_path,
    one_nic,
    openmpi_nic,
    uniform_environment,
)
from wireproof.launch.registry import MPIS, LaunchCommand, LaunchRequest, Mpi, reach_of


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
    return [*arguments, *_prefix(request)]


def _prefix(request: LaunchRequest) -> list[str]:
    """Return the option with which other hosts find the daemons if login shells there do not know
    the prefix.
    """
    prefix = request.mpi_install.launcher.parent.parent
    known = not prefix.is_absolute() or str(prefix) in ("/usr", "/usr/local")
    return [] if known else ["--prefix", str(prefix)]


def _in_sections(request: LaunchRequest, count_option: str) -> list[str]:
    """Return hosts and program in a section for each sequence of ranks."""
    argv: list[str] = []
    hosts = [host for host, _, _ in request.sections()]
    for index, (host, _, count) in enumerate(request.sections()):
        argv += [":"] if index else []
        argv += ["--host", f"{host}:{hosts.count(host) * count}", count_option, str(count)]
        argv += request.rank_argv
    return argv


def _placement_prte(request: LaunchRequest) -> list[str]:
    if request.local:
        return ["-n", str(request.size), *request.rank_argv]
    each = request.equal_count()
    if each is None:
        return _in_sections(request, "-n")
    named = ",".join(f"{host}:{each}" for host, _, _ in request.sections())
    placed = ["--host", named, "--map-by", f"ppr:{each}:node", "-n", str(request.size)]
    return [*placed, *request.rank_argv]


def prte(request: LaunchRequest) -> LaunchCommand:
    """Return the command of the engine under ``prterun``, with a rank for each entry of the hosts,
    in their order.
    """
    environment = uniform_environment(request, one_nic(request, "prterun"))
    argv = [
        str(request.mpi_install.launcher),
        *(["--allow-run-as-root"] if request.root else []),
        "--bind-to",
        "none",
    ]
    argv += _reach(request)
    argv += [
        word for name, value in sorted(environment.items()) for word in ("-x", f"{name}={value}")
    ]
    argv += ["--wdir", request.folder] if request.folder else []
    argv += _placement_prte(request)
    return request.started("prte", argv, environment, clear=clearings("openmpi"))


def _major(version: str) -> int:
    found = re.search(r"v?([0-9]{1,9})\.", version)
    return int(found.group(1)) if found else 4


def _daemons(request: LaunchRequest, major: int) -> list[str]:
    """Return the options that start the daemons on the other hosts (Open MPI 4.1: orterun(1); 5.0:
    its pages on launching).
    """
    reach = reach_of(request)
    if reach.openmpi and not request.agent:
        return ["--mca", "plm", reach.openmpi]
    agent = request.agent or reach.agent
    # An enclosing allocation would start the daemons itself, but the user chose the hosts, so use
    # ssh.
    plm, name = ("ssh", "plm_ssh_agent") if major >= 5 else ("rsh", "plm_rsh_agent")
    return ["--mca", "plm", plm, *(["--mca", name, agent] if agent else [])]


def _remote(request: LaunchRequest, major: int) -> list[str]:
    if request.local:
        return ["--mca", "ras", "^slurm", "--host", f"localhost:{request.size}"]
    return [*_daemons(request, major), *_prefix(request)]


def _crowding(request: LaunchRequest, major: int) -> list[str]:
    if not request.crowded:
        return []
    oversubscribe = ["--oversubscribe"] if major < 5 else ["--map-by", ":OVERSUBSCRIBE"]
    return [*(oversubscribe if request.local else []), "--mca", "mpi_yield_when_idle", "1"]


def _placement(request: LaunchRequest) -> list[str]:
    """Return hosts and program: a single block for distinct hosts with equal counts, else a section
    for each sequence of ranks.
    """
    if request.local:
        return ["-np", str(request.size), *request.rank_argv]
    each = request.equal_count()
    if each is None:
        return _in_sections(request, "-np")
    hosts = [host for host, _, _ in request.sections()]
    named = ",".join(host if each == 1 else f"{host}:{each}" for host in hosts)
    by = "node" if each == 1 else "slot"
    if request.program:
        # in the usual form: a number of processes per resource, a resource for each
        # node
        by = f"ppr:{each}:node"
    placed = ["--host", named, "-np", str(request.size), "--map-by", by]
    return [*placed, *request.rank_argv]


def _parameters(request: LaunchRequest, nic: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return (MCA parameters, environment) for the NIC and for the patterns' windows."""
    parameters, variables = openmpi_nic(request, nic)
    four = _major(request.mpi_install.version) < 5
    if parameters.get("pml") == "ob1" and four and not request.local and request.windows:
        # Open MPI's default cannot create a window over TCP between hosts.
        parameters["osc"] = "pt2pt"
    return parameters, variables


def _uniform(request: LaunchRequest, nic: str) -> dict[str, str]:
    """Return the parameters as variables: Open MPI reads OMPI_MCA_x for its ``--mca x`` under any
    launcher.
    """
    parameters, variables = _parameters(request, nic)
    parameters |= {"mpi_yield_when_idle": "1"} if request.crowded else {}
    return {**{f"OMPI_MCA_{name}": value for name, value in parameters.items()}, **variables}


_MCA_NICS = (
    "Open MPI accepts one NIC name for all hosts, not {}: give the network as address/length."
)


def openmpi(request: LaunchRequest) -> LaunchCommand:
    """Return the command of the engine under Open MPI's ``mpirun``."""
    if request.mpi_install.launcher.name in ("prterun", "prun"):
        return prte(request)
    major = _major(request.mpi_install.version)
    parameters, variables = _parameters(request, request.only_nic(_MCA_NICS))
    arguments = [word for name, value in parameters.items() for word in ("--mca", name, value)]
    environment = {**library_path(request), **variables, **dict(request.extra)}
    argv = [str(request.mpi_install.launcher)]
    argv += ["--allow-run-as-root"] if request.root else []
    # Open MPI would bind rank 0 of every lab node to core 0, and its limit of one rank per core is
    # not needed.
    argv += ["--bind-to", "none", *_remote(request, major), *_crowding(request, major), *arguments]
    argv += [
        word for name, value in sorted(environment.items()) for word in ("-x", f"{name}={value}")
    ]
    argv += ["--wdir", request.folder] if request.folder else []
    argv += _placement(request)
    return request.started(
        f"open-mpi-{major}",
        argv,
        environment,
        clear=clearings("openmpi"),
        notes=request.crowding("Open MPI is set to yield when idle"),
    )


OPENMPI = MPIS.register(
    Mpi(
        name="openmpi",
        title="Open MPI",
        launcher="mpirun",
        launcher_says=("open mpi", "openrte", "prte"),
        library_says="Open MPI",
        sonames=("libmpi.so.40", "libmpi.so.20"),
        # an Intel variable that was set on only one node has made a process there unreachable
        foreign=("I_MPI_", "FI_PROVIDER_PATH", "MPIR_CVAR_"),
        build=openmpi,
        uniform=_uniform,
        pmi="pmix",
        parameter_files=True,
        windows_over_tcp=(
            "Open MPI 4's own choice of one-sided component aborts in MPI_Win_allocate over TCP"
            " between hosts; --mca osc pt2pt works there (Open MPI 5 has no pt2pt and needs none)"
        ),
        without_fabric=(
            "without shared memory Open MPI uses TCP; --fabric ucx or psm2 is for RDMA"
        ),
    )
)
