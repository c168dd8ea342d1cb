"""The environment of a launch: variables to remove (from other MPIs) and variables to set. Pure.

Source: reference measurements of the variables that affect the path of each MPI, proven by NIC
counters rather than by documentation.
"""

import os
import re
from collections import Counter
from collections.abc import Mapping

from wireproof.launch.engines import Family
from wireproof.launch.mpi.rails import (
    BTL_TCP,
    INTEL_OFI,
    MPICH_OFI,
    PSM2,
    PSM3,
    UCX,
    Rails,
    one_nic_only,
)
from wireproof.launch.registry import MPIS, LaunchCommand, LaunchRequest
from wireproof.model.claim import is_several, rails_of
from wireproof.model.errors import BadInput

_ALWAYS = (
    "PMI_",
    "PMIX_",
    "PRTE_",
    "OMPI_COMM_",
    "OMPI_UNIVERSE",
    "OMPI_APP",
    "OMPI_ARGV",
    "OMPI_COMMAND",
    "OMPI_FILE_",
    "OMPI_FIRST",
    "OMPI_MCA_ess",
    "OMPI_MCA_orte",
    "HYDRA_",
    "HYDI_",
    "MPI_LOCAL",
    "I_MPI_HYDRA",
    "I_MPI_INFO",
    "MPIEXEC_",
    "LD_PRELOAD",
)
"""Variables of a job in which this process may run, and preloaded libraries that would also be
measured.
"""
_RELEVANT = (
    "UCX_",
    "FI_",
    "PSM3_",
    "PSM2_",
    "I_MPI_",
    "MPIR_CVAR_",
    "MPICH_",
    "OMPI_MCA_",
    "PMIX_MCA_",
)


def clearings(family: Family | None) -> tuple[str, ...]:
    """Return prefixes of inherited variables that must not reach an MPI of ``family``."""
    return _ALWAYS + (MPIS[family].foreign if family else ())


def effective(command: LaunchCommand, inherited_environment: Mapping[str, str]) -> dict[str, str]:
    """Return the complete environment: the inherited variables without ``clear``, overridden by
    ours.
    """
    kept = {
        name: value
        for name, value in inherited_environment.items()
        if not name.startswith(command.clear)
    }
    return {**kept, **command.environment}


def own_environment() -> dict[str, str]:
    """Return a copy of this process's environment, which programs inherit by default."""
    return dict(os.environ)


def inherited(command: LaunchCommand, inherited_environment: Mapping[str, str]) -> dict[str, str]:
    """Return the user's variables that control an MPI and stay in force, for the provenance."""
    return {
        name: value
        for name, value in inherited_environment.items()
        if name.startswith(_RELEVANT)
        and not name.startswith(command.clear)
        and name not in command.environment
    }


def library_path(request: LaunchRequest) -> dict[str, str]:
    """Return ``LD_LIBRARY_PATH`` with the folders of the MPI."""
    folders = [str(folder) for folder in request.engine.library_folders]
    return {"LD_LIBRARY_PATH": os.pathsep.join(folders)} if folders else {}


def psm3_variables(nic: str) -> dict[str, str]:
    """Return the variables that select the NIC for PSM3. PSM3 interprets a name of only hexadecimal
    digits as a unit number: ``fab0`` would match no NIC. The port of an RDMA device (``mlx5_0:1``)
    is not part of its name.
    """
    devices = [name.partition(":")[0] for name in rails_of(nic)]
    number = next((name for name in devices if re.fullmatch(r"(0x)?[0-9a-fA-F]+", name)), "")
    if number:
        raise BadInput(
            f"NIC {number} consists of hexadecimal digits: PSM3 interprets it as a number; rename"
            " the interface."
        )
    hal = {} if re.match(r"(mlx|irdma|hfi|bnxt|rxe|roce)", nic) else {"PSM3_HAL": "sockets"}
    chosen = PSM3.of(nic) if is_several(nic) else {"PSM3_NIC": devices[0]} if nic else {}
    return {"FI_PROVIDER": "psm3", **chosen, **hal}


def provider_nic(request: LaunchRequest, nic: str) -> dict[str, str]:
    """Return, if libfabric is measured without an MPI, the variables that select the claimed NIC
    for PSM3; for other providers, the engine selects it.
    """
    named = request.over == "ofi" and request.fabric == "psm3" and nic
    return psm3_variables(nic) if named else {}


def _exchanging(request: LaunchRequest, nic: str) -> dict[str, str]:
    """Return the variables of an MPI that only starts the ranks and exchanges addresses: it keeps
    its choice of provider, and no provider is hidden from the measurement.
    """
    named = provider_nic(request, nic)
    named.pop("FI_PROVIDER", None)
    # the MPI may also use PSM3: a process then has an endpoint of the MPI and one of the engine
    return {**named, "PSM3_MULTI_EP": "1"} if named else {}


def _ofi_rails(request: LaunchRequest, nics: str, own: Rails) -> dict[str, str]:
    """Return libfabric's variables for rails. ``own``: the variables of the MPI, if the MPI does
    the striping.
    """
    match request.fabric:
        case "psm3":
            return psm3_variables(nics)
        case "psm2":
            return {"FI_PROVIDER": "psm2", **PSM2.of(nics)}
        case "mlx":
            return {"FI_PROVIDER": "mlx", **UCX.of(nics)}
        case "verbs":
            return {"FI_PROVIDER": "verbs", **own.of(nics)}
    raise one_nic_only(f"libfabric's provider {request.fabric or 'tcp'}", nics)


def _ofi_nic(request: LaunchRequest, nic: str, own: Rails) -> dict[str, str]:
    """Return libfabric's variables for ``nic``; the port of an RDMA device (``mlx5_0:1``) is not
    part of its domain name.
    """
    if is_several(nic):
        return _ofi_rails(request, nic, own)
    device = nic.split(":", 1)[0]
    match request.fabric:
        case "psm3":
            return psm3_variables(nic)
        case "verbs":
            return {"FI_PROVIDER": "verbs", **({"FI_VERBS_IFACE": device} if device else {})}
        case "psm2" | "opx":
            return {"FI_PROVIDER": request.fabric}
        case "mlx":
            return {"FI_PROVIDER": "mlx", **_ucx_nic(nic)}
    if not nic and not request.fabric:
        return {}
    return {"FI_PROVIDER": "tcp", **({"FI_TCP_IFACE": device} if device else {})}


def mpich_nic(request: LaunchRequest, nic: str) -> dict[str, str]:
    """Return the variables of MPICH, which uses UCX by default (``FI_*`` has no effect there) and
    libfabric on request.
    """
    if request.over:
        return _exchanging(request, nic)
    if request.netmod == "ofi" or request.fabric in ("psm3", "psm2", "opx", "verbs"):
        return {"MPIR_CVAR_CH4_NETMOD": "ofi", **_ofi_nic(request, nic, MPICH_OFI)}
    chosen = {"UCX_NET_DEVICES": nic, "FI_TCP_IFACE": nic.split(":", 1)[0]} if nic else {}
    if is_several(nic):
        chosen = UCX.of(nic)
    if request.netmod == "ucx":
        chosen["MPIR_CVAR_CH4_NETMOD"] = "ucx"
    if request.shared_memory is False:
        # MPICH's shared memory (NOLOCAL) and that of UCX below it are switched off separately.
        chosen |= {
            "MPIR_CVAR_NOLOCAL": "1",
            "UCX_TLS": "tcp,self" if request.fabric == "tcp" else "^sm",
        }
    return chosen


def intel_nic(request: LaunchRequest, nic: str) -> dict[str, str]:
    """Return the variables of Intel MPI, which always uses its own copy of libfabric, so the
    provider path must not be ours.
    """
    if request.over:
        return _exchanging(request, nic)
    return _ofi_nic(request, nic, INTEL_OFI)


def openmpi_nic(request: LaunchRequest, nic: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return (MCA parameters, environment) of Open MPI. By default it stripes over every network,
    so the NIC is selected.
    """
    if request.over:
        return {}, _exchanging(request, nic)
    if request.fabric in ("mlx", "verbs") or ":" in nic:  # mlx5_0:1 is an RDMA device and its port
        return {"pml": "ucx"}, _ucx_nic(nic)
    if request.fabric in ("psm3", "psm2", "opx"):
        return {"pml": "cm", "mtl": "ofi"}, _ofi_nic(request, nic, UCX)
    parameters: dict[str, str] = {}
    if nic or request.fabric == "tcp" or request.shared_memory is False:
        parameters["pml"] = "ob1"
    if request.shared_memory is False:
        parameters["btl"] = "self,tcp"
    if nic:
        parameters |= BTL_TCP.of(nic)
    return parameters, {}


def _ucx_nic(nic: str) -> dict[str, str]:
    if is_several(nic):
        return UCX.of(nic)
    return {"UCX_NET_DEVICES": nic} if nic else {}


# --- For launchers that give all ranks the same instruction: variables, ranks on each host, order.


def one_nic(request: LaunchRequest, program: str) -> str:
    """Return the common NIC of all ranks; ``program``: the launcher, for the error if the NICs
    differ.
    """
    return request.only_nic(
        f"{program} sets one NIC for all hosts, not {{}}: use the MPI's launcher."
    )


def placed_evenly(request: LaunchRequest, program: str) -> tuple[int, bool]:
    """Return the number of ranks on each host, and whether they are numbered round-robin (a b a b)
    instead of host by host (a a b b). Raise ``BadInput`` for any other order.
    """
    names = tuple(dict.fromkeys(request.hosts))
    each = len(request.hosts) // len(names)
    if len(set(Counter(request.hosts).values())) > 1:
        raise BadInput(
            f"{program} starts the same number of ranks on each host: give each host the same"
            " number of times."
        )
    in_turn = each > 1 and request.hosts == names * each
    if not in_turn and request.hosts != tuple(name for name in names for _ in range(each)):
        raise BadInput(
            f"{program} numbers ranks host by host or round-robin: give the hosts in one of these"
            " orders."
        )
    return each, in_turn


def uniform_environment(request: LaunchRequest, nic: str) -> dict[str, str]:
    """Return the variables that every rank needs: the MPI's library, its NIC, the
    user's variables.
    """
    chosen = MPIS[request.mpi_install.family].uniform(request, nic)
    return {**chosen, **library_path(request), **dict(request.extra)}
