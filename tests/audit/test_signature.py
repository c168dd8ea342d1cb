"""Hosts that are judged together get the answers that each gets alone."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from benchmarks.audit import hosts_like
from tests.audit.trees import MACHINES, lay_out

from wireproof.audit.catalogue import requests
from wireproof.audit.facts import HostFacts
from wireproof.audit.judge import judge_machine, judge_machines
from wireproof.audit.machine import machine_of
from wireproof.instrument.facts import collect
from wireproof.launch.engines import find_engine
from wireproof.model.record import FactFrame
from wireproof.workflow.audit import catalogue


@pytest.mark.engine
@pytest.mark.parametrize("own", [0.0, 0.3])
def test_answers_do_not_depend_on_the_other_hosts(own: float, tmp_path: Path) -> None:
    known = catalogue()
    kinds: list[tuple[FactFrame, ...]] = []
    for name in MACHINES:
        root = lay_out(tmp_path / name, name)
        argv = [str(find_engine("nompi")), "facts", "--spec", "-", "--root", str(root)]
        (found,) = collect({name: argv}, requests(known))
        kinds.append(found.frames)
    machines = [
        machine_of(HostFacts.of(f"{number}-{host}", frames))
        for number, kind in enumerate(kinds)
        for host, frames in hosts_like(kind, 3, own)
    ]
    random.Random(1).shuffle(machines)
    together = judge_machines(machines, known, "throughput")
    alone = [one for machine in machines for one in judge_machine(machine, known, "throughput")]
    assert together == alone
