"""The allocation around us, from environments as the schedulers set them and as nobody should."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

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


FLUX = {**SLURM, "FLUX_URI": "local:///tmp/flux-x/local-0", "FLUX_ENCLOSING_ID": "ƒ2oLkTLb"}
PBS = {"PBS_JOBID": "123[4].server-1", "PBS_NODEFILE": "nodes", "PBS_QUEUE": "workq"}
LSF = {"LSB_JOBID": "9", "LSB_QUEUE": "normal"}
N1_TO_GPU7, A_AND_B = ("n1", "n2", "n04", "gpu7"), ("hostA", "hostB")
THREE = {"resource": "node[1-3]\n", "jobs": "node1\n"}


@pytest.mark.parametrize(
    ("environment", "printed", "expected"),
    [
        ({}, {}, None),
        ({"SLURM_CONF": "/etc/slurm.conf", "PBS_SERVER": "s", "LSF_ENVDIR": "/lsf"}, {}, None),
        (SLURM, {}, ("slurm", "4711", N1_TO_GPU7, "compute", 1795600000.0)),
        # a task of a step belongs to the whole job
        (
            {**SLURM, "SLURM_NODELIST": "n2", "SLURM_STEP_NODELIST": "n2", "SLURM_STEP_ID": "0"},
            {},
            ("slurm", "4711", N1_TO_GPU7, "compute", 1795600000.0),
        ),
        (
            {"SLURM_JOBID": "5", "SLURM_NODELIST": "rack[1-2]n[1-2]"},
            {},
            ("slurm", "5", ("rack1n1", "rack1n2", "rack2n1", "rack2n2")),
        ),
        (PBS, {}, ("pbs", "123[4].server-1", A_AND_B, "workq")),
        ({**LSF, "LSB_MCPU_HOSTS": "hostA 2 hostB 1 "}, {}, ("lsf", "9", A_AND_B, "normal")),
        ({**LSF, "LSB_DJOB_HOSTFILE": "nodes"}, {}, ("lsf", "9", A_AND_B, "normal")),
        ({**LSF, "LSB_HOSTS": "hostA hostA hostB"}, {}, ("lsf", "9", A_AND_B, "normal")),
        # a batch job is an instance of its own, also inside Slurm, and so is a step in it
        (FLUX, THREE, ("flux", "ƒ2oLkTLb", ("node1", "node2", "node3"))),
        ({**FLUX, "FLUX_JOB_ID": "f3"}, THREE, ("flux", "ƒ2oLkTLb", ("node1", "node2", "node3"))),
        # a job of the system's instance has its own hosts only
        (
            {"FLUX_URI": "local:///run/flux/local", "FLUX_JOB_ID": "ƒABC"},
            {"resource": "node[1-3000]", "jobs": "node[7-8]\n"},
            ("flux", "ƒABC", ("node7", "node8")),
        ),
        # without resources the brokers are asked
        ({"FLUX_URI": "local:///x"}, {"getattr": "a[1-2]\n"}, ("flux", "", ("a1", "a2"))),
        # a Flux that does not answer is left over from the submission
        (
            {**SLURM, "FLUX_URI": "local:///gone"},
            {},
            ("slurm", "4711", N1_TO_GPU7, "compute", 1795600000.0),
        ),
    ],
)
def test_the_allocation_of_an_environment(
    environment: dict[str, str],
    printed: dict[str, str],
    expected: tuple[str, ...] | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "nodes").write_text("hostA\nhostA\n\nhostB\nhostA\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    fields = ("scheduler", "job", "hosts", "partition", "ends_unix_s")
    found = current(environment, answers(**printed))
    assert found == (expected and Allocation(**dict(zip(fields, expected, strict=False))))


@pytest.mark.parametrize("end", ["", "soon", "nan", "inf", "-5", "0"])
def test_an_end_that_is_no_time_is_no_end(end: str) -> None:
    assert current({**SLURM, "SLURM_JOB_END_TIME": end}, silent).ends_unix_s is None


def test_a_job_of_several_components_is_noted() -> None:
    assert "first" in current({**SLURM, "SLURM_HET_SIZE": "2"}, silent).notes[0]


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"SLURM_JOB_ID": "5"}, "SLURM_JOB_NODELIST is not"),
        ({"SLURM_JOB_ID": "5; rm -rf /", "SLURM_JOB_NODELIST": "n1"}, "not the id of a job"),
        ({"SLURM_JOB_ID": "5\n6", "SLURM_JOB_NODELIST": "n1"}, "not the id of a job"),
        ({"SLURM_JOB_ID": "5", "SLURM_JOB_NODELIST": "n[1-"}, "SLURM_JOB_NODELIST cannot be used"),
        (
            {"SLURM_JOB_ID": "5", "SLURM_JOB_NODELIST": "-oProxyCommand=x"},
            "SLURM_JOB_NODELIST cannot be used",
        ),
        ({"SLURM_JOB_ID": "5", "SLURM_JOB_NODELIST": "n[0-999999999]"}, "more than 100000"),
        ({"SLURM_JOB_ID": "5", "SLURM_JOB_NODELIST": "@all"}, "SLURM_JOB_NODELIST cannot be used"),
        ({"PBS_JOBID": "5"}, "PBS_NODEFILE is not"),
        ({"PBS_JOBID": "5", "PBS_NODEFILE": "/nowhere/at/all"}, "cannot be read"),
        ({"PBS_JOBID": "5", "PBS_NODEFILE": "/dev/null"}, "a device and not a file"),
        ({"PBS_JOBID": "5", "PBS_NODEFILE": "a\0b"}, "cannot be read"),
        ({"PBS_JOBID": "5", "PBS_NODEFILE": "/"}, "cannot be read"),
        ({"PBS_JOBID": "5", "PBS_NODEFILE": "/dev/zero"}, "a device and not a file"),
        ({"LSB_JOBID": "5"}, "no LSB_MCPU_HOSTS"),
        ({"LSB_JOBID": "5", "LSB_MCPU_HOSTS": "a 1 b"}, "not a list of hosts and slots"),
        ({"LSB_JOBID": "5", "LSB_MCPU_HOSTS": "a b"}, "not a list of hosts and slots"),
        ({"FLUX_URI": "local:///x"}, "prints no hosts"),
        ({"FLUX_JOB_ID": "--help"}, "not the id of a job"),
    ],
)
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
