"""One record for each MPI and each scheduler: complete, found by name, and asked by nobody's
name elsewhere.
"""

import ast
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import wireproof.launch
from wireproof.launch.command import build_command
from wireproof.launch.engines import EngineChoice, Family, MpiInstall
from wireproof.launch.known import MPIS, SCHEDULERS
from wireproof.launch.mpi.discovery import FAMILIES
from wireproof.launch.mpi.identify import family_of_launcher, family_of_library
from wireproof.launch.registry import (
    Allocation,
    LaunchCommand,
    LaunchRequest,
    Mpi,
    Registry,
    Scheduler,
    Starter,
)
from wireproof.options.table import MPI_NAMES

LAUNCH = Path(wireproof.launch.__file__).parent
MPI_RECORDS = tuple(MPIS.values())
SCHEDULER_RECORDS = tuple(SCHEDULERS.values())


def request(mpi: Mpi, **wishes: object) -> LaunchRequest:
    install = MpiInstall(
        family=mpi.name, origin="given", launcher=Path(f"/m/bin/{mpi.launcher}"), library=None
    )
    engine = EngineChoice(abi="nompi", path=Path("/w/engine"))
    plain = LaunchRequest(engine=engine, install=install, hosts=("n1", "n2"))
    return dataclasses.replace(plain, **wishes)  # type: ignore[arg-type]


def test_every_mpi_and_every_scheduler_is_registered_once() -> None:
    families = {one.name for one in MPI_RECORDS}
    assert families == set(get_args(Family)), "its name in Family of launch/engines.py"
    modules = sorted((LAUNCH / "schedulers").glob("*.py"))
    registering = [one.stem for one in modules if "SCHEDULERS.register(" in one.read_text("utf-8")]
    assert [one.name for one in SCHEDULER_RECORDS] == registering, "its line in launch/known.py"
    assert {"flux", "lsf", "pbs", "slurm"} <= set(registering)
    assert set(FAMILIES) == set(MPI_NAMES) - {""}, "its name in MPI_NAMES of options/table.py"


@pytest.mark.parametrize("record", [*MPI_RECORDS, *SCHEDULER_RECORDS], ids=lambda one: one.name)
def test_a_second_registration_is_an_error(record: Mpi | Scheduler) -> None:
    for table in (MPIS, SCHEDULERS):
        before = dict(table)
        if record in before.values():
            with pytest.raises(ValueError, match=f"{record.name} is registered twice"):
                table.register(record)  # type: ignore[arg-type]
        assert dict(table) == before
    fresh: Registry[Mpi | Scheduler] = Registry()
    assert fresh.register(record) is record
    assert (fresh[record.name], fresh.get("none")) == (record, None)


@pytest.mark.parametrize("mpi", MPI_RECORDS, ids=lambda one: one.name)
def test_an_mpi_is_known_by_what_it_says(mpi: Mpi) -> None:
    assert family_of_library(f"{mpi.library_says} 1.2") == mpi.name
    for said in mpi.launcher_says:
        assert family_of_launcher(f"x ({said.upper()}) 1.2") == mpi.name
    assert mpi.sonames
    assert not set(mpi.foreign) & set(mpi.placed)
    for variable in (*mpi.placed, *mpi.detailed, *mpi.pins):
        assert not variable.startswith(mpi.foreign), "it would be taken away again"


@pytest.mark.parametrize("mpi", MPI_RECORDS, ids=lambda one: one.name)
@pytest.mark.parametrize("scheduler", ["", *(one.name for one in SCHEDULER_RECORDS)])
@pytest.mark.parametrize("starter", get_args(Starter))
def test_every_mpi_starts_under_every_scheduler(mpi: Mpi, scheduler: str, starter: Starter) -> None:
    asked = request(mpi, scheduler=scheduler, starter=starter, job="12", nics=("ib0", "ib0"))
    command = build_command("mpi", asked)
    assert command.argv[-2:] == ("/w/engine", "run")
    assert any("ib0" in word for word in (*command.argv, *command.environment.values()))
    assert command.clear


def test_a_scheduler_of_somebody_elses_is_one_record(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(asked: LaunchRequest) -> LaunchCommand:
        return LaunchCommand(argv=("mine", *asked.rank_argv), environment={}, launcher="mine")

    monkeypatch.setitem(SCHEDULERS, "mine", SCHEDULERS["pbs"])  # so that it is removed afterwards
    monkeypatch.delitem(SCHEDULERS, "mine")
    record = Scheduler(
        name="mine",
        title="Mine",
        detect=lambda environment, _ask: Allocation(
            scheduler="mine", job=environment["MINE"], hosts=("n1", "n2")
        ),
        build=build,
        program="mine",
    )
    SCHEDULERS.register(record)
    command = build_command("mpi", request(MPI_RECORDS[0], scheduler="mine"))
    assert command.argv == ("mine", "/w/engine", "run")


_NAMES = {one.name for one in (*MPI_RECORDS, *SCHEDULER_RECORDS)}
_ELSEWHERE = {"lint", "adapters", "lab", "settings"}
"""They read what people write to schedulers and MPIs, or are one of their own."""
_OPTION = "cli/options.py"
"""It leaves out the option ``--slurm``."""


def _compared(path: Path) -> Iterator[int]:
    """Lines that compare a value with the name of an MPI or a scheduler."""
    text = path.read_text(encoding="utf-8")
    named = any(f'"{name}"' in text for name in _NAMES)  # most modules need no parser
    for node in ast.walk(ast.parse(text)) if named else ():
        if isinstance(node, ast.Compare):
            sides = [
                one
                for side in (node.left, *node.comparators)
                for one in (side.elts if isinstance(side, ast.Tuple | ast.Set) else [side])
            ]
            if any(isinstance(one, ast.Constant) and one.value in _NAMES for one in sides):
                yield node.lineno


def test_nobody_else_asks_by_name() -> None:
    package = LAUNCH.parent
    found = [
        f"{path.relative_to(package)}:{line}"
        for path in sorted(package.rglob("*.py"))
        if path.relative_to(package).parts[0] not in {"launch", *_ELSEWHERE}
        and str(path.relative_to(package)) != _OPTION
        for line in _compared(path)
    ]
    assert found == []
