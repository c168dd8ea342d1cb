"""The allocation around us, from environments as the schedulers set them and as nobody should."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from wireproof.launch.known import current
from wireproof.launch.registry import Allocation
from wireproof.model.errors import BadInput


def silent(_argv: Sequence[str], _environment: Mapping[str, str]) -> str:
    return ""


def answers(**printed: str) -> object:
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


def test_no_scheduler_no_allocation() -> None:
    assert current({}, silent) is None
    assert (
        current({"SLURM_CONF": "/etc/slurm.conf", "PBS_SERVER": "s", "LSF_ENVDIR": "/lsf"}, silent)
        is None
    )


def test_slurm() -> None:
    assert current(SLURM, silent) == Allocation(
        scheduler="slurm",
        job="4711",
        hosts=("n1", "n2", "n04", "gpu7"),
        partition="compute",
        ends_unix_s=1795600000.0,
    )


def test_a_task_of_a_step_belongs_to_the_whole_job() -> None:
    step = {
        **SLURM,
        "SLURM_NODELIST": "n2",
        "SLURM_STEP_NODELIST": "n2",
        "SLURM_STEP_ID": "0",
        "SLURM_NTASKS": "1",
    }
    found = current(step, silent)
    assert found.hosts == ("n1", "n2", "n04", "gpu7")


def test_slurm_of_old_names_and_without_an_end() -> None:
    found = current({"SLURM_JOBID": "5", "SLURM_NODELIST": "rack[1-2]n[1-2]"}, silent)
    assert found == Allocation(
        scheduler="slurm", job="5", hosts=("rack1n1", "rack1n2", "rack2n1", "rack2n2")
    )


@pytest.mark.parametrize("end", ["", "soon", "nan", "inf", "-5", "0"])
def test_an_end_that_is_no_time_is_no_end(end: str) -> None:
    found = current({**SLURM, "SLURM_JOB_END_TIME": end}, silent)
    assert found.ends_unix_s is None


def test_a_job_of_several_components_is_noted() -> None:
    found = current({**SLURM, "SLURM_HET_SIZE": "2"}, silent)
    assert "first" in found.notes[0]


def test_pbs_reads_its_node_file(tmp_path: Path) -> None:
    nodes = tmp_path / "nodes"
    nodes.write_text("n3.cluster\nn3.cluster\nn1\n\nn1\n", encoding="utf-8")
    environment = {"PBS_JOBID": "123[4].server-1", "PBS_NODEFILE": str(nodes), "PBS_QUEUE": "workq"}
    assert current(environment, silent) == Allocation(
        scheduler="pbs", job="123[4].server-1", hosts=("n3.cluster", "n1"), partition="workq"
    )


def test_lsf_has_three_ways_to_say_it(tmp_path: Path) -> None:
    nodes = tmp_path / "nodes"
    nodes.write_text("hostA\nhostA\nhostB\n", encoding="utf-8")
    expected = Allocation(scheduler="lsf", job="9", hosts=("hostA", "hostB"), partition="normal")
    base = {"LSB_JOBID": "9", "LSB_QUEUE": "normal"}
    assert current({**base, "LSB_MCPU_HOSTS": "hostA 2 hostB 1 "}, silent) == expected
    assert current({**base, "LSB_DJOB_HOSTFILE": str(nodes)}, silent) == expected
    assert current({**base, "LSB_HOSTS": "hostA hostA hostB"}, silent) == expected


def test_flux_batch_job_is_an_instance_of_its_own_also_inside_slurm() -> None:
    environment = {
        **SLURM,
        "FLUX_URI": "local:///tmp/flux-x/local-0",
        "FLUX_ENCLOSING_ID": "ƒ2oLkTLb",
    }
    asked = answers(resource="node[1-3]\n", jobs="node1\n")
    found = current(environment, asked)  # type: ignore[arg-type]
    assert found == Allocation(scheduler="flux", job="ƒ2oLkTLb", hosts=("node1", "node2", "node3"))
    step = current({**environment, "FLUX_JOB_ID": "f3"}, asked)  # type: ignore[arg-type]
    assert step == found


def test_flux_job_of_the_systems_instance_has_its_own_hosts_only() -> None:
    environment = {"FLUX_URI": "local:///run/flux/local", "FLUX_JOB_ID": "ƒABC"}
    found = current(environment, answers(resource="node[1-3000]", jobs="node[7-8]\n"))  # type: ignore[arg-type]
    assert found == Allocation(scheduler="flux", job="ƒABC", hosts=("node7", "node8"))


def test_flux_without_resources_asks_its_brokers() -> None:
    found = current({"FLUX_URI": "local:///x"}, answers(getattr="a[1-2]\n"))  # type: ignore[arg-type]
    assert found == Allocation(scheduler="flux", job="", hosts=("a1", "a2"))


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


def test_flux_that_does_not_answer_is_left_over_from_the_submission() -> None:
    found = current({**SLURM, "FLUX_URI": "local:///gone"}, silent)
    assert found.scheduler == "slurm"


def test_an_empty_node_file_and_a_pipe_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"\n\n")
    os.mkfifo(tmp_path / "pipe")
    for name in ("empty", "pipe"):
        with pytest.raises(BadInput, match="PBS_NODEFILE"):
            current({"PBS_JOBID": "5", "PBS_NODEFILE": str(tmp_path / name)}, silent)


def test_a_binary_node_file_is_refused(tmp_path: Path) -> None:
    nodes = tmp_path / "nodes"
    nodes.write_bytes(bytes(range(256)) * 4)
    with pytest.raises(BadInput, match="PBS_NODEFILE"):
        current({"PBS_JOBID": "5", "PBS_NODEFILE": str(nodes)}, silent)


def test_what_flux_prints_is_hostile_too() -> None:
    with pytest.raises(BadInput, match="flux resource list"):
        current({"FLUX_URI": "x"}, answers(resource="$(reboot)"))  # type: ignore[arg-type]


def test_a_program_that_is_not_there_answers_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="put flux on PATH"):
        current({"FLUX_URI": "local:///x", "PATH": str(tmp_path)})
