"""One Slurm for each module: it is up in half a second, and what one test leaves in it is seen by
the next.
"""

from collections.abc import Iterator

import pytest
from tests.slurm.labs import Cluster, cluster, gone

from wireproof.launch.registry import Allocation
from wireproof.launch.schedulers.slurm_job import JobRequest, allocated


@pytest.fixture(scope="module")
def site() -> Iterator[Cluster]:
    with cluster() as found:
        yield found


@pytest.fixture
def here(site: Cluster, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """The site with its Slurm in our environment; no job may be left in it."""
    for name, value in site.slurm.environment().items():
        monkeypatch.setenv(name, value)
    assert gone(site)
    return site


@pytest.fixture
def job(here: Cluster) -> Iterator[Allocation]:
    """All four nodes."""
    with allocated(JobRequest(nodes=4, through=here.through)) as allocation:
        yield allocation
