"""Limits are read in a step of the job, which has others than a login."""

import dataclasses

import pytest
from tests.slurm.labs import Cluster

from wireproof.audit.job import audit_target
from wireproof.launch.schedulers.slurm_job import JobRequest, allocated
from wireproof.report.reporter import LoggingReporter
from wireproof.target import lab_target

pytestmark = [pytest.mark.slurm, pytest.mark.engine]


def test_limits_are_those_of_a_step_of_the_job(here: Cluster) -> None:
    with allocated(JobRequest(nodes=2, partition="normal", through=here.through)) as job:
        target = dataclasses.replace(lab_target(here.lab, job.hosts), allocation=job)
        found = audit_target(target, LoggingReporter(), {}).results
    limits = [one for one in found if one.id == "limit-memlock"]
    assert {one.host for one in limits} == set(job.hosts)
    assert all(f"of a step of job {job.job}" in one.message for one in limits)
    assert all(one.seen for one in limits)
