"""Variables that cannot have an effect are refused before anything is measured."""

from pathlib import Path

import pytest

from wireproof.experiment.trial_pattern import overridden, unread
from wireproof.launch.engines import Family, MpiInstall
from wireproof.launch.registry import LaunchCommand
from wireproof.model.plan import TransportKind


def install(family: Family) -> MpiInstall:
    return MpiInstall(
        family=family, origin="given", launcher=Path("/x/mpiexec"), library=Path("/x/libmpi.so")
    )


@pytest.mark.parametrize(
    ("name", "transport", "family", "read"),
    [
        ("UCX_TLS", "mpi", "mpich", True),
        ("OMPI_MCA_btl", "mpi", "mpich", False),
        ("OMPI_MCA_btl", "mpi", "openmpi", True),
        ("MPIR_CVAR_NOLOCAL", "mpi", "intel", False),
        ("FI_TCP_IFACE", "ofi", None, True),
        ("I_MPI_FABRICS", "ofi", None, False),
        ("UCX_TLS", "tcp", None, False),
        ("UCX_TLS", "model", None, True),  # sends nothing: to try the trial itself
    ],
)
def test_what_reads_a_variable(
    name: str, transport: TransportKind, family: Family | None, read: bool
) -> None:
    assert (not unread(name, transport, install(family) if family else None)) is read


@pytest.mark.parametrize(
    ("argv", "environment", "given"),
    [
        (("mpiexec", "-genv", "UCX_TLS", "tcp", "-n", "2", "engine"), {}, ""),
        (("mpiexec", "-genv", "UCX_TLS", "^sm", "-n", "2"), {"UCX_TLS": "tcp"}, "^sm"),
        (("mpiexec", "-env", "UCX_TLS", "all"), {}, "all"),
        (("mpirun", "-x", "UCX_TLS=tcp"), {}, ""),
        (("mpirun", "-x", "UCX_TLS=rc"), {}, "rc"),
        (("srun", "engine"), {"UCX_TLS": "rc"}, "rc"),
        (("srun", "engine"), {}, ""),
        (("mpirun", "--mca", "UCX_TLS", "x"), {}, ""),
    ],
)
def test_a_launch_that_sets_it_itself(
    argv: tuple[str, ...], environment: dict[str, str], given: str
) -> None:
    command = LaunchCommand(argv=argv, environment=environment, launcher="x", expect="")
    assert overridden(command, "UCX_TLS", "tcp") == given


def test_open_mpis_options_are_stronger_than_its_variables() -> None:
    command = LaunchCommand(
        argv=("mpirun", "--mca", "pml", "ob1", "-x", "OMPI_MCA_pml=ucx"),
        environment={},
        launcher="x",
        expect="",
    )
    assert overridden(command, "OMPI_MCA_pml", "ucx") == "ob1"
