"""Another job's traffic in a real lab, in every phase: contention with its port and rate, never a
fault or a proof.
"""

import concurrent.futures
import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.cli.verb import document, wireproof
from tests.lab.conftest import Build

from wireproof.lab.cluster import Lab
from wireproof.measure.points import numbered, sweep
from wireproof.measure.session import Session
from wireproof.measure.session.run import run_session
from wireproof.model.finding import Finding
from wireproof.report.judged_run import ranked
from wireproof.report.reporter import LoggingReporter
from wireproof.target import lab_target

pytestmark = [pytest.mark.netns, pytest.mark.engine]

JOB = Path(__file__).with_name("other_traffic.py")
LINE = 119.5e6
SLOW = {"direction-slow", "node-direction-slow", "below-expectation"}


@contextlib.contextmanager
def job(
    lab: Lab, sender: str, receiver: str, bytes_per_s: float, *, after: float = 0.0
) -> Iterator[None]:
    """Another job's flow, from ``after`` seconds on."""
    addresses = [lab.node_address(node, "hsn") for node in (sender, receiver)]
    words = [sys.executable, str(JOB), *addresses]
    delayed = ["sh", "-c", 'sleep "$0"; exec "$@"', str(after), *words, str(bytes_per_s)]
    running = subprocess.Popen(lab.exec_argv(sender, delayed), stderr=subprocess.DEVNULL)
    time.sleep(0.3)
    try:
        yield
    finally:
        running.kill()
        running.wait()


def streams(lab: Lab, *options: str) -> Any:
    words = f"measure stream --lab {lab.name} --hosts {','.join(lab.nodes)} --transport tcp"
    argv = f"{words} --sizes 256KiB,1MiB --budget 300ms --json".split()
    return document(wireproof(*argv, *options))


def check(lab: Lab) -> Any:
    argv = f"check --lab {lab.name} --hosts {','.join(lab.nodes)} --transport tcp --json".split()
    return document(wireproof(*argv, timeout=300))


def named(found: Any) -> dict[str, Any]:
    return {one["subject"]: one for one in found["findings"] if one["code"] == "other-traffic"}


def failed(found: Any) -> set[str]:
    return {one["code"] for one in found["findings"] if one["severity"] == "fail"}


def test_a_flow_one_way_is_contention_with_its_port_and_rate(build: Build) -> None:
    lab = build(2)
    with job(lab, "n1", "n2", 0.35 * LINE):
        found = streams(lab)
    assert found["verdict"] != "fail", found["findings"]
    assert not failed(found) & SLOW
    told = named(found)
    assert {"n1 tx", "n2 rx"} & set(told), found["findings"]
    assert set(told) <= {"n1 tx", "n2 rx"}
    assert all(one["evidence"]["nic"] == "hsn0" for one in told.values())


@pytest.mark.slow
@pytest.mark.parametrize("after", [1.0, 3.0])
def test_a_flow_that_comes_later_blames_nobody(build: Build, after: float) -> None:
    lab = build(4)
    with job(lab, "n2", "n3", 0.4 * LINE, after=after):
        found = check(lab)
    assert [one["message"] for one in found["findings"] if one["severity"] == "fail"] == []


def test_two_measurements_at_once_on_one_lab_are_contention(build: Build) -> None:
    """Both failed. Each is the other's other traffic."""
    lab = build(2)
    with concurrent.futures.ThreadPoolExecutor(2) as both:
        for found in both.map(lambda _: streams(lab, "--repeat", "3"), range(2)):
            assert not failed(found) & SLOW, found["findings"]


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [2, 4])
def test_of_two_checks_at_once_each_names_the_other_first(build: Build, nodes: int) -> None:
    """The first line named a slow node, a slot of PCIe or a low goodput."""
    lab = build(nodes)
    with concurrent.futures.ThreadPoolExecutor(2) as both:
        for found in both.map(lambda _: check(lab), range(2)):
            assert found["verdict"] == "inconclusive", found["findings"]
            first = ranked(msgspec.convert(found["findings"], list[Finding]))[0]
            assert first.code == "other-traffic", first.message
            assert isinstance(rate := first.evidence["bytes_per_s"], float)
            assert rate > 0.04 * LINE


@pytest.mark.mpi
def test_shared_memory_is_never_on_wire_beside_another_flow(build: Build, tmp_path: Path) -> None:
    """Both ranks on one node: what crosses its port is someone else's."""
    lab = build(2)
    points = tuple(
        numbered(sweep("pingpong", [256 << 10, 1 << 20], [(0, 1)], budget_ms=300), seed=1)
    )
    with job(lab, "n1", "n2", 0.5 * LINE), job(lab, "n2", "n1", 0.5 * LINE):
        wish = Session(title="memory", points=points, seed=1, out=tmp_path / "run")
        judgement = run_session(wish, lab_target(lab, ("n1", "n1")), LoggingReporter())[0].judgement
    assert {pair.proof for pair in judgement.pairs} <= {"off-wire", "unproven"}
    assert judgement.verdict != "pass"
