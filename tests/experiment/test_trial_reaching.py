"""Variables that cannot have an effect are refused before anything is measured, and each run of a
command is proven.
"""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wireproof.experiment import trial_pattern as under_test
from wireproof.experiment.trial_pattern import CommandWorkload, OwnCommand, overridden, unread
from wireproof.launch.engines import Family, MpiInstall
from wireproof.launch.registry import LaunchCommand
from wireproof.model.errors import CouldNotMeasure
from wireproof.model.plan import TransportKind
from wireproof.report.reporter import LoggingReporter
from wireproof.target import Target
from wireproof.watch.prove import INTERRUPTED, ProofSpecification


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


class Watch:
    """Readers of the ports that are played; ``lost``: no host can be read."""

    notes = ()
    lost = False

    def __init__(self, *_: object) -> None:
        self.node, self.hearing = Path("node"), None

    def begin(self) -> None:
        if self.lost:
            raise CouldNotMeasure("no host can be watched: n1.")

    def mark(self) -> None:
        """Read nothing."""

    look_at_the_background = __exit__ = lambda *_: None

    def watched(self) -> list[Any]:
        return []


def run_of(
    monkeypatch: pytest.MonkeyPatch,
    proof: str,
    *,
    wire: bool = True,
    claimed: bool = True,
    lost: bool = False,
    ended: int = 0,
) -> tuple[str, list[str]]:
    """The proof of a run, and the notes of the trial."""
    reasons = [SimpleNamespace(message="nothing to compare")]
    judged = SimpleNamespace(judgement=SimpleNamespace(proof=proof, reasons=reasons))
    command = SimpleNamespace(
        output=bytearray(b"x"), close=lambda: None, last_words=lambda: "no such host"
    )
    monkeypatch.setattr(under_test, "Watch", Watch)
    monkeypatch.setattr(Watch, "lost", lost)
    monkeypatch.setattr(under_test, "run_command", lambda *_: (command, ended, 1.5))
    monkeypatch.setattr(under_test, "judged_command", lambda *_: judged)
    hosts = ("n1", "n2") if wire else ()
    # a lab fills in its NICs, whether or not the user named any
    target = Target(hosts=hosts, start_on=hosts, nics=("hsn0",) * len(hosts), wire=wire)
    wanted = OwnCommand(proof=ProofSpecification(argv=("app",), target=target), claimed=claimed)
    with CommandWorkload(wanted, LoggingReporter(), {}) as workload:
        runs = [workload.run({"X": "1"}, "X=1") for _ in range(2)]
    assert {run.metric for run in runs} == {1.5}
    return runs[1].proof, workload.notes


@pytest.mark.parametrize(
    ("claimed", "judged", "proof", "notes"),
    [
        (True, "on-wire", "on-wire", 0),
        (True, "off-wire", "off-wire", 0),
        (True, "unproven", "unproven", 1),  # fails closed: a sentence, and no effect is claimed
        (False, "on-wire", "on-wire", 0),
        (False, "wrong-path", "wrong-path", 0),
        (False, "unproven", "", 1),
    ],
)
def test_each_run_of_a_command_has_the_proof_of_prove(
    monkeypatch: pytest.MonkeyPatch, claimed: bool, judged: str, proof: str, notes: int
) -> None:
    found, told = run_of(monkeypatch, judged, claimed=claimed)
    assert (found, len(told)) == (proof, notes)


def test_a_command_without_hosts_has_no_path(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_of(monkeypatch, "off-wire", wire=False) == ("", [])


def test_without_readings_no_run_is_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_of(monkeypatch, "on-wire", lost=True)[0] == "unproven"
    assert run_of(monkeypatch, "on-wire", claimed=False, lost=True)[0] == ""


def test_an_interrupted_run_ends_the_trial_and_a_failed_run_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(KeyboardInterrupt):
        run_of(monkeypatch, "on-wire", ended=INTERRUPTED)
    with pytest.raises(CouldNotMeasure, match="X=1: the command ended with status 3: no such host"):
        run_of(monkeypatch, "on-wire", ended=3)
