"""Raw verbs as the lowest layer: perftest over soft-RoCE between two virtual machines. Everything
is emulated: no rate is asserted.
"""

import os

import pytest
from tests.vm.machine import Machines

from wireproof.experiment.ladder import commanded
from wireproof.experiment.ladder.job import LadderSpecification, methods_of, run_ladder
from wireproof.measure.session import Storage
from wireproof.options.resolve import resolve
from wireproof.report.reporter import LoggingReporter

pytestmark = [pytest.mark.vm, pytest.mark.engine, pytest.mark.slow, pytest.mark.timeout(240)]


def test_raw_verbs_take_the_place_of_the_kernels_sockets(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commanded, "_VERBS_ITERATIONS", 5)
    settings = resolve({"hosts": "v1,v2", "nic": "eth0", "launcher": machines.agent}, {})
    mpi, ofi = methods_of(settings)
    wanted = LadderSpecification(
        target=settings,
        mpi=mpi,
        ofi=ofi,
        storage=Storage(kept=False),
        layers=("verbs", "tcp"),
        rounds=1,
        sizes=(8, 512, 65536),
    )
    found = run_ladder(wanted, LoggingReporter(), os.environ)[0]
    verbs, tcp = found.layers
    assert (verbs.name, tcp.name) == ("verbs", "tcp")
    assert verbs.proof == "on-wire", verbs
    assert {one.message_bytes for one in verbs.times} == {8, 512, 65536}
    assert verbs.line.windowed.value > 0
