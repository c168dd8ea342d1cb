"""Where an MPI is looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from wireproof.launch.mpi.discovery import choose_mpi, find_mpis, folders, looked_at
from wireproof.model.errors import CouldNotMeasure

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
