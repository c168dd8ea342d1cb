"""Where an MPI is looked for."""

import os
from pathlib import Path

import pytest

from wireproof.launch.command import provenance
from wireproof.launch.engines import Family, MpiInstall
from wireproof.launch.mpi.discovery import (
    choose_mpi,
    find_mpis,
    folders,
    looked_at,
    parameters_in_files,
)
from wireproof.launch.registry import LaunchCommand
from wireproof.model.errors import BadInput, CouldNotMeasure

INTEL = "#!/bin/sh\necho 'Intel(R) MPI Library for Linux* OS, Version 2021.18'\n"


def _launcher(folder: Path) -> Path:
    folder.mkdir(parents=True)
    path = folder / "mpiexec.hydra"
    path.write_text(INTEL)
    path.chmod(0o755)
    return path


def test_a_module_s_variable_and_the_home_folder_are_looked_at(tmp_path: Path) -> None:
    _launcher(tmp_path / "intel" / "oneapi" / "mpi" / "latest" / "bin")
    environment = {"PATH": "/usr/bin", "HOME": str(tmp_path), "I_MPI_ROOT": "/opt/modules/impi"}
    seen = [(origin, str(folder)) for origin, folder in folders(environment, "intel")]
    assert ("environment", "/opt/modules/impi/bin") in seen
    assert ("environment", "/opt/modules/impi/intel64/bin") in seen
    assert ("folder", f"{tmp_path}/intel/oneapi/mpi/latest/bin") in seen
    found = [one.family for one in find_mpis({**environment, "PATH": "/nonexistent"})]
    assert "intel" in found


def test_what_was_looked_at_is_said() -> None:
    said = looked_at({"I_MPI_ROOT": "/opt/modules/impi"}, "intel")
    assert said.startswith("PATH, I_MPI_ROOT (/opt/modules/impi), EBROOTIMPI (not set)")
    assert "/opt/intel/oneapi/mpi/latest/bin" in said
    assert "openmpi" not in said


def test_a_launcher_without_its_library_is_not_replaced_by_a_neighbour(tmp_path: Path) -> None:
    path = _launcher(tmp_path / "bin")
    with pytest.raises(CouldNotMeasure, match=r"no libmpi\.so\.12"):
        choose_mpi(str(path))


def _install(family: Family) -> MpiInstall:
    return MpiInstall(
        family=family, origin="given", launcher=Path("/opt/mpi/bin/mpirun"), library=None
    )


@pytest.mark.parametrize(
    ("family", "named"), [("mpich", ["UCX_TLS"]), ("openmpi", ["OMPI_MCA_pml", "UCX_TLS"])]
)
def test_files_of_the_user_and_the_current_folder_name_what_they_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, family: Family, named: list[str]
) -> None:
    home, folder = tmp_path / "home", tmp_path / "folder"
    (home / ".openmpi").mkdir(parents=True)
    folder.mkdir()
    (home / ".openmpi" / "mca-params.conf").write_text("# mine\npml = ob1  # no UCX\n")
    (folder / "ucx.conf").write_text("[ucx]\nUCX_TLS=tcp,self\nPATH=/nowhere\n")
    monkeypatch.chdir(folder)
    seen = dict(parameters_in_files(_install(family), {"HOME": str(home)}))
    assert sorted(name for values in seen.values() for name in values) == named
    assert seen[Path("ucx.conf")] == {"UCX_TLS": "tcp,self"}
    assert list(parameters_in_files(_install(family), {"HOME": "relative"})) == [
        (Path("ucx.conf"), {"UCX_TLS": "tcp,self"})
    ]


@pytest.mark.root
@pytest.mark.parametrize(("owner", "mode"), [(4242, 0o644), (0, 0o646)])
def test_a_file_of_parameters_that_another_user_decides_is_refused(
    tmp_path: Path, owner: int, mode: int
) -> None:
    file = tmp_path / "ucx.conf"
    file.write_text("UCX_MODULE_DIR=/tmp/evil\n")
    os.chown(file, owner, owner)
    file.chmod(mode)
    with pytest.raises(BadInput, match="UCX_MODULE_DIR"):
        list(parameters_in_files(_install("mpich"), {"UCX_CONFIG_DIR": str(tmp_path)}))
    file.write_text("#\n" * (1 << 15) + "#\nUCX_MODULE_DIR=/tmp/evil\n")
    with pytest.raises(BadInput, match="larger than 64 KiB"):
        list(parameters_in_files(_install("mpich"), {"UCX_CONFIG_DIR": str(tmp_path)}))
    file.write_text("A=1\n")  # sets nothing of UCX
    assert not list(parameters_in_files(_install("mpich"), {"UCX_CONFIG_DIR": str(tmp_path)}))


def test_a_run_names_what_a_file_sets_and_no_variable_overrides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ucx.conf").write_text("UCX_TLS=tcp\nUCX_NET_DEVICES=eth0\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UCX_TLS", "rc")
    command = LaunchCommand(argv=("engine",), environment={}, launcher="none")
    notes = provenance(command, _install("mpich")).notes
    assert f"{tmp_path}/ucx.conf sets UCX_NET_DEVICES=eth0" in notes
