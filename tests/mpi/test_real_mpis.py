"""The engine under every MPI: it answers, says who answered, and ends as it should."""

import dataclasses
from pathlib import Path

import pytest
from tests.mpi.mpis import (
    EVERY_MPI,
    LIBRARY,
    TWO_WITH_THE_STANDARD_ABI,
    VARIANT,
    install_of,
    run,
    sweep,
)

from wireproof.launch.command import prepare
from wireproof.launch.engines import find_engine
from wireproof.launch.mpi.discovery import choose_mpi, find_mpis
from wireproof.launch.mpi.identify import identify
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.plan import Point
from wireproof.store.load import load_run
from wireproof.store.seal import seal

pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.parametrize("name", EVERY_MPI)
def test_the_library_that_answers_is_the_one_asked_for(name: str, tmp_path: Path) -> None:
    remote = [
        Point(
            id=i, pattern=pattern, message_bytes=4096, pairs=((0, 1),), form="stream", budget_ms=60
        )  # type: ignore[arg-type]
        for i, pattern in enumerate(("stream", "exchange", "put", "get"), start=10)
    ]
    outcome = run(name, [*sweep(3), *remote], tmp_path / "run")
    assert outcome.complete, outcome.ending
    assert len(outcome.run.points) == 7
    assert outcome.run.open.abi == VARIANT[name]
    install = install_of(name)
    for host in outcome.run.hosts:
        assert LIBRARY[name] in host.library
        assert Path(host.library_path).resolve() == install.library.resolve()
        assert host.shared_ranks == 2
    for point in outcome.run.points:
        assert all(
            pair.status == "ok" and pair.integrity == "ok" and pair.estimate for pair in point.pairs
        )
    assert [path.name for path in seal(outcome.folder)] == ["points.parquet", "batches.parquet"]
    assert load_run(outcome.folder) == outcome.run


@pytest.mark.parametrize("name", EVERY_MPI)
def test_another_library_than_the_one_asked_for_is_an_error(name: str, tmp_path: Path) -> None:
    outcome = run(name, sweep(1), tmp_path / "run", expect="Spectrum MPI")
    assert outcome.ending.ended == "mismatch"
    assert "Spectrum MPI" in outcome.ending.reason
    assert LIBRARY[name] in outcome.ending.reason
    assert outcome.run.points == []


@pytest.mark.parametrize("name", EVERY_MPI)
def test_an_odd_number_of_ranks_and_more_than_cores(name: str, tmp_path: Path) -> None:
    outcome = run(name, sweep(2, pairs=((0, 2),)), tmp_path / "run", ranks=3)
    assert outcome.complete, outcome.ending
    assert [host.rank for host in outcome.run.hosts] == [0, 1, 2]
    assert all(
        pair.origin == 0 and pair.target == 2
        for point in outcome.run.points
        for pair in point.pairs
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY_MPI)
def test_four_ranks_on_two_cores_finish_and_say_so(name: str, tmp_path: Path) -> None:
    outcome = run(name, sweep(4, pairs=((0, 1), (2, 3))), tmp_path / "run", ranks=4)
    assert outcome.complete, outcome.ending
    assert all(len(point.pairs) == 2 for point in outcome.run.points)


@pytest.mark.parametrize("name", EVERY_MPI)
def test_one_rank_is_refused_before_anything_is_started(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="at least two"):
        run(name, sweep(1), tmp_path / "run", ranks=1)
    assert not (tmp_path / "run").exists()


@pytest.mark.engine
@pytest.mark.openmpi
def test_an_engine_of_another_abi_is_told_and_nothing_is_measured(tmp_path: Path) -> None:
    """MPICH's engine under Open MPI's launcher and libraries: there is no libmpi.so.12 for it."""
    command = prepare("mpi", install_of("openmpi"), ranks=2)
    wrong = str(find_engine("mpiabi"))
    argv = tuple(wrong if word == str(command.engine) else word for word in command.argv)
    outcome = run(
        "openmpi", sweep(1), tmp_path / "run", command=dataclasses.replace(command, argv=argv)
    )
    assert outcome.ending.ended == "not-started"
    assert "libmpi_abi.so.1" in outcome.ending.reason
    assert "\x1b" not in outcome.ending.reason
    assert outcome.run.points == []


@pytest.mark.mpi
def test_the_embedded_mpi_is_found_first_and_answers_by_its_own_interface() -> None:
    first = find_mpis()[0]
    assert (first.family, first.origin, first.abi) == ("mpich", "embedded", "mpich")


@pytest.mark.parametrize("name", TWO_WITH_THE_STANDARD_ABI)
def test_a_library_that_has_nothing_but_the_standard_abi(name: str, tmp_path: Path) -> None:
    usual = install_of(name)
    folder = tmp_path / "lib"
    folder.mkdir()
    for path in usual.library.parent.iterdir():
        if not path.name.startswith("libmpi.so"):
            (folder / path.name).symlink_to(path.resolve())
    install = identify(usual.launcher, "folder", (folder,))
    assert (install.abi, install.abi_version) == ("mpiabi", "1.0")
    outcome = run(name, sweep(3), tmp_path / "run", command=prepare("mpi", install, ranks=2))
    assert outcome.complete, outcome.ending
    assert outcome.run.open.abi == "mpiabi"
    assert all(LIBRARY[name] in host.library for host in outcome.run.hosts)
    assert all(pair.integrity == "ok" for point in outcome.run.points for pair in point.pairs)


@pytest.mark.openmpi
@pytest.mark.debian_mpich
@pytest.mark.parametrize(
    ("path", "family"),
    [
        ("/usr/bin/mpirun.openmpi", "openmpi"),
        ("/usr/bin/mpirun.mpich", "mpich"),
        ("/usr/lib/x86_64-linux-gnu/libmpi.so.40", "openmpi"),
    ],
)
def test_of_two_mpis_in_one_folder_the_one_that_was_named_is_taken(path: str, family: str) -> None:
    if not Path(path).exists():
        pytest.skip("Debian's folders of another architecture")
    install = choose_mpi(path)
    assert (install.family, install.problem) == (family, "")
    assert path in (str(install.launcher), str(install.library))


@pytest.mark.mpi
def test_a_family_that_is_not_here_names_what_is() -> None:
    around = {"PATH": "/nonexistent"}
    families = {install.family for install in find_mpis(around)}
    if "intel" in families:
        pytest.skip("Intel MPI is installed system-wide")
    with pytest.raises(
        CouldNotMeasure,
        match=r"--mpi intel; found MPICH .*--mpi PATH \(looked at PATH, I_MPI_ROOT \(not set\)",
    ):
        choose_mpi("intel", around)
