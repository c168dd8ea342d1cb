"""The allocation around us, from environments as the schedulers set them and as nobody should."""

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from wireproof.launch.known import current
from wireproof.launch.registry import Allocation, Ask
from wireproof.model.errors import BadInput


def silent(_argv: Sequence[str], _environment: Mapping[str, str]) -> str:
    return ""


def answers(**printed: str) -> Ask:
    """An ``ask`` that knows what ``flux resource``, ``flux jobs`` and ``flux getattr`` print."""

    def ask(argv: Sequence[str], _environment: Mapping[str, str]) -> str:
        assert argv[0] == "flux"
        return printed.get(argv[1], "")

    return ask


SLURM = {
    "SLURM_JOB_ID": "4711",
    "SLURM_JOB_NODELIST": "n[1-2,04],gpu7",
    "SLURM_JOB_PARTITION": "compute",
    "SLURM_JOB_END_TIME": "1795600000",
}


TABLES = tomllib.loads(Path(__file__).with_name("allocations.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("environment", "printed", "expected"), TABLES["known"])
def test_the_allocation_of_an_environment(
    environment: dict[str, str],
    printed: dict[str, str],
    expected: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "nodes").write_text("n3.cluster\nn3.cluster\nn1\n\nn1\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = current(environment, answers(**printed))
    if not expected:
        assert found is None
    else:
        assert found == Allocation(**(expected | {"hosts": tuple(expected["hosts"])}))


@pytest.mark.parametrize("end", ["", "soon", "nan", "inf", "-5", "0"])
def test_an_end_that_is_no_time_is_no_end(end: str) -> None:
    assert current({**SLURM, "SLURM_JOB_END_TIME": end}, silent).ends_unix_s is None


def test_a_job_of_several_components_is_noted() -> None:
    assert "first" in current({**SLURM, "SLURM_HET_SIZE": "2"}, silent).notes[0]


@pytest.mark.parametrize(("environment", "words"), TABLES["refused"])
def test_hostile_values_are_one_sentence(environment: dict[str, str], words: str) -> None:
    with pytest.raises(BadInput, match=words) as caught:
        current(environment, silent)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_node_file_that_is_empty_or_binary_and_a_pipe_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"\n\n")
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 4)
    os.mkfifo(tmp_path / "pipe")
    for path in tmp_path.iterdir():
        with pytest.raises(BadInput, match="PBS_NODEFILE"):
            current({"PBS_JOBID": "5", "PBS_NODEFILE": str(path)}, silent)


def test_what_flux_prints_is_hostile_too() -> None:
    with pytest.raises(BadInput, match="flux resource list"):
        current({"FLUX_URI": "x"}, answers(resource="$(reboot)"))


def test_a_program_that_is_not_there_answers_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="put flux on PATH"):
        current({"FLUX_URI": "local:///x", "PATH": str(tmp_path)})
