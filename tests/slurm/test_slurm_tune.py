"""A real Slurm says which of its nodes may be changed."""

import pytest
from tests.slurm.labs import NODES, Cluster, drain, undrain

from wireproof.launch.schedulers.slurm_job import JobRequest, allocated
from wireproof.target import lab_target
from wireproof.tune.job import refusals

pytestmark = pytest.mark.slurm


def test_a_node_is_changed_in_our_own_job_or_drained(here: Cluster) -> None:
    target = lab_target(here.lab, NODES)
    assert set(refusals(target, NODES, {})) == set(NODES)
    assert "may start a job" in refusals(target, NODES, {})["n1"]
    drain(here.slurm, "n3", "tuning")
    try:
        assert set(refusals(target, NODES, {})) == {"n1", "n2", "n4"}
        with allocated(JobRequest(nodes=2, hosts=("n1", "n2"), through=here.through)) as job:
            inside = refusals(target, NODES, {"SLURM_JOB_ID": job.job})
            assert set(inside) == {"n4"}
            outside = refusals(target, NODES, {})
            assert f"Slurm job {job.job} runs on it" in outside["n1"]
    finally:
        undrain(here.slurm, "n3")


def test_a_job_that_shares_its_node_may_not_change_it(here: Cluster) -> None:
    request = JobRequest(nodes=1, hosts=("n2",), exclusive=False, through=here.through)
    target = lab_target(here.lab, NODES)
    with allocated(request) as job:
        found = refusals(target, ("n2",), {"SLURM_JOB_ID": job.job})
        whole = here.slurm.run(["sinfo", "--noheader", "--nodes=n2", "--format=%T"]).stdout.strip()
        assert bool(found) == (whole != "allocated"), (found, whole)
