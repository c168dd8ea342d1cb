"""How a command reaches a host of a target: in a lab's node, on this machine, or through ssh or a
program called like it.
"""

import os
import shlex
from collections.abc import Mapping, Sequence

from wireproof.launch.engines import find_program
from wireproof.launch.here import is_here
from wireproof.workflow.target.target import Target


def reach(target: Target, host: str, argv: Sequence[str]) -> list[str]:
    """Return the command line that runs ``argv`` on a host of the target: in a lab's node, through
    its agent or ssh, or directly if it is this machine.
    """
    if target.lab is not None:
        return target.lab.exec_argv(host, argv)
    if not host or is_here(host):
        return list(argv)
    if target.agent:
        return [target.agent, host, *map(shlex.quote, argv)]
    quiet = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=10"]
    return ["ssh", *quiet, "-T", host, shlex.join(argv)]


def guarded(target: Target, host: str, argv: Sequence[str]) -> list[str]:
    """Like ``reach``, for commands that must not outlive the connection: when ssh is killed, the
    remote process continues.

    The remote guard kills the command when its standard input closes, so hold that open meanwhile.
    """
    if target.lab is not None or not host or is_here(host):
        return reach(target, host, argv)
    return reach(
        target, host, [str(find_program("wireproof-node")), "guard", "--control-stdin", "--", *argv]
    )


def launcher_environment(target: Target, inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that make a plain ``mpirun -hosts n1,n2`` reach the hosts as we do.

    Variables that the user has set are left out.
    """
    if not target.agent:
        return {}
    chosen = {
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": target.agent,
        "I_MPI_HYDRA_BOOTSTRAP": "ssh",
        "I_MPI_HYDRA_BOOTSTRAP_EXEC": target.agent,
        "OMPI_MCA_plm_rsh_agent": target.agent,
        "PRTE_MCA_plm_ssh_agent": target.agent,
    }
    if target.lab is not None:
        # Open MPI and Intel MPI would bind rank 0 of every node to core 0: the nodes share this
        # machine's cores.
        chosen |= {"I_MPI_PIN": "0"}
        chosen |= {
            "OMPI_MCA_hwloc_base_binding_policy": "none",
            "PRTE_MCA_hwloc_default_binding_policy": "none",
        }
        chosen |= target.lab.agent_environment()
    if os.geteuid() == 0:
        chosen |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return {name: value for name, value in chosen.items() if name not in inherited}
